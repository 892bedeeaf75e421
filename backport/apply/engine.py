"""A series onto a base: commits as objects, each file by the strictest way that works.

The ladder, per file: exactly as the patch says (offsets are followed, all context must
be there), else a three-way merge with the blobs that the patch was made from, following
a rename. Every hunk must then be at home (:mod:`backport.placement.check`); no rung
relaxes context, and nothing is applied by guesswork.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from backport.apply import present
from backport.apply.accounting import as_written, hunk_fates
from backport.apply.delta import Delta, bring_sources, make_deltas
from backport.apply.outcome import (
    AlreadyIn,
    AppliedChange,
    Conflict,
    Fate,
    FileOutcome,
    HunkFate,
    Layer,
    Outcome,
    Resolution,
    Rung,
)
from backport.apply.three_way import Climbed, Doubts, climb
from backport.checkout.objects import Signed
from backport.checkout.scratch import Scratch
from backport.errors import UsageError
from backport.patch.reader import parse_diff, patch_paths
from backport.progress import Progress, Silent
from backport.series.message import pick_message, write_message
from backport.series.model import Change, Person, Series

_LEFT_OUT_KEY = "left-out: in series.yaml"


@dataclass(frozen=True)
class Signing:
    """Who signs the commits where the series does not say, and when (``SECONDS +HHMM``)."""

    author: Person
    committer: Person
    date: str


@dataclass(frozen=True)
class Options:
    """What a person has decided.

    :param accept_moved: ``(path, line)`` of hunks that may land in another home
    :param resolutions: by a change's number, what a person made of its conflict
    :param doubts: what speaks against a resolution by rule, if anything: names, for example, that
        the picked code uses and the branch does not have
    """

    accept_moved: Collection[tuple[str, int]] = ()
    resolutions: Mapping[int, Resolution] = field(default_factory=dict)
    doubts: Doubts | None = None


def apply_series(
    scratch: Scratch,
    series: Series,
    base: str,
    signing: Signing,
    options: Options | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Make the commits of a series on top of ``base``, and stop at the first conflict.

    The same input makes the same commits (must 4): authors and dates come from the
    series, the picked commits, or ``signing``.

    :raises UsageError: the series cannot be meant so
    :raises ConflictError: a Change-Id is taken by another change
    """
    options, progress = options or Options(), progress or Silent()
    bring_sources(scratch, series.changes)
    deltas = make_deltas(scratch, series.changes)
    history = present.read_history(scratch, base, deltas)
    applied: list[AppliedChange] = []
    tip, tree = base, scratch.tree(base)
    for delta in deltas:
        progress.update(delta.change.subject, delta.change.number - 1, len(deltas))
        done = _apply(scratch, series, delta, history, (tip, tree), signing, options)
        if isinstance(done, Conflict):
            return Outcome(base, tuple(applied), done)
        applied.append(done)
        tip, tree = done.commit, done.tree
    return Outcome(base, tuple(applied))


def _apply(
    scratch: Scratch,
    series: Series,
    delta: Delta,
    history: present.History,
    onto: tuple[str, str],
    signing: Signing,
    options: Options,
) -> AppliedChange | Conflict:
    change = delta.change
    tip, tree = onto
    known = present.by_name(scratch, delta, history)
    if known:
        return _left_alone(change, tip, tree, known)
    resolution = options.resolutions.get(change.number)
    if not delta.patch.files:
        climbed = _empty(delta, tree)
    else:
        climbed = climb(scratch, tree, delta, options.accept_moved, options.doubts)
    if resolution is not None and climbed.conflicts:
        done = _resolved(scratch, tree, delta, climbed, resolution)
        return _committed(scratch, series, delta, tip, done, signing)
    if climbed.tree == tree and delta.patch.files and not climbed.conflicts:
        why = "the branch's files are already as the change makes them"
        return _left_alone(change, tip, tree, AlreadyIn(Layer.CONTENT, None, why))
    if climbed.conflicts:
        known = present.by_patch_id(scratch, delta, history.tip)
        if known:
            return _left_alone(change, tip, tree, known)
        return Conflict(change, tip, climbed.conflicts, climbed.tree, delta.paths)
    # What a patch that a person made lacks can be known by their word only.
    lacking = (HunkFate(path, "a part", Fate.LEFT_OUT, _LEFT_OUT_KEY) for path in change.left_out)
    done = Done(climbed.tree, climbed.files, (*as_written(delta.patch.files), *lacking))
    return _committed(scratch, series, delta, tip, done, signing)


