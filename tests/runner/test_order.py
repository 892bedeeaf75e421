"""Tests are handed out in upstream's order, and what upstream keeps apart is kept apart."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from backport.runner.order import Line
from backport.runner.results import Status
from tinyproject import Project, make_project, outcomes

SECONDS = {"a.T.test_2": 1.0, "b.T.test_1": 5.0}
UNITS = [["b.T.test_1"], ["c.T.test_1", "c.T.test_2"], ["a.T.test_2"], ["a.T.test_1"]]


def line(apart: tuple[str, ...] = ()) -> Line:
    return Line(UNITS, lambda test: SECONDS.get(test, 0.5), apart)


def test_units_come_by_their_ids() -> None:
    units = line()
    assert [units.take().unit for _ in range(len(units))] == [3, 2, 0, 1]


def test_what_is_before_a_long_one_weighs_as_much() -> None:
    units = line()
    assert [units.weight(ahead) for ahead in range(4)] == [5.0, 5.0, 5.0, 1.0]
    units.take()
    units.take()
    units.take()
    assert units.weight() == 1.0


def test_what_is_left_of_a_unit_comes_next() -> None:
    units = line()
    taken = [units.take() for _ in range(4)]
    units.put_back(taken[3], ["c.T.test_2"])
    assert units.rest() == ["c.T.test_2"]
    again = units.take()
    assert (again.unit, again.place, again.tests) == (1, 3, ("c.T.test_2",))


def test_groups_are_told_by_prefixes_of_paths() -> None:
    units = line(("a/", "b/"))
    assert [units.take().group for _ in range(4)] == [0, 0, 1, -1]


@pytest.fixture(params=["3", "2.7"])
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Project:
    return make_project(request.param, tmp_path)


def test_a_process_runs_no_test_after_one_that_upstream_runs_later(project: Project) -> None:
    text = "import time, unittest\nLEFT = []\nclass A(unittest.TestCase):\n"
    for number in range(8):
        text += f"    def test_{number}(self):\n        self.assertEqual([], LEFT)\n"
        text += "        time.sleep(0.02)\n"
    text += "class B(unittest.TestCase):\n    def test(self):\n        LEFT.append(1)\n"
    text += "        time.sleep(0.1)\n"
    for _ in range(2):  # once it is known what is long
        run = project.run({"tests/test_it.py": text})
        assert set(outcomes(run).values()) == {Status.PASSED}


def test_what_is_to_be_apart_shares_no_process(project: Project) -> None:
    project.settings = dataclasses.replace(
        project.settings, apart=("tests/functional/", "tests/unit/")
    )
    kinds = ("functional", "unit", "zone")
    files = {f"tests/{kind}/__init__.py": "" for kind in kinds}
    files["tests/seen.py"] = "KINDS = set()"
    for kind in kinds:
        text = "import unittest\nfrom tests.seen import KINDS\nclass T(unittest.TestCase):\n"
        for number in range(5):
            text += f"    def test_{number}(self):\n        KINDS.add({kind!r})\n"
            text += f"        self.assertEqual({{{kind!r}}}, KINDS)\n"
        files[f"tests/{kind}/test_{kind}.py"] = text
    run = project.run(files, [f"tests.{kind}.test_{kind}" for kind in kinds])
    assert len(run.results) == 15
    assert run.green, run.results


def test_what_a_crash_leaves_of_a_unit_is_run_by_a_worker_that_is_not_ahead(
    project: Project,
) -> None:
    text = """
    import os, time, unittest
    DONE = []
    class A(unittest.TestCase):
        @classmethod
        def setUpClass(cls):
            pass
        def test_1(self):
            time.sleep(0.3)
            os._exit(1)
        def test_2(self):
            self.assertEqual([], DONE)
    class B(unittest.TestCase):
        def test(self):
            DONE.append(1)
    """
    run = project.run({"tests/test_it.py": text})
    assert outcomes(run) == {
        "A.test_1": Status.CRASHED,
        "A.test_2": Status.PASSED,
        "B.test": Status.PASSED,
    }
