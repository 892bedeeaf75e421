"""``make bench ARGS=equality``: the same tests by the tool and by upstream's runner, test by test.

Not measured but compared; it takes as long as both runs. TESTS=NAME is a module or a package of one
of upstream's suites (left out: ``nova.tests.unit.compute``, 1,900 tests), run on the last commit of
the series, in one environment. Every test whose outcome differs is a line of the table.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from backport.progress import Silent
from backport.proof.cells import Ask
from backport.request import TestOptions
from backport.runner.results import Run, Status
from backport.runner.trees import Trees
from backport.verification import runs_in, test_settings
from bench.proof import applied, environment_of
from bench.stand import BenchError, Stand, run
from bench.table import Section
from bench.upstream import Testr, make_testr, suite_of

_TESTS = "nova.tests.unit.compute"
_NONE = "did not run"
#: subunit's words for ours. It has one word for what breaks in set-up and in a test's body.
_WORDS = {
    Status.PASSED: "success",
    Status.FAILED: "fail",
    Status.ERROR: "fail",
    Status.SETUP_ERROR: "fail",
    Status.TIMED_OUT: "fail",
    Status.CRASHED: "inprogress",
    Status.SKIPPED: "skip",
    Status.EXPECTED_FAILURE: "xfail",
    Status.UNEXPECTED_SUCCESS: "uxsuccess",
    Status.NOT_RUN: _NONE,
}


@dataclass(frozen=True)
class Difference:
    """A test whose outcomes differ, each in subunit's words."""

    test: str
    ours: str
    theirs: str


def measure(stand: Stand) -> list[Section]:
    """Run both, and compare."""
    name = stand.own.environ.get("TESTS") or _TESTS
    stand.provide_environment()
    stand.say(f"{name}, by the tool and then by upstream's runner; it takes minutes")
    with stand.session() as session:
        environment, settings = environment_of(stand), test_settings(stand.series.branch)
        tree = session.scratch.tree(applied(stand, session).tip)
        trees = Trees(session.scratch, session.checkout.git_dir)
        place = (session, environment, settings, TestOptions(fresh=True), trees, Silent())
        (made,) = runs_in(*place).make([Ask("bench", tree, (name,))])
        folder = stand.new_folder("upstream")
        session.scratch.export(tree, folder)
    cache = stand.new_folder("entry-points")
    theirs = outcomes_of(make_testr(stand, environment, settings, folder, cache), name)
    ours = our_outcomes(made)
    notes = [f"The tool: {_counts(ours)}.", f"Upstream: {_counts(theirs)}."]
    found = differences(ours, theirs)
    notes += [f"{one.test}: {one.ours}, upstream {one.theirs}" for one in found]
    notes.append(f"{len(found)} differences.")
    return [Section(f"Outcomes of {name}, on tree {tree[:12]}", (), tuple(notes))]


def our_outcomes(made: Run) -> dict[str, str]:
    """Return the outcomes of a run in subunit's words.

    :raises BenchError: the run as a whole cannot be believed
    """
    if made.problem:
        raise BenchError(made.problem)
    return {result.id: _WORDS[result.status] for result in made.results}


def outcomes_of(testr: Testr, name: str) -> dict[str, str]:
    """Run tests by testrepository, and return how each ended.

    :raises BenchError: nothing ran
    """
    testr.run(suite_of(name + "."), (name + ".",), red=None)
    to_table = "testr last --subunit | subunit2csv"
    said = run(["sh", "-c", to_table], testr.variables, testr.tree, ok=(0, 1))
    return read_table(said[said.index("test,status") :])


def read_table(text: str) -> dict[str, str]:
    """Read what subunit2csv has written: a line a test, its id and its outcome first."""
    rows = csv.DictReader(io.StringIO(text))
    return {row["test"]: row["status"] for row in rows}


def differences(ours: Mapping[str, str], theirs: Mapping[str, str]) -> list[Difference]:
    """Return the tests whose outcomes differ, or that only one of both has run."""
    return [
        Difference(test, ours.get(test, _NONE), theirs.get(test, _NONE))
        for test in sorted({*ours, *theirs})
        if ours.get(test, _NONE) != theirs.get(test, _NONE)
    ]


def _counts(outcomes: Mapping[str, str]) -> str:
    counts = sorted(Counter(outcomes.values()).items())
    said = ", ".join(f"{count} {word}" for word, count in counts)
    return f"{len(outcomes)} tests, {said}"
