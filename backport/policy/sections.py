"""The ``Conflicts:`` section and the NOTEs of a message, as values."""

from __future__ import annotations

import re
from dataclasses import dataclass

_HEADER = re.compile(r"^[# \t]*Conflicts?:[ \t]*$")
_NOTE = re.compile(r"^[ \t]*NOTE ?\([^)\n]*\)", re.M)
_PATH = re.compile(r"^[#\s]+(\S.*?)\s*$")


@dataclass(frozen=True)
class Section:
    """A section: the line of its header, from 1, and the paths that it lists."""

    line: int
    paths: tuple[str, ...]


def sections(message: str) -> list[Section]:
    """Return the sections of a message. The list ends with the first line that is not indented.

    A blank line below the header was left by some; git indents by a tab, people as they like
    (measured: 6, 4, 8, 2 spaces).
    """
    lines = message.split("\n")
    headers = [number for number, line in enumerate(lines) if _HEADER.match(line)]
    return [Section(number + 1, tuple(_listed(lines[number + 1 :]))) for number in headers]


def _listed(lines: list[str]) -> list[str]:
    if lines and not lines[0].strip():
        lines = lines[1:]
    found = []
    for line in lines:
        match = _PATH.match(line)
        if not match or " " in match[1]:  # words, and no path
            break
        found.append(match[1])
    return found


def has_note(message: str) -> bool:
    """Whether a person has told what was adapted: ``NOTE(nick): …``, or git's own words."""
    return bool(_NOTE.search(message))
