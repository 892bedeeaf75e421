"""The objects of a repository, read and written by gits that stay: one for each kind of question.

A git for each object would be most of a long series' time: 2 ms to start, 0.2 ms to answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from backport.checkout.git import Git, GitFailedError, Talk
from backport.checkout.objects import FOLDER, Entry
from backport.patch.model import GITLINK
from backport.workspace import writing

_FOUND = re.compile(rb"([0-9a-f]{40,64}) ([a-z]+) (\d+)")
_ENTRY = re.compile(rb"([0-7]+) ([^\0]+)\0")
_TYPES = {FOLDER: "tree", GITLINK: "commit"}  # by mode; all others are blobs

_READ = ("cat-file", "--batch")
_HASH = ("hash-object", "-w", "--no-filters", "--stdin-paths", "-t")
_MKTREE = ("mktree", "--batch", "-z", "--missing")


@dataclass(frozen=True)
class Stored:
    """An object: its whole id, its kind (``blob``, ``tree``, ``commit``, ``tag``), its bytes."""

    id: str
    kind: str
    data: bytes


class Store:
    """Objects in and out of the repository in ``folder``. To be used from one thread.

    Paths are relative to the top of a tree, with ``/``, and no ``/`` at the end. All methods
    raise :class:`~backport.checkout.git.GitFailedError` where git breaks.
    """

    def __init__(self, git: Git, folder: Path) -> None:
        self._git = git
        self._incoming = folder / "incoming"
        self._talks: dict[tuple[str, ...], Talk] = {}
        self._levels: dict[str, Mapping[str, Entry]] = {}

    def close(self) -> None:
        """Let the processes end; they come again when they are needed."""
        while self._talks:
            self._talks.popitem()[1].close()

    # -- objects ---------------------------------------------------------------------------

    def read(self, name: str) -> Stored | None:
        """Return the object of an id, a unique prefix of one, or ``ID^{kind}``; None: of none."""
        talk, line = self._ask(_READ, name.encode() + b"\n")
        found = _FOUND.fullmatch(line)
        data = talk.read(int(found[3]) + 1)[:-1] if found else b""
        self._talks[_READ] = talk
        return Stored(found[1].decode(), found[2].decode(), data) if found else None

    def get(self, name: str) -> Stored:
        """Return the object of a name that must be there."""
        stored = self.read(name)
        if stored is None:
            raise GitFailedError(f"the repository lacks object {name}", "Try: git fsck")
        return stored

    def write(self, kind: str, data: bytes) -> str:
        """Store a blob or a commit, byte for byte, and return its id."""
        with writing(self._incoming.parent):
            self._incoming.write_bytes(data)
        return self._answer((*_HASH, kind), b"%s\n" % self._incoming.name.encode())

    # -- trees -----------------------------------------------------------------------------

    def level(self, tree: str) -> Mapping[str, Entry]:
        """Return what a tree (or the tree of a commit) holds itself, by name."""
        if tree not in self._levels:
            stored = self.get(tree + "^{tree}")
            self._levels[tree] = dict(_parse(stored.data, len(stored.id) // 2))
        return self._levels[tree]

    def find(self, tree: str, path: str) -> tuple[str, Entry] | None:
        """Return what is at a path; else the file that is there instead of a folder above it."""
        name, _, rest = path.partition("/")
        entry = self.level(tree).get(name)
        if entry is None or entry.mode != FOLDER or not rest:
            return (name, entry) if entry else None
        found = self.find(entry.blob, rest)
        return (f"{name}/{found[0]}", found[1]) if found else None

    def below(self, tree: str, path: str = "") -> Iterator[tuple[str, Entry]]:
        """Yield the files of a tree, each path with ``path`` in front of it."""
        for name, entry in self.level(tree).items():
            full = f"{path}/{name}" if path else name
            if entry.mode == FOLDER:
                yield from self.below(entry.blob, full)
            else:
                yield full, entry

    def reach(self, tree: str, path: str) -> Iterator[tuple[str, Entry]]:
        """Yield the file at a path, or the files below it; else the file that is in its way."""
        found = self.find(tree, path)
        if found and found[1].mode == FOLDER:
            yield from self.below(found[1].blob, path)
        elif found:
            yield found

    def update(self, tree: str | None, steps: Iterable[tuple[str, Entry | None]]) -> str:
        """Return ``tree`` (None: the empty one) with entries set, or taken out (None), in turn.

        As ``git update-index --replace`` does it: a file that is put where a folder is needed
        gives way, and so does a folder, with all that is in it. Through an index, git would read
        and write all of the tree for each: 20 ms of nova's.
        """
        entries = dict(self.level(tree)) if tree else {}
        below: dict[str, list[tuple[str, Entry | None]]] = {}
        for path, entry in steps:
            name, _, rest = path.partition("/")
            if rest:
                below.setdefault(name, []).append((rest, entry))
            elif entry:
                below.pop(name, None)
                entries[name] = entry
            elif name in entries and entries[name].mode != FOLDER:
                del entries[name]
        for name, inner in below.items():
            self._descend(entries, name, inner)
        return self._write_tree(entries)

    # -- inside ----------------------------------------------------------------------------

    def _descend(
        self, entries: dict[str, Entry], name: str, steps: Sequence[tuple[str, Entry | None]]
    ) -> None:
        there = entries.get(name)
        folder = there.blob if there and there.mode == FOLDER else None
        if folder is None and not any(entry for _, entry in steps):
            return
        entries[name] = Entry(FOLDER, self.update(folder, steps))
        if not self.level(entries[name].blob):  # git has no empty folders
            del entries[name]

    def _write_tree(self, entries: Mapping[str, Entry]) -> str:
        lines = (
            f"{entry.mode} {_TYPES.get(entry.mode, 'blob')} {entry.blob}\t{name}\0"
            for name, entry in entries.items()
        )
        question = "".join(lines).encode("utf-8", "surrogateescape") + b"\0"
        tree = self._answer(_MKTREE, question)
        self._levels[tree] = entries
        return tree

    def _answer(self, command: tuple[str, ...], question: bytes) -> str:
        self._talks[command], line = self._ask(command, question)
        return line.decode()

    def _ask(self, command: tuple[str, ...], question: bytes) -> tuple[Talk, bytes]:
        """Ask a git of its own; one that has failed is not asked again."""
        talk = self._talks.pop(command, None) or self._git.talk(*command)
        return talk, talk.ask(question)


def _parse(data: bytes, width: int) -> Iterator[tuple[str, Entry]]:
    """Read a tree object: what ``ls-tree`` would say, which has no batch mode."""
    at = 0
    while found := _ENTRY.match(data, at):
        at = found.end() + width
        name = found[2].decode("utf-8", "surrogateescape")
        yield name, Entry(found[1].decode().zfill(6), data[found.end() : at].hex())
