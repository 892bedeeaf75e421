"""Taking a fix back out of a release, as data: which lines, and which blob must come out."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LineEdit:
    """Lines ``first`` to ``last`` of the file as released (from 1) give way to ``put``.

    An insertion after line N has ``first`` N + 1 and ``last`` N.
    """

    first: int
    last: int
    put: bytes


@dataclass(frozen=True)
class RewindFile:
    """One file: the blob it must be, the edits, and the blob that must come out (None: no file)."""

    path: str
    expects: str
    yields: str | None
    edits: tuple[LineEdit, ...] = ()


@dataclass(frozen=True)
class Rewind:
    """All that is taken back, and why, in a sentence for the commit's message."""

    why: str
    files: tuple[RewindFile, ...]


def rewrite(data: bytes, edits: tuple[LineEdit, ...]) -> bytes:
    """Carry out edits that are in ascending order and do not overlap.

    :raises ValueError: an edit reaches beyond the file's end
    """
    lines = data.splitlines(keepends=True)
    out: list[bytes] = []
    at = 0
    for edit in edits:
        if edit.last > len(lines) or edit.first - 1 < at:
            raise ValueError(f"lines {edit.first}-{edit.last} of {len(lines)}")
        out += [*lines[at : edit.first - 1], edit.put]
        at = edit.last
    return b"".join([*out, *lines[at:]])
