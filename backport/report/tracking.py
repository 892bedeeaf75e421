"""How far the cells of a proof have come, for the views that show it while it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from backport.report.text import one_line
from backport.runner.results import CellKind

LATEST = 3  # failing tests of a cell that a live view names at once
_MUST_FAIL = (CellKind.RED.value, CellKind.FLIP.value)


@dataclass(frozen=True)
class CellProgress:
    """A run of tests, so far. ``started`` is the clock's reading."""

    label: str
    total: int
    started: float
    done: int = 0
    failed: int = 0
    latest: tuple[str, ...] = ()  # failing tests, the last ones

    @property
    def must_fail(self) -> bool:
        """Whether the proof wants it to fail; its label says so."""
        return self.label.partition(" ")[0] in _MUST_FAIL

    @property
    def progress(self) -> str:
        """How many tests have ended."""
        return f"{self.done}/{self.total}" if self.total else str(self.done)


class Tracker:
    """Keeps the state of all cells. The caller holds a lock."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._cells: dict[str, CellProgress] = {}

    def start(self, label: str, total: int) -> None:
        """A run begins."""
        self._cells[label] = CellProgress(label, total, self._clock())

    def test(self, label: str, test: str, passed: bool) -> CellProgress:
        """A test has ended; return how far its run is now."""
        now = self._cells.get(label) or CellProgress(label, 0, self._clock())
        now = replace(now, done=now.done + 1)
        if not passed:
            now = replace(now, failed=now.failed + 1, latest=(*now.latest, test)[-LATEST:])
        self._cells[label] = now
        return now

    def finish(self, label: str) -> float:
        """A run is over; return how many seconds it took."""
        now = self._cells.pop(label, None)
        return self._clock() - now.started if now else 0.0

    def running(self) -> tuple[CellProgress, ...]:
        """Return the runs that have begun and are not over, in the order of their beginning."""
        return tuple(self._cells.values())


def time_left(cell: CellProgress, now: float, past: float | None = None) -> float | None:
    """Return how many seconds a run may still take; None: nobody can say yet.

    By the share of its tests that have ended, and by how long it took before; the further it
    has come, the less the past counts.
    """
    elapsed = now - cell.started
    share = cell.done / cell.total if cell.total else 0.0
    by_share = elapsed * (1 - share) / share if share else None
    if past is None:
        return by_share if share >= 0.02 else None
    by_past = max(0.0, past - elapsed)
    return by_past if by_share is None else share * by_share + (1 - share) * by_past


def nickname(test: str) -> str:
    """Return a test's class and method, without the module."""
    path, bracket, scenario = one_line(test).partition("(")
    return ".".join(path.split(".")[-2:]) + bracket + scenario
