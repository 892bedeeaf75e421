"""The objects of a repository: read by a git process that stays, written as loose objects.

What is read or written is kept for a while: a series asks for the same files again and again.
"""

from __future__ import annotations

import hashlib
import os
import re
import zlib
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from backport.checkout.git import Git, GitFailedError, Talk
from backport.workspace import writing

_FOUND = re.compile(rb"([0-9a-f]{40,64}) ([a-z]+) (\d+)")
_KEPT = 64 * 1024 * 1024  # bytes of objects that are remembered


@dataclass(frozen=True)
class Stored:
    """An object: its whole id, its kind (``blob``, ``tree``, ``commit``, ``tag``), its bytes."""

    id: str
    kind: str
    data: bytes


class Store:
    """Objects in and out of the repository in ``folder``. To be used from one thread.

    All methods raise :class:`~backport.checkout.git.GitFailedError` where git breaks.

    :param object_format: ``sha1`` or ``sha256``
    """

    def __init__(self, git: Git, folder: Path, object_format: str) -> None:
        self._git = git
        self._folder = folder
        self._format = object_format
        self._talk: Talk | None = None
        self._known: OrderedDict[str, Stored] = OrderedDict()
        self._size = 0
        self._made: set[str] = set()  # folders of loose objects

    def read(self, name: str) -> Stored | None:
        """Return the object of an id, a unique prefix of one, or ``ID^{kind}``; None: of none."""
        base, _, kind = name.partition("^")
        known = self._known.get(base)
        if known is None or kind not in ("", f"{{{known.kind}}}"):
            base, known = name, self._known.get(name)
        if known is not None:
            self._known.move_to_end(base)
            return known
        with self._talking() as talk:
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
        """Store an object, byte for byte, and return its id.

        As a loose object (gitrepository-layout(5)): a zlib stream of ``KIND SIZE``, a NUL and the
        data. A git that is asked for each would be most of a long series' time. Whether an id is
        that of two contents (SHA-1) git looks when it takes the objects over.
        """
        whole = b"%s %d\0%s" % (kind.encode(), len(data), data)
        name = hashlib.new(self._format, whole, usedforsecurity=False).hexdigest()
        if name not in self._known:
            with writing(self._folder):
                self._put(name, zlib.compress(whole, 0))
            self._remember(name, Stored(name, kind, data))
        return name

    def _put(self, name: str, content: bytes) -> None:
        folder = os.path.join(self._folder, "objects", name[:2])
        incoming = os.path.join(self._folder, "incoming")  # so that none is there by half
        with open(incoming, "wb") as file:
            file.write(content)
        if folder not in self._made:
            os.makedirs(folder, exist_ok=True)
            self._made.add(folder)
        os.replace(incoming, os.path.join(folder, name[2:]))

    def close(self) -> None:
        """Let the process end; it comes again when it is needed."""
        talk, self._talk = self._talk, None
        if talk:
            talk.close()

    @contextmanager
    def _talking(self) -> Iterator[Talk]:
        """Give the git that answers; one that has failed is not asked again."""
        talk, self._talk = self._talk or self._git.talk("cat-file", "--batch"), None
        yield talk
        self._talk = talk

    def _remember(self, name: str, stored: Stored) -> None:
        self._known[name] = stored
        self._size += len(stored.data)
        while self._size > _KEPT:
            self._size -= len(self._known.popitem(last=False)[1].data)
