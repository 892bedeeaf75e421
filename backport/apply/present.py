"""Is a change in already? In layers, each of which says by what it knows (must 3)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from backport.apply.delta import Delta
from backport.apply.outcome import AlreadyIn, Layer
from backport.checkout.scratch import Scratch
from backport.errors import ConflictError
from backport.series.message import change_ids, provenance, subject_without_tags

#: How many commits that touch the same files are compared by patch-id.
PATCH_ID_DEPTH = 200

_REVERTS = re.compile(r"^This reverts commit ([0-9a-f]{7,40})", re.MULTILINE)


@dataclass(frozen=True)
class History:
    """The commits of a branch that could be one of a series' changes: (id, message) each."""

    tip: str
    commits: tuple[tuple[str, str], ...]
    reverted: frozenset[str]


def read_history(scratch: Scratch, tip: str, deltas: Sequence[Delta]) -> History:
    """Look through all of the branch's messages once, for all changes of a series.

    Takes git half a second on nova's 70,000 commits, the first time.
    """
    needles = [delta.change.change_id for delta in deltas if delta.change.change_id]
    needles += [source for delta in deltas for source in _sources(delta)]
    if not needles:
        return History(tip, (), frozenset())
    found = scratch.search(tip, [*needles, "This reverts commit"])
    gone = tuple(commit for _, line in found for commit in _REVERTS.findall(line))
    reverted = frozenset(commit for commit, _ in found if commit.startswith(gone)) if gone else ()
    named = dict.fromkeys(
        commit for commit, line in found if any(needle in line for needle in needles)
    )
    commits = tuple((commit, scratch.commit(commit).message) for commit in named)
    return History(tip, commits, frozenset(reverted))


def by_name(scratch: Scratch, delta: Delta, history: History) -> AlreadyIn | None:
    """Recognise a change by what commit messages say: its Change-Id, then its provenance.

    :raises ConflictError: the Change-Id is there, on another change
    """
    here = [item for item in history.commits if item[0] not in history.reverted]
    for commit, message in here:
        if delta.change.change_id and delta.change.change_id in change_ids(message):
            return _same_change(scratch, delta, commit, message)
    sources = _sources(delta)
    for commit, message in here:
        cited = sources & set(provenance(message))
        if cited:
            source = min(cited)
            return AlreadyIn(Layer.PROVENANCE, commit, f"it was picked from {source[:12]}, too")
    for source in sorted(sources):
        found = scratch.resolve(source)
        if found and found not in history.reverted and scratch.is_ancestor(found, history.tip):
            return AlreadyIn(Layer.PROVENANCE, found, "the branch holds the commit itself")
    return None


def by_patch_id(scratch: Scratch, delta: Delta, tip: str) -> AlreadyIn | None:
    """Recognise a change by the patch-id (git-patch-id(1)) of one of the last commits."""
    own = scratch.patch_id(delta.patch.data)
    commits = scratch.patch_ids(tip, delta.paths, PATCH_ID_DEPTH)
    for patch_id in own:
        if patch_id in commits:
            return AlreadyIn(Layer.PATCH_ID, commits[patch_id], f"patch-id {patch_id[:12]}")
    return None


def _same_change(scratch: Scratch, delta: Delta, commit: str, message: str) -> AlreadyIn:
    """Believe a Change-Id only where the commit is the same change by what it does, too.

    A backport may differ in its lines, and may leave a file out; one that has another
    subject, or shares no file, is another change that took the Change-Id along.
    """
    theirs, ours = set(scratch.touched(commit)), set(delta.paths)
    subject = subject_without_tags(message)
    if subject == _own_subject(delta) and (theirs & ours or theirs == ours):
        return AlreadyIn(Layer.CHANGE_ID, commit, delta.change.change_id)
    raise ConflictError(
        f"Change-Id {delta.change.change_id} is on the branch already, but on another change: "
        f"{commit[:12]} “{subject}” touches {', '.join(sorted(theirs)) or 'nothing'}; "
        f"change {delta.change.number} of the series, “{_own_subject(delta)}”, touches "
        f"{', '.join(sorted(ours)) or 'nothing'}",
        "Give the change of the series a Change-Id of its own, or take the other one off first.",
    )


def _own_subject(delta: Delta) -> str:
    text = delta.picked.message if delta.picked else delta.change.subject
    return subject_without_tags(text)


def _sources(delta: Delta) -> set[str]:
    """All commits that the change is known to come from: its provenance, closed over the hops."""
    known = set(delta.change.provenance)
    if delta.picked:
        known |= {delta.picked.id, *provenance(delta.picked.message)}
    return known
