"""What Launchpad's integration does with a message: jeepyb's grammar, not the one people think of.

``jeepyb/cmd/update_bug.py`` of openstack-infra/jeepyb (2013-07 to 2019-04, the same in substance).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

_JEEPYB = re.compile(
    r"^[\t ]*(?P<prefix>[-\w]+)?[\s:]*"
    r"(?:\b(?:bug|lp)\b[\s#:]*)+"
    r"(?P<bug_number>\d+)\s*?$",
    re.I | re.M,
)


class Effect(str, Enum):
    """What happens to a bug when the commit merges."""

    CLOSES = "closes"  # the task of the branch becomes Fix Committed
    PARTIAL = "partial"  # In Progress
    RELATED = "related"  # a side note
    COMMENT = "comment"  # a comment only: the prefix is unknown


_EFFECTS = {
    **dict.fromkeys(("closes", "fixes", "resolves"), Effect.CLOSES),
    "partial": Effect.PARTIAL,
    **dict.fromkeys(("related", "impacts", "affects"), Effect.RELATED),
}


@dataclass(frozen=True)
class Said:
    """What is done to a bug, or meant to be done, and by which line of the message."""

    bug: int
    effect: Effect
    line: int  # from 1
    text: str


def effects(message: str) -> dict[int, Said]:
    """Return what happens to each bug: the first match of a number wins."""
    found: dict[int, Said] = {}
    for match in _JEEPYB.finditer(message):
        prefix = (match["prefix"] or "closes").split("-")[0].lower()
        bug = int(match["bug_number"])
        # The prefix may stand on a line above the number's, and empty lines before it.
        start = match.start("prefix") if match["prefix"] else match.start("bug_number")
        line = message.count("\n", 0, start) + 1
        text = message.split("\n")[line - 1]
        effect = _EFFECTS.get(prefix, Effect.COMMENT)
        found.setdefault(bug, Said(bug, effect, line, text))
    return found


# A line that is a bug trailer to its reader, however it is misspelt: "Close-Bug", "Relatd-Bug",
# "Closes-Bugs", "* Closes-Bug"; and what stands behind it.
_MEANT = re.compile(r"^[\t *>]*(?P<word>[A-Za-z]+(?:-[A-Za-z]+)?)-bugs?[ \t]*:(?P<rest>.*)$", re.I)
_WORDS = (
    (re.compile("(close|clos|fix|resolve)", re.I), Effect.CLOSES),
    (re.compile("part", re.I), Effect.PARTIAL),
    (re.compile("(relat|impact|affect)", re.I), Effect.RELATED),
)
# The first number, whatever its size; behind it, what looks like a bug's. A URL ends in "+bug/N".
_NUMBER = re.compile(r"^\s*(?:(?:lp|bug)[\s#:]*)*#?(\d+)|[\s,;&]#?(\d{4,})|bugs?/(\d+)", re.I)


def meanings(message: str) -> Iterator[Said]:
    """Yield what a message's bug trailers mean to people, one for each bug that a line names."""
    for number, line in enumerate(message.split("\n"), 1):
        trailer = _MEANT.match(line)
        if not trailer:
            continue
        effect = next((e for word, e in _WORDS if word.match(trailer["word"])), None)
        for bug in _NUMBER.findall(trailer["rest"]) if effect else ():
            assert effect is not None
            yield Said(int("".join(bug)), effect, number, line.strip())
