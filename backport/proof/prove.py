"""The proof: red before green, in real trees and the real environment, test by test.

In nova a recreate test *passes* on the buggy code, asserting the wrong value, and the fix
turns the assertion round. So the proof is a matrix; :mod:`backport.proof.matrix` says which
cells mean something, :mod:`backport.proof.verdict` what they come to.

Decided here: a series with neither a named test nor one that its patches touch is ``unproven``.
One without a fix makes no claim that a test could catch, so that all tests pass proves it.
A test is evidence in a red cell only if it passes with the fix. On the base are run only the
tests that fail in a green cell and that the series itself does not add or change. The verdict is
drawn, and told, before what the series only touches is run: that can overturn it, never better it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from backport.proof.cells import Ask, Runs, once_more
from backport.proof.guarded_hunks import prove_hunks
from backport.proof.matrix import Claim, Planned, plan, plan_touched
from backport.proof.verdict import (
    GREEN,
    SEVERITY,
    base_cell,
    conclude,
    deciding,
    judge_green,
    judge_red,
    not_passed,
)
from backport.runner.results import Cell, CellKind, Proof, Run, Status, TestResult
from backport.runner.trees import Trees
from backport.selection.test_names import chosen


@dataclass(frozen=True)
class ProofOptions:
    """How thorough a proof is.

    :param repeat: how often each cell is run
    :param full_red: red cells run all targeted tests
    :param hunks: each hunk of the fix is left out in turn
    """

    repeat: int = 1
    full_red: bool = False
    hunks: bool = False


def prove(claim: Claim, trees: Trees, runs: Runs, options: ProofOptions | None = None) -> Proof:
    """Prove a claim in one environment.

    :raises BackportError: no test process could be started
    :raises KeyboardInterrupt: after everything was ended
    """
    options = options or ProofOptions()
    found = _run_cells(plan(claim, trees, options.full_red), runs, options.repeat)
    base = _on_base(claim, found, runs, options.repeat)
    found = _once_more(found, base, runs)
    proof = _concluded(claim, found, base)
    if touched := plan_touched(claim):
        runs.progress.note(f"{proof.verdict.value}, before what is only touched: {proof.reason}")
        more = _run_cells(touched, runs, options.repeat)
        base = _on_base(claim, found + more, runs, options.repeat, base)
        found += _once_more(more, base, runs)
        proof = _concluded(claim, found, base)
    if options.hunks:
        proof = replace(proof, hunks=prove_hunks(claim, trees, runs, _passing(proof.cells)))
    return proof


def _concluded(claim: Claim, found: Sequence[tuple[Planned, Run]], base: Run | None) -> Proof:
    forgiven = _failing_there_too(found, base)
    cells = _judge(found, base, forgiven)
    if base:
        cells.append(base_cell(base, forgiven))
    return conclude(claim, cells, forgiven)


def together(proofs: Sequence[tuple[str, Proof]]) -> Proof:
    """Return the proofs of several interpreters as one, whose verdict is the worst.

    :param proofs: pairs of the interpreter's name, such as "Python 2.7", and its proof
    """
    if len(proofs) == 1:
        return proofs[0][1]
    name, worst = min(proofs, key=lambda one: SEVERITY.index(one[1].verdict))
    alike = all(proof.verdict is worst.verdict for _, proof in proofs)
    names = ", ".join(one for one, _ in proofs)
    return Proof(
        worst.verdict,
        f"under {names if alike else name}: {worst.reason}",
        tuple(cell for _, proof in proofs for cell in proof.cells),
        tuple(hunk for _, proof in proofs for hunk in proof.hunks),
        tuple(dict.fromkeys(test for _, proof in proofs for test in proof.failing_on_base)),
    )


def _run_cells(planned: Sequence[Planned], runs: Runs, repeat: int) -> list[tuple[Planned, Run]]:
    """Run each tree once, with all that any of its cells selects, and give each cell its part."""
    by_tree: dict[str, list[Planned]] = {}
    for cell in planned:
        by_tree.setdefault(cell.tree, []).append(cell)
    asks = [
        Ask(
            cells[0].label,
            tree,
            tuple(dict.fromkeys(name for cell in cells for name in cell.selection)),
            wants_red=all(cell.kind not in GREEN for cell in cells),
        )
        for tree, cells in by_tree.items()
    ]
    made = dict(zip(by_tree, runs.make(asks, repeat), strict=True))
    return [(cell, _part(cell, made[cell.tree])) for cell in planned]


def _part(cell: Planned, run: Run) -> Run:
    """Return the part of a run that a cell is about.

    What no name selects, such as tests that a ``load_tests`` takes from elsewhere, is in every
    part: so nothing that failed is lost. A name that gave nothing concerns who named it.
    """
    results = tuple(
        result
        for result in run.results
        if (
            result.id in cell.selection and result.id not in cell.optional
            if result.status is Status.NOT_RUN and result.id in run.selection
            else chosen(cell.selection, result.id) or not chosen(run.selection, result.id)
        )
    )
    return replace(run, selection=cell.selection, results=results)


def _on_base(
    claim: Claim,
    found: Iterable[tuple[Planned, Run]],
    runs: Runs,
    repeat: int,
    known: Run | None = None,
) -> Run | None:
    """Run on the base, with its own test files, what fails in a green cell.

    :param known: what was run there already
    """
    touched = {test for step in claim.steps for test in step.changed}
    suspects = {
        result.id: None
        for cell, run in found
        if cell.kind in GREEN and cell.tree != claim.base
        for result in not_passed(run.results)
        if result.status is not Status.NOT_RUN and result.id not in touched
    }
    if suspects.keys() <= {*(known.selection if known else ())}:
        return known
    return runs.make([Ask("base 0/0", claim.base, tuple(suspects))], repeat)[0]


def _once_more(
    found: Sequence[tuple[Planned, Run]], base: Run | None, runs: Runs
) -> list[tuple[Planned, Run]]:
    """Run what would decide against the series once more, alone; the first that does so is enough.

    A machine that is busy fails tests too. What passes now is flaky; what does not has said it
    twice. In red cells a test must fail, and there nothing is run again.
    """
    forgiven = _failing_there_too(found, base)
    doubted: dict[str, dict[str, Run]] = {}
    for cell, run in found:
        if cell.kind in GREEN:
            ids = deciding(run.results, base, forgiven, cell.kind)
            doubted.setdefault(cell.tree, {}).update(dict.fromkeys(ids, run))
    again = {
        tree: runs.make(
            [Ask("once more", tree, tuple(tests), fail_fast=True, again=next(iter(tests.values())))]
        )[0]
        for tree, tests in doubted.items()
        if tests
    }
    return [
        (cell, once_more(run, again[cell.tree]))
        if cell.kind in GREEN and cell.tree in again
        else (cell, run)
        for cell, run in found
    ]


def _failing_there_too(found: Iterable[tuple[Planned, Run]], base: Run | None) -> frozenset[str]:
    """Return the tests that fail on the base in the same way, or by their own words."""
    if base is None:
        return frozenset()
    there = {result.id: result.status for result in base.results}
    return frozenset(
        result.id
        for cell, run in found
        if cell.kind in GREEN
        for result in not_passed(run.results)
        if (status := there.get(result.id)) is not None
        and (status.red or status is result.status)
        and status is not Status.NOT_RUN
    )


def _judge(
    found: Sequence[tuple[Planned, Run]], base: Run | None, forgiven: frozenset[str]
) -> list[Cell]:
    cells = [
        Cell(one.kind, one.tests_of, one.code_of, run, ok=False, cut=one.cut) for one, run in found
    ]
    passing = {
        number: frozenset(one.id for one in results) for number, results in _passing(cells).items()
    }
    return [
        judge_green(cell, base, forgiven)
        if cell.kind in GREEN
        else judge_red(cell, passing.get(cell.tests_of, frozenset()))
        for cell in cells
    ]


def _passing(cells: Iterable[Cell]) -> dict[int, tuple[TestResult, ...]]:
    """Return, by the number of the change, the tests that pass on its own commit."""
    return {
        cell.code_of: tuple(one for one in cell.run.results if one.status.passed)
        for cell in cells
        if cell.kind is CellKind.GREEN
    }
