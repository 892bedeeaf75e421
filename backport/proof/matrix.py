"""Which cells of the matrix tests-of-change-i × code-of-change-j mean something for a series.

Of a series of n changes:

* green i/i: the targeted tests of each change on its own commit; they must pass;
* red i/i-1, for each fix: its tests on the code before it; one of them must fail;
* flip i/n, for each regression test that a fix follows: as it was, on the fixed code, where it
  must fail, for in nova a recreate test passes on the buggy code and asserts the wrong value;
* whole n/n: the targeted tests of all changes on the last commit; they must pass;
* touched n/n: what the changes reach only through a helper or a base class, on the last commit;
  it speaks against a series that breaks it, and never for one.

"Tests" is everything under ``tests.paths`` of branch.yaml, "code" is the rest. A change that left
its tree as it was, for it is in already, has no cells of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from backport.runner.results import CellKind
from backport.runner.trees import Trees
from backport.selection.test_classes import is_test_name
from backport.selection.test_names import chosen, shortest
from backport.series.model import Kind

FIXES = (Kind.FIX, Kind.PARTIAL_FIX)


@dataclass(frozen=True)
class Step:
    """A change of the series: the tree of its commit, and its targeted tests.

    :param named: the tests that the series names: modules, classes, methods
    :param changed: ids of the tests that its patch adds or changes, as its tree has them
    :param touched: ids of those that it only reaches, through a helper or a base class
    """

    number: int
    kind: Kind
    tree: str
    named: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    touched: tuple[str, ...] = ()

    @property
    def targeted(self) -> tuple[str, ...]:
        """All of them, the named ones first."""
        return tuple(dict.fromkeys((*self.named, *self.changed)))

    @property
    def bases(self) -> frozenset[str]:
        """The classes that nobody named: they may turn out to have no tests of their own."""
        single = (test for test in self.changed if not is_test_name(test.rpartition(".")[2]))
        return frozenset(single) - {*self.named}


@dataclass(frozen=True)
class Claim:
    """What is to be proven: that these changes, on this base, do what they say.

    :param base: the tree that the series goes onto
    :param paths: what tells tests from code
    """

    base: str
    steps: tuple[Step, ...]
    paths: tuple[str, ...]

    def before(self, step: Step) -> str:
        """Return the tree before a change."""
        at = self.steps.index(step)
        return self.steps[at - 1].tree if at else self.base

    @property
    def effective(self) -> tuple[Step, ...]:
        """The changes that change something."""
        return tuple(step for step in self.steps if step.tree != self.before(step))

    @property
    def fixes(self) -> tuple[Step, ...]:
        """The changes that fix something, and are not in already."""
        return tuple(step for step in self.effective if step.kind in FIXES)


@dataclass(frozen=True)
class Planned:
    """A cell that is to be run.

    :param selection: what is run
    :param optional: those of them that may have no test on this tree: a later change may have
        removed or renamed what an earlier one added, and a class that nobody named may be a base
    :param cut: only the tests that the change adds or changes
    """

    kind: CellKind
    tests_of: int
    code_of: int
    tree: str
    selection: tuple[str, ...]
    optional: frozenset[str] = frozenset()
    cut: bool = False

    @property
    def label(self) -> str:
        """As :attr:`backport.runner.results.Cell.label`."""
        return f"{self.kind.value} {self.tests_of}/{self.code_of}"


def plan(claim: Claim, trees: Trees, full_red: bool) -> tuple[Planned, ...]:
    """Return the cells of a claim, in the order in which a person reads them.

    :param full_red: red cells run all targeted tests, not just those that the fix changes
    """
    cells = [*_greens(claim), *_reds(claim, trees, full_red), *_flips(claim, trees)]
    return (*cells, *_whole(claim))


def _greens(claim: Claim) -> Iterator[Planned]:
    for step in claim.effective:
        if step.targeted:
            number, tests = step.number, step.targeted
            yield Planned(CellKind.GREEN, number, number, step.tree, tests, step.bases)


def _reds(claim: Claim, trees: Trees, full_red: bool) -> Iterator[Planned]:
    for step in claim.fixes:
        cut = bool(step.changed) and not full_red
        tests = step.changed if cut else step.targeted
        if tests:
            tree = trees.overlay(claim.before(step), step.tree, claim.paths)
            code = claim.steps.index(step)
            number = claim.steps[code - 1].number if code else 0
            yield Planned(CellKind.RED, step.number, number, tree, tests, step.bases, cut)


def _flips(claim: Claim, trees: Trees) -> Iterator[Planned]:
    for step in claim.effective:
        later = [fix for fix in claim.fixes if fix.number > step.number]
        tests = step.changed or step.targeted
        if step.kind is Kind.REGRESSION_TEST and later and tests:
            tree = trees.overlay(later[-1].tree, step.tree, claim.paths)
            number = later[-1].number
            yield Planned(CellKind.FLIP, step.number, number, tree, tests, step.bases)


def _whole(claim: Claim) -> Iterator[Planned]:
    if len(claim.steps) < 2:
        return
    last = claim.steps[-1]
    tests = tuple(dict.fromkeys(test for step in reversed(claim.steps) for test in step.targeted))
    named = {test for step in claim.steps for test in step.named}
    optional = frozenset(tests) - named - set(last.changed) | last.bases
    if tests:
        number = last.number
        yield Planned(CellKind.WHOLE, number, number, last.tree, tests, optional)


def plan_touched(claim: Claim) -> tuple[Planned, ...]:
    """Return the cell of what is only touched; nothing where that is no test."""
    last = claim.steps[-1]
    targeted = {test for step in claim.steps for test in step.targeted}
    touched = dict.fromkeys(test for step in claim.effective for test in step.touched)
    tests = tuple(test for test in touched if not chosen(targeted, test))
    if not tests:
        return ()
    number = last.number
    return (
        Planned(CellKind.TOUCHED, number, number, last.tree, shortest(tests), frozenset(tests)),
    )
