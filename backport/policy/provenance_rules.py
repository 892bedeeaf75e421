"""Where a commit says it comes from, and whether the newer branches have it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from backport.policy.exempt import is_release_note, is_tagged
from backport.policy.model import Facts, Hit, Range

_FORM = re.compile(r"\(cherry picked from commit [0-9a-f]{40,64}\)")


def no_provenance(facts: Facts, around: Range) -> Iterator[Hit]:
    """Neither a commit that it was picked from, nor a tag that says there is none."""
    if facts.cited or is_tagged(facts) or is_release_note(facts):
        return
    at = {branch: commit for branch, commit in facts.elsewhere.items() if commit}
    if at:
        branch, commit = next(iter(at.items()))
        yield Hit(f"does not say where it was picked from; {branch} has it as {commit}")
    else:
        yield Hit("names no commit of a newer branch, and its subject no stable-only tag")


def provenance_form(facts: Facts, around: Range) -> Iterator[Hit]:
    """A line that people can read and tools cannot."""
    for each in facts.cited:
        if not _FORM.fullmatch(each.form):
            yield Hit(f"is not as git cherry-pick -x writes it: {each.form}", line=each.line)


def unknown_commit(facts: Facts, around: Range) -> Iterator[Hit]:
    """A hash that the project does not know: most often a patch set that never merged."""
    if around.newer and not around.is_shallow:
        for each in facts.cited:
            if not each.id:
                yield Hit(f"there is no commit {each.text} in this checkout", line=each.line)


def not_on_newer_branch(facts: Facts, around: Range) -> Iterator[Hit]:
    """A commit that is there, and on none of the newer branches."""
    if not around.newer or around.is_shallow:
        return
    for each in facts.known:
        if not each.on:
            where = f"is on {around.branch} itself" if each.on_target else "is on none of them"
            reason = f"commit {each.text[:12]} {where}; a newer branch must have it"
            yield Hit(reason, line=each.line)


def provenance_order(facts: Facts, around: Range) -> Iterator[Hit]:
    """A commit that stands above one of a newer branch."""
    chain = [each for each in facts.known if each.on and each.line > facts.last_gap]
    homes = [(each, around.newer.index(each.on[-1])) for each in chain]
    for (above, high), (below, low) in pairwise(homes):
        if low > high:
            yield Hit(
                f"{below.text[:12]} of {around.newer[low]} stands below {above.text[:12]} of "
                f"{around.newer[high]}",
                line=below.line,
            )


def chain_incomplete(facts: Facts, around: Range) -> Iterator[Hit]:
    """A branch in between has the change as a commit of its own, which is not named."""
    if not facts.known or len(facts.known) < len(facts.cited):
        return  # who is not known may be just that
    cited = {each.id for each in facts.cited}
    homes = [each.on[-1] for each in facts.known if each.on]
    left = [
        f"{commit[:12]} of {branch}"
        for branch, commit in facts.elsewhere.items()
        if commit and commit not in cited and branch not in homes
    ]
    if left:
        yield Hit(f"was picked past {', '.join(left)}", line=facts.cited[-1].line)


def missing_on_newer_branch(facts: Facts, around: Range) -> Iterator[Hit]:
    """A newer branch has the change, and one between that and this one has not."""
    if not facts.elsewhere or around.is_shallow:
        return
    newest = max(around.newer.index(branch) for branch in facts.elsewhere)
    left = [branch for branch in around.newer[:newest] if branch not in facts.elsewhere]
    if left:
        reason = f"{around.newer[newest]} has {facts.change_id}, and {', '.join(left)} not"
        yield Hit(reason, line=facts.at("^Change-Id:"))
