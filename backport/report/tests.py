"""What ``backport test`` prints: how each test ended that did not pass, and the counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console

from backport.report.build import run_facts, test_facts
from backport.report.document import NextStep
from backport.report.marks import marks, quoted, said
from backport.report.page import Page
from backport.report.text import seconds, shorten
from backport.report.wording import count_words
from backport.runner.results import Run, Status

_DETAIL = 4000  # characters of one test's output on the terminal; --json has all


def runs_as_json(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Return the runs as plain data: as the cells of a report are, each with all its tests."""
    return [
        run_facts(run).model_dump(mode="json")
        | {"tests": [test.model_dump(mode="json") for test in test_facts(run)]}
        for run in runs
    ]


def show_runs(runs: Sequence[Run], console: Console) -> None:
    """Print the tests that did not pass, with what they said, then the counts of each run."""
    page = Page(console)
    for run in runs:
        for result in run.results:
            if result.status.passed or result.status is Status.SKIPPED:
                continue
            page.gap()
            page.line(said(f"{result.status.value}: {result.id}", console, "bold"))
            page.line(quoted(shorten(result.detail, _DETAIL), console, "dim"), indent=3)
        page.gap()
        sign = marks(console).verdict(run.green)
        words = run.problem or count_words(run_facts(run).counts)
        page.line(said(f"{sign} {words}, {seconds(run.seconds)}, {run.interpreter}", console))
        page.steps([NextStep(command=run.command, why="run them by hand")])
    page.gap()
