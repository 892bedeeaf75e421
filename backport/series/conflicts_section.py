"""The ``Conflicts:`` section of a message: what somebody had to look at, on the way to one branch.

It is true of that branch alone; lines that do not hold on the next one come out of the message
(project team guide, stable branches). The forms are those of nova's stable branches, newton to
train: a quarter of the messages has a section, and five of six of these a NOTE with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_GAP = r"(?:[ \t]*\n)+"
_TEXT = r"(?:(?!(?!NOTE\b)[a-z-]+:[ \t]|\(cherry[ -]picked )[^\n]*\S[^\n]*\n)+"  # no trailers
_HEADER = re.compile(rf"^[ \t#]*Conflicts(?: \([^)\n]*\))?:[ \t]*\n(?:{_GAP}(?=[ \t]))?", re.M)
_LISTED = re.compile(r"[ \t]*#?[ \t]+(\S+)[^\n]*\n")
# Right below the list, or the paragraph that says NOTE; one that lists changes goes on below
# its list. A second NOTE is about something else.
_NOTE = re.compile(
    rf"{_TEXT}|{_GAP}(?=[ \t(]*(?:NOTE|(?:the |a |trivial )?conflicts?)\b){_TEXT}"
    rf"(?:{_GAP}(?:[ \t]+\S[^\n]*\n)+(?:{_GAP}(?-i:(?=[a-z])){_TEXT})?)*",
    re.I,
)


@dataclass(frozen=True)
class Section:
    """A section: its header and list are ``[start:end]`` of the message, its NOTE the rest."""

    start: int
    list_start: int
    end: int
    note_end: int  # as end, where there is no NOTE
    paths: tuple[str, ...]


def find_sections(message: str) -> Iterator[Section]:
    """Find the sections of a message; a header with nothing listed below it is prose."""
    for header in _HEADER.finditer(message):
        at, paths = header.end(), list[str]()
        while line := _LISTED.match(message, at):
            paths.append(line[1])
            at = line.end()
        if paths:
            note = _NOTE.match(message, at)
            note_end = note.end() if note else at
            yield Section(header.start(), header.end(), at, note_end, tuple(paths))


def with_paths(message: str, section: Section, paths: Sequence[str]) -> str:
    """List other paths in a section; without any, it goes, and its NOTE with it."""
    if paths:
        lines = "".join(f"      {path}\n" for path in paths)
        return message[: section.list_start] + lines + message[section.end :]
    before, after = message[: section.start], message[section.note_end :]
    # No gap is left at the end, nor twice the one that was above it.
    return before + after.lstrip("\n") if after.strip() else before.rstrip("\n") + "\n"
