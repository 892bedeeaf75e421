"""What the cells of a matrix come to: one verdict, and its reason in a sentence.

"Failed" is never mixed up with "could not find out":

* broken: a change's own tests speak against it, and did not do so on the base;
* could-not-tell: a test did not get as far as to say something, or not the same thing each time;
* unproven: everything passes, with the fix and without it;
* proven: red before, green after.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from backport.proof.matrix import Claim
from backport.runner.results import Cell, CellKind, Run, Status, TestResult, Verdict
from backport.selection.test_names import covers

#: The worst first.
SEVERITY = (Verdict.BROKEN, Verdict.CANNOT_TELL, Verdict.UNPROVEN, Verdict.PROVEN)


@dataclass(frozen=True)
class Finding:
    """A verdict on one thing, and why."""

    verdict: Verdict
    reason: str


def green_findings(cell: Cell, base: Run | None, forgiven: frozenset[str]) -> Iterator[Finding]:
    """Say what is wrong with a cell that should be green; nothing if it is.

    :param base: how the tests that failed here fared on the base; None where none was run
    :param forgiven: ids of those that fail there too
    """
    where = f"change {cell.tests_of}'s tests on its commit"
    if cell.kind is CellKind.WHOLE:
        where = "the targeted tests on the last commit"
    if cell.run.problem:
        yield Finding(Verdict.CANNOT_TELL, f"{where} could not be run: {_first_line(cell.run)}")
    bad = [one for one in not_passed(cell.run.results) if one.id not in forgiven]
    against = [one for one in bad if _speaks_against(one, base)]
    if against:
        yield Finding(Verdict.BROKEN, f"{where}: {_counts(against)}: {_names(against)}")
    elif bad:
        yield Finding(Verdict.CANNOT_TELL, f"{where}: {_counts(bad)}: {_names(bad)}")
    elif not any(one.status.passed for one in cell.run.results) and not cell.run.problem:
        why = "none passed" if cell.run.results else "there are none"
        yield Finding(Verdict.CANNOT_TELL, f"{where}: {why}, so they say nothing")


def _speaks_against(result: TestResult, base: Run | None) -> bool:
    """Whether a test that did not pass speaks against the change, not merely of its set-up."""
    if result.status.red:
        return True
    # A module that cannot be imported is named as a whole; on the base its tests are named.
    there = [one for one in base.results if covers(result.id, one.id)] if base else []
    fine = bool(there) and all(one.status.passed for one in there)
    return result.status is Status.SETUP_ERROR and fine


def red_findings(cell: Cell, evidence: Sequence[str]) -> Iterator[Finding]:
    """Say what is wrong with a cell in which a test must fail; nothing if one does.

    :param evidence: ids of the tests that fail here, and pass with the fix
    """
    if evidence:
        return
    flip = cell.kind is CellKind.FLIP
    place = "on the fixed code" if flip else f"without change {cell.tests_of}"
    tests = f"change {cell.tests_of}'s tests"
    unsure = [one for one in cell.run.results if _unsure(one)]
    if cell.run.problem:
        yield Finding(
            Verdict.CANNOT_TELL, f"{tests} could not be run {place}: {_first_line(cell.run)}"
        )
    elif any(one.status is Status.FLAKY for one in unsure):
        flaky = [one for one in unsure if one.status is Status.FLAKY]
        yield Finding(Verdict.CANNOT_TELL, f"{place} fails only sometimes: {_names(flaky)}")
    elif unsure:
        how = f"{_counts(unsure)}: {_names(unsure)}"
        yield Finding(Verdict.CANNOT_TELL, f"{tests} {place} say nothing: {how}")
    elif flip:
        yield Finding(
            Verdict.UNPROVEN,
            f"change {cell.tests_of}'s test passes on the fixed code as well, so it does not show "
            f"the bug; one of these would need to fail: {_names(cell.run.results)}",
        )
    else:
        yield Finding(
            Verdict.UNPROVEN,
            f"nothing fails {place}; one of these would need to: {_names(cell.run.results)}",
        )


def conclude(claim: Claim, cells: Sequence[Cell], findings: Sequence[Finding]) -> Finding:
    """Return the worst of the findings; where there are none, what was proven."""
    if findings:
        return min(findings, key=lambda one: SEVERITY.index(one.verdict))
    red = [cell for cell in cells if cell.kind is CellKind.RED]
    if not any(cell.kind in (CellKind.GREEN, CellKind.WHOLE) for cell in cells):
        return Finding(
            Verdict.UNPROVEN, "the series names no tests, and its patches add or change none"
        )
    lacking = {fix.number for fix in claim.fixes} - {cell.tests_of for cell in red}
    if lacking:
        numbers = ", ".join(map(str, sorted(lacking)))
        return Finding(Verdict.UNPROVEN, f"change {numbers} has no test that could fail without it")
    passed = f"all {_passed(cells)} targeted tests pass on every commit"
    if not claim.fixes:
        return Finding(Verdict.PROVEN, f"{passed}; there is no fix in it that a test must catch")
    said = "; ".join(
        f"{_number(_red(cell))} of {len(cell.run.results)} fail without change {cell.tests_of}"
        for cell in red
    )
    return Finding(Verdict.PROVEN, f"{said}, and {passed}")


def not_passed(results: Iterable[TestResult]) -> list[TestResult]:
    """Return the tests that do not speak for the code."""
    return [one for one in results if not (one.status.passed or one.status is Status.SKIPPED)]


def _unsure(result: TestResult) -> bool:
    said = result.status.passed or result.status.red or result.status is Status.SKIPPED
    return not said


def _red(cell: Cell) -> list[TestResult]:
    return [one for one in cell.run.results if one.status.red]


def _passed(cells: Sequence[Cell]) -> int:
    good = (cell for cell in cells if cell.kind in (CellKind.GREEN, CellKind.WHOLE))
    return len({one.id for cell in good for one in cell.run.results if one.status.passed})


def _counts(results: Sequence[TestResult]) -> str:
    how = [one.status.value for one in results]
    return ", ".join(f"{how.count(word)} {word}" for word in dict.fromkeys(how))


def _number(results: Sequence[TestResult]) -> str:
    return str(len(results))


def _names(results: Sequence[TestResult], most: int = 3) -> str:
    names = [one.id for one in results]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _first_line(run: Run) -> str:
    return run.problem.partition("\n")[0]
