"""Hunks into the very file that they were made from: there is nothing to look for."""

from __future__ import annotations

from collections.abc import Sequence

from backport.patch.model import Hunk
from backport.placement.landing import split_lines


def splice(before: bytes, hunks: Sequence[Hunk]) -> bytes | None:
    """Return the file after its hunks; None where git apply has to say what they mean.

    Each must be at the very lines that it names, on both sides. One without context below is
    the end of the file, as to git (apply.c, ``match_end``).
    """
    lines = split_lines(before)
    after: list[bytes] = []
    done = 0  # lines of the file before
    for hunk in hunks:
        old, new = hunk.side(old=True), hunk.side(old=False)
        # Where a count is 0, the start is the line before.
        start = hunk.old_start - (1 if hunk.old_count else 0)
        after += lines[done:start]
        there = hunk.new_start - (1 if hunk.new_count else 0)
        if start < done or len(after) != there or lines[start : start + len(old)] != old:
            return None
        after += new
        done = start + len(old)
        if done < len(lines) and not (hunk.trailing and new[-1].endswith(b"\n")):
            return None
    return b"".join([*after, *lines[done:]])
