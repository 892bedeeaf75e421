"""What is kept is used only for the same, and never when it is damaged."""

from __future__ import annotations

import dataclasses
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from backport.kept import read_checked, write_checked
from backport.runner.kept_results import Durations, Results
from backport.runner.results import Environment, Run, Status, TestResult
from backport.series.model import TestSettings

PYTHON = Environment(Path("/python"), "key", "2.7.18", Path("/environment"))
SETTINGS = TestSettings((), ("tests/",), (("A", "1"),), (), 100.0, 10.0)
RUN = Run(
    tree="1" * 40,
    selection=("tests.test_it",),
    results=(
        TestResult("tests.test_it.T.test_1", Status.PASSED, 0.5),
        TestResult("tests.test_it.T.test_2", Status.FAILED, 0.25, "gr\u00fc\u00df dich"),
    ),
    seconds=1.5,
    command="cd tree && python",
    interpreter="/python (2.7.18)",
    environment="key",
    notes=("kept",),
)


@pytest.fixture
def results(tmp_path: Path) -> Results:
    return Results(tmp_path / "results")


def key(results: Results) -> str:
    return results.key(PYTHON, RUN.tree, RUN.selection, SETTINGS)


def test_a_run_comes_back_as_it_was_and_says_that_it_was_kept(results: Results) -> None:
    results.put(key(results), RUN)
    assert results.get(key(results)) == dataclasses.replace(RUN, reused=True)


def test_nothing_comes_back_for_anything_else(results: Results) -> None:
    keys = {
        key(results),
        results.key(dataclasses.replace(PYTHON, key="other"), RUN.tree, RUN.selection, SETTINGS),
        results.key(dataclasses.replace(PYTHON, version="3"), RUN.tree, RUN.selection, SETTINGS),
        results.key(PYTHON, "2" * 40, RUN.selection, SETTINGS),
        results.key(PYTHON, RUN.tree, ("tests.test_it.T",), SETTINGS),
        results.key(PYTHON, RUN.tree, RUN.selection, SETTINGS, "fail fast"),
        results.key(PYTHON, RUN.tree, RUN.selection, dataclasses.replace(SETTINGS, environment=())),
        results.key(
            PYTHON, RUN.tree, RUN.selection, dataclasses.replace(SETTINGS, test_timeout=1.0)
        ),
    }
    assert len(keys) == 8
    results.put(key(results), RUN)
    assert [one for one in keys if results.get(one)] == [key(results)]


@pytest.mark.parametrize(
    "status", [Status.TIMED_OUT, Status.CRASHED, Status.NOT_RUN], ids=lambda one: one.value
)
def test_a_run_with_a_test_that_did_not_end_by_itself_is_not_kept(
    results: Results, status: Status
) -> None:
    bad = TestResult("tests.test_it.T.test_3", status, 0.0)
    results.put(key(results), dataclasses.replace(RUN, results=(*RUN.results, bad)))
    assert results.get(key(results)) is None


def test_a_run_with_a_problem_is_not_kept(results: Results) -> None:
    results.put(key(results), dataclasses.replace(RUN, problem="the disk is full"))
    assert results.get(key(results)) is None


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda data: data[: len(data) // 2],
    "one letter": lambda data: data.replace(b'"failed"', b'"passed"'),
    "empty": lambda data: b"",
    "other": lambda data: b"\xff\xfe not ours",
    "no JSON": lambda data: data.splitlines()[0] + b"\n{",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_entry_is_thrown_away(tmp_path: Path, results: Results, damage: str) -> None:
    results.put(key(results), RUN)
    (file,) = (tmp_path / "results").iterdir()
    file.write_bytes(DAMAGES[damage](file.read_bytes()))
    assert results.get(key(results)) is None
    assert not file.exists()


def test_an_entry_of_another_make_is_not_used(tmp_path: Path, results: Results) -> None:
    write_checked(tmp_path / "results" / f"{key(results)}.json", {"tree": "1", "results": [{}]})
    assert results.get(key(results)) is None


def test_what_cannot_be_kept_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    write_checked(tmp_path / "file" / "below", {"a": 1})
    assert read_checked(tmp_path / "file" / "below") is None


def test_nothing_half_written_is_left(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    (folder / "entry").mkdir(parents=True)  # a folder cannot be replaced by a file
    write_checked(folder / "entry", {"a": 1})
    assert [path.name for path in folder.iterdir()] == ["entry"]
    assert stat.S_ISDIR((folder / "entry").stat().st_mode)


def test_durations_are_learned_and_shared(tmp_path: Path) -> None:
    durations = Durations(tmp_path, PYTHON)
    assert durations.expected("tests.test_it.T.test_1") == 1.0
    other = Durations(tmp_path, PYTHON)
    durations.learn(RUN.results[:1])
    other.learn(RUN.results[1:])
    again = Durations(tmp_path, PYTHON)
    assert again.expected("tests.test_it.T.test_1") == 0.5
    assert again.expected("tests.test_it.T.test_2") == 0.25
