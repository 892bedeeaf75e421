"""Lays the cells of a proof out as a table: tests of change i in rows, code of j in columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from backport.report.document import CellFacts
from backport.report.phrases import must_fail
from backport.runner.results import CellKind, Status

WHOLE_ROW = 1_000_000_000  # below all changes: no series has as many
MOST_COLUMNS = 9  # more are no picture any more


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
