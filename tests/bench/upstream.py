"""Upstream's way to run tests: testrepository, as ``tox -e py27 REGEX`` starts it.

In the same environment, entry points and versions given as the tool gives them, bytecode kept.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from backport.runner.results import Environment
from backport.runner.test_environ import entry_points_folder, surroundings
from backport.series.model import TestSettings
from bench.stand import BenchError, Stand, run
from bench.timing import Spent, spent

#: What tox.ini sets OS_TEST_PATH to, by the environments of tox that targeted tests are in.
SUITES = {"functional": "nova/tests/functional", "unit": "nova/tests/unit"}
_STATUSES = {True: (1,), False: (0,), None: (0, 1)}
_RAN = re.compile(r"^Ran (\d+)", re.MULTILINE)


def suite_of(test: str) -> str:
    """Return which of upstream's suites a test is in.

    :raises BenchError: in none
    """
    for suite, folder in SUITES.items():
        if test.startswith(folder.replace("/", ".") + "."):
            return suite
    raise BenchError(f"{test} is in none of upstream's suites")


@dataclass(frozen=True)
class Testr:
    """An exported tree with a test repository in it."""

    tree: Path
    variables: dict[str, str]

    def run(self, suite: str, tests: tuple[str, ...], red: bool | None) -> Spent:
        """Run tests of a suite in as many processes as there are cores.

        :param red: whether some must fail; None: whether they do is not asked
        :raises BenchError: it came out otherwise
        """
        argv = ["testr", "run", "--parallel", "|".join(map(re.escape, tests))]
        return self._spent(argv, {"OS_TEST_PATH": f"./{SUITES[suite]}"}, _STATUSES[red])

    def run_alone(self, tests: tuple[str, ...]) -> Spent:
        """Run tests in one process that does nothing else: half of it is what two cores can do.

        :raises BenchError: some fail
        """
        return self._spent(["python", "-m", "testtools.run", *tests], {}, _STATUSES[False])

    def _spent(self, argv: list[str], variables: dict[str, str], ok: tuple[int, ...]) -> Spent:
        said: list[str] = []

        def work() -> None:
            said.append(run(argv, self.variables | variables, self.tree, ok=ok))

        taken = spent(work)
        if not _RAN.search(said[0]):
            raise BenchError(f"{argv[0]} ran nothing: {said[0][-500:]}")
        return taken


def make_testr(
    stand: Stand, environment: Environment, settings: TestSettings, tree: Path, cache: Path
) -> Testr:
    """Set testrepository up in a tree.

    :param cache: a folder for the entry points
    """
    points = entry_points_folder(tree, cache)
    home = stand.new_folder("home")
    around = surroundings(stand.own.environ, environment, tree, points, home, settings)
    testr = Testr(tree, dict(around.variables))
    run(["testr", "init"], testr.variables, tree)
    return testr
