"""Files that the branch has under another name than the patch: by renames that git sees."""

from __future__ import annotations

from collections.abc import Sequence

from backport.apply.delta import Delta
from backport.checkout.objects import Entry
from backport.checkout.scratch import Scratch
from backport.patch.model import FilePatch

#: A file that was moved is followed where this much of it (per cent) is still the same.
#: git's own 50 takes one file of a family (licence, imports, boilerplate) for another.
SIMILARITY = 70


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
        place = scratch.renamed(origin, tree, SIMILARITY).get(file.path) if origin else None
        if place:
            moves[file.path] = place
    return moves


def _origin(scratch: Scratch, delta: Delta, path: str, before: Entry) -> str | None:
    """Return a commit that has the file as the patch was made from it."""
    for parent in delta.picked.parents if delta.picked else ():
        if scratch.entries(parent, [path]).get(path) == before:
            return parent
    return scratch.origin(path, before.blob)
