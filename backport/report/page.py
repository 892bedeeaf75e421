"""Lays text out on a terminal: labels in a margin, what they label beside it, commands to copy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.text import Text

from backport.report.document import NextStep
from backport.report.marks import line_width, said

_MARGIN = 9  # columns for labels: the longest is "conflict"
_LONG_COMMAND = 240  # characters; nobody types longer ones


class Page:
    """Prints line by line. Rows are wrapped beside the margin; no line ends in blanks."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._width = line_width(console)

    def gap(self) -> None:
        """Print an empty line."""
        self._console.print()

    def line(self, text: Text, indent: int = 1) -> None:
        """Print ``text``, wrapped, each of its lines ``indent`` columns in."""
        room = max(8, self._width - indent)
        for wrapped in text.wrap(self._console, room, overflow="fold"):
            wrapped.rstrip()
            self._whole(Text.assemble(" " * indent, wrapped) if wrapped.plain else wrapped)

    def section(self, label: str, rows: Sequence[Text]) -> None:
        """Print rows with a label beside the first; nothing at all where there are none."""
        if rows:
            self.gap()
        for row in rows:
            self._beside(label, row)
            label = ""

    def steps(self, steps: Iterable[NextStep], label: str = "next") -> None:
        """Print commands; the terminal wraps a long one, so that it is copied as one line."""
        for number, step in enumerate(steps):
            if number == 0:
                self.gap()
            self._beside("" if number else label, said(step.why, self._console, "dim"))
            if len(step.command) > _LONG_COMMAND:
                command = Text("the command is in the report", "dim")
            else:
                command = said(step.command, self._console, "cyan")
            self._whole(Text.assemble(" " * (_MARGIN + 1 if self._width >= 60 else 1), command))

    def _beside(self, label: str, row: Text) -> None:
        for wrapped in row.wrap(self._console, max(8, self._width - _MARGIN - 1), overflow="fold"):
            wrapped.rstrip()
            if wrapped.plain:  # a long word after an indent leaves an empty line behind
                self._whole(Text.assemble((f" {label:<{_MARGIN}}", "dim"), wrapped))
                label = ""

    def _whole(self, line: Text) -> None:
        self._console.print(line, soft_wrap=True, highlight=False)
