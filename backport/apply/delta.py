"""A change as the engine sees it: a patch, and the files that it was made from, where known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from backport.checkout.objects import Commit, Entry
from backport.checkout.scratch import Scratch
from backport.errors import UsageError
from backport.patch.model import FilePatch, Patch
from backport.patch.reader import parse_diff, parse_patch, patch_paths
from backport.patch.writer import render_patch
from backport.series.message import named_by
from backport.series.model import Change


@dataclass(frozen=True)
class Sides:
    """A file as it was when the patch was made, and as the patch leaves it; None: not there."""

    before: Entry | None
    after: Entry | None


@dataclass(frozen=True)
class Delta:
    """What a change does.

    :param sides: by a file's :attr:`~backport.patch.model.FilePatch.path`; lacks the
        files whose blobs are not in the checkout: they can only be applied exactly
    """

    change: Change
    patch: Patch
    sides: Mapping[str, Sides]
    picked: Commit | None = None  # where the change comes from a commit

    @property
    def paths(self) -> tuple[str, ...]:
        """All paths that the patch names, old and new."""
        return patch_paths(self.patch)


@dataclass(frozen=True)
class _Known:
    """What of a patch can be applied to the very files that it was made from."""

    change: Change
    before: Mapping[str, Entry]
    files: tuple[FilePatch, ...]


def make_deltas(scratch: Scratch, changes: Sequence[Change]) -> list[Delta]:
    """Look up what changes were made from; a change may be made from what one before it makes.

    :raises UsageError: a change's commit is not in the checkout, or is a merge or a root; its
        patch contradicts the blobs that it names
    """
    pairs = [find_picked(scratch, change) for change in changes]
    changes, picked = [change for change, _ in pairs], [commit for _, commit in pairs]
    patches = [_patch(scratch, *pair) for pair in zip(changes, picked, strict=True)]
    sides = _all_sides(scratch, changes, patches)
    return [
        Delta(change, patch, sides[number], commit)
        for number, (change, patch, commit) in enumerate(zip(changes, patches, picked, strict=True))
    ]


def _all_sides(
    scratch: Scratch, changes: Sequence[Change], patches: Sequence[Patch]
) -> dict[int, dict[str, Sides]]:
    """Make what each patch comes to, in as few rounds as one is made from what another makes."""
    sides: dict[int, dict[str, Sides]] = {}
    left = list(range(len(changes)))
    while left:
        ready = _ready(scratch, patches, left)
        known = [_known(scratch, changes[number], patches[number]) for number in ready]
        for number, one, after in zip(ready, known, _afters(scratch, known), strict=True):
            sides[number] = _sides(patches[number], one.before, after)
        left = [number for number in left if number not in sides]
    return sides


def _ready(scratch: Scratch, patches: Sequence[Patch], left: Sequence[int]) -> list[int]:
    """Choose those that wait for no file that another one makes; the first never does."""
    old = {n: {file.old_blob for file in patches[n].files if file.old_blob} for n in left}
    here = scratch.full_ids({blob for blobs in old.values() for blob in blobs})
    ready, made = [], set[str]()
    for number in left:
        # One may name a blob by more digits than the other.
        if not made & {blob[:7] for blob in old[number] if blob not in here}:
            ready.append(number)
        made |= {file.new_blob[:7] for file in patches[number].files if file.new_blob}
    return ready


def _patch(scratch: Scratch, change: Change, picked: Commit | None) -> Patch:
    if not change.patch and not picked:
        return Patch(b"", ())
    if change.patch is not None:
        return parse_patch(change.patch, change.patch_file or Path(f"change {change.number}"))
    assert picked is not None  # the manifest sees to it that a change has one or the other
    return parse_diff(scratch.diff(picked.parents[0], picked.id), Path(picked.id[:12]))


def bring_sources(scratch: Scratch, changes: Sequence[Change]) -> None:
    """Fetch what changes were made from, all at once, where the checkout is a partial clone."""
    if scratch.promisor is None:
        return
    commits = [found for change in changes if (found := scratch.resolve(change.commit or ""))]
    parents = [parent for commit in commits for parent in scratch.commit(commit).parents]
    if commits:
        scratch.promisor.bring(scratch.folder, [*commits, *parents])
    patches = [
        parse_patch(change.patch, change.patch_file or Path()) for change in changes if change.patch
    ]
    blobs = [file.old_blob for patch in patches for file in patch.files if file.old_blob]
    # Shortened ids are nothing that a remote can be asked for.
    scratch.promisor.bring_files(scratch.folder, [one for one in blobs if len(one) in (40, 64)])


def _sides(
    patch: Patch, before: Mapping[str, Entry], after: Mapping[str, Entry]
) -> dict[str, Sides]:
    return {
        file.path: Sides(before.get(file.old_path or ""), after.get(file.new_path or ""))
        for file in patch.files
        if (file.old_path is None or file.old_path in before)
        and (file.new_path is None or file.new_path in after)
    }


def find_picked(scratch: Scratch, change: Change) -> tuple[Change, Commit | None]:
    """Find the commit that a change is picked from, if it is; from it are subject and Change-Id.

    :raises UsageError: it is not in the checkout, or is a merge or a root
    """
    if not change.commit:
        return change, None
    found = scratch.resolve(change.commit)
    if not found:
        raise UsageError(
            f"{_place(change)}: commit {change.commit} is not in the checkout"
            + scratch.why_missing,
            "Fetch the branch that it is on, or give the change as a patch.",
        )
    commit = scratch.commit(found)
    if len(commit.parents) != 1:
        what = "a merge" if commit.parents else "the first commit of its history"
        raise UsageError(
            f"{_place(change)}: commit {found[:12]} is {what}, and cannot be picked",
            "Pick the commits that were merged, one change each.",
        )
    if not scratch.resolve(commit.parents[0]):
        raise UsageError(
            f"{_place(change)}: the parent of commit {found[:12]} is not in the checkout"
            + scratch.why_missing,
            "Fetch more of the history, or give the change as a patch.",
        )
    return named_by(change, commit.message), commit


def _known(scratch: Scratch, change: Change, patch: Patch) -> _Known:
    """Find the blobs that the patch names, and that are here."""
    blobs = scratch.full_ids(file.old_blob for file in patch.files if file.old_blob)
    before = {
        file.old_path: Entry(file.old_mode or file.new_mode or "100644", blobs[file.old_blob or ""])
        for file in patch.files
        if file.old_path and file.old_blob in blobs
    }
    files = [file for file in patch.files if not file.old_path or file.old_blob in blobs]
    return _Known(change, before, tuple(files))


def _afters(scratch: Scratch, known: Sequence[_Known]) -> list[Mapping[str, Entry]]:
    """Let git apply them, each change's files in a folder of their own, in one go."""
    before = {
        f"{number}/{path}": entry
        for number, one in enumerate(known)
        for path, entry in one.before.items()
    }
    files = [_within(f"{n}/", file) for n, one in enumerate(known) for file in one.files]
    after, _ = scratch.patched(before, render_patch(files)) if files else ({}, ())
    if after is None:
        return [_after(scratch, one) for one in known]  # one of them does not fit: say which
    parted: list[dict[str, Entry]] = [{} for _ in known]
    for path, entry in after.items():
        number, _, rest = path.partition("/")
        parted[int(number)][rest] = entry
    return list(parted)


def _within(folder: str, file: FilePatch) -> FilePatch:
    return replace(
        file,
        old_path=file.old_path and folder + file.old_path,
        new_path=file.new_path and folder + file.new_path,
    )


def _after(scratch: Scratch, known: _Known) -> Mapping[str, Entry]:
    patch = render_patch(known.files)
    after, complaints = scratch.patched(known.before, patch) if patch else ({}, ())
    if after is None:
        raise UsageError(
            f"{_place(known.change)}: the patch does not fit the blobs that its index lines name: "
            + "; ".join(complaints),
            "Make it again with git diff --full-index; it was edited by hand, or damaged.",
        )
    return after


def _place(change: Change) -> str:
    file, line = change.source
    return f"{file}:{line}" if line else str(file)
