"""Widths and shape of a message. What was so where it was picked from has to stay so."""

from __future__ import annotations

import re
from collections.abc import Iterator

from backport.policy.bugs import meanings
from backport.policy.model import Facts, Hit, Range
from backport.series.trailers import trailer_lines

_SUBJECT, _SUBJECT_AT_MOST, _BODY = 72, 79, 72  # characters
_UNBREAKABLE = re.compile(r"(?:\s*[-*>\[\]\d.:#]*\s*\S+|\s{2,}.*|.*\S+://\S+.*)\Z")


def _inherited(facts: Facts) -> set[str]:
    """The lines of the commits that it was picked from."""
    return {line for each in facts.known for line in each.message.split("\n")}


def subject_width(facts: Facts, around: Range) -> Iterator[Hit]:
    """A subject that is cut off in lists."""
    length = len(facts.subject)
    if _SUBJECT < length <= _SUBJECT_AT_MOST and facts.subject not in _inherited(facts):
        yield Hit(f"the subject is {length} characters long; at most {_SUBJECT}", line=1)


def subject_too_long(facts: Facts, around: Range) -> Iterator[Hit]:
    """A subject that is longer than a line of a terminal."""
    length = len(facts.subject)
    if length > _SUBJECT_AT_MOST and facts.subject not in _inherited(facts):
        yield Hit(f"the subject is {length} characters long; at most {_SUBJECT}", line=1)


def subject_period(facts: Facts, around: Range) -> Iterator[Hit]:
    """A subject is a title."""
    if facts.subject.endswith(".") and facts.subject not in _inherited(facts):
        yield Hit("the subject ends in a period", line=1)


def second_line(facts: Facts, around: Range) -> Iterator[Hit]:
    """Without an empty line git takes what follows for the subject, too."""
    if len(facts.lines) > 1 and facts.lines[1].strip():
        yield Hit("the line below the subject is not empty", line=2)


def body_empty(facts: Facts, around: Range) -> Iterator[Hit]:
    """Trailers alone do not say why."""
    if facts.cited or (all(map(around.is_test, facts.paths)) and any(meanings(facts.message))):
        return  # it says which bug a test shows
    trailers = "".join(trailer_lines(facts.message)).split("\n")
    said = [line for line in facts.lines[1:] if line.strip() and line not in trailers]
    if not [line for line in said if not re.match(r"[\w-]+-Bug:", line, re.I)]:
        yield Hit("the message does not say why, only what")


def body_width(facts: Facts, around: Range) -> Iterator[Hit]:
    """Lines that wrap in a terminal, and in mails; what cannot be broken is spared."""
    spared = {*_inherited(facts), *"".join(trailer_lines(facts.message)).split("\n")}
    wide = [
        (number, line)
        for number, line in enumerate(facts.lines[1:], 2)
        if len(line) > _BODY and line not in spared and not _UNBREAKABLE.match(line)
    ]
    if wide:
        number, line = wide[0]
        more = f", and {len(wide) - 1} more" if len(wide) > 1 else ""
        yield Hit(f"is {len(line)} characters wide{more}; at most {_BODY}", line=number)
