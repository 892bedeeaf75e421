"""How the rooms say what they are doing: events to a listener, never output."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Who listens while the work is done; :mod:`backport.report.terminal` has the one that draws.

    Calls may come from several threads.
    """

    def step(self, name: str, detail: str = "") -> None:
        """A step of the pipeline begins; the one before it is over."""

    def note(self, text: str) -> None:
        """Something worth a line, within the current step."""

    def update(self, detail: str, done: int = 0, total: int = 0) -> None:
        """How far the current step has come; ``total`` 0 means that nobody knows."""

    def cell_started(self, cell: str, total: int) -> None:
        """A run of ``total`` tests begins; ``cell`` is its label, such as ``green 1``."""

    def cell_test(self, cell: str, test: str, passed: bool) -> None:
        """A test has ended; one that was skipped, or not run, has not failed."""

    def cell_finished(self, cell: str, summary: str, ok: bool | None) -> None:
        """The run is over; ``ok`` says whether it came out as the proof wants it.

        None: that hangs on other cells, and is said at the end.
        """


class Silent:
    """Listens to nothing."""

    def step(self, name: str, detail: str = "") -> None:
        """Ignore the step."""

    def note(self, text: str) -> None:
        """Ignore the note."""

    def update(self, detail: str, done: int = 0, total: int = 0) -> None:
        """Ignore the update."""

    def cell_started(self, cell: str, total: int) -> None:
        """Ignore the start."""

    def cell_test(self, cell: str, test: str, passed: bool) -> None:
        """Ignore the test."""

    def cell_finished(self, cell: str, summary: str, ok: bool | None) -> None:
        """Ignore the end."""
