"""``report.html``: one page that needs nothing else, to be attached to a review or a bug."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import jinja2
from jinja2.bccache import Bucket
from markupsafe import Markup

from backport.report import wording
from backport.report.diff import FileDiff, cut, file_diffs
from backport.report.document import ChangeFacts, Report, TestFacts
from backport.report.matrix import matrices
from backport.report.text import clean, exception_line, seconds, shorten, when
from backport.resources import data_folder
from backport.runner.results import Status

# What the page may hold, whatever the tests printed: it has to go through mail and bug trackers.
_OUTPUT_OF_ALL = 1_500_000  # characters
_OUTPUT_OF_ONE = 16_000
_LINES_OF_ALL = 12_000  # of diffs
_LINES_OF_ONE = 1_500
_OPEN_DIFF = 60  # lines; longer ones start folded


def render_html(report: Report, compiled: Path | None = None) -> str:
    """Return the page.

    :param compiled: a folder that may hold what templates were compiled to; that takes longer
        than filling them in
    """
    environment = _environment()
    environment.bytecode_cache = _Compiled(str(compiled)) if compiled else None
    template = environment.get_template("report.html.j2")
    return template.render(
        report=report,
        title=wording.TITLES[report.result],
        tone=wording.TONES[report.result],
        matrices=matrices(report.proof.cells) if report.proof else (),
        diffs=_diffs(report),
        output_limit=_output_limit(report),
        guarded=wording.guarded(report.proof.hunks if report.proof else ()),
        exit_word=wording.EXIT_WORDS.get(report.exit_code, ""),
    )


class _Compiled(jinja2.FileSystemBytecodeCache):
    """Templates compiled before; where none can be kept, they are compiled each time."""

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep one."""
        with suppress(OSError):
            super().dump_bytecode(bucket)


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(data_folder("templates") / "report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        seconds=seconds,
        when=when,
        short=wording.short,
        outcome=outcome_of,
        by_class=wording.by_class,
        splits=wording.splits,
        ended=wording.ended,
        cell_title=wording.cell_title,
        cell_sentence=wording.cell_sentence,
        how_applied=wording.how_applied,
        moves=wording.moves,
        way_in=wording.way_in,
        branch_words=wording.branch_words,
        why_no_proof=wording.why_no_proof,
        output=_output,
        exception_line=exception_line,
    )
    environment.globals.update(
        CELL_RULES=wording.CELL_RULES,
        KIND_TONES=wording.KIND_TONES,
        GUARD_TONES=wording.GUARD_TONES,
        must_fail=wording.must_fail,
    )
    return environment


def _shown(value: object) -> object:
    # Every string that a template prints comes through here, so none can be forgotten.
    return clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _output(detail: str, limit: int) -> str:
    # Cut first: what is left out need not be read.
    return clean(shorten(detail, limit)).strip("\n")


def outcome_of(tests: tuple[TestFacts, ...]) -> list[tuple[Status, list[TestFacts]]]:
    """Return the tests by how they ended, the worst first, those that passed last."""
    return [
        (status, group)
        for status in sorted(Status, key=_gravity)
        if (group := [test for test in tests if test.status is status])
    ]


def _gravity(status: Status) -> int:
    if status.red:
        return 0
    return 3 if status.passed else 2 if status is Status.SKIPPED else 1


def _output_limit(report: Report) -> int:
    """Return how many characters of each test's output the page may show."""
    cells = report.proof.cells if report.proof else ()
    speaking = sum(bool(test.detail) for cell in cells for test in cell.tests)
    return max(400, min(_OUTPUT_OF_ONE, _OUTPUT_OF_ALL // max(1, speaking)))


def _diffs(report: Report) -> dict[int, list[tuple[FileDiff, bool]]]:
    """Return each change's files, and whether each starts unfolded."""
    limit = max(100, min(_LINES_OF_ONE, _LINES_OF_ALL // max(1, len(report.changes))))
    return {change.number: _files(change, limit) for change in report.changes}


def _files(change: ChangeFacts, limit: int) -> list[tuple[FileDiff, bool]]:
    return [(cut(file, limit), len(file.lines) <= _OPEN_DIFF) for file in file_diffs(change.diff)]
