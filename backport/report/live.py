"""What is being done, drawn into a terminal: finished steps above, what runs below, redrawn.

Two locks, so that no thread ever waits for another that waits for it: ``_events`` is held
by whoever reports something (and may print), ``_state`` only while values are read or
written. Rich's refresh thread holds rich's own lock when it asks for the picture; it takes
``_state`` then, and nobody who holds ``_state`` prints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from threading import Lock, RLock
from types import MappingProxyType, TracebackType

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.text import Text

from backport.report.console import bar, fitted, line_width, marks, said, spread
from backport.report.phrases import nickname, splits
from backport.report.text import plural, seconds
from backport.runner.results import CellKind

_REDRAWS = 10  # a second
_NARROW = 60  # columns; below, what is not needed gives way
_NAMES = 13  # columns for the names of steps
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


@dataclass(frozen=True)
class _Step:
    name: str
    detail: str
    started: float
    done: int = 0
    total: int = 0
    notes: tuple[str, ...] = ()
    opened: bool = False  # its line stands above already, since cells are listed below it


class LiveView:
    """A progress that draws; a context manager that gives the terminal back as it was."""

    def __init__(
        self,
        console: Console,
        clock: Callable[[], float],
        past: Mapping[str, float] = MappingProxyType({}),
    ) -> None:
        self._console = console
        self._clock = clock
        self._past = past
        self._signs = marks(console)
        self._names = _NAMES if console.width >= _NARROW else 0
        self._tracker = Tracker(clock)
        self._step: _Step | None = None
        self._events = RLock()
        self._state = Lock()
        self._live = Live(
            self,
            console=console,
            refresh_per_second=_REDRAWS,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def __enter__(self) -> LiveView:
        self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            with self._events:
                self._end_step(ok=error is None)
        finally:
            self._live.stop()

    def step(self, name: str, detail: str = "") -> None:
        """End the step before, and begin this one."""
        with self._events:
            self._end_step(ok=True)
            self._set(_Step(name, detail, self._clock()))

    def note(self, text: str) -> None:
        """Keep the note below its step."""
        with self._events:
            step = self._step
            if step is None or step.opened:
                self._print(self._noted(text))
            else:
                self._set(replace(step, notes=(*step.notes, text)))

    def update(self, detail: str, done: int = 0, total: int = 0) -> None:
        """Show how far the step has come."""
        with self._events:
            if self._step:
                self._set(replace(self._step, detail=detail, done=done, total=total))

    def cell_started(self, cell: str, total: int) -> None:
        """Give the cell a row."""
        with self._events:
            self._open_step()
            with self._state:
                self._tracker.start(cell, total)

    def cell_test(self, cell: str, test: str, passed: bool) -> None:
        """Count the test in its cell's row; name it if it fails."""
        with self._events, self._state:
            self._tracker.test(cell, test, passed)

    def cell_finished(self, cell: str, summary: str, ok: bool | None) -> None:
        """Turn the cell's row into a line that stays."""
        with self._events:
            with self._state:
                took = self._tracker.finish(cell)
            words = Text.assemble(
                (f"  {self._signs.verdict(ok)} ", "bold red" if ok is False else "green"),
                said(f"{cell:<9}", self._console, "bold"),
                "  ",
                said(summary, self._console),
            )
            self._print(spread(words, Text(seconds(took), "dim"), line_width(self._console)))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw what is going on now."""
        with self._state:
            step, cells = self._step, self._tracker.running()
        width, now = min(options.max_width, line_width(console)), self._clock()
        room = max(1, options.size.height - 2)
        lines = [*self._running_step(step, now, width)]
        for cell in cells:
            lines.extend(self._running_cell(cell, now, width))
        for line in lines[:room]:
            yield fitted(line, width, console)

    def _set(self, step: _Step | None) -> None:
        with self._state:
            self._step = step

    def _print(self, line: Text) -> None:
        self._console.print(line, highlight=False)

    def _open_step(self) -> None:
        step = self._step
        if step and not step.opened:
            self._set(replace(step, opened=True, notes=()))
            self._print(self._titled(step, self._signs.bullet.ljust(self._signs.width), "dim"))
            self._print_notes(step)

    def _end_step(self, ok: bool) -> None:
        with self._state:
            step, cells = self._step, self._tracker.running()
            self._step = None
            for cell in cells:
                self._tracker.finish(cell.label)
        for cell in cells:
            stopped = f"  {self._signs.verdict(False)} {cell.label}: stopped at {cell.progress}"
            self._print(said(stopped, self._console, "red"))
        if step and not (step.opened and ok):
            took = Text(seconds(self._clock() - step.started), "dim")
            title = self._titled(step, self._signs.verdict(ok), "green" if ok else "bold red")
            self._print(spread(title, took, line_width(self._console)))
            self._print_notes(step)

    def _print_notes(self, step: _Step) -> None:
        for note in step.notes:
            self._print(self._noted(note))

    def _titled(self, step: _Step, sign: str, style: str) -> Text:
        return Text.assemble(
            (f"{sign} ", style),
            said(step.name, self._console, "bold"),
            " " * max(2, self._names - len(step.name)) if step.detail else "",
            said(step.detail, self._console),
        )

    def _noted(self, text: str) -> Text:
        return Text.assemble(" " * (self._signs.width + 3), said(text, self._console, "dim"))

    def _frame(self, now: float) -> str:
        frames = self._signs.frames
        return frames[int(now * _REDRAWS) % len(frames)].ljust(self._signs.width)

    def _running_step(self, step: _Step | None, now: float, width: int) -> Iterator[Text]:
        if step is None or step.opened:
            return
        title = self._titled(step, self._frame(now), "cyan")
        if step.total:
            title.append("  ")
            title.append_text(bar(step.done, step.total, 12, self._signs, "cyan"))
            title.append(f" {step.done}/{step.total}")
        yield spread(title, Text(seconds(now - step.started), "dim"), width)
        for note in step.notes:
            yield self._noted(note)

    def _running_cell(self, cell: CellProgress, now: float, width: int) -> Iterator[Text]:
        unwanted = cell.failed and not cell.must_fail
        left = time_left(cell, now, self._past.get(cell.label))
        head = Text.assemble((f"  {self._frame(now)} ", "cyan"), (f"{cell.label:<9}  ", "bold"))
        size = 24 if width >= _NARROW else max(4, width - len(head) - 10)
        head.append_text(
            bar(cell.done, cell.total, size, self._signs, "red" if unwanted else "green")
        )
        head.append(f" {cell.progress}")
        if cell.failed:
            head.append(f"  {cell.failed} failed", "red" if unwanted else "dim")
        tail = "" if left is None else f"{seconds(left)} left"
        yield spread(head, Text(tail, "dim"), width)
        for test in cell.latest:
            sign = f"      {self._signs.cross} "
            words = said(nickname(test) if width >= _NARROW else splits(test)[1], self._console)
            yield Text.assemble((sign, "red" if unwanted else "dim"), words)
        more = cell.failed - len(cell.latest)
        if more > 0:
            yield Text(f"        and {plural(more, 'more', 'more')}", "dim")
