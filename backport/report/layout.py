"""Lays the cells of a proof out: as a table for people, and as suites for ``junit.xml``.

The table has tests of change i in rows, code of j in columns.

JUnit's readers know nothing of proofs: a suite for each cell, a case for each test. Such tools
hold that a test that fails is bad, so

* where a cell must be red and is, its failing tests are passed cases, with what they said in
  their ``system-out``;
* a failure that the base has too is a skipped case, since nobody is blamed for it, and so is a
  test that was not run;
* each suite has one more case, named after its cell, which fails if the cell did not come out
  as the proof wants it (a red cell that is not red), and is an error if it cannot be believed.

So the file is all green exactly if every cell is as it must be. The form is the one that
Jenkins' and GitLab's readers share: properties, then cases, then output.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from backport.report import phrases
from backport.report.document import CellFacts, Report, Result, TestFacts, TestRunFacts
from backport.report.phrases import must_fail
from backport.report.text import clean, exception_line, one_line, shorten
from backport.runner.results import CellKind, Status

WHOLE_ROW = 1_000_000_000  # below all changes: no series has as many
MOST_COLUMNS = 9  # more are no picture any more
_OUTPUT = 20_000  # characters of a test's output
_TAGS = {  # of a run without tests; one without any case would be an error to Jenkins
    Result.BROKEN: "failure",
    Result.UNPROVEN: "failure",
    Result.CONFLICT: "failure",
    Result.NOT_DONE: "failure",
    Result.CANNOT_TELL: "error",
    Result.REFUSED: "error",
    Result.ALREADY_IN: "",
}


@dataclass(frozen=True)
class Placed:
    """A cell and its number within the proof, which is what links to it are made of."""

    index: int
    cell: CellFacts

    @property
    def tone(self) -> str:
        """How it should look: ``good``, ``bad``, ``warn`` or ``plain``."""
        if self.cell.problem:
            return "warn"
        if not self.cell.ok:
            return "bad"
        return "plain" if self.cell.kind is CellKind.BASE else "good"

    @property
    def figure(self) -> tuple[str, str]:
        """The number to print large, and the word for it: those of the cell's statement."""
        ran = self._sum(lambda status: status is not Status.NOT_RUN)
        if must_fail(self.cell):
            red = len(self.cell.evidence) or self._sum(lambda status: status.red)
            return f"{red:,}", f"of {ran:,} {'fails' if red == 1 else 'fail'}"
        others = self._sum(lambda status: not status.passed) - self.skipped
        if others:
            return f"{others:,}", f"of {ran + self.not_run:,} not passed"
        return f"{self._sum(lambda status: status.passed):,}", "passed"

    @property
    def skipped(self) -> int:
        """How many tests were skipped."""
        return self.cell.counts.get(Status.SKIPPED, 0)

    @property
    def not_run(self) -> int:
        """How many were asked for, and are not there."""
        return self.cell.counts.get(Status.NOT_RUN, 0)

    @property
    def shares(self) -> tuple[float, float, float]:
        """How many percent of the tests are as they must be, are not, and say neither."""
        whole = self._sum(lambda status: True) or 1
        passed = self._sum(lambda status: status.passed)
        red = self._sum(lambda status: status.red)
        # Those that must pass pass also where others must fail; only what is wanted is green.
        good, bad = (len(self.cell.evidence), 0) if must_fail(self.cell) else (passed, red)
        return 100 * good / whole, 100 * bad / whole, 100 * (whole - passed - red) / whole

    def _sum(self, which: Callable[[Status], bool]) -> int:
        return sum(number for status, number in self.cell.counts.items() if which(status))


@dataclass(frozen=True)
class Row:
    """The cells of one change's tests; one slot a column, which may hold several or none."""

    tests_of: int
    slots: tuple[tuple[Placed, ...], ...]

    @property
    def whole(self) -> bool:
        """Whether this is the row of all targeted tests, whatever change they are of."""
        return self.tests_of == WHOLE_ROW


@dataclass(frozen=True)
class Matrix:
    """The cells that ran under one interpreter."""

    interpreter: str
    columns: tuple[int, ...]
    rows: tuple[Row, ...]
    cells: tuple[Placed, ...]

    @property
    def is_picture(self) -> bool:
        """Whether it is small enough for a table with a column for each change."""
        return len(self.columns) <= MOST_COLUMNS


