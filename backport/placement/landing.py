"""Where the changes of a patch are in a file that has them, told from the file before and after.

git does not say where it put a hunk. A merge may have taken only some of its changes (the base
had the others) or have joined two hunks, so it is followed change by change, not hunk by hunk.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice, takewhile

from backport.patch.model import Edit, Hunk

Lines = tuple[bytes, ...]

_CANDIDATES = 16  # places tried for one piece: a file of equal lines must not cost its square


@dataclass(frozen=True)
class Piece:
    """Adjoining lines that a hunk replaces, and its other lines as they were, above and below."""

    hunk: int  # its place among the hunks of the file
    edit: Edit  # in the file that the patch was made from
    removed: Lines
    added: Lines
    above: Lines
    below: Lines

    @property
    def all(self) -> bool:
        """Whether it is all of the file."""
        return not self.above and not self.below


@dataclass(frozen=True)
class Landing:
    """Where a piece is: the lines that it replaced in the file before, and its lines after."""

    piece: Piece
    edit: Edit

    @property
    def shift(self) -> int:
        """How many lines below the place that the patch names (negative: above)."""
        return self.edit.old.start - self.piece.edit.old.start


def split_lines(data: bytes) -> Lines:
    """Cut at line feeds and nothing else, as git does; each line keeps its own."""
    return tuple(re.findall(rb"[^\n]*\n|[^\n]+", data))


def pieces_of(hunks: Sequence[Hunk]) -> list[Piece]:
    """Take the hunks of a file apart, top down."""
    return [piece for number, hunk in enumerate(hunks) for piece in _pieces(number, hunk)]


def _pieces(number: int, hunk: Hunk) -> Iterator[Piece]:
    old, new = hunk.side(old=True), hunk.side(old=False)
    old_start = hunk.old_start + (hunk.old_count == 0)
    new_start = hunk.new_start + (hunk.new_count == 0)
    for edit in hunk.edits():
        first, last = edit.old.start - old_start, edit.old.stop - old_start
        added = new[edit.new.start - new_start : edit.new.stop - new_start]
        yield Piece(number, edit, old[first:last], added, old[:first], old[last:])


def follow(pieces: Sequence[Piece], before: Lines, after: Lines) -> list[Landing | None] | None:
    """Retrace how ``before`` became ``after``, piece by piece.

    :returns: for each piece where it landed, None where ``before`` has it already; None
        altogether where the pieces do not add up to ``after``
    """
    found: list[Landing | None] = []
    old = new = shift = 0  # how far both are read, and where the next piece is expected
    for piece in pieces:
        same = _common(before, old, after, new)
        place = _place(piece, before, after, (old, new, same), shift)
        if place is None:
            found.append(None)
            continue
        start = new + place - old
        old, new = place + len(piece.removed), start + len(piece.added)
        found.append(Landing(piece, Edit(range(place + 1, old + 1), range(start + 1, new + 1))))
        shift = place + 1 - piece.edit.old.start
    return found if before[old:] == after[new:] else None


def _place(
    piece: Piece, before: Lines, after: Lines, read: tuple[int, int, int], shift: int
) -> int | None:
    """Find the index in ``before`` at which a piece begins.

    The place that explains most of ``after`` is right; of several, the one with the hunk's
    context around it, then the one that is nearest.
    """
    old, new, same = read
    if len(before) - old == same == len(after) - new:
        return None
    best: tuple[int, int, int, int] | None = None
    for place in islice(_candidates(piece, before, after, read), _CANDIDATES):
        here, there = place + len(piece.removed), new + place - old + len(piece.added)
        reach = there + _common(before, here, after, there)
        context = _context(piece, before, place)
        # Less than new + same would explain less than that the base has it already; and a
        # merge takes no change whose neighbours have both changed.
        if reach < new + same or not (context or piece.all):
            continue
        distance = abs(place + 1 - piece.edit.old.start - shift)
        best = max(best or (-1, 0, 0, 0), (reach, context, -distance, place))
    return best[3] if best else None


def _candidates(
    piece: Piece, before: Lines, after: Lines, read: tuple[int, int, int]
) -> Iterator[int]:
    """Yield the places where a piece fits, the last first.

    It begins no later than where the two first differ; it may begin earlier, since what is
    put in may look like what follows it.
    """
    old, new, same = read
    removed, added = len(piece.removed), len(piece.added)
    for place in range(old + same, old - 1, -1):
        start = new + place - old
        if before[place : place + removed] == piece.removed and (
            after[start : start + added] == piece.added
        ):
            yield place


def _common(before: Lines, old: int, after: Lines, new: int) -> int:
    """Count the equal lines from there on."""
    most = min(len(before) - old, len(after) - new)
    return next((n for n in range(most) if before[old + n] != after[new + n]), most)


def _context(piece: Piece, before: Lines, place: int) -> int:
    """Count the lines around a place that are those around the piece in its hunk."""
    first = max(place - len(piece.above), 0)
    last = place + len(piece.removed)
    above = zip(reversed(piece.above), reversed(before[first:place]), strict=False)
    below = zip(piece.below, before[last : last + len(piece.below)], strict=False)
    return sum(
        len(list(takewhile(lambda pair: pair[0] == pair[1], pairs))) for pairs in (above, below)
    )


def edits_between(before: Lines, after: Lines) -> list[Edit]:
    """Compare two versions of a file: the changed line ranges, top down."""
    head = _common(before, 0, after, 0)
    rest = min(len(before), len(after)) - head
    tail = next((n for n in range(rest) if before[-1 - n] != after[-1 - n]), rest)
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return [
        Edit(range(head + a + 1, head + b + 1), range(head + c + 1, head + d + 1))
        for tag, a, b, c, d in matcher.get_opcodes()
        if tag != "equal"
    ]
