"""A change as the engine sees it: a patch, and the files that it was made from, where known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from backport.checkout.objects import Commit, Entry
from backport.checkout.scratch import Scratch
from backport.errors import UsageError
from backport.series.model import Change
from backport.series.patch import parse_diff, parse_patch
from backport.series.patch_model import Patch
from backport.series.patch_write import render_patch


@dataclass(frozen=True)
class Sides:
    """A file as it was when the patch was made, and as the patch leaves it; None: not there."""

    before: Entry | None
    after: Entry | None


@dataclass(frozen=True)
class Delta:
    """What a change does.

    :param sides: by a file's :attr:`~backport.series.patch_model.FilePatch.path`; lacks the
        files whose blobs are not in the checkout: they can only be applied exactly
    :param before: a tree with the old sides (for a pick: its parent's, whole)
    """

    change: Change
    patch: Patch
    sides: Mapping[str, Sides]
    before: str
    picked: Commit | None = None  # where the change comes from a commit

    @property
    def paths(self) -> tuple[str, ...]:
        """All paths that the patch names, old and new."""
        names = (name for file in self.patch.files for name in (file.old_path, file.new_path))
        return tuple(dict.fromkeys(name for name in names if name))


def make_delta(scratch: Scratch, change: Change) -> Delta:
    """Look up what a change was made from.

    :raises UsageError: its commit is not in the checkout, or is a merge or a root; its patch
        contradicts the blobs that it names
    """
    picked = _picked(scratch, change) if change.commit else None
    if not change.patch and not picked:
        nothing = scratch.update(None, {})
        return Delta(change, Patch(b"", ()), {}, nothing)
    if change.patch is not None:
        patch = parse_patch(change.patch, change.patch_file or Path(f"change {change.number}"))
        before, after = _trees(scratch, patch, change)
    else:
        assert picked is not None  # the manifest sees to it that a change has one or the other
        before, after = scratch.tree(picked.parents[0]), picked.tree
        patch = parse_diff(scratch.diff(before, after), Path(picked.id[:12]))
    return Delta(change, patch, _sides(scratch, patch, before, after), before, picked)


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


def _sides(scratch: Scratch, patch: Patch, before: str, after: str) -> dict[str, Sides]:
    """Look both sides up: in the trees that are known to hold them."""
    old = scratch.entries(before, [file.old_path for file in patch.files if file.old_path])
    new = scratch.entries(after, [file.new_path for file in patch.files if file.new_path])
    return {
        file.path: Sides(old.get(file.old_path or ""), new.get(file.new_path or ""))
        for file in patch.files
        if (file.old_path is None or file.old_path in old)
        and (file.new_path is None or file.new_path in new)
    }


def _picked(scratch: Scratch, change: Change) -> Commit:
    found = scratch.resolve(change.commit or "")
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
    return commit


def _trees(scratch: Scratch, patch: Patch, change: Change) -> tuple[str, str]:
    """Make the trees before and after out of the blobs that the patch names, and that are here."""
    entries: dict[str, Entry | None] = {}
    known = []
    blobs = scratch.full_ids(file.old_blob for file in patch.files if file.old_blob)
    for file in patch.files:
        blob = blobs.get(file.old_blob or "")
        if file.old_path and blob:
            entries[file.old_path] = Entry(file.old_mode or file.new_mode or "100644", blob)
        if blob or not file.old_path:
            known.append(file)
    before = scratch.update(None, entries)
    if not known:
        return before, before
    done = scratch.apply(before, render_patch(known))
    if done.tree is None:
        raise UsageError(
            f"{_place(change)}: the patch does not fit the blobs that its index lines name: "
            + "; ".join(done.complaints),
            "Make it again with git diff --full-index; it was edited by hand, or damaged.",
        )
    return before, done.tree


def _place(change: Change) -> str:
    file, line = change.source
    return f"{file}:{line}" if line else str(file)
