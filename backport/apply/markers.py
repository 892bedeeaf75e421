"""Conflict markers: written where git has none to offer, and found again in what a person edits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from backport.patch.model import Hunk

OURS, BASE, MIDDLE, THEIRS = b"<" * 7, b"|" * 7, b"=" * 7, b">" * 7

_MARKER = re.compile(rb"(<{7}|\|{7}|={7}|>{7})( .*)?\r?\n?")


@dataclass(frozen=True)
class Marked:
    """One place with markers: its first and last line (from 1), and what either side has there."""

    line: int
    ours: bytes
    base: bytes | None
    theirs: bytes
    last: int = 0


def mark_hunks(data: bytes, hunks: Sequence[Hunk]) -> bytes:
    """Put each hunk that would not go in between markers, at the place where the patch wants it.

    For files whose pre-image is not known, so that git has nothing to merge.
    """
    lines = data.splitlines(keepends=True)
    for hunk in sorted(hunks, key=lambda hunk: hunk.old_start, reverse=True):
        start = min(max(hunk.old_start - 1, 0), len(lines))
        end = min(start + hunk.old_count, len(lines))
        lines[start:end] = [
            OURS + b" branch\n",
            *_ended(lines[start:end]),
            BASE + b" the patch's own base\n",
            *_ended(hunk.side(old=True)),
            MIDDLE + b"\n",
            *_ended(hunk.side(old=False)),
            THEIRS + b" change\n",
        ]
    return b"".join(lines)


def _ended(lines: Iterable[bytes]) -> Iterator[bytes]:
    return (line if line.endswith(b"\n") else line + b"\n" for line in lines)


def leftover_markers(data: bytes) -> list[int]:
    """List the lines (from 1) that are markers still.

    A row of seven ``=`` alone is none: it underlines titles in reStructuredText.
    """
    return [
        number
        for number, line in enumerate(data.splitlines(keepends=True), 1)
        if _MARKER.fullmatch(line) and line[:7] != MIDDLE
    ]


def marked_side(data: bytes, base: bool) -> bytes:
    """Return a file as :func:`mark_hunks` has made it with what the hunks replace, or put."""
    lines, rest = data.splitlines(keepends=True), 0
    found: list[bytes] = []
    for place in find_marked(data):
        found += lines[rest : place.line - 1]
        found.append((place.base or b"") if base else place.theirs)
        sides = (place.ours, place.base or b"", place.theirs)
        rest = place.line + sum(side.count(b"\n") for side in sides) + 3
    return b"".join([*found, *lines[rest:]])


def find_marked(data: bytes) -> list[Marked]:
    """Read the places with markers: what a person still has to decide."""
    found: list[Marked] = []
    start, sides, at = 0, {OURS: b"", BASE: b"", THEIRS: b""}, b""
    seen_base = False
    for number, line in enumerate(data.splitlines(keepends=True), 1):
        marker = line[:7] if _MARKER.fullmatch(line) else b""
        if marker == OURS and not at:
            start, sides, at, seen_base = number, dict.fromkeys(sides, b""), OURS, False
        elif marker == BASE and at == OURS:
            at, seen_base = BASE, True
        elif marker == MIDDLE and at in (OURS, BASE) and at:
            at = THEIRS
        elif marker == THEIRS and at == THEIRS:
            base = sides[BASE] if seen_base else None
            found.append(Marked(start, sides[OURS], base, sides[THEIRS], number))
            at = b""
        elif at:
            sides[at] += line
    return found
