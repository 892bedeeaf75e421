"""What a person has decided so far, file by file, and the tree that comes of it.

A file in conflict is undecided until a person has edited, made or deleted it, has settled it in
the work tree's index (git add, git rm, git mergetool), or has named it with a word of the command.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from backport.apply.markers import Marked, find_marked, leftover_markers
from backport.apply.outcome import ConflictFile, Word
from backport.checkout.objects import Entry
from backport.checkout.scratch import Scratch
from backport.conflict.work_tree import Index, entry_at
from backport.errors import UsageError
from backport.patch.model import GITLINK, LINK, FileKind


@dataclass(frozen=True)
class Looked:
    """A file in conflict as it is now.

    :param deed: what a person did: "edited", "made", "deleted", "settled with git"; "": nothing
    :param word: what the file was named with, in an earlier ``continue``
    :param markers: lines (from 1) that are conflict markers still
    :param places: what is between them
    """

    path: str
    deed: str = ""
    markers: tuple[int, ...] = ()
    places: tuple[Marked, ...] = ()
    word: Word | None = None

    @property
    def decided(self) -> bool:
        """Whether nothing is left to do."""
        return bool(self.word or (self.deed and not self.markers))


def look(
    folder: Path, path: str, written: Mapping[str, Entry | None], index: Index | None
) -> Looked:
    """See what was done to a file.

    :param written: what was given to the person, by path
    """
    at = folder / path
    own = at.parent.resolve().is_relative_to(folder.resolve())
    data = at.read_bytes() if own and at.is_file() and not at.is_symlink() else b""
    deed = next((deed for one in written.items() if (deed := _deed(folder, *one, index))), "")
    # A file that nobody was given with markers may have such lines of its own.
    markers = tuple(leftover_markers(data))
    return Looked(path, deed, markers, tuple(find_marked(data)))


def _deed(folder: Path, path: str, was: Entry | None, index: Index | None) -> str:
    now = entry_at(folder, path, was)
    submodule = index.entries.get(path) if index else None
    if submodule and submodule.mode == GITLINK and submodule != was:
        return "settled with git"
    if now == was:
        return ""
    if was is None:
        return "made"
    return "deleted" if now is None else "edited"


def settled(index: Index | None, path: str, stages: bool) -> bool:
    """Whether a person has told git that a file is done; it began with ``stages`` in the index."""
    return stages and index is not None and path not in index.unmerged


def may_take_change(file: ConflictFile) -> bool:
    """Whether "as the change has it" has a meaning that undoes nothing of the branch's."""
    if file.blocked or not file.known:
        return False
    part = file.files[-1]
    is_text = not part.binary and not {part.old_mode, part.new_mode} & {LINK, GITLINK}
    whole = not is_text or part.kind in (FileKind.ADD, FileKind.DELETE) or not part.hunks
    return file.mergeable or file.branch is None or whole


def words_for(files: Sequence[ConflictFile], said: Sequence[tuple[Word, str]]) -> dict[str, Word]:
    """Return the words by path, as far as they can be followed.

    :raises UsageError: a word is said of what is not in conflict, or two of one file, or it
        cannot be meant
    """
    known = {file.path: file for file in files}
    words: dict[str, Word] = {}
    for word, path in said:
        if path not in known:
            raise UsageError(
                f"{word.value} {path}: it is not in conflict", f"In conflict: {', '.join(known)}"
            )
        if words.setdefault(path, word) is not word:
            raise UsageError(f"{path} is named twice: with {words[path].value} and {word.value}")
        if word is Word.TAKE_CHANGE and not may_take_change(known[path]):
            raise UsageError(
                f"{word.value} {path}: {_why_not(known[path])}",
                f"Edit the file; or say --leave-out {path}",
            )
    return words


def _why_not(file: ConflictFile) -> str:
    if file.blocked:
        return "something of the branch would have to give way for it"
    if not file.known:
        return "what the change makes of the whole file is not known"
    return "where it goes on the branch is not known"


def spoken(
    scratch: Scratch, parent: str, file: ConflictFile, word: Word
) -> dict[str, Entry | None]:
    """Return what a word makes of a file, by path.

    :param parent: the tree before the change
    """
    if word is Word.TAKE_CHANGE:
        gone: dict[str, Entry | None] = dict.fromkeys(file.written)
        return {**gone, file.path: _merged(scratch, file, "theirs") or file.change}
    here = scratch.entries(parent, file.written)
    before = {path: here.get(path) for path in file.written}
    if word is Word.TAKE_BRANCH and (merged := _merged(scratch, file, "ours")):
        return {**file.written, file.path: merged}
    return before


def _merged(scratch: Scratch, file: ConflictFile, favour: str) -> Entry | None:
    """Merge with one of the sides taken where they clash; what does not clash is in both ways."""
    written = file.written.get(file.path)
    if not (file.mergeable and written and file.branch and file.change and file.base):
        return None
    data = scratch.merge_files(file.base.blob, file.branch.blob, file.change.blob, favour)
    return Entry(written.mode, scratch.write_blob(data))


def ways(path: str, takes: bool, command: str) -> Iterator[tuple[str, str]]:
    """Yield the words that can be said of a file, as commands, and what each means.

    :param takes: whether the change's side can be taken
    :param command: to go on with, ``backport continue …``
    """
    import shlex

    name = shlex.quote(path)
    if takes:
        yield f"{command} {Word.TAKE_CHANGE.value} {name}", "where they clash, as the change has it"
    yield f"{command} {Word.TAKE_BRANCH.value} {name}", "where they clash, as the branch has it"
    yield f"{command} {Word.LEAVE_OUT.value} {name}", "without what the change does in this file"
