"""Signs and text on any console: without UTF-8, without colours, narrow, dumb, or a pipe."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from backport.report.document import NextStep
from backport.report.text import clean

WIDEST = 100  # columns; longer lines are hard to read
_MARGIN = 9  # columns for labels: the longest is "conflict"

_PLAIN_SIGNS = str.maketrans(
    {"…": "...", "−": "-", "–": "-", "—": "-", "→": "->", "·": "-", "’": "'", "“": '"', "”": '"'}
)
STYLES = {"good": "green", "bad": "red", "warn": "yellow", "plain": "dim"}


@dataclass(frozen=True)
class Marks:
    """The signs that a terminal can show."""

    tick: str
    cross: str
    caution: str
    bullet: str
    filled: str
    empty: str
    frames: str
    more: str

    @property
    def width(self) -> int:
        """How many columns a tick or a cross takes."""
        return max(len(self.tick), len(self.cross))

    def verdict(self, ok: bool | None) -> str:
        """Return the tick or the cross, or a bullet where nobody knows yet; all of one width."""
        sign = self.bullet if ok is None else self.tick if ok else self.cross
        return sign.ljust(self.width)


_SIGNS = Marks("✓", "✗", "!", "·", "━", "─", "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "…")
_ASCII_SIGNS = Marks("ok", "no", "!", "-", "#", ".", "|/-\\", "...")


def speaks_utf8(console: Console) -> bool:
    """Whether what is printed goes out as UTF-8."""
    return console.encoding.lower().replace("_", "-").startswith("utf")


def marks(console: Console) -> Marks:
    """Return the signs for this console."""
    return _SIGNS if speaks_utf8(console) else _ASCII_SIGNS


def writable(text: str, console: Console) -> str:
    """Return ``text`` such that the console's encoding can hold it; what it cannot is escaped."""
    if speaks_utf8(console):
        return text
    plain = text.translate(_PLAIN_SIGNS)
    return plain.encode(console.encoding, "backslashreplace").decode(console.encoding)


def said(text: str, console: Console, style: str = "") -> Text:
    """Return other people's text on one line, with nothing in it taken for markup or an escape."""
    line = writable(clean(text).replace("\n", " ").replace("\t", " "), console)
    return Text(line, style)


def quoted(text: str, console: Console, style: str = "") -> Text:
    """Return other people's text with its lines kept, tabs as blanks, and nothing else special."""
    return Text(writable(clean(text).expandtabs(8), console), style)


def fitted(line: Text, width: int, console: Console) -> Text:
    """Return the line cut to ``width`` columns, with a sign that it was."""
    if cell_len(line.plain) <= width:
        return line
    more = marks(console).more
    kept = set_cell_size(line.plain, max(0, width - len(more)))
    line = line.copy()
    line.right_crop(len(line.plain) - len(kept.rstrip(" ")))
    return line.append(more, "dim")


def spread(left: Text, right: Text, width: int) -> Text:
    """Return both on one line, ``right`` at its end; ``left`` alone where there is no room."""
    gap = width - cell_len(left.plain) - cell_len(right.plain)
    return Text.assemble(left, " " * gap, right) if gap >= 2 else left


def line_width(console: Console) -> int:
    """Return how many columns a line should take at most."""
    return min(console.width, WIDEST)


def bar(done: int, total: int, width: int, signs: Marks, style: str) -> Text:
    """Return a bar of ``width`` columns."""
    filled = min(width, width * done // total) if total else 0
    return Text.assemble((signs.filled * filled, style), (signs.empty * (width - filled), "dim"))


def _breaks(line: str, room: int) -> Iterable[int]:
    """Return where to break a line, between words only (rich's own wrapping breaks long words)."""
    start = 0
    for word in re.finditer(r"\S+", line):
        if word.start() > start and cell_len(line[start : word.end()]) > room:
            start = word.start()
            yield start


class Page:
    """Prints line by line: labels in a margin, what they label beside it, commands to copy.

    On a terminal rows are wrapped, between words only, so that paths, ids and hashes can be
    copied. Anywhere else a line stays a line.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._width = line_width(console)

    def gap(self) -> None:
        """Print an empty line."""
        self._console.print()

    def line(self, text: Text, indent: int = 1) -> None:
        """Print ``text``, each of its lines ``indent`` columns in."""
        for wrapped in self._wrapped(text, indent):
            self._whole(Text.assemble(" " * indent, wrapped) if wrapped.plain else wrapped)

    def section(self, label: str, rows: Sequence[Text]) -> None:
        """Print rows with a label beside the first; nothing at all where there are none."""
        if rows:
            self.gap()
        for row in rows:
            self._beside(label, row)
            label = ""

    def steps(self, steps: Iterable[NextStep], label: str = "next") -> None:
        """Print commands, each as one line, however long: so it is copied as one."""
        for number, step in enumerate(steps):
            if number == 0:
                self.gap()
            self._beside("" if number else label, said(step.why, self._console, "dim"))
            if step.command:
                self._whole(Text.assemble("   ", said(step.command, self._console, "cyan")))

    def _beside(self, label: str, row: Text) -> None:
        for wrapped in self._wrapped(row, _MARGIN + 1):
            if wrapped.plain:  # a long word after an indent leaves an empty line behind
                self._whole(Text.assemble((f" {label:<{_MARGIN}}", "dim"), wrapped))
                label = ""

    def _wrapped(self, text: Text, indent: int) -> Iterable[Text]:
        for line in text.split("\n", allow_blank=True):
            room = max(8, self._width - indent) if self._console.is_terminal else len(line)
            for part in line.divide(_breaks(line.plain, room)):
                part.rstrip()
                yield part

    def _whole(self, line: Text) -> None:
        self._console.print(line, soft_wrap=True, highlight=False)
