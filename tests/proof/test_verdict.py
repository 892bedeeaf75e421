"""Every combination of outcomes: the cell, its statement and the verdict come from one value."""

from __future__ import annotations

import itertools
import re

from backport.proof.matrix import Claim, Step
from backport.proof.verdict import SEVERITY, conclude, judge_green, judge_red
from backport.runner.results import Cell, CellKind, Proof, Run, Status, TestResult, Verdict
from backport.series.model import Kind

OUTCOMES = (
    Status.PASSED,
    Status.FAILED,
    Status.ERROR,
    Status.SETUP_ERROR,
    Status.NOT_RUN,
    Status.TIMED_OUT,
    Status.SKIPPED,
    Status.FLAKY,
)
FIRST, SECOND = "tests.test_it.T.test_bug", "tests.test_it.T.test_unit"
CLAIM = Claim(
    "base",
    (
        Step(1, Kind.REGRESSION_TEST, "tree 1", (FIRST,)),
        Step(2, Kind.FIX, "tree 2", (FIRST, SECOND)),
    ),
    ("tests/",),
)


def cell(kind: CellKind, tests: int, code: int, *statuses: Status, problem: str = "") -> Cell:
    results = tuple(
        TestResult(name, status, 0.1)
        for name, status in zip((FIRST, SECOND), statuses, strict=False)
    )
    run = Run("tree", (), results, 1.0, "command", "python", "key", problem=problem)
    return Cell(kind, tests, code, run, ok=False)


def proof_of(first: Status, fixed: Status, unit: Status, red: Status, flip: Status) -> Proof:
    """A recreate test and its fix, each test ended in the given way in each cell."""
    forgiven: frozenset[str] = frozenset()
    greens = [
        judge_green(cell(CellKind.GREEN, 1, 1, first), None, forgiven),
        judge_green(cell(CellKind.GREEN, 2, 2, fixed, unit), None, forgiven),
    ]
    passing = [
        frozenset(one.id for one in green.run.results if one.status.passed) for green in greens
    ]
    reds = [
        judge_red(cell(CellKind.RED, 2, 1, red, unit), passing[1]),
        judge_red(cell(CellKind.FLIP, 1, 2, flip), passing[0]),
    ]
    return conclude(CLAIM, [*greens, *reds], forgiven)


def number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    return int(found[1]) if found else 0


def check_statement(of: Cell) -> None:
    statuses = [one.status for one in of.run.results]
    said = of.reason
    assert said
    assert of.ok == (of.verdict is Verdict.PROVEN)
    for status in (Status.NOT_RUN, Status.TIMED_OUT, Status.SETUP_ERROR, Status.FLAKY):
        assert number(rf"(\d+) {status.value}", said) == statuses.count(status), said
    if of.kind is CellKind.GREEN:
        assert number(r"(\d+) failed", said) == statuses.count(Status.FAILED)
        assert number(r"(\d+) passed", said) == statuses.count(Status.PASSED)
        assert of.ok == (statuses.count(Status.PASSED) > 0 and not any(map(bad, statuses)))
        return
    red = sum(status.red for status in statuses)
    assert ("as it must" in said or "as they must" in said) == of.ok == bool(of.evidence)
    if of.evidence:
        assert number(r"^(\d+) of", said) == len(of.evidence)
        assert number(r"; (\d+) more", said) == red - len(of.evidence)
    else:
        assert number(r"^(\d+) of", said) == red
        assert ("none of" in said or "no test ran" in said) == (red == 0)


def bad(status: Status) -> bool:
    return not (status.passed or status is Status.SKIPPED)


def test_no_statement_contradicts_another_whatever_the_tests_did() -> None:
    for outcomes in itertools.product(OUTCOMES, repeat=4):
        first, fixed, red, flip = outcomes
        for unit in (Status.PASSED, Status.FAILED):
            proof = proof_of(first, fixed, unit, red, flip)
            for one in proof.cells:
                check_statement(one)
            worst = min((one.verdict for one in proof.cells), key=SEVERITY.index)
            assert proof.verdict is worst
            if worst is Verdict.PROVEN:
                assert all(one.ok for one in proof.cells)
                assert proof.cells[2].reason in proof.reason
            else:
                decided = next(one for one in proof.cells if one.verdict is worst)
                assert f": {decided.reason}" in proof.reason


def test_what_fails_with_the_fix_too_is_no_evidence() -> None:
    """As bug 1718512 on the tip of its day: its functional test finds no host either way."""
    failed, passed = Status.FAILED, Status.PASSED
    proof = proof_of(failed, failed, passed, failed, failed)
    assert proof.verdict is Verdict.BROKEN
    assert [one.reason for one in proof.cells] == [
        "1 failed",
        "1 failed, 1 passed",
        "1 of 2 fails, but does not pass on change 2's own commit either, which shows nothing",
        "1 of 1 fails, but does not pass on change 1's own commit either, which shows nothing",
    ]


def test_a_problem_of_the_run_comes_first() -> None:
    judged = judge_green(
        cell(CellKind.GREEN, 1, 1, problem="no space left\nmore"), None, frozenset()
    )
    assert judged.reason.startswith("no space left; ")
    assert judged.verdict is Verdict.CANNOT_TELL


def test_what_fails_on_the_base_is_said_and_not_blamed() -> None:
    given = cell(CellKind.GREEN, 2, 2, Status.FAILED, Status.PASSED)
    judged = judge_green(given, None, frozenset([FIRST]))
    assert judged.ok
    assert judged.reason == "1 failed, 1 passed; it fails on the base too"
