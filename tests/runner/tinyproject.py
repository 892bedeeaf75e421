"""Small real projects: trees in git repositories, run under real interpreters."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from backport.checkout.objects import Entry
from backport.checkout.scratch import create_scratch
from backport.environment.interpreter import find_interpreter
from backport.errors import CannotTellError
from backport.runner.cpu_tokens import Tokens
from backport.runner.exported_tree import Store
from backport.runner.results import Environment, Run, Status, TestResult
from backport.runner.runner import Manner, Workshop, run_tests
from backport.runner.trees import Trees
from backport.series.model import TestSettings

_REAL = dict(os.environ)  # before the tests' own HOME hides where interpreters are


def environments() -> dict[str, Environment | None]:
    """Return the interpreters that projects are run under; Python 2.7 only where there is one."""
    version = ".".join(map(str, sys.version_info[:3]))
    prefix = Path(sys.prefix)
    found: dict[str, Environment | None] = {
        "3": Environment(Path(sys.executable), "three", version, prefix)
    }
    try:
        two = find_interpreter("2.7", None, _REAL)
        found["2.7"] = Environment(two.path, "two", two.version, two.path.parent.parent)
    except CannotTellError:
        found["2.7"] = None
    return found


SETTINGS = TestSettings(
    pythons=(), paths=("tests/",), environment=(), keepsakes=(), timeout=120.0, test_timeout=60.0
)


def make_project(python: str, folder: Path) -> Project:
    """Return an empty project to be run under Python "3" or "2.7"; skips where there is none."""
    environment = environments()[python]
    if environment is None:
        pytest.skip("no Python 2.7 was found")
    return Project(folder / "project", environment)


@dataclass
class Project:
    """A project whose trees are made of texts, and run."""

    folder: Path
    environment: Environment
    settings: TestSettings = SETTINGS
    heard: list[TestResult] = field(default_factory=list)

    def __post_init__(self) -> None:
        objects = self.folder / "empty"
        objects.mkdir(parents=True)
        self.scratch = create_scratch(self.folder / "scratch.git", objects)
        self.trees = Trees(self.scratch, self.folder / "scratch.git")
        (self.folder / "work").mkdir()
        self.workshop = Workshop(
            scratch=self.folder / "work",
            cache=self.folder / "cache",
            environ={"PATH": _REAL.get("PATH", os.defpath), "PYTHONPATH": "/nonexistent"},
            jobs=2,
            tokens=Tokens(2),
        )
        self.store = Store(self.workshop.cache / "trees")

    def tree(self, files: dict[str, str], base: str | None = None) -> str:
        """Return the tree of these texts, on top of another."""
        entries = {
            path: Entry("100644", self.scratch.write_blob(textwrap.dedent(text).encode()))
            for path, text in files.items()
        }
        return self.scratch.update(base, entries)

    def run(
        self,
        files: dict[str, str],
        selection: Sequence[str] = ("tests.test_it",),
        fail_fast: bool = False,
    ) -> Run:
        """Run tests of a tree of these texts; ``tests/__init__.py`` is added."""
        tree = self.tree({"tests/__init__.py": "", **files})
        return self.run_tree(tree, selection, fail_fast)

    def run_tree(self, tree: str, selection: Sequence[str], fail_fast: bool = False) -> Run:
        """Run tests of a tree in a new folder."""
        number = len(list(self.workshop.scratch.iterdir()))
        folder = self.workshop.scratch / f"tree-{number}"
        laid = self.store.lay_out(self.trees, tree, folder, self.environment)
        run = run_tests(
            self.environment,
            laid,
            selection,
            self.settings,
            self.workshop,
            Manner(fail_fast, "", self.folder / "log", self.loaded, self.test),
        )
        self.store.keep_bytecode(laid, self.environment)
        return run

    def loaded(self, total: int) -> None:
        """Hear how many tests there are."""
        self.total = total

    def test(self, result: TestResult) -> None:
        """Hear of a test."""
        self.heard.append(result)


def outcomes(run: Run) -> dict[str, Status]:
    """Return how each test ended, by the last two parts of its name."""
    return {".".join(result.id.split(".")[-2:]): result.status for result in run.results}


def detail(run: Run, name: str) -> str:
    """Return what the test whose id ends so has said."""
    (found,) = [result.detail for result in run.results if result.id.endswith(name)]
    return found


def living(mark: str) -> list[int]:
    """Return the processes whose command line holds the mark."""
    how = ["ps", "-axww", "-o", "pid,args"]
    done = subprocess.run(how, capture_output=True, text=True, check=True)
    lines = [line.split(None, 1) for line in done.stdout.splitlines()[1:]]
    return [int(pid) for pid, args in lines if mark in args]
