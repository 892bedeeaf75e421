"""What a run of a series would come to, for every change of it: a conflict ends nothing here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from backport.apply.engine import Signing, apply_series
from backport.apply.outcome import AppliedChange, Conflict
from backport.checkout.scratch import Scratch
from backport.picking.missing_names import introduced, missing_names
from backport.picking.model import Fate, Introduced, Trial, Trouble
from backport.series.model import Change, Series


@dataclass(frozen=True)
class Tried:
    """A change and what came of it; ``alone``: an earlier one conflicts and was left out."""

    change: Change
    result: AppliedChange | Conflict
    alone: bool


def try_changes(scratch: Scratch, series: Series, base: str, signing: Signing) -> Iterator[Tried]:
    """Apply all changes in order, each on top of those before it that go in."""
    rest, tip, alone = series.changes, base, False
    while rest:
        outcome = apply_series(scratch, replace(series, changes=rest), tip, signing)
        for applied in outcome.applied:
            yield Tried(applied.change, applied, alone)
        if outcome.conflict is None:
            return
        yield Tried(outcome.conflict.change, outcome.conflict, alone)
        rest, tip, alone = rest[len(outcome.applied) + 1 :], outcome.tip, True


def run_trials(
    scratch: Scratch,
    series: Series,
    base: str,
    signing: Signing,
    tests_of: Callable[[str, str], Sequence[str]],
) -> tuple[Trial, ...]:
    """Say of each change what a run would.

    :param tests_of: tells the tests that differ between two trees
    """
    return tuple(
        _trial(scratch, base, tried, tests_of)
        for tried in try_changes(scratch, series, base, signing)
    )


def _trial(
    scratch: Scratch, base: str, tried: Tried, tests_of: Callable[[str, str], Sequence[str]]
) -> Trial:
    change, result = tried.change, tried.result
    commit = scratch.resolve(change.commit or "") or ""
    whole = Trial(change.number, change.subject, commit, Fate.APPLIES, alone=tried.alone)
    if isinstance(result, Conflict):
        files = tuple(Trouble(file.path, file.reasons) for file in result.files)
        return replace(whole, fate=Fate.CONFLICT, files=files)
    if result.already_in:
        known = result.already_in
        by = f"{known.layer.value}: {known.detail}"
        where = f" ({known.commit[:12]})" if known.commit else ""
        return replace(whole, fate=Fate.IN, detail=by + where)
    before = scratch.tree(result.parent)
    missing = needs_adapting(scratch, before, result.tree, base, commit)
    rungs = dict.fromkeys(file.rung.value for file in result.files)
    return replace(
        whole,
        fate=Fate.ADAPT if missing else Fate.APPLIES,
        detail=", ".join(rungs),
        missing=missing,
        tests=tuple(tests_of(before, result.tree)),
    )


def needs_adapting(
    scratch: Scratch, before: str, after: str, base: str, picked: str
) -> tuple[Introduced, ...]:
    """Find what picked code uses and the branch lacks, each with the commit that brought it."""
    found = missing_names(scratch, before, after, scratch.changed_paths(before, after))
    return tuple(introduced(scratch, one, base, picked) for one in found)
