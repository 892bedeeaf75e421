"""Whole runs on a small project with real tests: which verdict, which exit code, which branch."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from backport.environment.interpreter import find_interpreter
from backport.errors import CannotTellError
from gitrepo import snapshot
from project import Project

BRANCH = "refs/heads/backport/ocata/bug-1"
HERE = f"{sys.version_info.major}.{sys.version_info.minor}"

CODE = "def half(number):\n    return number - number // 2\n"
FIXED = CODE.replace("number - number // 2", "number // 2")
TESTS = """\
import unittest

from small import code


class TestHalf(unittest.TestCase):
    def test_even(self):
        self.assertEqual(2, code.half(4))
"""
RECREATE = (
    TESTS
    + """
    def test_odd(self):
        # TODO: half of 5 must be 2
        self.assertEqual(3, code.half(5))
"""
)
FLIPPED = RECREATE.replace("        # TODO: half of 5 must be 2\n", "").replace("(3,", "(2,")
OTHER = """\
import unittest


class TestOther(unittest.TestCase):
    def test_always_failing(self):
        self.fail("on the base already")
"""


@dataclass(frozen=True)
class Row:
    """A series on the small project: what each change makes of the files, and what comes out."""

    name: str
    verdict: str
    code: int
    changes: tuple[dict[str, str], ...]
    kinds: tuple[str, ...] = ("regression-test", "fix")
    named: tuple[str, ...] = ()
    base: dict[str, str] = field(default_factory=dict)
    says: str = ""


TEST, MODULE = "small/tests/test_code.py", "small/code.py"
ROWS = [
    Row("recreate and fix", "proven", 0, ({TEST: RECREATE}, {MODULE: FIXED, TEST: FLIPPED})),
    Row("fix alone", "proven", 0, ({MODULE: FIXED, TEST: FLIPPED},), ("fix",)),
    Row("a test alone", "proven", 0, ({TEST: RECREATE},), ("regression-test",)),
    Row(
        "the test passes without the fix",
        "unproven",
        1,
        ({MODULE: FIXED, TEST: TESTS.replace("4", "8").replace("2,", "4,")},),
        ("fix",),
        says="without",
    ),
    Row("no test at all", "unproven", 1, ({MODULE: FIXED},), ("fix",)),
    Row("the fix does not fix", "broken", 1, ({MODULE: CODE + "\n", TEST: FLIPPED},), ("fix",)),
    Row(
        "red by an import only",
        "could-not-tell",
        4,
        ({"small/new.py": "VALUE = 1\n", TEST: "from small import new\n" + TESTS},),
        ("fix",),
        ("small.tests.test_code",),
    ),
    Row(
        "what fails on the base is not blamed",
        "proven",
        0,
        ({TEST: RECREATE}, {MODULE: FIXED, TEST: FLIPPED}),
        named=("small.tests.test_other",),
        base={"small/tests/test_other.py": OTHER},
        says="test_always_failing",
    ),
]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a cache that all tests here share, so that the environment is built once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def shared_cache(hermetic: None, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the command use it."""
    monkeypatch.setenv("BACKPORT_CACHE", str(cache))


def with_tests(project: Project, pythons: dict[str, str]) -> None:
    """Say how the small project's tests are run: under these Pythons, with no packages."""
    folder = project.root / "patches/ocata"
    for lock in pythons.values():
        (folder / lock).write_text("# nothing is needed\n")
    project.branch_yaml(
        tests={"python": [*pythons], "requirements": pythons, "paths": ["small/tests/"]}
    )


def build(project: Project, row: Row) -> str:
    """Make the repository and the series."""
    repo = project.repo
    files: dict[str, bytes | str | None] = {
        "small/__init__.py": "",
        "small/tests/__init__.py": "",
        MODULE: CODE,
        TEST: TESTS,
        **row.base,
    }
    last = base = repo.commit("base", files)
    patches = {}
    for number, change in enumerate(row.changes, 1):
        tip = repo.commit(f"change {number}", dict(change))
        patches[f"{number:04}.patch"] = repo.diff(last, tip)
        last = tip
    repo.git("checkout", "-q", "-B", "stable/ocata", base)
    changes: list[dict[str, Any]] = [
        {"patch": name, "kind": kind} for name, kind in zip(patches, row.kinds, strict=True)
    ]
    changes[-1]["tests"] = list(row.named)
    return project.series(changes, patches)


def prove(project: Project, series: str, *args: str) -> Any:
    return project.run(
        *("run", series, "--checkout", str(project.repo.path), "--json", *args),
    )


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_row(project: Project, row: Row) -> None:
    with_tests(project, {HERE: "requirements.txt"})
    series = build(project, row)
    before = snapshot(project.repo.path)
    ran = prove(project, series, "--python", sys.executable)
    assert (ran.report["result"], ran.code) == (row.verdict, row.code), ran.err
    assert row.says in ran.out
    now = snapshot(project.repo.path)
    assert (BRANCH in now.refs) == (row.code == 0)
    assert now.without(BRANCH) == before


def test_hunks_that_no_test_guards_are_named(project: Project) -> None:
    with_tests(project, {HERE: "requirements.txt"})
    spaced = "\n".join(f"# {n}" for n in range(20)) + "\n\n\ndef unused():\n    return 1\n"
    row = Row(
        "",
        "",
        0,
        ({MODULE: FIXED + spaced.replace("return 1", "return 2"), TEST: FLIPPED},),
        ("fix",),
        base={MODULE: CODE + spaced},
    )
    ran = prove(project, build(project, row), "--python", sys.executable, "--prove-hunks")
    assert ran.code == 0, ran.err
    guards = [hunk["guard"] for hunk in ran.report["proof"]["hunks"]]
    assert sorted(guards) == ["guarded", "unguarded"]


def test_a_matrix_for_each_interpreter_and_one_verdict(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    try:
        find_interpreter("2.7", None, dict(os.environ))
    except CannotTellError as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(f"no Python 2.7: {error.message}")
    # In Python 2, 5 / 2 is 2: there the bug does not exist, and nothing fails without the fix.
    truediv = CODE.replace("number - number // 2", "number / 2")
    row = Row("", "", 0, ({MODULE: FIXED, TEST: FLIPPED},), ("fix",), base={MODULE: truediv})
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    with_tests(project, {"2.7": "py27.txt", HERE: "py3.txt"})
    ran = prove(project, build(project, row))
    report = ran.report
    assert (report["result"], ran.code) == ("unproven", 1), ran.err
    assert [one["version"][:3] for one in report["environments"]] == ["2.7", HERE[:3]]
    red = {
        cell["interpreter"]: cell["ok"]
        for cell in report["proof"]["cells"]
        if cell["kind"] == "red"
    }
    assert sorted(red.values()) == [False, True]
    assert "2.7" in report["sentence"]
