"""``make bench ARGS=proof``: the proof of the series, against upstream's way to run its tests.

Upstream's way has three cells, one after the other: the recreate test on its commit, all
targeted tests on the fix, the same on the code before it. Each is a run of testrepository
per suite. Ours is all cells, the flip included. No result is used again on either side, all
else is warm: bytecode, testrepository's times, what the tool keeps of earlier runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from backport.apply.engine import Signing, apply_series
from backport.apply.outcome import Outcome
from backport.progress import Silent
from backport.proof.cells import Ask
from backport.proof.matrix import FIXES
from backport.request import TestOptions
from backport.runner.results import Environment, Verdict
from backport.runner.trees import Trees
from backport.series.model import Person
from backport.session import Session
from backport.verification import ensure_environments, runs_in, test_settings, verify
from backport.workspace import remove
from bench.stand import BenchError, Stand
from bench.table import Section
from bench.timing import Figure, Spent, Way, added, in_turns, spent
from bench.upstream import SUITES, Testr, make_testr, suite_of

_TURNS = 3
_SIGNING = Signing(Person("A", "a@localhost"), Person("C", "c@localhost"), "1500000000 +0000")
_AIMS = {"functional": 0.33, "unit": 0.40}


@dataclass(frozen=True)
class Cell:
    """A cell of upstream's: tests on a tree; ``red`` says that some must fail."""

    label: str
    tree: str
    tests: tuple[str, ...]
    red: bool


@dataclass(frozen=True)
class UpstreamRun:
    """A run of testrepository: the tests of one suite in one cell."""

    cell: Cell
    suite: str
    testr: Testr

    @property
    def tests(self) -> tuple[str, ...]:
        """The tests of the cell that are in the suite."""
        return tuple(test for test in self.cell.tests if suite_of(test) == self.suite)

    @property
    def name(self) -> str:
        """What it is called while it runs."""
        return f"upstream, {self.cell.label}, {self.suite}"


def measure(stand: Stand) -> list[Section]:
    """Measure the proof, and the suites alone."""
    stand.provide_environment()
    theirs = _prepare(stand)
    last = {run.suite: run for run in theirs if not run.cell.red}
    ways: dict[str, Way] = {}
    for run in theirs:
        ways[run.name] = partial(run.testr.run, run.suite, run.tests, run.cell.red)
        if last[run.suite] is run:  # ours comes beside it, in the same turn
            ways[run.suite] = partial(_alone, stand, run.tests)
            ways[f"one process, {run.suite}"] = partial(run.testr.run_alone, run.tests)
    ways["proof"] = partial(_proof, stand, TestOptions(fresh=True))
    ways["hunks"] = partial(_proof, stand, TestOptions(fresh=True, prove_hunks=True))
    ways["command"] = partial(_command, stand)
    stand.say("the proof; each turn takes minutes")
    taken = in_turns(ways, stand.turns or _TURNS, stand.say, warm_up=1)
    return [Section(f"Proof of {stand.series.name}", tuple(_figures(taken, theirs, last)), _NOTES)]


_NOTES = (
    "Fresh results, all else warm. Upstream's three cells are testrepository's, with its own",
    "discovery before each run, in as many processes as there are cores. Ours is the whole proof;",
    "its red cell is cut to the tests that the fix adds or changes, as the report says.",
)


def _figures(
    taken: dict[str, tuple[Spent, ...]],
    theirs: list[UpstreamRun],
    last: dict[str, UpstreamRun],
) -> Iterator[Figure]:
    cells = added(taken[run.name] for run in theirs)
    yield Figure("the whole proof", "upstream's three cells", taken["proof"], cells, 0.20)
    yield Figure("the whole command", "upstream's three cells", taken["command"], cells, 0.20)
    for suite, run in last.items():
        what, against = f"{suite} tests alone", "upstream's way"
        yield Figure(what, against, taken[suite], taken[run.name], _AIMS[suite])
        single = taken[f"one process, {suite}"]
        yield Figure(what, "one process that does nothing else", taken[suite], single, None)
    yield Figure("with --prove-hunks", "the proof without", taken["hunks"], taken["proof"], 2.0)


def _prepare(stand: Stand) -> list[UpstreamRun]:
    """Export the trees of upstream's cells, and say what is run in each."""
    settings = test_settings(stand.series.branch)
    with stand.session() as session:
        environment = environment_of(stand)
        cache = stand.new_folder("entry-points")
        runs = []
        for cell in _cells(session, applied(stand, session), settings.paths):
            folder = stand.new_folder("upstream")
            session.scratch.export(cell.tree, folder)
            testr = make_testr(stand, environment, settings, folder, cache)
            runs += [UpstreamRun(cell, suite, testr) for suite in SUITES]
    return [run for run in runs if run.tests]


def _cells(session: Session, outcome: Outcome, paths: tuple[str, ...]) -> Iterator[Cell]:
    """Yield upstream's cells, in the order in which a manager would run them."""
    for one in outcome.applied:
        number, tests = one.change.number, one.change.tests
        yield Cell(f"change {number}", one.tree, tests, red=False)
        if one.change.kind in FIXES:
            before = session.scratch.overlay(session.scratch.tree(one.parent), one.tree, paths)
            yield Cell(f"before change {number}", before, tests, red=True)


def applied(stand: Stand, session: Session) -> Outcome:
    """Apply the series.

    :raises BenchError: there is nothing to apply, or it does not go on
    """
    outcome = apply_series(session.scratch, stand.series, stand.base, _SIGNING)
    if outcome.conflict or outcome.nothing_to_do:
        raise BenchError(
            f"{stand.series.name} does not go onto {stand.base}, or is in already; "
            "name a commit that it goes onto: ONTO=REV"
        )
    return outcome


def environment_of(stand: Stand) -> Environment:
    """Return the environment of the branch's tests."""
    return ensure_environments(stand.places, stand.series.branch, TestOptions(), Silent())[0]


def _proof(stand: Stand, options: TestOptions) -> Spent:
    """Let the package prove the series, from the commits to the verdict."""
    verdicts = []
    with stand.session() as session:
        outcome = applied(stand, session)

        def work() -> None:
            done = verify(session, stand.series, outcome, options, Silent())
            verdicts.append(done.proof.verdict)

        taken = spent(work)
    if verdicts != [Verdict.PROVEN]:
        raise BenchError(f"the verdict is {verdicts[0].value}")
    return taken


def _command(stand: Stand) -> Spent:
    """Let the command do all that it does, from Python's start to the report."""
    copy = stand.copy()
    where = ("--checkout", str(copy), "--onto", stand.base)
    taken = spent(partial(stand.backport, "run", str(stand.series.folder), *where, "--fresh"))
    remove(copy.parent)
    return taken


def _alone(stand: Stand, tests: tuple[str, ...]) -> Spent:
    """Run the tests of one suite on the last commit, its tree laid out and all."""
    branch, options = stand.series.branch, TestOptions(fresh=True)
    made = []
    with stand.session() as session:
        tree = session.scratch.tree(applied(stand, session).tip)

        def work() -> None:
            environment = environment_of(stand)
            trees = Trees(session.scratch, session.checkout.git_dir)
            place = (session, environment, test_settings(branch), options, trees, Silent())
            made.extend(runs_in(*place).make([Ask("bench", tree, tests)]))

        taken = spent(work)
    if not all(run.green for run in made):
        raise BenchError(f"{' '.join(tests)}: not all tests pass")
    return taken
