"""What became of each hunk of a change: as it was written, adapted by hand, or left out."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from backport.apply.delta import Delta
from backport.apply.outcome import ConflictFile, Fate, HunkFate, Resolution, Word
from backport.apply.three_way import Climbed
from backport.checkout.objects import Entry
from backport.checkout.scratch import Scratch
from backport.patch.model import Edit, FileKind, FilePatch, Hunk, Patch
from backport.patch.reader import parse_diff

_WHOLE = {
    FileKind.ADD: "adds the file",
    FileKind.DELETE: "deletes the file",
    FileKind.COPY: "copies the file",
    FileKind.MODE: "changes the mode",
    FileKind.MODIFY: "modifies the file",
}


def as_written(files: Sequence[FilePatch]) -> tuple[HunkFate, ...]:
    """Return the fates of a change that went in as it is."""
    return tuple(HunkFate(file.path, what) for file in files for what in _parts(file))


def _parts(file: FilePatch) -> Iterator[str]:
    """Say what a file's parts are: what is done to it as a whole, and its hunks."""
    if file.kind is FileKind.RENAME:
        yield f"renames it from {file.old_path}"
    elif file.kind is not FileKind.MODIFY or not file.hunks:
        yield _WHOLE[file.kind]
    elif file.old_mode != file.new_mode:
        yield _WHOLE[FileKind.MODE]
    if file.kind in (FileKind.MODIFY, FileKind.RENAME, FileKind.COPY):
        yield from (hunk.header for hunk in file.hunks)


def hunk_fates(
    scratch: Scratch,
    tree: str,
    after: str,
    delta: Delta,
    climbed: Climbed,
    resolution: Resolution,
    patch: Patch,
) -> tuple[HunkFate, ...]:
    """Account for each part of a change that a person has resolved.

    :param tree: before the change
    :param after: with what the person made of it
    :param climbed: what went in by itself, and what did not
    :param patch: the resolution, from ``tree`` to ``after``
    """
    conflicts = {part.path: one for one in climbed.conflicts for part in one.files}
    moved = {file.renamed_from: file.path for file in climbed.files if file.renamed_from}
    edits = {file.path: file.edits() for file in patch.files}
    found: list[HunkFate] = []
    for file in delta.patch.files:
        one = conflicts.get(file.path)
        path = one.path if one else moved.get(file.path, file.path)
        paths = (path, *((file.old_path,) if file.kind is FileKind.RENAME else ()))
        then, now = scratch.entries(climbed.tree, paths), scratch.entries(after, paths)
        if one is None and then == now:
            found += as_written([file])
            continue
        word = resolution.words.get(path, Word.EDIT)
        before = scratch.entries(tree, [path, file.old_path or path])
        account = _Account(scratch, file, path, word, one, before, now, edits.get(path, ()))
        found += account.fates(delta)
    return tuple(found)


@dataclass(frozen=True)
class _Account:
    """A file of a change, on both sides of the resolution."""

    scratch: Scratch
    file: FilePatch
    path: str
    word: Word
    conflict: ConflictFile | None
    before: Mapping[str, Entry]
    now: Mapping[str, Entry]
    edits: Sequence[Edit]  # the resolution's

    def fates(self, delta: Delta) -> Iterator[HunkFate]:
        """Say what became of each part."""
        file, path = self.file, self.path
        old = self.before.get(path) or self.before.get(file.old_path or path)
        new = self.now.get(path)
        if file.kind is FileKind.RENAME and new is None:
            new = self.now.get(file.old_path or path)
        sides = delta.sides.get(file.path)
        wanted = sides.after if sides else None
        as_meant = bool(sides) and new == wanted
        texts, alone = (self._text(old), self._text(new)), len(file.hunks) == 1
        place = _Lines(*texts, self.edits, self._base(delta), alone)
        for what in _parts(file):
            hunk = next((hunk for hunk in file.hunks if hunk.header == what), None)
            if hunk is None or file.kind is FileKind.ADD:
                fate = self._whole(what, old, new, wanted, as_meant)
            elif as_meant:
                fate = Fate.AS_WRITTEN
            else:
                fate = Fate.LEFT_OUT if new is None or new == old else place.fate(hunk)
            by = "" if fate is Fate.AS_WRITTEN else self.word.value
            diff = b""
            if fate is Fate.ADAPTED:
                meant = hunk.side(old=False) if hunk else self._text(wanted)
                diff = _difference(path, meant, place.now_at(hunk) if hunk else place.after)
            yield HunkFate(path, what, fate, by, diff)

    def _whole(
        self, what: str, old: Entry | None, new: Entry | None, wanted: Entry | None, as_meant: bool
    ) -> Fate:
        file = self.file
        if file.kind is FileKind.DELETE:
            as_meant = new is None
        elif file.kind is FileKind.RENAME:
            moved = self.path in self.now and file.old_path not in self.now
            as_meant = moved and (as_meant or bool(file.hunks) or new == old)
        elif what == _WHOLE[FileKind.MODE]:
            as_meant = new is not None and new.mode == file.new_mode
        if as_meant:
            return Fate.AS_WRITTEN
        return Fate.LEFT_OUT if new is None or new == old else Fate.ADAPTED

    def _text(self, entry: Entry | None) -> tuple[bytes, ...]:
        if entry is None or not entry.mode.startswith("100"):
            return ()
        return tuple(self.scratch.blob(entry.blob).splitlines(keepends=True))

    def _base(self, delta: Delta) -> tuple[Edit, ...]:
        """Return the edits from what the patch was made from to what the branch has."""
        sides = delta.sides.get(self.file.path)
        here = self.before.get(self.path) or self.before.get(self.file.old_path or "")
        if not sides or not sides.before or not here or self.file.binary:
            return ()
        made, has = (self.scratch.update(None, {"f": one}) for one in (sides.before, here))
        diff = parse_diff(self.scratch.diff(made, has), Path("the branch's own changes"))
        return tuple(edit for file in diff.files for edit in file.edits())


