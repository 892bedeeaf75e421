"""What a message says of conflicts, against the pick done once more."""

from __future__ import annotations

from collections.abc import Iterator

from backport.policy.model import Facts, Hit, Range
from backport.policy.sections import has_note, sections


def conflicts_missing(facts: Facts, around: Range) -> Iterator[Hit]:
    """The pick conflicts, and no section says so."""
    if facts.replay and facts.replay.conflicts and not sections(facts.message):
        yield Hit(
            f"picking {facts.replay.source[:12]} conflicts in {', '.join(facts.replay.conflicts)}, "
            "and there is no Conflicts: section"
        )


def conflicts_stale(facts: Facts, around: Range) -> Iterator[Hit]:
    """The pick is clean, to the very tree, and a section is left of a hop before."""
    if not facts.replay or facts.replay.conflicts or not facts.replay.equal:
        return
    for section in sections(facts.message):
        reason = f"picking {facts.replay.source[:12]} is clean here, with the very same tree"
        yield Hit(reason, line=section.line)


def conflicts_files(facts: Facts, around: Range) -> Iterator[Hit]:
    """The section lists other files than those that conflict."""
    found = sections(facts.message)
    if not (facts.replay and facts.replay.conflicts and found):
        return
    listed = {path for section in found for path in section.paths}
    real = set(facts.replay.conflicts)
    if listed == real:
        return
    parts = [
        f"{word} {', '.join(sorted(paths))}"
        for word, paths in (("lacks", real - listed), ("lists without a conflict", listed - real))
        if paths
    ]
    yield Hit(f"the Conflicts: section {'; '.join(parts)}", line=found[-1].line)


def conflicts_place(facts: Facts, around: Range) -> Iterator[Hit]:
    """A section below the Change-Id, which git and Gerrit then do not take for a trailer."""
    trailer = facts.at("^Change-Id:")
    for section in sections(facts.message):
        if trailer and section.line > trailer:
            yield Hit("the Conflicts: section is below the Change-Id", line=section.line)


def adapted_without_note(facts: Facts, around: Range) -> Iterator[Hit]:
    """The pick is clean, the tree is another than it makes, and nothing says why."""
    if not facts.replay or facts.replay.conflicts or facts.replay.equal:
        return
    if sections(facts.message) or has_note(facts.message):
        return
    reason = f"picking {facts.replay.source[:12]} is clean, but the commit is not what it makes"
    yield Hit(reason)
