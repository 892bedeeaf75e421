"""Signs and text for any terminal: without UTF-8, without colours, narrow or dumb."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from backport.report.text import clean

WIDEST = 100  # columns; longer lines are hard to read

_PLAIN_SIGNS = str.maketrans(
    {"…": "...", "−": "-", "–": "-", "—": "-", "→": "->", "·": "-", "’": "'", "“": '"', "”": '"'}
)
STYLES = {"good": "green", "red": "green", "bad": "red", "warn": "yellow", "plain": "dim"}


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
