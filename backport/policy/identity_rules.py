"""What makes a backport the same change to Gerrit and to people: Change-Id, subject, author."""

from __future__ import annotations

import re
from collections.abc import Iterator

from backport.policy.model import Facts, Hit, Range
from backport.series.message import change_ids, subject_without_tags

_CHANGE_ID = re.compile(r"^Change-Id:", re.M)
_SOUND = re.compile(r"^Change-Id: I[0-9a-f]{40}$")


def change_id_changed(facts: Facts, around: Range) -> Iterator[Hit]:
    """Another Change-Id than any of the commits that it says it was picked from."""
    theirs = [ids[0] for each in facts.known if (ids := change_ids(each.message))]
    if facts.change_id and theirs and facts.change_id not in theirs:
        reason = f"{facts.change_id} is not the Change-Id of what was picked, {theirs[-1]}"
        yield Hit(reason, line=facts.at("^Change-Id:"))


def change_id_count(facts: Facts, around: Range) -> Iterator[Hit]:
    """None, or more than one, or one that Gerrit does not take."""
    found = [n for n, line in enumerate(facts.lines, 1) if _CHANGE_ID.match(line)]
    if not found:
        yield Hit("has no Change-Id")
    elif len(found) > 1:
        yield Hit(f"has {len(found)} Change-Ids; Gerrit takes the last", line=found[0])
    elif not _SOUND.match(facts.lines[found[0] - 1]):
        yield Hit("the Change-Id is not I and 40 hexadecimal digits", line=found[0])


def change_id_place(facts: Facts, around: Range) -> Iterator[Hit]:
    """Elsewhere than in the last paragraph, where Gerrit does not see it."""
    last = facts.message.rstrip().rpartition("\n\n")[2]
    if _CHANGE_ID.search(facts.message) and not _CHANGE_ID.search(last):
        yield Hit("the Change-Id is not in the last paragraph", line=facts.at("^Change-Id:"))


def subject_changed(facts: Facts, around: Range) -> Iterator[Hit]:
    """Another subject than the commit that was picked, the tags in front set aside."""
    if facts.original and not facts.is_squash:
        was, now = map(subject_without_tags, (facts.original.message, facts.message))
        if was != now:
            yield Hit(f"the subject was “{was}” where it was picked from", line=1)


def author_changed(facts: Facts, around: Range) -> Iterator[Hit]:
    """Another author than the commit that was picked."""
    if facts.original and facts.original.author and not facts.is_squash:
        was, now = facts.original.author, facts.author
        # People change their addresses, and write their names in several ways.
        if was.email.lower() != now.email.lower() and was.name != now.name:
            yield Hit(f"the author is {now}; where it was picked from, {was}")
