"""What to do next, worked out from what happened: commands that can be pasted as they are."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from backport.apply.outcome import Outcome
from backport.report.document import Action, BranchFacts, CheckoutFacts, NextStep, Result
from backport.request import RunRequest
from backport.runner.results import Cell, CellKind, Proof, Status
from backport.series.model import Series

_ONLY_PRINTS = ("--json", "--fresh")
_NO_BRANCH = BranchFacts()
_MOST_TESTS = 20  # more are named by their modules


@dataclass(frozen=True)
class Situation:
    """All that the next step hangs on.

    :param typed: the command line, the program's name first
    :param request: the options of the run; None: they could not be read
    """

    result: Result
    typed: Sequence[str]
    series: Series | None
    request: RunRequest | None = None
    checkout: CheckoutFacts | None = None
    branch: BranchFacts = _NO_BRANCH
    outcome: Outcome | None = None
    proof: Proof | None = None


def next_steps(now: Situation) -> tuple[NextStep, ...]:
    """Return what makes sense now, the likeliest first.

    No command changes a work tree of the user's. Each is one line, quoted for a POSIX shell,
    and has the options that the run had.
    """
    return tuple(_steps(now, now.series)) if now.series else ()


def _steps(now: Situation, series: Series) -> Iterator[NextStep]:
    branch = now.branch
    if now.outcome and now.outcome.conflict:
        # A dry run keeps nothing that could be gone on with.
        dry = now.request is not None and now.request.dry_run
        yield from (
            [_again(now, "keep the conflict, to resolve it")]
            if dry
            else after_conflict(series.name, *_on_checkout(now))
        )
    elif now.result is Result.BROKEN and now.proof:
        yield from _after_broken(now, series, now.proof)
    elif now.result is Result.UNPROVEN and any(cell.cut for cell in _cells(now)):
        yield _again(now, "see whether another targeted test fails without it", "--full-red")
    elif now.result is Result.CANNOT_TELL and now.proof:
        yield _again(now, "try again, with nothing kept of this run", "--fresh")
    elif now.checkout is None:
        return
    elif now.result is Result.ALREADY_IN and now.outcome:
        for one in now.outcome.applied:
            if one.already_in and one.already_in.commit:
                shown = (*_git(now.checkout), "show", one.already_in.commit)
                yield _step(f"look at change {one.change.number}", *shown)
    elif branch.action is Action.REFUSED and branch.old:
        span = f"{now.checkout.base}..{branch.name}"
        yield _step("see what the branch holds", *_git(now.checkout), "log", span)
    elif branch.action is Action.DRY_RUN:
        yield _again(now, "make the branch, too")
    elif branch.action in (Action.CREATED, Action.REPLACED, Action.NOTHING_TO_DO):
        yield from _after_publishing(now, series, now.checkout)


def after_conflict(*name: str) -> tuple[NextStep, ...]:
    """Return the three commands of a pending conflict."""
    return (
        _step("see each file, each hunk and both of its sides", "backport", "status", *name),
        _step("go on, once all files are decided", "backport", "continue", *name),
        _step("give up; what you edited is kept", "backport", "abort", *name),
    )


def _on_checkout(now: Situation) -> tuple[str, ...]:
    """Name the checkout: the series may be in conflict on another one as well."""
    return ("--checkout", now.checkout.path) if now.checkout else ()


def _cells(now: Situation) -> tuple[Cell, ...]:
    return now.proof.cells if now.proof else ()


def _again(now: Situation, why: str, *more: str) -> NextStep:
    """Repeat what was typed: the shell splits it into the same words, from the same folder."""
    left_out = (*_ONLY_PRINTS, "--dry-run")
    return _step(why, *(word for word in now.typed if word not in left_out), *more)


def _after_broken(now: Situation, series: Series, proof: Proof) -> Iterator[NextStep]:
    green = (CellKind.GREEN, CellKind.WHOLE, CellKind.TOUCHED)
    cells = [cell for cell in proof.cells if cell.kind in green and not cell.ok]
    if now.request is None or now.checkout is None or "continue" in now.typed[:2]:
        # A resolution by hand is part of what was run, and lies only with the conflict.
        yield _again(now, "run it again, with nothing kept of this run", "--fresh")
        return
    said: set[str] = set()
    for cell in cells:
        tests = _failing(cell, proof.failing_on_base)
        if not said.issuperset(tests):
            yield _test_again(now, series, now.request, now.checkout, cell, tests)
        said.update(tests)


def _test_again(
    now: Situation,
    series: Series,
    request: RunRequest,
    checkout: CheckoutFacts,
    cell: Cell,
    tests: Sequence[str],
) -> NextStep:
    if now.typed[1:2] == ["verify"]:
        ends = {one.change.number: one.commit for one in now.outcome.applied} if now.outcome else {}
        words = [ends.get(cell.code_of, checkout.base)]
    else:
        words = [checkout.base, "--series", request.series, "--change", str(cell.code_of)]
    named = tests if len(tests) <= _MOST_TESTS else cell.run.selection
    which = f"what fails on change {cell.code_of}'s commit"
    return _step(
        f"run again just {which}", "backport", "test", *words, *_how(now, series, request), *named
    )


def _failing(cell: Cell, known: Sequence[str]) -> list[str]:
    # What is skipped, not run or known from the base would not fail again.
    quiet = (Status.SKIPPED, Status.NOT_RUN)
    results = [one for one in cell.run.results if not one.status.passed]
    return [one.id for one in results if one.status not in quiet and one.id not in known]


def _how(now: Situation, series: Series, request: RunRequest) -> Iterator[str]:
    yield from ("--branch", series.branch.name)
    yield from _where(now)
    if request.tests.python:
        yield from ("--python", request.tests.python)


def _where(now: Situation) -> Iterator[str]:
    if "--patches" in now.typed[:-1]:
        yield from ("--patches", now.typed[now.typed.index("--patches") + 1])
    yield from (word for word in now.typed if word.startswith("--patches="))
    if now.request and now.request.checkout:
        yield from ("--checkout", now.request.checkout)


def _after_publishing(
    now: Situation, series: Series, checkout: CheckoutFacts
) -> Iterator[NextStep]:
    name, target = str(now.branch.name), series.branch.branch
    span = f"{checkout.base[:10]}..{name}"
    yield _step("read the commits", *_git(checkout), "log", "--patch", "--reverse", span)
    if now.result is Result.NOT_TESTED:
        asked = now.request.series if now.request else series.name
        verify = ["backport", "verify", asked, *_where(now), "--branch-name", name]
        yield _step("prove them, before they are sent to review", *verify, "--onto", checkout.base)
    if now.result is not Result.PROVEN or checkout.kind == "built-in":
        return  # nobody reviews what is not proven; the built-in checkout has no history
    topic = f"bug/{series.bug}" if series.bug else series.name
    if checkout.gerrit:
        push = f"{name}:refs/for/{target}%topic={topic}"
        yield _step("send them to review", *_git(checkout), "push", checkout.gerrit, push)
    else:
        why = "to send them to review, the checkout needs a remote named gerrit: see git review -s"
        yield NextStep(command="", why=why)


def _git(checkout: CheckoutFacts) -> tuple[str, ...]:
    return ("git", "-C", checkout.path)


def _step(why: str, *command: str) -> NextStep:
    return NextStep(command=shlex.join(command), why=why)
