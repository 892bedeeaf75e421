"""The live view: what is being done, while it is done.

Drawn where the output is a terminal (:mod:`backport.report.live`), a line per step and cell
where it is none. Both are context managers, and both may be called from several threads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Lock
from types import MappingProxyType, TracebackType

from rich.console import Console
from rich.text import Text

from backport.report.console import marks, said
from backport.report.live import LiveView, Tracker
from backport.report.phrases import nickname
from backport.report.text import seconds

Clock = Callable[[], float]  # seconds, such as time.monotonic
NAMED_FAILURES = 10  # of a cell, in a log; the report has them all


class LineView:
    """One line per step, failing test and cell, each written out at once: for logs and pipes."""

    def __init__(self, console: Console, clock: Clock) -> None:
        self._console = console
        self._tracker = Tracker(clock)
        self._signs = marks(console)
        self._lock = Lock()

    def __enter__(self) -> LineView:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is not None:
            for cell in self._tracker.running():
                self._line(2, f"{self._signs.cross} {cell.label}: stopped at {cell.progress}")

    def step(self, name: str, detail: str = "") -> None:
        """Say what begins."""
        self._line(0, f"{self._signs.bullet} {name}" + (f": {detail}" if detail else ""))

    def note(self, text: str) -> None:
        """Say it, indented."""
        self._line(4, text)

    def update(self, detail: str, done: int = 0, total: int = 0) -> None:
        """Keep quiet: a log is no place for how far it has come."""

    def cell_started(self, cell: str, total: int) -> None:
        """Take the time."""
        with self._lock:
            self._tracker.start(cell, total)

    def cell_test(self, cell: str, test: str, passed: bool) -> None:
        """Name the first tests that fail."""
        with self._lock:
            now = self._tracker.test(cell, test, passed)
            number = now.failed
        if passed or number > NAMED_FAILURES:
            return
        more = " (further ones are in the report)" if number == NAMED_FAILURES else ""
        self._line(4, f"{cell} fails: {nickname(test)}{more}")

    def cell_finished(self, cell: str, summary: str, ok: bool | None) -> None:
        """Say how it came out, and how long it took."""
        with self._lock:
            took = self._tracker.finish(cell)
        self._line(2, f"{self._signs.verdict(ok)} {cell}: {summary} ({seconds(took)})")

    def _line(self, indent: int, text: str) -> None:
        line = Text.assemble(" " * indent, said(text, self._console))
        # Soft wrap: in a log a line stays a line, whatever width is guessed for a pipe.
        self._console.print(line, soft_wrap=True, highlight=False)
        self._console.file.flush()


def progress_view(
    console: Console, clock: Clock, past: Mapping[str, float] = MappingProxyType({})
) -> LiveView | LineView:
    """Return the view that suits the console; to be used in a ``with`` statement.

    :param clock: seconds that only grow, such as ``time.monotonic``
    :param past: how many seconds the cells took before, by label, for the time that is left
    """
    if console.is_terminal and not console.is_dumb_terminal:
        return LiveView(console, clock, past)
    return LineView(console, clock)
