"""One change onto one tree: exactly where that works, else by a three-way merge; never by fuzz."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from backport.apply.conflicts import conflict_files, given
from backport.apply.delta import Delta, Sides
from backport.apply.obstacles import in_the_way
from backport.apply.outcome import ConflictFile, FileOutcome, Rung
from backport.apply.renames import find_moves
from backport.apply.rules import Resolved, resolve
from backport.checkout.objects import FOLDER, Entry, Merge
from backport.checkout.scratch import Scratch
from backport.patch.model import FileKind, FilePatch
from backport.patch.writer import render_patch
from backport.placement.tree_placement import check_homes


@dataclass(frozen=True)
class Climbed:
    """What came of it: the tree, how each file went in, and what a person has to look at."""

    tree: str
    files: tuple[FileOutcome, ...]
    conflicts: tuple[ConflictFile, ...]


@dataclass(frozen=True)
class Step:
    """What one rung achieved: the tree, the files that are in, and why the others are not.

    Reasons are only those that the sides of a file do not tell.
    """

    tree: str
    done: Mapping[str, FileOutcome]
    left: Mapping[str, tuple[str, ...]]  # path: reasons
    moves: Mapping[str, str] = field(default_factory=dict)  # where the branch has it elsewhere


#: What speaks against a resolution by rule: asked with a tree before and after, and the paths.
Doubts = Callable[[Scratch, str, str, Iterable[str]], Collection[object]]


def climb(
    scratch: Scratch,
    tree: str,
    delta: Delta,
    accept_moved: Collection[tuple[str, int]],
    doubts: Doubts | None = None,
) -> Climbed:
    """Apply a change to a tree.

    A tree that has the change already is given back as it is, without files.

    :param doubts: what makes a conflict that a rule could resolve one for a person all the same
    """
    here = scratch.entries(tree, delta.paths)
    if _is_as_made(scratch, tree, delta, here):
        return _as_made(scratch, tree, delta)
    if _is_in(scratch, tree, delta, here):
        return Climbed(tree, (), ())
    exact = _exact(scratch, tree, delta, accept_moved)
    merged = _three_way(scratch, exact, delta, accept_moved) if exact.left else exact
    if merged.left:
        ruled = _by_rules(scratch, tree, merged, delta, accept_moved)
        changed = scratch.changed_paths(tree, ruled.tree) if not ruled.left else []
        if changed and not (doubts and doubts(scratch, tree, ruled.tree, changed)):
            merged = ruled
    done = {**exact.done, **merged.done}
    files = tuple(done[file.path] for file in delta.patch.files if file.path in done)
    if not merged.left:
        return Climbed(merged.tree, files, ())
    blocked = in_the_way(scratch, exact.tree, delta.patch.files)
    conflicts = conflict_files(
        scratch, tree, merged.tree, delta, merged.left, merged.moves, set(blocked)
    )
    in_by_merge = {
        merged.moves.get(file.path, path)
        for file in delta.patch.files
        if file.path in merged.done
        for path in file.paths
    }
    entries = given(scratch, merged.tree, in_by_merge, conflicts)
    return Climbed(scratch.update(exact.tree, entries), files, conflicts)


def holds(scratch: Scratch, tree: str, delta: Delta) -> bool:
    """Whether a tree has what a change does, by its content."""
    return _is_in(scratch, tree, delta, scratch.entries(tree, delta.paths))


def _is_as_made(scratch: Scratch, tree: str, delta: Delta, here: Mapping[str, Entry]) -> bool:
    """Whether ``tree`` has the very files that the patch was made from, and room for new ones."""
    for file in delta.patch.files:
        if file.path not in delta.sides:
            return False
        if file.old_path and here.get(file.old_path) != delta.sides[file.path].before:
            return False
        if file.new_path and file.new_path != file.old_path and file.new_path in here:
            return False
    return not in_the_way(scratch, tree, delta.patch.files)


def _as_made(scratch: Scratch, tree: str, delta: Delta) -> Climbed:
    """Put in what the patch made of these files: there is nothing that could be put elsewhere."""
    files = delta.patch.files
    removed: dict[str, Entry | None] = {file.removes: None for file in files if file.removes}
    put = {file.new_path: delta.sides[file.path].after for file in files if file.new_path}
    done = tuple(FileOutcome(file.path, Rung.EXACT, as_made=file) for file in files)
    return Climbed(scratch.update(tree, removed | put), done, ())


def _is_in(scratch: Scratch, tree: str, delta: Delta, here: Mapping[str, Entry]) -> bool:
    """Whether the change can be taken back out of ``tree``, each hunk at home: then it is in.

    A file that is exactly as it was before the change settles it the other way: in a
    file that repeats itself, both directions can apply.
    """
    for file in delta.patch.files:
        sides = delta.sides.get(file.path)
        if sides and sides.before != sides.after and _equal(here, file, sides.before):
            return False
        # git apply only warns where a mode is another than the patch says (2.39.5).
        if file.new_path and file.new_mode and _mode(here, file.new_path) != file.new_mode:
            return False
    gone = [file for file in delta.patch.files if file.kind is FileKind.DELETE]
    if gone and find_moves(scratch, tree, delta, gone):
        return False  # what it deletes is still there, under another name
    back = scratch.apply(tree, delta.patch.data, delta.paths, reverse=True)
    if back.tree is None:
        return False
    homes = check_homes(scratch, back.tree, tree, delta, delta.patch.files)
    return not any(checked.wrong for checked in homes.values())


def _mode(here: Mapping[str, Entry], path: str) -> str | None:
    return here[path].mode if path in here else None


def _equal(here: Mapping[str, Entry], file: FilePatch, entry: Entry | None) -> bool:
    return here.get(file.old_path or file.path) == entry


def _exact(
    scratch: Scratch, tree: str, delta: Delta, accept_moved: Collection[tuple[str, int]]
) -> Step:
    """Apply the patch as it is; where that fails as a whole, file by file."""
    left: dict[str, tuple[str, ...]] = {
        path: (why,) for path, why in in_the_way(scratch, tree, delta.patch.files).items()
    }
    after = scratch.apply(tree, delta.patch.data, delta.paths).tree if not left else None
    if after is None:
        after, left = _each(scratch, tree, delta.patch.files, left)
    applied = [file for file in delta.patch.files if file.path not in left]
    homes = check_homes(scratch, tree, after, delta, applied, accept_moved)
    done = {
        path: FileOutcome(path, Rung.EXACT, checked.hunks)
        for path, checked in homes.items()
        if not checked.wrong
    }
    wrong = {path: checked.wrong for path, checked in homes.items() if checked.wrong}
    # Somewhere else than wanted, and not where a merge puts it: let the merge say so.
    moved = {
        path: ()
        for path, outcome in done.items()
        if path in delta.sides and any(hunk.offset for hunk in outcome.hunks)
    }
    return _set_aside(scratch, tree, after, delta, done, left | wrong, moved)


def _each(
    scratch: Scratch, tree: str, files: Sequence[FilePatch], left: dict[str, tuple[str, ...]]
) -> tuple[str, dict[str, tuple[str, ...]]]:
    """Apply a patch file by file, each to the tree as it was: a copy is of what its source was.

    :param left: files that are not tried, and why
    :returns: the tree with those that went in, and why the others did not
    """
    left, removed, put = dict(left), dict[str, Entry | None](), dict[str, Entry | None]()
    for file in files:
        if file.path in left:
            continue
        one = scratch.apply(tree, render_patch([file]), file.paths)
        if one.tree is None:
            left[file.path] = ()
            continue
        if file.removes:
            removed[file.removes] = None
        if file.new_path:
            put[file.new_path] = scratch.entries(one.tree, [file.new_path])[file.new_path]
    return scratch.update(tree, removed | put), left


def _set_aside(
    scratch: Scratch,
    tree: str,
    after: str,
    delta: Delta,
    done: Mapping[str, FileOutcome],
    left: Mapping[str, tuple[str, ...]],
    moved: Collection[str],
) -> Step:
    """Take the files that are not rightly in out of the tree again."""
    doubtful = [path for path in moved if _merges_otherwise(scratch, tree, after, delta, path)]
    reason = ("it fits in more than one place: a three-way merge puts it elsewhere",)
    left = {**left, **dict.fromkeys(doubtful, reason)}
    if not left:
        return Step(after, done, {})
    paths: set[str] = set()
    files = list(delta.patch.files)
    # Where two files change places, one goes with the other.
    while back := [file for file in files if file.path in left or paths & _writes(file)]:
        files = [file for file in files if file not in back]
        paths.update(*map(_writes, back))
        left |= {file.path: () for file in back if file.path not in left}
    here = scratch.entries(tree, paths)
    before = {path: entry for path, entry in here.items() if entry.mode != FOLDER}
    tree = scratch.update(after, dict.fromkeys(paths) | before)
    return Step(tree, {path: how for path, how in done.items() if path not in left}, left)


def _writes(file: FilePatch) -> set[str]:
    return {path for path in (file.removes, file.new_path) if path}


def _merges_otherwise(scratch: Scratch, tree: str, after: str, delta: Delta, path: str) -> bool:
    file = next(file for file in delta.patch.files if file.path == path)
    merge = _merge(scratch, tree, [(file, delta.sides[path])], {})
    result = scratch.entries(merge.tree, [path])
    return not merge.conflicts and result != scratch.entries(after, [path])


def _three_way(
    scratch: Scratch, exact: Step, delta: Delta, accept_moved: Collection[tuple[str, int]]
) -> Step:
    """Merge the files that are left, from the blobs that the patch was made from."""
    files = [file for file in delta.patch.files if file.path in exact.left]
    blocked = in_the_way(scratch, exact.tree, files)
    unmerged = {path: (why,) for path, why in blocked.items()} | {
        file.path: (*exact.left[file.path], _unknown(file) + scratch.why_missing)
        for file in files
        if file.path not in delta.sides and file.path not in blocked
    }
    known = [(file, delta.sides[file.path]) for file in files if file.path not in unmerged]
    if not known:
        return Step(exact.tree, {}, unmerged)
    moves = find_moves(scratch, exact.tree, delta, [file for file, _ in known])
    merge = _merge(scratch, exact.tree, known, moves)
    merged = [
        file for file, _ in known if not {file.path, moves.get(file.path)} & {*merge.conflicts}
    ]
    homes = check_homes(scratch, exact.tree, merge.tree, delta, merged, accept_moved, moves)
    done, left = {}, unmerged
    for file, _ in known:
        checked = homes.get(file.path)
        path = moves.get(file.path, file.path)
        if checked and not checked.wrong:
            rung = Rung.RENAMED if file.path in moves else Rung.THREE_WAY
            origin = file.path if file.path in moves else None
            done[file.path] = FileOutcome(path, rung, checked.hunks, origin)
        else:
            left[path] = checked.wrong if checked else exact.left[file.path]
    return Step(merge.tree, done, left, moves)


def _by_rules(
    scratch: Scratch,
    tree: str,
    merged: Step,
    delta: Delta,
    accept_moved: Collection[tuple[str, int]],
) -> Step:
    """Resolve what is left by rules: all of it, each hunk at home, or nothing."""
    files = [file for file in delta.patch.files if file.path in merged.left and file.hunks]
    here = scratch.entries(tree, [file.path for file in files])
    put: dict[str, Entry | None] = {}
    how: dict[str, tuple[str, ...]] = {}
    for file in files:
        sides, entry = delta.sides.get(file.path), here.get(file.path)
        if not (sides and entry and entry.mode.startswith("100")) or file.old_path != file.path:
            return merged
        resolved = _resolved(scratch, merged.tree, file.path, sides, entry)
        if resolved is None:
            return merged
        put[file.path] = Entry(entry.mode, scratch.write_blob(resolved.data))
        how[file.path] = resolved.rules
    if not merged.left.keys() <= how.keys():
        return merged
    after = scratch.update(merged.tree, put)
    homes = check_homes(scratch, tree, after, delta, files, accept_moved)
    if any(checked.wrong for checked in homes.values()):
        return merged
    done = {
        path: FileOutcome(path, Rung.RULE, homes[path].hunks, rules=rules)
        for path, rules in how.items()
    }
    return Step(after, {**merged.done, **done}, {})


def _resolved(
    scratch: Scratch, merged: str, path: str, sides: Sides, here: Entry
) -> Resolved | None:
    """Resolve a file as git merge-tree has merged it, or else as git merge-file does.

    One of which the mode is in conflict, or that is no text, is nothing for a rule.
    """
    before, after = sides.before, sides.after
    if not before or not after or before.mode != after.mode:
        return None
    base, ours, theirs = (scratch.blob(entry.blob) for entry in (before, here, after))
    if b"\0" in base + ours + theirs:
        return None
    made = scratch.file(merged, path) or b""
    return resolve(path, made, ours, theirs) or resolve(
        path, scratch.merge_file(base, ours, theirs), ours, theirs, clean=True
    )


def _unknown(file: FilePatch) -> str:
    if not file.old_blob:
        return (
            "the patch names no blob that it was made from, so that there is nothing to merge with"
        )
    return f"blob {file.old_blob[:12]}, which it was made from, is not in the checkout"


def _merge(
    scratch: Scratch,
    tree: str,
    known: Sequence[tuple[FilePatch, Sides]],
    moves: Mapping[str, str],
) -> Merge:
    """Merge ``tree`` with what the patch does, as if it had been made on this very tree.

    All files but these are the same on all sides, so that no other can be drawn in.
    """
    befores: dict[str, Entry | None] = {}
    afters: dict[str, Entry | None] = {}
    for file, sides in known:
        if file.old_path and file.kind is not FileKind.COPY:
            befores[moves.get(file.path, file.old_path)] = sides.before
        if file.new_path:
            afters[moves.get(file.path, file.new_path)] = sides.after
    # What one side has and the other has not comes first: files may have changed places.
    base = scratch.update(tree, dict.fromkeys(afters) | befores)
    theirs = scratch.update(tree, dict.fromkeys(befores) | afters)
    return scratch.merge(base, tree, theirs)