@dataclass(frozen=True)
class Done:
    """A change that is in: the tree, how each file went in, and what became of each hunk.

    :param conflicts: the paths that a person has decided on
    """

    tree: str
    files: tuple[FileOutcome, ...]
    hunks: tuple[HunkFate, ...]
    conflicts: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether nothing was left out."""
        return all(hunk.fate is not Fate.LEFT_OUT for hunk in self.hunks)


def _left_alone(change: Change, tip: str, tree: str, known: AlreadyIn) -> AppliedChange:
    return AppliedChange(change, tip, tree, tip, change.subject, already_in=known)


def _committed(
    scratch: Scratch,
    series: Series,
    delta: Delta,
    tip: str,
    done: Done,
    signing: Signing,
) -> AppliedChange:
    change, picked = delta.change, delta.picked
    conflicts = (
        *done.conflicts,
        *(file.path for file in done.files if file.rules),
    )
    # What a rule resolved nobody has looked at, and what was left out is not in: the message has
    # to tell of both.
    if any(file.rules for file in done.files) or not done.is_whole:
        change = replace(change, conflicts_section=True)
    if picked:
        message = pick_message(change, picked.message, picked.id, conflicts)
    else:
        message = write_message(change, series, conflicts)
    author = _author(delta, signing)
    committer = Signed(signing.committer, signing.date)
    commit = scratch.make_commit(done.tree, (tip,), message.text, author, committer)
    return AppliedChange(
        delta.change,
        commit,
        done.tree,
        tip,
        message.text,
        done.files,
        notes=message.notes,
        hunks=done.hunks,
    )


def _author(delta: Delta, signing: Signing) -> Signed:
    """The series' word first, then the picked commit's author and date, then who runs this."""
    default = delta.picked.author if delta.picked else Signed(signing.author, signing.date)
    return Signed(
        delta.change.author or default.person,
        delta.change.date or default.date,
    )


def _empty(delta: Delta, tree: str) -> Climbed:
    change = delta.change
    if not change.allow_empty:
        file, line = change.source
        raise UsageError(
            f"{file}:{line}: change {change.number} is empty",
            "Say allow-empty: true if a commit without a change is meant.",
        )
    return Climbed(tree, (), ())


def _resolved(
    scratch: Scratch, tree: str, delta: Delta, climbed: Climbed, resolution: Resolution
) -> Done:
    """Put in what a person has made of a change, and say so of the files where it was one."""
    patch = parse_diff(resolution.patch, Path("the kept resolution"))
    done = scratch.apply(tree, resolution.patch, patch_paths(patch))
    if done.tree is None:
        raise UsageError(
            f"the kept resolution of change {delta.change.number} does not fit its parent any "
            f"more: {'; '.join(done.complaints)}",
            "The series or the base has changed since. Type: backport abort",
        )
    changed = set(scratch.changed_paths(climbed.tree, done.tree))
    conflicts = {path for one in climbed.conflicts for path in one.written}
    by_hand = [path for path in scratch.changed_paths(tree, done.tree) if path in changed]
    files = (
        *(file for file in climbed.files if file.path not in changed),
        *(FileOutcome(path, Rung.RESOLVED) for path in sorted(conflicts)),
        *(FileOutcome(path, Rung.EDITED) for path in by_hand if path not in conflicts),
    )
    hunks = hunk_fates(scratch, tree, done.tree, delta, climbed, resolution, patch)
    named = tuple(one.path for one in climbed.conflicts)
    return Done(done.tree, files, hunks, named)
