"""What a message says of conflicts, against the pick done once more."""

from __future__ import annotations

import re
from collections.abc import Iterator

from backport.policy.model import Facts, Hit, Range
from backport.series.conflicts_section import Section, find_sections

_IN_PROSE = r"^[# \t]*Conflicts?:[ \t]*$"  # what stands below it is no list
_NOTE = re.compile(r"^[ \t]*NOTE ?\([^)\n]*\)", re.M)


def _sections(facts: Facts) -> list[Section]:
    return list(find_sections(facts.message))


def _line(facts: Facts, section: Section) -> int:
    return facts.message.count("\n", 0, section.start) + 1


def conflicts_missing(facts: Facts, around: Range) -> Iterator[Hit]:
    """The pick conflicts, and no section says so."""
    told = _sections(facts) or facts.at(_IN_PROSE)
    if facts.replay and facts.replay.conflicts and not told:
        yield Hit(
            f"picking {facts.replay.source[:12]} conflicts in {', '.join(facts.replay.conflicts)}, "
            "and there is no Conflicts: section"
        )


def conflicts_stale(facts: Facts, around: Range) -> Iterator[Hit]:
    """The pick is clean, to the very tree, and a section is left of a hop before."""
    if not facts.replay or facts.replay.conflicts or not facts.replay.equal:
        return
    for section in _sections(facts):
        reason = f"picking {facts.replay.source[:12]} is clean here, with the very same tree"
        yield Hit(reason, line=_line(facts, section))


def conflicts_files(facts: Facts, around: Range) -> Iterator[Hit]:
    """The section lists other files than those that conflict."""
    found = _sections(facts)
    if not (facts.replay and facts.replay.conflicts and found):
        return
    listed = {
        path for section in found for path in section.paths if re.search("[/.]", path)
    }  # else prose
    real = set(facts.replay.conflicts)
    if listed == real:
        return
    parts = [
        f"{word} {', '.join(sorted(paths))}"
        for word, paths in (("lacks", real - listed), ("lists without a conflict", listed - real))
        if paths
    ]
    yield Hit(f"the Conflicts: section {'; '.join(parts)}", line=_line(facts, found[-1]))


def conflicts_place(facts: Facts, around: Range) -> Iterator[Hit]:
    """A section below the Change-Id, which git and Gerrit then do not take for a trailer."""
    trailer = facts.at("^Change-Id:")
    for section in _sections(facts):
        if trailer and _line(facts, section) > trailer:
            yield Hit("the Conflicts: section is below the Change-Id", line=_line(facts, section))


def adapted_without_note(facts: Facts, around: Range) -> Iterator[Hit]:
    """The pick is clean, the tree is another than it makes, and nothing says why."""
    if not facts.replay or facts.replay.conflicts or facts.replay.equal:
        return
    if _sections(facts) or _NOTE.search(facts.message):
        return
    reason = f"picking {facts.replay.source[:12]} is clean, but the commit is not what it makes"
    yield Hit(reason)
