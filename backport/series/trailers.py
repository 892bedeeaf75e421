"""Trailers of a commit message as values, by the rules of git 2.39 (trailer.c).

They are the lines of the last paragraph, if git takes it for trailers: all of them are, or one
is git's own (``Signed-off-by``, ``(cherry picked from commit …)``) and a quarter are. No setting
of ``trailer.*`` takes part, and ``---`` is text, for this is a message and not a mail.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(r"([A-Za-z0-9-]+)[ \t]*:")
_GIT_OWN = ("Signed-off-by: ", "(cherry picked from commit ")
_SPACE = " \t\n\r"  # as git-compat-util.h has it: no form feed
_FOLD = re.compile(r"\n[ \t\n\r]*")
_SCISSORS = re.compile(r"^# -{24} >8 -{24}\n", re.M)  # of git commit --verbose


def trailer_lines(message: str) -> list[str]:
    """Return the lines of the trailer paragraph with their newlines, whatever they hold.

    Empty where the message does not end in one. Comments and ``Conflicts:`` lines behind it, as
    git once put them there, are not part of it.
    """
    lines = _cut(message[: _end_of_text(message)])
    return lines[_first_trailer(lines) :]


def parse_trailers(message: str) -> list[tuple[str, str]]:
    """Return tokens and values, in order, as ``git interpret-trailers --parse --no-divider``."""
    whole: list[str] = []
    foldable = False
    for line in trailer_lines(message):
        if foldable and line[0] in _SPACE:
            whole[-1] += line
            continue
        foldable = _TOKEN.match(line) is not None
        whole.append(line)
    matches = (match for line in whole if (match := _TOKEN.match(line)))
    return [(match[1], _unfolded(match.string[match.end() :])) for match in matches]


def _unfolded(value: str) -> str:
    return _FOLD.sub(" ", value.strip(_SPACE))


def _end_of_text(message: str) -> int:
    """Where the text ends: git's ignore_non_trailer()."""
    scissors = _SCISSORS.search(message)
    cutoff = scissors.start() if scissors else len(message)
    at, ignored, in_conflicts = 0, -1, False
    for line in _cut(message[:cutoff]):
        if line[0] in "#\n" or (in_conflicts and line[0] == "\t"):
            ignored = at if ignored < 0 else ignored
        elif line == "Conflicts:\n":
            in_conflicts = True
            ignored = at if ignored < 0 else ignored
        elif ignored >= 0:
            ignored, in_conflicts = -1, False
        at += len(line)
    return ignored if ignored >= 0 else cutoff


def _cut(text: str) -> list[str]:
    r"""Cut at ``\n`` alone, and keep it: str.splitlines() cuts at form feeds and more."""
    return [part for part in re.split(r"(?<=\n)", text) if part]


def _first_trailer(lines: list[str]) -> int:
    """Where the trailer paragraph begins: git's find_trailer_start(). The number of lines if none.

    Lines that begin with a space go with the line above them, which is met later, upwards.
    """
    trailers = others = pending = 0
    recognised = seen = False
    for at in range(len(lines) - 1, _title_end(lines) - 1, -1):
        line = lines[at]
        if line[0] == "#":
            others, pending = others + pending, 0
        elif not line.strip(_SPACE):
            if not seen:
                continue
            others += pending
            if (recognised and trailers * 3 >= others) or (trailers and not others):
                return at + 1
            return len(lines)
        elif line.startswith(_GIT_OWN):
            trailers, pending, recognised = trailers + 1, 0, True
        elif _TOKEN.match(line):
            trailers, pending = trailers + 1, 0
        elif line[0] in _SPACE:
            pending += 1
        else:
            others, pending = others + 1 + pending, 0
        seen = seen or line[0] != "#"
    return len(lines)


def _title_end(lines: list[str]) -> int:
    """The first blank line: what is above is the subject, which holds no trailers."""
    blank = (at for at, line in enumerate(lines) if line[0] != "#" and not line.strip(_SPACE))
    return next(blank, len(lines))
