"""A conflict that waits for a person: its work tree, its state, and the resolution made of it.

All of it lies in a folder of the tool's own, one per checkout and series. The state
file is replaced in one step, and names the work tree that belongs to it, so that a
killed run leaves either the old state or the new one.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from pydantic import ValidationError

from backport.apply.markers import leftover_markers
from backport.apply.outcome import Conflict, ConflictFile, Resolution, Word
from backport.checkout.scratch import Scratch
from backport.conflict.decisions import (
    Looked,
    look,
    settled,
    spoken,
    ways,
    words_for,
)
from backport.conflict.state import PendingFile, State
from backport.conflict.work_tree import Index, has_more, make_work_tree, read_index
from backport.errors import ConflictError, UsageError
from backport.patch.model import GITLINK
from backport.workspace import remove, writing

_STATE = "state.json"


class Pending:
    """The pending conflict in ``folder``, if there is one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.save = False  # resolutions are to be saved at the end

    @property
    def exists(self) -> bool:
        """Whether a conflict is pending."""
        return (self.folder / _STATE).is_file()

    @property
    def name(self) -> str:
        """The series' name; also where the state itself is damaged."""
        return self.folder.name.replace("%2F", "/").replace("%25", "%")

    @property
    def work_tree(self) -> Path:
        """Where the files are that a person edits."""
        return self._work(self.read().change)

    def read(self) -> State:
        """Read the state.

        :raises UsageError: it is damaged, or another version's
        """
        try:
            return State.model_validate_json((self.folder / _STATE).read_bytes())
        except (OSError, ValidationError) as error:
            raise UsageError(
                f"{self.folder / _STATE} is no state that this version can go on with",
                "Type: backport abort",
            ) from error

    def resolutions(self) -> dict[int, Resolution]:
        """Return the resolutions of the changes before the pending one."""
        words = self.read().words
        return {n: Resolution(self._patch(n).read_bytes(), said) for n, said in words.items()}

    def keep(
        self,
        scratch: Scratch,
        state: State,
        files: Sequence[ConflictFile],
        resolutions: Mapping[int, Resolution],
    ) -> None:
        """Write the work tree and the resolutions so far, then the state, last."""
        with writing(self.folder):
            self._keep(scratch, state, files, resolutions)

    def _keep(
        self,
        scratch: Scratch,
        state: State,
        files: Sequence[ConflictFile],
        resolutions: Mapping[int, Resolution],
    ) -> None:
        work = self._work(state.change)
        remove(work)
        work.mkdir(parents=True)
        make_work_tree(scratch, work, state.tree, state.parent, files)
        for number, one in resolutions.items():
            self._patch(number).write_bytes(one.patch)
        self._write(state)
        for other in self.folder.glob("work-*"):
            if other != work:
                remove(other)

    def note_saved(self, names: Mapping[int, str]) -> None:
        """Note that the series is about to name these patches, by the changes' numbers."""
        with writing(self.folder):
            self._write(self.read().model_copy(update={"saved": dict(names)}))

    def _write(self, state: State) -> None:
        half = self.folder / f"{_STATE}.part"
        half.write_text(state.model_dump_json(indent=2))
        os.replace(half, self.folder / _STATE)

    def call(self, verb: str) -> str:
        """Return what to type to continue or abort, from wherever one is."""
        words = ["backport", verb, self.name]
        with suppress(UsageError):  # a damaged state can be given up by its name
            words += ["--checkout", self.read().checkout]
        return shlex.join(words)

    @property
    def key(self) -> str:
        """Which checkout it is on; see :func:`checkout_key`."""
        return self.folder.parent.name

    def looked(self) -> list[Looked]:
        """See what a person has done so far, file by file."""
        state, folder = self.read(), self.work_tree
        index = read_index(folder)
        return [self._look(folder, file, index) for file in state.files]

    def _look(self, folder: Path, file: PendingFile, index: Index | None) -> Looked:
        found = look(folder, file.path, file.entries, index)
        if not found.deed and settled(index, file.path, file.staged):
            return replace(found, deed="settled with git")
        if not found.deed and (word := self.read().said.get(file.path)):
            return replace(found, deed=f"named with {word.value}", word=word)
        return found

    def resolution(
        self, scratch: Scratch, conflict: Conflict, said: Sequence[tuple[Word, str]]
    ) -> Resolution:
        """Read the work tree and return what resolves the conflict.

        :param conflict: as the work tree was made from
        :param said: what a person has named files with
        :raises ConflictError: a file is undecided, or nothing of the change is left
        :raises UsageError: a word cannot be meant
        """
        fresh = words_for(conflict.files, [(word, self._inside(path)) for word, path in said])
        looked = self.looked()
        words = {one.path: one.word for one in looked if one.word} | fresh
        self._check_decided([one for one in looked if one.path not in words])
        for one in looked:
            if one.decided and not one.word and one.path in words:
                raise UsageError(
                    f"{one.path} was {one.deed} in {self.work_tree}, "
                    f"and is named with {words[one.path].value}",
                    "Leave the option out to go on with the file as it is now.",
                )
        base = scratch.tree(conflict.parent)
        tree = self._read(scratch, conflict)
        for file in conflict.files:
            if file.path in words:
                entries = spoken(scratch, base, file, words[file.path])
                gone = {path: None for path, entry in entries.items() if entry is None}
                tree = scratch.update(tree, gone | {p: e for p, e in entries.items() if e})
        if tree == base:
            raise ConflictError(
                f"the resolution leaves nothing of change {conflict.change.number}, "
                f"“{self.read().subject}”",
                "Edit the files; or type backport abort, and take the change out of the series.",
            )
        self._check_markers(scratch, base, tree, conflict)
        said_of = {file.path: words.get(file.path, Word.EDIT) for file in conflict.files}
        return Resolution(scratch.diff(base, tree), said_of)

    def remember(self, resolved: Resolution) -> None:
        """Keep the words that files were named with: the tests may fail, and be mended."""
        said = {path: word for path, word in resolved.words.items() if word is not Word.EDIT}
        with writing(self.folder):
            self._write(self.read().model_copy(update={"said": said}))

    def _read(self, scratch: Scratch, conflict: Conflict) -> str:
        """Return the tree that the work tree holds; what git add has put in counts, too."""
        index = read_index(self.work_tree)
        entries = index.entries if index else {}
        known = scratch.files(conflict.tree)
        fresh = [path for path in entries if path not in known]
        paths = list(dict.fromkeys((*conflict.paths, *(f.path for f in conflict.files), *fresh)))
        tree = scratch.read_work_tree(conflict.tree, self.work_tree, paths)
        links = {path: entry for path, entry in entries.items() if entry.mode == GITLINK}
        return scratch.update(tree, links) if links else tree

    def _check_decided(self, looked: Sequence[Looked]) -> None:
        left = [one for one in looked if not one.decided]
        if not left:
            return
        files = {file.path: file for file in self.read().files}
        lines = []
        for one in left:
            where = ", ".join(f"{one.path}:{line}" for line in one.markers[:8])
            what = f"conflict markers are left: {where}" if where else "untouched"
            lines += [f"{one.path} is undecided ({what})"]
        hints = [
            f"Edit in {self.work_tree}, then type: {self.call('continue')}",
            "Or say, for each file:",
        ]
        for one in left:
            hints += [f"  {command}" for command, _ in self.ways(files[one.path])]
        raise ConflictError("\n".join([*lines, "nothing was made"]), "\n".join(hints))

    def ways(self, file: PendingFile) -> list[tuple[str, str]]:
        """Return the commands that settle a file without an edit, and what each means."""
        return list(ways(file.path, file.takes, self.call("continue")))

    def _check_markers(self, scratch: Scratch, base: str, tree: str, conflict: Conflict) -> None:
        """Look at files that were not in conflict, and were edited all the same."""
        edited = set(scratch.changed_paths(conflict.tree, tree)) & {
            *scratch.changed_paths(base, tree)
        }
        left = [
            f"{path}:{line}"
            for path in sorted(edited - {file.path for file in conflict.files})
            for line in leftover_markers(scratch.file(tree, path) or b"")
        ]
        if left:
            raise ConflictError(
                f"conflict markers are left: {', '.join(left[:8])}",
                f"Edit the files in {self.work_tree}, then type: {self.call('continue')}",
            )

    def _inside(self, path: str) -> str:
        """Return a path as the tree has it; it may have been given as one of the work tree."""
        try:
            return str(Path(path).relative_to(self.work_tree))
        except ValueError:
            return path

    def give_up(self, root: Path) -> Path | None:
        """End it; return where what a person had done so far is kept, if anything.

        In one step, so that whatever ends this leaves all of it either here or there.
        """
        try:
            touched = any(one.deed for one in self.looked()) or has_more(self.work_tree)
        except UsageError:
            touched = any(self.folder.glob("work-*"))
        if not touched:
            self.forget()
            return None
        place = root / "aborted"
        stamp = time.strftime(f"{self.folder.name.replace('%', '%%')}-%Y%m%dT%H%M%S-")
        with writing(place):
            place.mkdir(parents=True, exist_ok=True)
            # Two can be given up within a second; rename(2) takes the place of an empty folder.
            kept = Path(tempfile.mkdtemp(prefix=stamp, dir=place))
            os.rename(self.folder, kept)
        self._tidy()
        return kept

    def _tidy(self) -> None:
        for folder in (self.folder.parent, self.folder.parent.parent):
            with suppress(OSError):  # something else is pending there
                folder.rmdir()

    def forget(self) -> None:
        """Remove everything of it, the state first."""
        (self.folder / _STATE).unlink(missing_ok=True)
        remove(self.folder)
        self._tidy()

    def _work(self, change: int) -> Path:
        return self.folder / f"work-{change}"

    def _patch(self, number: int) -> Path:
        return self.folder / f"{number:04}.patch"


def pending(root: Path, repository: Path, series: str) -> Pending:
    """Return the place of a pending conflict, whether there is one or not."""
    name = series.replace("%", "%25").replace("/", "%2F")
    return Pending(root / "conflicts" / checkout_key(repository) / name)


def checkout_key(repository: Path) -> str:
    """Return a name for a checkout, by its git directory that linked worktrees share."""
    return hashlib.sha256(os.fsencode(repository.resolve())).hexdigest()[:16]


def all_pending(root: Path) -> list[Pending]:
    """List everything that is pending, on whatever checkout."""
    states = sorted((root / "conflicts").glob(f"*/*/{_STATE}"))
    return [Pending(state.parent) for state in states]
