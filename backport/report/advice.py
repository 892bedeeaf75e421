"""What to type next, worked out from what happened."""

from __future__ import annotations

import shlex

from backport.apply.outcome import Outcome
from backport.report.document import Action, BranchFacts, CheckoutFacts, NextStep, Result
from backport.runner.results import Proof
from backport.series.model import Series

BUILT_IN = "built-in"  # the kind of the checkout that the tool makes itself


def next_steps(
    result: Result,
    series: Series,
    checkout: CheckoutFacts | None,
    branch: BranchFacts,
    outcome: Outcome | None = None,
    proof: Proof | None = None,
) -> tuple[NextStep, ...]:
    """Return the commands that make sense now, the likeliest first.

    None of them changes a work tree of the user's; each is quoted for a POSIX shell.
    """
    if outcome and outcome.conflict:
        return after_conflict()
    if result in (Result.BROKEN, Result.UNPROVEN, Result.CANNOT_TELL):
        return _after_negative(proof)
    if result is Result.ALREADY_IN and outcome and checkout:
        return _after_finding(outcome, checkout)
    if checkout is None or branch.name is None:
        return ()
    if branch.action is Action.REFUSED:
        return _after_refusal(checkout, branch)
    if branch.action is Action.DRY_RUN:
        return (_step("make the branch, too", "backport", "run", series.name, *_of(checkout)),)
    if branch.action in (Action.CREATED, Action.REPLACED, Action.NOTHING_TO_DO):
        return _after_publishing(result, series, checkout, branch)
    return ()


def after_conflict() -> tuple[NextStep, ...]:
    """Return the three commands of a pending conflict."""
    return (
        _step("see each file, each hunk and both of its sides", "backport", "status"),
        _step("go on, once no conflict marker is left", "backport", "continue"),
        _step("give up; nothing stays behind", "backport", "abort"),
    )


def _after_negative(proof: Proof | None) -> tuple[NextStep, ...]:
    cells = [cell for cell in proof.cells if not cell.ok and cell.run.command] if proof else []
    return tuple(
        NextStep(command=cell.run.command, why=f"run the cell {cell.label} again") for cell in cells
    )


def _after_refusal(checkout: CheckoutFacts, branch: BranchFacts) -> tuple[NextStep, ...]:
    if branch.old is None:
        return ()  # it is refused for its name's sake, or another git holds it
    name = str(branch.name)
    return (_step("see what the branch holds", *_git(checkout), "log", f"{checkout.base}..{name}"),)


def _after_publishing(
    result: Result, series: Series, checkout: CheckoutFacts, branch: BranchFacts
) -> tuple[NextStep, ...]:
    name, target = str(branch.name), series.branch.branch
    span = f"{checkout.base[:10]}..{name}"
    steps = [_step("read the commits", *_git(checkout), "log", "--patch", "--reverse", span)]
    if result is Result.NOT_TESTED:
        steps.append(_step("prove them", "backport", "verify", series.name, *_of(checkout)))
    if checkout.kind != BUILT_IN:
        push = f"{name}:refs/for/{target}"
        steps.append(_step("send them to review", *_git(checkout), "push", "gerrit", push))
    return tuple(steps)


def _after_finding(outcome: Outcome, checkout: CheckoutFacts) -> tuple[NextStep, ...]:
    seen = [(change.change.number, change.already_in) for change in outcome.applied]
    return tuple(
        _step(f"look at change {number}", *_git(checkout), "show", found.commit)
        for number, found in seen
        if found and found.commit
    )


def _git(checkout: CheckoutFacts) -> tuple[str, ...]:
    return ("git", "-C", checkout.path)


def _of(checkout: CheckoutFacts) -> tuple[str, ...]:
    return () if checkout.kind == BUILT_IN else ("--checkout", checkout.path)


def _step(why: str, *command: str) -> NextStep:
    return NextStep(command=shlex.join(command), why=why)