def matrices(cells: Sequence[CellFacts]) -> tuple[Matrix, ...]:
    """Return a matrix for each interpreter, in the order of their first cells."""
    groups: dict[tuple[str, str], list[Placed]] = {}
    for index, cell in enumerate(cells):
        groups.setdefault((cell.interpreter, cell.environment), []).append(Placed(index, cell))
    return tuple(_matrix(key[0], placed) for key, placed in groups.items())


def _matrix(interpreter: str, placed: list[Placed]) -> Matrix:
    columns = tuple(sorted({each.cell.code_of for each in placed}))
    numbers = sorted({_row_of(each.cell) for each in placed})
    rows = tuple(Row(number, _slots(placed, number, columns)) for number in numbers)
    return Matrix(interpreter, columns, rows, tuple(placed))


def _slots(
    placed: list[Placed], row: int, columns: tuple[int, ...]
) -> tuple[tuple[Placed, ...], ...]:
    return tuple(
        tuple(each for each in placed if _row_of(each.cell) == row and each.cell.code_of == column)
        for column in columns
    )


def _row_of(cell: CellFacts) -> int:
    return WHOLE_ROW if cell.kind in (CellKind.WHOLE, CellKind.TOUCHED) else cell.tests_of


@dataclass(frozen=True)
class Case:
    """A test. ``tag`` is ``failure``, ``error`` or ``skipped``; empty: it passed."""

    group: str
    name: str
    seconds: float
    tag: str = ""
    message: str = ""
    text: str = ""


@dataclass(frozen=True)
class Suite:
    """The tests of one run."""

    name: str
    seconds: float
    cases: list[Case]
    run: TestRunFacts | None = None


def suites(report: Report) -> list[Suite]:
    """Return all suites; there is always one."""
    found = [_of_run(run) for run in report.runs]
    if report.proof:
        known = frozenset(report.proof.failing_on_base)
        found += [_of_cell(cell, known) for cell in report.proof.cells]
    return found or [_lone(report)]


def _lone(report: Report) -> Suite:
    name = report.series.name if report.series else "no series"
    tag = _TAGS.get(report.result, "skipped")
    case = Case("backport", name, report.seconds, tag, one_line(report.sentence) if tag else "")
    return Suite("backport", report.seconds, [case])


def _of_run(run: TestRunFacts) -> Suite:
    return Suite(one_line(run.interpreter), run.seconds, [_plain(test) for test in run.tests], run)


def _of_cell(cell: CellFacts, known: frozenset[str]) -> Suite:
    cases = [_as_a_whole(cell), *(_of_test(cell, test, known) for test in cell.tests)]
    return Suite(one_line(f"{cell.label} {cell.interpreter}"), cell.seconds, cases, cell)


def _as_a_whole(cell: CellFacts) -> Case:
    tag = "error" if cell.problem else "" if cell.ok else "failure"
    said = clean(cell.reason)
    group, name = "backport.proof", f"{cell.label} is as it must be"
    return Case(group, name, 0.0, tag, one_line(said), "" if tag else said)


def _of_test(cell: CellFacts, test: TestFacts, known: frozenset[str]) -> Case:
    plain = _plain(test)
    if plain.tag not in ("failure", "error"):
        return plain
    if phrases.must_fail(cell) and test.status.red:
        return Case(plain.group, plain.name, plain.seconds, text=plain.text)
    if test.id in known or cell.kind is CellKind.BASE:
        return _skipped(plain, f"fails on the base too: {plain.message}")
    return _skipped(plain, f"not blamed: {plain.message}") if cell.ok else plain


def _skipped(case: Case, why: str) -> Case:
    return Case(case.group, case.name, case.seconds, "skipped", why)


def _plain(test: TestFacts) -> Case:
    group, name = phrases.splits(test.id)
    text = shorten(clean(test.detail), _OUTPUT)
    message = exception_line(test.detail) or test.status.value
    case = Case(group or "tests", name, test.seconds, text=text)
    if test.status.passed:
        return case
    if test.status in (Status.SKIPPED, Status.NOT_RUN):
        return _skipped(case, one_line(test.detail) or test.status.value)
    tag = "failure" if test.status is Status.FAILED else "error"
    return Case(case.group, name, test.seconds, tag, message, text)
