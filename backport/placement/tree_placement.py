"""Placement for trees: every hunk of a change, in the files as git has them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from backport.apply.delta import Delta, Sides
from backport.apply.outcome import AppliedChange, FileOutcome, HunkPlacement, Outcome
from backport.checkout.scratch import Scratch
from backport.kept import digest, read_checked, write_checked
from backport.patch.model import GITLINK, FilePatch
from backport.placement.check import Placed, Versions, homes_unmoved, place_hunks, unmoved

#: Goes into the key of kept homes: another way to find them finds others.
_HOMES = "1"


@dataclass(frozen=True)
class Checked:
    """The hunks of a file where they landed, and what is wrong with those that are not at home."""

    hunks: tuple[HunkPlacement, ...] = ()
    wrong: tuple[str, ...] = ()


def check_homes(
    scratch: Scratch,
    before: str,
    after: str,
    delta: Delta,
    files: Iterable[FilePatch],
    accept_moved: Collection[tuple[str, int]] = (),
    moves: Mapping[str, str] | None = None,
) -> dict[str, Checked]:
    """Check the files of a change that went from the tree ``before`` to the tree ``after``.

    :param accept_moved: ``(path, line)`` of hunks that may land in another home
    :param moves: where the trees have a file under another path than the patch
    """
    files, moves = list(files), moves or {}
    old_names = {file.path: moves.get(file.path, file.old_path or file.path) for file in files}
    new_names = {file.path: moves.get(file.path, file.path) for file in files}
    old = scratch.entries(before, set(old_names.values()))
    new = scratch.entries(after, set(new_names.values()))
    here = {
        file.path: Sides(old.get(old_names[file.path]), new.get(new_names[file.path]))
        for file in files
    }
    read = _reader(scratch, [*here.values(), *delta.sides.values()])
    return {
        file.path: _check(
            file, read(here[file.path]), read(delta.sides.get(file.path)), accept_moved
        )
        for file in files
    }


def name_homes(scratch: Scratch, outcome: Outcome, kept: Path) -> Outcome:
    """Add the placements of hunks that stayed where they were made: people ask for them.

    :param kept: the folder for the homes, so that a second run need not read the sources again
    """
    found = {
        (number, file.path): file.as_made
        for number, change in enumerate(outcome.applied)
        for file in change.files
        if file.as_made
    }
    trees = [(scratch.tree(change.parent), change.tree) for change in outcome.applied]
    place = kept / f"{digest(_HOMES, sys.version, repr(trees), repr(found))}.json"
    homes = read_checked(place)
    if homes is None:
        homes = [
            _homes(scratch, outcome.applied[number], made) for (number, _), made in found.items()
        ]
        write_checked(place, homes)
    named = dict(zip(found, homes, strict=True))
    applied = (
        replace(
            change,
            files=tuple(_named(file, named.get((number, file.path), ())) for file in change.files),
        )
        for number, change in enumerate(outcome.applied)
    )
    return replace(outcome, applied=tuple(applied))


def _homes(scratch: Scratch, change: AppliedChange, made: FilePatch) -> tuple[str, ...]:
    if made.old_path is None or made.new_path is None or not made.hunks:
        return ()  # it has one place only
    read = Versions(
        scratch.file(change.parent, made.old_path) or b"",
        scratch.file(change.commit, made.new_path) or b"",
    )
    return homes_unmoved(made.path, made.hunks, read)


def _named(file: FileOutcome, homes: Sequence[str]) -> FileOutcome:
    if file.as_made is None or not homes:
        return replace(file, as_made=None)
    hunks = zip(file.as_made.hunks, homes, strict=True)
    return replace(file, as_made=None, hunks=tuple(unmoved(*pair) for pair in hunks))


def _check(
    file: FilePatch,
    target: Versions | None,
    source: Versions | None,
    accept_moved: Collection[tuple[str, int]],
) -> Checked:
    # A file that is added or deleted as a whole has one place only; and so has a submodule.
    if not file.hunks or file.old_path is None or file.new_path is None or target is None:
        return Checked()
    placed = place_hunks(file.path, file.hunks, target, source)
    wrong = [one for one in placed if one.complaint and not _accepted(file, one, accept_moved)]
    return Checked(
        tuple(one.placement for one in placed if one.placement),
        tuple(f"the hunk {one.hunk.header} {one.complaint}{_way_past(file, one)}" for one in wrong),
    )


def _reader(
    scratch: Scratch, sides: Collection[Sides]
) -> Callable[[Sides | None], Versions | None]:
    """Read files before and after."""
    entries = (entry for one in sides for entry in (one.before, one.after))
    blobs = {entry.blob for entry in entries if entry and entry.mode != GITLINK}
    data = {blob: scratch.blob(blob) for blob in blobs}

    def read(one: Sides | None) -> Versions | None:
        if one is None or one.before is None or one.after is None:
            return None
        if one.before.blob not in data or one.after.blob not in data:
            return None
        return Versions(data[one.before.blob], data[one.after.blob])

    return read


def _accepted(file: FilePatch, placed: Placed, accept_moved: Collection[tuple[str, int]]) -> bool:
    placement = placed.placement
    return placement is not None and (file.path, placement.landed_line) in accept_moved


def _way_past(file: FilePatch, placed: Placed) -> str:
    if placed.placement is None:
        return ""
    return f" (if that is right: --accept-moved {file.path}:{placed.placement.landed_line})"
