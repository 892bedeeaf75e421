"""What did not go in, file by file: its three sides, why, and what a person is given to edit."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from backport.apply.delta import Delta
from backport.apply.markers import leftover_markers, mark_hunks
from backport.apply.outcome import ConflictFile
from backport.checkout.objects import FOLDER, Entry
from backport.checkout.scratch import Scratch
from backport.patch.model import GITLINK, LINK, FileKind, FilePatch

_DOES = {
    FileKind.ADD: "adds",
    FileKind.DELETE: "deletes",
    FileKind.MODIFY: "modifies",
    FileKind.RENAME: "renames",
    FileKind.COPY: "copies",
    FileKind.MODE: "changes the mode of",
}


def conflict_files(
    scratch: Scratch,
    tree: str,
    merged: str,
    delta: Delta,
    left: Mapping[str, Sequence[str]],
    moves: Mapping[str, str],
    blocked: Collection[str],
) -> tuple[ConflictFile, ...]:
    """Return a value for each file that a person has to decide on.

    :param tree: as it was before the change
    :param merged: where git has put markers into files, as far as it could
    :param left: by path, why it did not go in, where that is more than the sides tell
    :param moves: where the branch has files under another path than the patch
    :param blocked: paths where something of the branch is in the way
    """
    files: dict[str, list[FilePatch]] = {}
    for file in delta.patch.files:
        path = moves.get(file.path, file.path)
        if path in left or file.path in left:
            files.setdefault(path, []).append(file)
    found = []
    for path, parts in files.items():
        reasons = left.get(path) or left.get(parts[0].path) or ()
        # Where a hunk went to a wrong place, the merge is no help.
        theirs = "" if path in blocked or _placed(reasons) else merged
        one = _conflict_file(scratch, tree, theirs, delta, path, parts, path in blocked)
        found.append(_with_reasons(one, reasons, moves.get(parts[0].path) == path))
    return tuple(found)


def given(
    scratch: Scratch, merged: str, paths: Collection[str], conflicts: Sequence[ConflictFile]
) -> dict[str, Entry | None]:
    """Return what a merge comes to: what went in, and what a person is given of what did not.

    What a merge leaves of a conflict besides (both sides of it, under names of its own, or a file
    that the branch has deleted) is nothing that anybody has decided.

    :param paths: of the files that the merge has put in
    """
    there = scratch.entries(merged, paths)
    entries: dict[str, Entry | None] = {path: there.get(path) for path in paths}
    for one in conflicts:
        entries |= one.written
    # What goes comes first: files may have changed places.
    return dict(sorted(entries.items(), key=lambda item: item[1] is not None))


def _conflict_file(
    scratch: Scratch,
    tree: str,
    merged: str,
    delta: Delta,
    path: str,
    parts: Sequence[FilePatch],
    blocked: bool,
) -> ConflictFile:
    renamed = parts[-1].old_path if parts[-1].kind is FileKind.RENAME else None
    paths = [path, renamed] if renamed else [path]
    here = {p: entry for p, entry in scratch.entries(tree, paths).items() if entry.mode != FOLDER}
    at = path if path in here or renamed is None else renamed
    branch = here.get(at)
    sides = [delta.sides[part.path] for part in parts if part.path in delta.sides]
    there = scratch.entries(merged, [path]).get(path) if merged and sides else None
    marked = there is not None and _is_text(there) and scratch.blob(there.blob)
    mergeable = bool(marked and leftover_markers(marked))
    # A file that the branch lacks is for a person to make: what nobody decided must not be there.
    written: dict[str, Entry | None] = {p: here.get(p) for p in paths}
    if branch and not blocked:
        hunks = [hunk for part in parts for hunk in part.hunks]
        if mergeable:
            written[path] = there
        elif _is_text(branch) and hunks and _is_text_of(parts[-1]):
            data = mark_hunks(scratch.blob(branch.blob), hunks)
            written[path] = Entry(branch.mode, scratch.write_blob(data))
        else:
            written[path] = branch
        if renamed and (at == renamed or mergeable):
            written[renamed] = None
    return ConflictFile(
        path,
        (),
        tuple(parts),
        base=next((side.before for side in sides if side.before), None),
        branch=branch,
        change=sides[-1].after if sides else None,
        known=len(sides) == len(parts),
        written=written,
        blocked=blocked,
        mergeable=mergeable,
    )


def _is_text(entry: Entry) -> bool:
    return entry.mode.startswith("100")


def _is_text_of(part: FilePatch) -> bool:
    """Whether what a part makes is a text, in which its hunks can be shown."""
    return part.new_path is not None and not {part.old_mode, part.new_mode} & {LINK, GITLINK}


def _with_reasons(file: ConflictFile, more: Sequence[str], moved: bool) -> ConflictFile:
    ours = () if file.blocked or _placed(more) else tuple(_why(file, moved))
    return replace(file, reasons=(*ours, *more))


def _placed(reasons: Sequence[str]) -> bool:
    """Whether it went in, but to a place that is not the right one."""
    return any(reason.startswith(("the hunk ", "it fits ")) for reason in reasons)


def _why(file: ConflictFile, moved: bool) -> Iterator[str]:
    part = file.files[-1]
    does = f"the change {_DOES[part.kind]} it"
    if part.kind is FileKind.RENAME:
        does = f"the change renames {part.old_path} to it"
    if file.branch is None:
        gone = part.old_path if part.kind is FileKind.RENAME else "such file"
        yield f"the branch has no {gone}, or has deleted it; {does}"
    elif part.kind is FileKind.ADD and len(file.files) == 1:
        yield "the branch has another file of this name; the change adds it"
    elif part.kind is FileKind.DELETE:
        yield "the branch has it otherwise than the change that deletes it was made for"
    else:
        where = " (which is where the branch has it now)" if moved else ""
        yield f"{_differs(file)}{where}; {does}"


def _differs(file: ConflictFile) -> str:
    modes = {entry.mode for entry in (file.branch, file.change, file.base) if entry}
    if GITLINK in modes:
        return "the branch has the submodule at another commit"
    if LINK in modes:
        return "the branch has another link, or something else than a link"
    if any(part.binary for part in file.files):
        return "a binary file, of which the branch has another content"
    if file.known:
        return "the branch has changed the same lines"
    return "the lines that the change was made for are not there on the branch"
