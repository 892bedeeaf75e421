"""Files that the branch has under another name than the patch: by renames that git sees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from backport.apply.delta import Delta
from backport.checkout.objects import Entry
from backport.checkout.scratch import Scratch
from backport.patch.model import FilePatch

#: A file that was moved is followed where this much of it (per cent) is still the same.
SURE = 70
#: git's own threshold. Between the two a look-alike could pass for the file (a family that shares
#: licence, imports and boilerplate), so that something else has to speak for it: other files of
#: its folder went the same way, or nothing else on the branch is nearly as like it.
LIKELY = 50
#: What the next best candidate must be below for that.
FAR = 35


def find_moves(
    scratch: Scratch, tree: str, delta: Delta, files: Sequence[FilePatch]
) -> dict[str, str]:
    """Map files of the patch that ``tree`` lacks to where it has them instead.

    All of the tree that the patch was made from is needed, and so a commit that has the file
    as it was: else a file that has always been beside it, and looks alike, could pass for it.
    """
    here = scratch.entries(tree, [file.old_path for file in files if file.old_path])
    moves = {}
    for file in files:
        before = delta.sides[file.path].before if file.path in delta.sides else None
        if file.old_path != file.path or file.path in here or before is None:
            continue
        origin = _origin(scratch, delta, file.path, before)
        place = _place(scratch, origin, tree, file.path) if origin else None
        if place:
            moves[file.path] = place
    return moves


def _place(scratch: Scratch, origin: str, tree: str, path: str) -> str | None:
    """Return where ``tree`` has a file of ``origin``; None where that cannot be told."""
    sure = scratch.renamed(origin, tree, SURE).get(path)
    if sure:
        return sure
    likely = scratch.renamed(origin, tree, LIKELY)
    place = likely.get(path)
    if not place or _went_along(path, place, likely):
        return place
    without = scratch.update(tree, {place: None})
    return None if scratch.renamed(origin, without, FAR).get(path) else place


def _went_along(path: str, place: str, moves: Mapping[str, str]) -> bool:
    """Whether a file kept its name, and another of its folder moved to the same folder."""
    old, new = PurePosixPath(path), PurePosixPath(place)
    others = (
        PurePosixPath(moved).parent
        for was, moved in moves.items()
        if was != path and PurePosixPath(was).parent == old.parent
    )
    return old.name == new.name and new.parent in others


def _origin(scratch: Scratch, delta: Delta, path: str, before: Entry) -> str | None:
    """Return a commit that has the file as the patch was made from it."""
    for parent in delta.picked.parents if delta.picked else ():
        if scratch.entries(parent, [path]).get(path) == before:
            return parent
    return scratch.origin(path, before.blob)