@dataclass(frozen=True)
class _Lines:
    """A text before and after the resolution, and how its lines are those of the patch's base."""

    before: tuple[bytes, ...]
    after: tuple[bytes, ...]
    edits: Sequence[Edit]  # before → after
    moves: Sequence[Edit]  # base → before
    alone: bool  # the file has one hunk: whatever was done to it was done for that

    def fate(self, hunk: Hunk) -> Fate:
        """Say what became of a hunk, where something of the file was changed."""
        new = hunk.side(old=False)
        there = _holds(self.after, new)
        if there and (not _holds(self.before, new) or not _holds(self.after, hunk.side(old=True))):
            return Fate.AS_WRITTEN
        near = [edit for edit in self.edits if self._is_near(edit, hunk)]
        changes = [(self._cut(self.before, e.old), self._cut(self.after, e.new)) for e in near]
        meant = [_changed(hunk, edit) for edit in hunk.edits()]
        if near and all(one in changes for one in meant):
            return Fate.AS_WRITTEN
        if near or self.alone or self._is_elsewhere(meant):
            return Fate.ADAPTED
        return Fate.LEFT_OUT

    def now_at(self, hunk: Hunk) -> tuple[bytes, ...]:
        """Return the lines that are now where a hunk was meant for."""
        span = range(hunk.old_start, hunk.old_start + hunk.old_count)
        return self._cut(self.after, _map(_map(span, self.moves), self.edits))

    def _is_near(self, edit: Edit, hunk: Hunk) -> bool:
        spans = [_map(own.old, self.moves) for own in hunk.edits()]
        return any(edit.old.start <= span.stop and span.start <= edit.old.stop for span in spans)

    def _is_elsewhere(self, meant: Sequence[tuple[tuple[bytes, ...], tuple[bytes, ...]]]) -> bool:
        """Whether all that a hunk adds was added, in whatever place."""
        added = {line.strip() for edit in self.edits for line in self._cut(self.after, edit.new)}
        wanted = {line.strip() for _, lines in meant for line in lines} - {b""}
        return bool(wanted) and wanted <= added

    @staticmethod
    def _cut(lines: tuple[bytes, ...], span: range) -> tuple[bytes, ...]:
        return lines[span.start - 1 : span.stop - 1]


def _map(span: range, edits: Sequence[Edit]) -> range:
    """Take lines of a text to the other side of some edits; what touches one takes in all of it."""
    start, stop, shift = span.start, span.stop, 0
    first, last = start, stop
    touched = False
    for edit in edits:
        if edit.old.stop < start:
            shift = edit.new.stop - edit.old.stop
        elif edit.old.start <= stop:
            if not touched:
                first = min(start + shift, edit.new.start)
            touched = True
            last = max(stop + edit.new.stop - edit.old.stop, edit.new.stop)
    if not touched:
        return range(start + shift, stop + shift)
    return range(first, last)


def _changed(hunk: Hunk, edit: Edit) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
    old, new = hunk.side(old=True), hunk.side(old=False)
    at, to = max(hunk.old_start, 1), max(hunk.new_start, 1)
    return (
        old[edit.old.start - at : edit.old.stop - at],
        new[edit.new.start - to : edit.new.stop - to],
    )


def _holds(lines: Sequence[bytes], block: Sequence[bytes]) -> bool:
    return b"\n" + b"".join(block) in b"\n" + b"".join(lines) if block else False


def _difference(path: str, meant: Sequence[bytes], now: Sequence[bytes]) -> bytes:
    name = path.encode("utf-8", "surrogateescape")
    names = (name + b" as the change has it", name + b" as it is now")
    lines = difflib.diff_bytes(difflib.unified_diff, list(meant), list(now), *names)
    return b"".join(line if line.endswith(b"\n") else line + b"\n" for line in lines)
