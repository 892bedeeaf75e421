"""What a file is that holds no patch: said in a word, with what to do about it."""

from __future__ import annotations

import re
from typing import NamedTuple


class Alien(NamedTuple):
    """A way not to be a patch: how it is known, what it is, and the remedy."""

    pattern: re.Pattern[bytes]
    what: str
    hint: str = ""


_ENOUGH = 100_000  # bytes to look at: a hostile file may be long, and tells no more further down
_GIT_DIFF = "Write the patch with: git diff --full-index --binary BASE COMMIT."

# Looked for before anything else is read.
_UNREADABLE = (
    Alien(
        re.compile(rb"\A(?:\xff\xfe|\xfe\xff)"),
        "is UTF-16 text, which a shell has made of the patch (PowerShell's '>' does)",
        "Write the patch with: git diff --output=FILE.",
    ),
    Alien(
        re.compile(rb"\A(?:\x1f\x8b|PK\x03\x04|BZh|\xfd7zXZ|\x28\xb5\x2f\xfd)"),
        "is compressed",
        "Unpack it first.",
    ),
    Alien(
        re.compile(rb"\A\s*<(?:!doctype|html|\?xml)", re.I),
        "is a web page",
        "Fetch the raw patch instead (gitweb and cgit: 'raw' or 'patch'; GitHub: add .patch).",
    ),
    Alien(
        re.compile(rb"\A(?:[^\n]+\n)*?Content-Transfer-Encoding: *(?:quoted|base64)", re.I),
        "is a mail whose text is encoded",
        "Decode it first: git mailinfo MESSAGE PATCH < MAIL.",
    ),
)

# Looked for where no file of a patch was found.
_NO_PATCH = (
    Alien(re.compile(rb"\A\s*\Z"), "is empty"),
    Alien(
        re.compile(rb"\A[A-Za-z0-9+/]{60}[A-Za-z0-9+/=\s]*\Z"),
        "is base64 text",
        "Decode it first (Gerrit and gitiles send patches so): base64 --decode.",
    ),
    Alien(
        re.compile(rb"^\x1b\[[0-9;]*m(?:diff --|---|@@)", re.M),
        "has colours in it, as a terminal shows them",
        "Write the patch with: git diff --no-color --output=FILE.",
    ),
    Alien(re.compile(rb"^\*\*\* .*\n--- .*\n\*{15}", re.M), "is a context diff", _GIT_DIFF),
    Alien(
        re.compile(rb"^\d+(?:,\d+)?[acd]\d+(?:,\d+)?\r?\n(?:[<>] |---)", re.M),
        "is a normal diff, which names no files",
        _GIT_DIFF,
    ),
    Alien(re.compile(rb"^\d+(?:,\d+)?[acd]\r?\n", re.M), "is an ed script", _GIT_DIFF),
    Alien(
        re.compile(rb"^version https://git-lfs\.github\.com/spec/", re.M),
        "is a pointer to a file of Git LFS",
        "Get the file itself: git lfs pull.",
    ),
    Alien(re.compile(rb""), "holds no patch: no 'diff --git' line, no '---' and '+++'", _GIT_DIFF),
)


def unreadable(data: bytes) -> Alien | None:
    """Return what keeps a file from being read as lines at all; None where nothing does."""
    return next((alien for alien in _UNREADABLE if alien.pattern.search(data[:_ENOUGH])), None)


def no_patch(data: bytes) -> Alien:
    """Return what a file without a patch is."""
    return next(alien for alien in _NO_PATCH if alien.pattern.search(data[:_ENOUGH]))
