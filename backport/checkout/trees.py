"""Trees as git stores them: looking into them, and making new ones from them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from backport.checkout.object_store import Store
from backport.checkout.objects import FOLDER, Entry, encode_tree

_ENTRY = re.compile(rb"([0-7]+) ([^\0]+)\0")


class Trees:
    """The trees in a store. Paths are relative to the top, with ``/``, and no ``/`` at the end.

    :param id_length: of an object's name, in hexadecimal digits
    """

    def __init__(self, store: Store, id_length: int) -> None:
        self._store = store
        self._width = id_length // 2
        self._known: dict[str, Mapping[str, Entry]] = {}

    def level(self, tree: str) -> Mapping[str, Entry]:
        """Return what a tree (or the tree of a commit) holds itself, by name."""
        if tree not in self._known:
            data = self._store.get(tree + "^{tree}").data
            self._known[tree] = dict(self._parse(data))
        return self._known[tree]

    def find(self, tree: str, path: str) -> tuple[str, Entry] | None:
        """Return what is at a path; else the file that is there instead of a folder above it."""
        above, at = "", tree
        names = path.split("/")
        for name in names:
            entry = self.level(at).get(name)
            above = f"{above}/{name}" if above else name
            if entry is None:
                return None
            if entry.mode != FOLDER or above == path:
                return above, entry
            at = entry.blob
        return None

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

    def update(self, tree: str | None, entries: Iterable[tuple[str, Entry | None]]) -> str:
        """Return ``tree`` (None: the empty one) with entries set, or taken out (None), in turn.

        As ``git update-index --replace`` does it: a file that is put where a folder is needed
        gives way, and so does a folder, with all that is in it.
        """
        top = _Level(self, tree)
        for path, entry in entries:
            *folders, name = path.split("/")
            level: _Level | None = top
            for folder in folders:
                level = level.open(folder, make=entry is not None) if level else None
            if level:
                level.put(name, entry)
        return self.write(top)

    def write(self, level: _Level) -> str:
        """Store a level, and those below it that have changed."""
        entries = {name: entry for name, entry in level.written() if entry}
        tree = self._store.write("tree", encode_tree(entries))
        self._known[tree] = entries
        return tree

    def _parse(self, data: bytes) -> Iterator[tuple[str, Entry]]:
        at = 0
        while found := _ENTRY.match(data, at):
            at = found.end() + self._width
            name = found[2].decode("utf-8", "surrogateescape")
            yield name, Entry(found[1].decode().zfill(6), data[found.end() : at].hex())


class _Level:
    """A level of a tree that is being changed."""

    def __init__(self, trees: Trees, tree: str | None) -> None:
        self._trees = trees
        self._entries = dict(trees.level(tree)) if tree else {}
        self._opened: dict[str, _Level] = {}

    def open(self, name: str, make: bool) -> _Level | None:
        """Return the folder of a name; with ``make``, a new one where there is none."""
        if name in self._opened:
            return self._opened[name]
        entry = self._entries.get(name)
        there = entry.blob if entry and entry.mode == FOLDER else None
        if there is None and not make:
            return None
        self._entries.pop(name, None)
        self._opened[name] = _Level(self._trees, there)
        return self._opened[name]

    def put(self, name: str, entry: Entry | None) -> None:
        """Set a file; None takes out a file, and no folder."""
        if entry:
            self._opened.pop(name, None)
            self._entries[name] = entry
        elif name in self._entries and self._entries[name].mode != FOLDER:
            del self._entries[name]

    def written(self) -> Iterator[tuple[str, Entry | None]]:
        """Yield the entries; None where a folder has nothing in it any more."""
        yield from self._entries.items()
        for name, level in self._opened.items():
            tree = None if level.is_empty else self._trees.write(level)
            yield name, Entry(FOLDER, tree) if tree else None

    @property
    def is_empty(self) -> bool:
        """Whether there is no file in it, however deep."""
        return not self._entries and all(level.is_empty for level in self._opened.values())
