"""What ``backport show`` prints: the plan."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from backport.report.console import Page, quoted, said
from backport.report.document import NextStep
from backport.series.message import Written
from backport.series.model import Change, Series


def show_plan(series: Series, messages: Sequence[Written], console: Console) -> None:
    """Print what a series would do, with the messages as they would be committed, in order."""
    page = Page(console)
    page.gap()
    title = (said(series.name, console, "bold"), "  ", said(series.title, console))
    page.line(Text.assemble(*title))
    page.section("onto", _target(series, console))
    if series.bug is not None:
        page.section("bug", [said(f"https://bugs.launchpad.net/bugs/{series.bug}", console)])
    for change, message in zip(series.changes, messages, strict=True):
        page.section(f"change {change.number}", _origin(change, console))
        page.gap()
        indent = 14 if console.width >= 90 else 2
        page.line(quoted(message.text.rstrip("\n"), console), indent=indent)
        page.section("note", [said(note, console, "yellow") for note in message.notes])
        page.section("tests", [said(test, console, "dim") for test in change.tests])
    page.steps([NextStep(command=shlex.join(["backport", "run", series.name]), why="carry it out")])
    page.gap()


def _target(series: Series, console: Console) -> list[Text]:
    rows = [said(f"{series.branch.branch} of {series.branch.project}", console)]
    if series.stable_only is not None:
        rows.append(said(f"stable only: {series.stable_only}", console, "dim"))
    return rows


def _origin(change: Change, console: Console) -> list[Text]:
    rows = [said(change.kind.value, console, "cyan")]
    if change.commit:
        rows.append(said(f"picked from {change.commit}", console, "dim"))
    if change.patch_file:
        rows.append(said(change.patch_file.name, console, "dim"))
    return rows
