"""The objects of a repository, read and written by git processes that stay.

What is read is kept for a while: a series asks for the same files again and again.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from backport.checkout.git import Git, GitFailedError, Talk
from backport.checkout.objects import FOLDER, Entry
from backport.series.patch_model import GITLINK
from backport.workspace import writing

_FOUND = re.compile(rb"([0-9a-f]{40,64}) ([a-z]+) (\d+)")
_KEPT = 64 * 1024 * 1024  # bytes of objects that are remembered

#: What is handed to hash-object; it takes no other than files, again and again.
_INCOMING = "incoming"


@dataclass(frozen=True)
class Stored:
    """An object: its whole id, its kind (``blob``, ``tree``, ``commit``, ``tag``), its bytes."""

    id: str
    kind: str
    data: bytes


class Store:
    """Objects in and out of the repository in ``folder``. To be used from one thread.

    All methods raise :class:`~backport.checkout.git.GitFailedError` where git breaks.
    """

    def __init__(self, git: Git, folder: Path) -> None:
        self._git = git
        self._folder = folder
        self._talks: dict[tuple[str, ...], Talk] = {}
        self._known: OrderedDict[str, Stored] = OrderedDict()
        self._size = 0

    def read(self, name: str) -> Stored | None:
        """Return the object of an id, a unique prefix of one, or ``ID^{kind}``; None: of none."""
        if name in self._known:
            self._known.move_to_end(name)
            return self._known[name]
        with self._talk("cat-file", "--batch") as talk:
            found = _FOUND.fullmatch(talk.ask(name.encode() + b"\n"))
            if not found:
                return None
            data = talk.read(int(found[3]) + 1)[:-1]
        stored = Stored(found[1].decode(), found[2].decode(), data)
        self._remember(name, stored)
        return stored

    def get(self, name: str) -> Stored:
        """Return the object of a name that must be there."""
        stored = self.read(name)
        if stored is None:
            raise GitFailedError(f"the repository lacks object {name}", "Try: git fsck")
        return stored

    def write(self, kind: str, data: bytes) -> str:
        """Store an object, byte for byte, and return its id."""
        with writing(self._folder):
            (self._folder / _INCOMING).write_bytes(data)
        how = ("-t", kind, "-w", "--no-filters", "--stdin-paths")
        with self._talk("hash-object", *how) as talk:
            return talk.ask(_INCOMING.encode() + b"\n").decode()

    def write_tree(self, entries: Mapping[str, Entry]) -> str:
        """Store a tree of one level, in any order, and return its id."""
        lines = [
            f"{entry.mode} {_kind(entry.mode)} {entry.blob}\t{name}\0"
            for name, entry in entries.items()
        ]
        question = "".join([*lines, "\0"]).encode("utf-8", "surrogateescape")
        # It need not look whether all of them are there: they were read, or written.
        with self._talk("mktree", "-z", "--missing", "--batch") as talk:
            return talk.ask(question).decode()

    def close(self) -> None:
        """Let the processes end; they come again when they are needed."""
        while self._talks:
            self._talks.popitem()[1].close()

    @contextmanager
    def _talk(self, *args: str) -> Iterator[Talk]:
        """Give the git that answers to ``args``; one that has failed is not asked again."""
        talk = self._talks.pop(args, None) or self._git.talk(*args)
        yield talk
        self._talks[args] = talk

    def _remember(self, name: str, stored: Stored) -> None:
        self._known[name] = stored
        self._size += len(stored.data)
        while self._size > _KEPT:
            self._size -= len(self._known.popitem(last=False)[1].data)


def _kind(mode: str) -> str:
    return {FOLDER: "tree", GITLINK: "commit"}.get(mode, "blob")
