"""Lays the cells of a proof out as a table: tests of change i in rows, code of j in columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backport.report.document import CellFacts
from backport.report.wording import must_fail, red, total
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
        """How it should look: ``good``, ``red`` (as it must), ``bad``, ``warn`` or ``plain``."""
        if self.cell.problem:
            return "warn"
        if not self.cell.ok:
            return "bad"
        if must_fail(self.cell):
            return "red"
        return "plain" if self.cell.kind is CellKind.BASE else "good"

    @property
    def figure(self) -> tuple[str, str]:
        """The number to print large, and the word for it."""
        counts = self.cell.counts
        if must_fail(self.cell):
            return f"{red(counts):,}", f"of {total(counts):,} fail"
        passed = sum(number for status, number in counts.items() if status.passed)
        others = total(counts) - passed - self.skipped
        if others:
            return f"{others:,}", f"of {total(counts):,} not passing"
        return f"{passed:,}", "pass"

    @property
    def skipped(self) -> int:
        """How many tests were skipped."""
        return self.cell.counts.get(Status.SKIPPED, 0)

    @property
    def shares(self) -> tuple[float, float, float]:
        """How many percent of the tests passed, failed, and did neither."""
        counts = self.cell.counts
        whole = total(counts) or 1
        passed = sum(number for status, number in counts.items() if status.passed)
        failed = red(counts)
        return (
            100 * passed / whole,
            100 * failed / whole,
            100 * (total(counts) - passed - failed) / whole,
        )


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
