"""The views that are files: one page that needs nothing else, a comment, JUnit, and JSON.

They are templates over the document. Every string that a template prints is made fit to be shown.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import jinja2
from jinja2.bccache import Bucket
from markupsafe import Markup

from backport.errors import CannotTellError
from backport.report import phrases
from backport.report.diff import FileDiff, cut, file_diffs
from backport.report.document import CellFacts, ChangeFacts, Report, TestFacts, to_json
from backport.report.junit import suites
from backport.report.matrix import matrices
from backport.report.text import clean, exception_line, one_line, plural, seconds, shorten, when
from backport.resources import data_folder
from backport.runner.results import Status

VIEWS = ("report.html", "report.md", "report.json", "junit.xml")
# What the page may hold, whatever the tests printed: it has to go through mail and bug trackers.
_OUTPUT_OF_ALL = 1_500_000  # characters
_OUTPUT_OF_ONE = 16_000
_LINES_OF_ALL = 12_000  # of diffs
_LINES_OF_ONE = 1_500
_OPEN_DIFF = 60  # lines; longer ones start folded


def render(report: Report, name: str, compiled: Path | None = None) -> str:
    """Return a view of the report.

    :param name: one of :data:`VIEWS`
    :param compiled: a folder that may hold what templates were compiled to; that takes longer
        than filling them in
    """
    if name == "report.json":
        return to_json(report)
    environment = _environment(html=not name.endswith(".md"))
    environment.bytecode_cache = _Compiled(str(compiled)) if compiled else None
    hunks = report.proof.hunks if report.proof else ()
    values: dict[str, Any] = {"title": phrases.TITLES[report.result]}
    if name == "junit.xml":
        values = {"suites": suites(report), "name": _name(report)}
    elif name == "report.html":
        values |= {
            "tone": phrases.TONES[report.result],
            "matrices": matrices(report.proof.cells) if report.proof else (),
            "diffs": _diffs(report),
            "output_limit": _output_limit(report),
            "exit_word": phrases.EXIT_WORDS.get(report.exit_code, ""),
        }
    template = environment.get_template(f"{name}.j2")
    text = template.render(report=report, guarded=phrases.guarded(hunks), **values).strip() + "\n"
    # Paragraphs of a comment are parted by one empty line, whatever stands between them.
    return re.sub("\n{3,}", "\n\n", text) if name.endswith(".md") else text


def report_files(folder: Path) -> list[Path]:
    """Return the files that :func:`write_reports` is going to write, the page first."""
    return [folder / name for name in VIEWS]


def write_reports(
    report: Report, folder: Path, compiled: Path | None = None, home: str = ""
) -> list[Path]:
    """Write all views, and return their paths, the page first.

    Each appears whole or not at all: it is written beside its name, then renamed. All are
    made before the first is written. Logs of runs stay where they are.

    :param home: the user's folder; ``~`` stands for it in what is made to be handed on
    :raises CannotTellError: the folder cannot be written to
    """
    texts = {folder / name: render(report, name, compiled) for name in VIEWS}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in texts.items():
            _replace(path, text if path.suffix == ".json" else without_home(text, home))
    except OSError as error:
        raise CannotTellError(
            f"the report cannot be written to {folder}: {error.strerror or error}",
            "Name another folder with --report DIR.",
        ) from error
    return list(texts)


def without_home(text: str, home: str) -> str:
    """Return ``text`` with ``~`` for the user's folder, which tells who they are."""
    if home in ("", "/"):
        return text
    return re.sub(rf"(?<![\w.]){re.escape(home)}(?![\w.-])", "~", text)


def _replace(path: Path, text: str) -> None:
    handle, beside = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            # mkstemp makes it for its owner only; a report is made to be handed on.
            os.chmod(beside, 0o644)
        os.replace(beside, path)
    except BaseException:
        with suppress(FileNotFoundError):  # it came after the renaming
            os.unlink(beside)
        raise


class _Compiled(jinja2.FileSystemBytecodeCache):
    """Templates compiled before; where none can be kept, they are compiled each time."""

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep one."""
        with suppress(OSError):
            super().dump_bytecode(bucket)


def _environment(html: bool) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(data_folder("templates") / "report"),
        autoescape=html,
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    names = (
        "short way_in by_class splits ended cell_title how_applied moves branch_words why_no_proof"
    )
    environment.filters.update({name: getattr(phrases, name) for name in f"{names} blamed".split()})
    for each in (seconds, when, plural, exception_line, code, prose, took):
        environment.filters[each.__name__] = each
    environment.filters.update(outcome=outcome_of, output=_output, by_note=_by_note)
    environment.globals.update(
        CELL_RULES=phrases.CELL_RULES,
        KIND_TONES=phrases.KIND_TONES,
        GUARD_TONES=phrases.GUARD_TONES,
        must_fail=phrases.must_fail,
    )
    return environment


def _shown(value: object) -> object:
    # Every string that a template prints comes through here, so none can be forgotten.
    return clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def code(text: str) -> str:
    """Return ``text`` in backticks, on one line; backticks of its own become quotes."""
    return f"`{one_line(text).replace('`', chr(39)) or ' '}`"


def prose(text: str) -> str:
    """Return a sentence on one line, in which nothing starts a link, an image or a tag."""
    return one_line(text).replace("](", "] (").replace("<", "‹").replace("`", "'")


def took(cell: CellFacts) -> str:
    """Return how long a cell took, and what it was spared."""
    cut = ", cut to the tests of the fix" if cell.cut else ""
    return f"{'kept from before' if cell.reused else seconds(cell.seconds)}{cut}"


def _by_note(cells: Sequence[CellFacts]) -> list[tuple[str, int]]:
    return list(Counter(note for cell in cells for note in cell.notes).items())


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
    speaking = sum(bool(test.detail) for cell in (*cells, *report.runs) for test in cell.tests)
    return max(400, min(_OUTPUT_OF_ONE, _OUTPUT_OF_ALL // max(1, speaking)))


def _diffs(report: Report) -> dict[int, list[tuple[FileDiff, bool]]]:
    """Return each change's files, and whether each starts unfolded."""
    limit = max(100, min(_LINES_OF_ONE, _LINES_OF_ALL // max(1, len(report.changes))))
    return {change.number: _files(change, limit) for change in report.changes}


def _files(change: ChangeFacts, limit: int) -> list[tuple[FileDiff, bool]]:
    files = [cut(file, limit) for file in file_diffs(change.diff)]
    return [(file, len(file.lines) <= _OPEN_DIFF) for file in files]


def _name(report: Report) -> str:
    return report.series.name if report.series else "tests" if report.runs else "no series"
