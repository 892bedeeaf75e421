"""What the messages of a branch's commits say of where they come from, kept between runs.

Reading all of nova's messages takes git most of a second (``git log --grep``, too).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from backport.checkout.git import Git
from backport.kept import read_checked, write_checked

#: The lines that :mod:`backport.series.message`, :mod:`backport.apply.present` and
#: :mod:`backport.picking.lines` read.
_TELLING = re.compile(
    rb"^(?:Change-Id:|This reverts commit |[ \t]*\((?i:cherry[ -]picked from commit)"
    rb"|(?i:[a-z]+-bug[ \t]*:)).*",
    re.M,
)
_FORM = 2  # of what is kept: other lines counted in the first
_KEPT = 8  # branches


class History:
    """Lines of commit messages up to a tip, as ``ID LINE``, the newest first.

    :param folder: where they are kept; None: nowhere, as where history is cut off, and the same
        tip has another history once more of it has been fetched
    """

    def __init__(self, git: Git, folder: Path | None) -> None:
        self._git = git
        self._folder = folder
        self._known: dict[str, str] = {}

    def find(self, tip: str, needles: Sequence[str]) -> list[tuple[str, str]]:
        """Find the lines up to ``tip`` that hold one of the texts.

        :returns: pairs (id of the commit, line), those of the newest commit first
        """
        if tip not in self._known:
            kept = read_checked(self._folder / f"{tip}-{_FORM}") if self._folder else None
            self._known[tip] = kept if isinstance(kept, str) else self._read(tip)
        lines = self._known[tip]
        places = {at for needle in needles for at in _occurrences(lines, needle)}
        found = (lines[at : lines.index("\n", at)].partition(" ") for at in sorted(places))
        return [(commit, line) for commit, _, line in found]

    def _read(self, tip: str) -> str:
        done = self._git.run("log", "-z", "--format=%H%n%B", tip, "--")
        parts = (message.partition(b"\n") for message in done.out.split(b"\0"))
        lines = b"".join(
            b"%s %s\n" % (commit, line.rstrip(b"\r"))
            for commit, _, message in parts
            for line in _TELLING.findall(message)
        ).decode("utf-8", "replace")
        if self._folder:
            write_checked(self._folder / f"{tip}-{_FORM}", lines)
            _forget(self._folder)
        return lines


def _forget(folder: Path) -> None:
    """Keep the newest only."""
    with suppress(OSError):
        files = sorted(folder.iterdir(), key=lambda file: file.stat().st_mtime, reverse=True)
        for file in files[_KEPT:]:
            file.unlink()


def _occurrences(lines: str, needle: str) -> Iterator[int]:
    """Yield where the lines begin that hold ``needle`` after the id."""
    at = lines.find(needle)
    while at >= 0:
        start = lines.rfind("\n", 0, at) + 1
        if " " in lines[start:at]:
            yield start
        at = lines.find(needle, at + 1)
