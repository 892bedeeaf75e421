"""What the cells of a matrix come to: a statement on each, one verdict, and its reason.

"Failed" is never mixed up with "could not find out", nor with "not run":

* broken: a change's own tests speak against it, and did not do so on the base;
* could-not-tell: a test did not get as far as to say something, or not the same thing each time
  (flaky; one that the series only touches does not count then);
* unproven: everything passes, with the fix and without it;
* proven: red before, green after.

Each fact is put into words once, here, from the results: a cell's statement is what every view
prints of it, and the reason of a verdict is the statement of the cell that decided it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from backport.proof.matrix import Claim
from backport.runner.results import (
    Cell,
    CellKind,
    Proof,
    Run,
    Status,
    TestResult,
    Verdict,
    in_words,
)
from backport.selection.test_names import covers

#: The worst first.
SEVERITY = (Verdict.BROKEN, Verdict.CANNOT_TELL, Verdict.UNPROVEN, Verdict.PROVEN)
GREEN = (CellKind.GREEN, CellKind.WHOLE, CellKind.TOUCHED)


def judge_green(cell: Cell, base: Run | None, forgiven: frozenset[str]) -> Cell:
    """Return a cell that should be green with its statement and what it speaks for.

    :param base: how the tests that failed here fared on the base; None where none was run
    :param forgiven: ids of those that fail there too
    """
    results = cell.run.results
    bad = not_passed(results)
    blamed = [one for one in bad if one.id not in forgiven]
    said = [in_words(cell.run.counts)]
    if len(bad) > len(blamed):
        said.append(f"{_of_them(len(bad) - len(blamed), len(bad))} on the base too")
    if flaky := [one.id for one in blamed if one.status is Status.FLAKY]:
        said.append(f"flaky: {_names(flaky)}")
    if any(_speaks_against(one, base) for one in blamed):
        verdict = Verdict.BROKEN
    elif cell.run.problem or len(blamed) > (len(flaky) if cell.kind is CellKind.TOUCHED else 0):
        verdict = Verdict.CANNOT_TELL
    elif cell.kind is CellKind.TOUCHED:
        verdict = Verdict.PROVEN
    elif not any(one.status.passed for one in results):
        verdict = Verdict.CANNOT_TELL
        said.append("none passed, which says nothing" if results else "which says nothing")
    else:
        verdict = Verdict.PROVEN
    return _judged(cell, verdict, said)


def deciding(
    results: Iterable[TestResult], base: Run | None, forgiven: frozenset[str], kind: CellKind
) -> list[str]:
    """Return the ids of what decides against a cell that should be green.

    What is only touched must not keep a verdict from being found either, as by a time-out.
    """
    blamed = [one for one in not_passed(results) if one.id not in forgiven]
    against = [one.id for one in blamed if _speaks_against(one, base)]
    if against or kind is not CellKind.TOUCHED:
        return against
    return [one.id for one in blamed if one.status not in (Status.NOT_RUN, Status.FLAKY)]


def judge_red(cell: Cell, passing: frozenset[str]) -> Cell:
    """Return a cell in which a test must fail with its statement and what it speaks for.

    :param passing: ids of the tests that pass on their own commit: only these are evidence
    """
    results = [one for one in cell.run.results if one.status is not Status.NOT_RUN]
    red = [one.id for one in results if one.status.red]
    evidence = tuple(one for one in red if one in passing)
    others = {
        status: number
        for status, number in cell.run.counts.items()
        if not (status.passed or status.red)
    }
    unsure = others.keys() - {Status.SKIPPED}
    said = [_red_words(len(evidence), len(red), len(results), bool(unsure), cell.tests_of)]
    if others:
        said.append(in_words(others))
    if evidence:
        verdict = Verdict.PROVEN
    elif cell.run.problem or unsure:
        verdict = Verdict.CANNOT_TELL
    else:
        verdict = Verdict.UNPROVEN
    return _judged(replace(cell, evidence=evidence), verdict, said)


def _red_words(evidence: int, red: int, total: int, unsure: bool, change: int) -> str:
    if not total:
        return "no test ran, and one must fail"
    if not red:
        return f"none of {total:,} fails{' for certain' * unsure}, and one must"
    if not evidence:
        return f"{red:,} of {total:,} {_but(red, change)}, which shows nothing"
    verb = "fails, as it must" if evidence == 1 else "fail, as they must"
    more = red - evidence
    return f"{evidence:,} of {total:,} {verb}" + f"; {more:,} more {_but(more, change)}" * bool(
        more
    )


def _but(number: int, change: int) -> str:
    verbs = ("fails", "does") if number == 1 else ("fail", "do")
    return f"{verbs[0]}, but {verbs[1]} not pass on change {change}'s own commit either"


def _judged(cell: Cell, verdict: Verdict, said: Iterable[str]) -> Cell:
    # A problem of the run as a whole comes first: what it counted cannot be believed.
    words = "; ".join(filter(None, [cell.run.problem.partition("\n")[0], *said]))
    return replace(cell, verdict=verdict, ok=verdict is Verdict.PROVEN, reason=words)


def base_cell(base: Run, forgiven: frozenset[str]) -> Cell:
    """Return the cell of what was run on the base, which blames nobody."""
    cell = Cell(CellKind.BASE, 0, 0, base, ok=False)
    why = "" if forgiven else "none of them fails there"
    verdict = Verdict.CANNOT_TELL if base.problem else Verdict.PROVEN
    return _judged(cell, verdict, [in_words(base.counts), why])


def _of_them(number: int, of: int) -> str:
    if number == of:
        return "it fails" if of == 1 else "all of these fail"
    return f"{number:,} of these {'fails' if number == 1 else 'fail'}"


def _speaks_against(result: TestResult, base: Run | None) -> bool:
    """Whether a test that did not pass speaks against the change, not merely of its set-up."""
    if result.status.red:
        return True
    # A module that cannot be imported is named as a whole; on the base its tests are named.
    there = [one for one in base.results if covers(result.id, one.id)] if base else []
    fine = bool(there) and all(one.status.passed for one in there)
    return result.status is Status.SETUP_ERROR and fine


def conclude(claim: Claim, cells: Sequence[Cell], forgiven: frozenset[str]) -> Proof:
    """Return the verdict of judged cells: the worst of them; if all are well, what was proven."""
    verdict, reason = _conclude(claim, cells)
    return Proof(verdict, reason, tuple(cells), (), tuple(sorted(forgiven)))


def _conclude(claim: Claim, cells: Sequence[Cell]) -> tuple[Verdict, str]:
    worst = min(cells, key=lambda cell: SEVERITY.index(cell.verdict), default=None)
    if worst and worst.verdict is not Verdict.PROVEN:
        return worst.verdict, f"{_place(worst)}: {worst.reason}{_would_need_to_fail(worst)}"
    green = [cell for cell in cells if cell.kind in (CellKind.GREEN, CellKind.WHOLE)]
    if not green:
        return Verdict.UNPROVEN, "the series names no tests, and its patches add or change none"
    red = [cell for cell in cells if cell.kind is CellKind.RED]
    lacking = {fix.number for fix in claim.fixes} - {cell.tests_of for cell in red}
    if lacking:
        numbers = ", ".join(map(str, sorted(lacking)))
        return Verdict.UNPROVEN, f"change {numbers} has no test that could fail without it"
    passed = f"on the last commit {in_words(green[-1].run.counts)}"
    if not claim.fixes:
        passed += "; there is no fix in it that a test must catch"
    without = [f"without change {cell.tests_of} {cell.reason}" for cell in red]
    flaky = [
        f"what is only touched: {cell.reason}"
        for cell in cells
        if cell.kind is CellKind.TOUCHED and Status.FLAKY in cell.run.counts
    ]
    return Verdict.PROVEN, "; ".join([*without, passed, *flaky])


def _place(cell: Cell) -> str:
    return {
        CellKind.GREEN: f"change {cell.tests_of}'s tests on its own commit",
        CellKind.RED: f"change {cell.tests_of}'s tests without it",
        CellKind.FLIP: f"change {cell.tests_of}'s tests, as they were, on the fixed code",
        CellKind.WHOLE: "the targeted tests on the last commit",
        CellKind.TOUCHED: "the tests that are only touched, on the last commit",
        CellKind.BASE: "the tests that fail, on the base",
    }[cell.kind]


def _would_need_to_fail(cell: Cell) -> str:
    """Name the tests of a cell that nothing else names: all passed where one must not."""
    names = [one.id for one in cell.run.results if one.status.passed]
    return f": {_names(names)}" if cell.verdict is Verdict.UNPROVEN and names else ""


def _names(names: Sequence[str], most: int = 3) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def not_passed(results: Iterable[TestResult]) -> list[TestResult]:
    """Return the tests that do not speak for the code."""
    return [one for one in results if not (one.status.passed or one.status is Status.SKIPPED)]
