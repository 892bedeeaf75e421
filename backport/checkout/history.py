"""What the messages of a branch's commits say of where they come from, kept between runs.

Reading all of nova's messages takes git most of a second; a branch grows at its end only.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from backport.checkout.git import Git

#: The lines that :mod:`backport.series.message` and :mod:`backport.apply.present` read.
_TELLING = re.compile(
    rb"^(?:Change-Id:|This reverts commit |[ \t]*\((?i:cherry[ -]picked from commit)).*", re.M
)
_KEPT = 8  # branches
_TRIED = 3  # of them, as a beginning of a longer one


class History:
    """Lines of commit messages up to a tip, as ``ID LINE``, the newest first.

    :param folder: where they are kept; None: nowhere, as where history is cut off, and the same
        tip has another history once more of it has been fetched
    """

    def __init__(self, git: Git, folder: Path | None) -> None:
        self._git = git
        self._folder = folder
        self._known: dict[str, bytes] = {}

    def find(self, tip: str, needles: Sequence[str]) -> list[tuple[str, str]]:
        """Find the lines up to ``tip`` that hold one of the texts.

        :returns: pairs (id of the commit, line), those of the newest commit first
        """
        if tip not in self._known:
            kept = self._kept(tip)
            self._known[tip] = self._read(tip) if kept is None else kept
        lines = self._known[tip]
        places = {at for needle in needles for at in _occurrences(lines, needle.encode())}
        found = (lines[at : lines.index(b"\n", at)] for at in sorted(places))
        parts = (line.decode("utf-8", "replace").partition(" ") for line in found)
        return [(commit, line) for commit, _, line in parts]

    def _read(self, tip: str) -> bytes:
        """Let git tell what is not known of a shorter history, and keep all of it."""
        earlier = next(self._earlier(tip), None)
        since = [f"^{earlier}"] if earlier else []
        done = self._git.run("log", "-z", "--format=%H%n%B", tip, *since, "--")
        parts = (message.partition(b"\n") for message in done.out.split(b"\0"))
        lines = b"".join(
            b"%s %s\n" % (commit, line.rstrip(b"\r"))
            for commit, _, message in parts
            for line in _TELLING.findall(message)
        )
        lines += (self._kept(earlier) or b"") if earlier else b""
        self._keep(tip, lines)
        return lines

    def _earlier(self, tip: str) -> Iterator[str]:
        """Yield the tips whose histories are kept and are the beginning of this one."""
        for path in self._files()[:_TRIED]:
            if re.fullmatch("[0-9a-f]{40,64}", path.name) and self._kept(path.name):
                # 128: there is no such commit in this repository.
                how = ("merge-base", "--is-ancestor", path.name, tip)
                if self._git.run(*how, ok=(0, 1, 128)).status == 0:
                    yield path.name

    def _files(self) -> list[Path]:
        """List what is kept, the newest first."""
        found = []
        with suppress(OSError):
            for path in self._folder.iterdir() if self._folder else ():
                found.append((path.stat().st_mtime, path))
        return [path for _, path in sorted(found, reverse=True)]

    def _kept(self, tip: str) -> bytes | None:
        """Return what is kept of a tip; None where it is not there, or damaged."""
        if self._folder is None:
            return None
        try:
            digest, _, lines = (self._folder / tip).read_bytes().partition(b"\n")
        except OSError:
            return None
        return lines if digest == _digest(lines) else None

    def _keep(self, tip: str, lines: bytes) -> None:
        """Keep it, whole or not at all; that it cannot be kept is no reason to stop."""
        if self._folder is None:
            return
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self._folder)
            with os.fdopen(handle, "wb") as file:
                file.write(_digest(lines) + b"\n" + lines)
            os.replace(name, self._folder / tip)
            for path in self._files()[_KEPT:]:
                path.unlink()


def _digest(lines: bytes) -> bytes:
    return hashlib.sha256(lines).hexdigest().encode()


def _occurrences(lines: bytes, needle: bytes) -> Iterator[int]:
    """Yield where the lines begin that hold ``needle`` after the id."""
    at = lines.find(needle)
    while at >= 0:
        start = lines.rfind(b"\n", 0, at) + 1
        if b" " in lines[start:at]:
            yield start
        at = lines.find(needle, at + 1)
