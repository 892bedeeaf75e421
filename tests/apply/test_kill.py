"""Whatever ends a run, and whenever: the checkout is as it was or the branch is whole.

And the next run makes the same commits. Set BACKPORT_TEST_KILLS for more random instants.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from forked import Child, start
from gitrepo import Snapshot, snapshot
from plainrun import BRANCH, SERIES, Plain, make_plain
from project import Project

Count = Callable[[str, int], None]
KILLS = int(os.environ.get("BACKPORT_TEST_KILLS") or 30)
PARTS = 2  # that the work is cut into, so that it can be done side by side


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Plain:
    """Give a project, and what its series makes when nothing goes wrong."""
    return make_plain(tmp_path_factory)


#: Stands for git on the PATH. At the call whose number is in AT it does what is in DO, first.
WRAPPER = """#!/bin/sh
read n < "$COUNT" || n=0
n=$((n + 1))
echo $n > "$COUNT"
if [ $n = "$AT" ]; then $DO; fi
exec {git} "$@"
"""
KILL = "eval kill -9 $PPID; exit 1"


@dataclass(frozen=True)
class Stage:
    """A project on which runs are ended, one after the other."""

    project: Project
    tip: str
    before: Snapshot
    root: Path

    @property
    def command(self) -> tuple[str, ...]:
        """What is typed."""
        return ("run", SERIES, "--checkout", "checkout", "--skip-tests")

    def wrapped(self, at: int, do: str) -> dict[str, str]:
        """Return the variables that let git do something else at its n-th call, counting anew."""
        (self.root / "count").write_text("0\n")
        path = f"{self.root / 'bin'}{os.pathsep}{os.environ['PATH']}"
        return {"PATH": path, "AT": str(at), "DO": do, "COUNT": str(self.root / "count")}

    @property
    def calls(self) -> int:
        """How often git was called since."""
        return int((self.root / "count").read_text())

    def start(self, **variables: str) -> Child:
        """Start a run."""
        return start(self.command, self.project.root, self.root / "output", **variables)

    def check(self) -> bool:
        """See that the checkout is unharmed, and that the next run is as if nothing had been.

        :returns: whether the branch was there already
        """
        repo = self.project.repo
        now = snapshot(repo.path)
        assert now.without(BRANCH) == self.before
        made = BRANCH in now.refs
        if made:
            assert now.refs[BRANCH] == self.tip
            repo.git("fsck", "--strict", "--no-dangling")
        again = self.project.run(*self.command)
        assert again.code == 0, again.err
        assert repo.git("rev-parse", BRANCH) == self.tip
        repo.git("update-ref", "-d", BRANCH)
        assert not list(Path(os.environ["HOME"]).glob(".cache/backport/runs/run-*"))
        return made


@pytest.fixture
def stage(plain: Plain, tmp_path: Path) -> Stage:
    """Give a project, and a git that can be told to fail."""
    project = plain.copy(tmp_path / "project")
    (tmp_path / "bin").mkdir()
    git = tmp_path / "bin/git"
    git.write_text(WRAPPER.format(git=shutil.which("git")))
    git.chmod(0o755)
    return Stage(project, plain.tip, snapshot(project.repo.path), tmp_path)


@pytest.mark.parametrize("part", range(PARTS))
def test_killed_before_each_git_command_in_turn(
    stage: Stage, part: int, record_property: Count
) -> None:
    survived, at = 0, part + 1
    while (status := stage.start(**stage.wrapped(at, KILL)).wait()) != 0:
        assert status == -signal.SIGKILL, (stage.root / "output").read_text()
        stage.check()
        survived, at = survived + 1, at + PARTS
    assert stage.calls < at
    stage.check()
    record_property("kills before git commands survived", survived)
    assert survived > 10


@pytest.mark.parametrize("part", range(PARTS))
def test_killed_at_random_instants(stage: Stage, part: int, record_property: Count) -> None:
    chance = random.Random(part)
    child = stage.start()
    began = time.monotonic()
    assert child.wait() == 0
    whole = time.monotonic() - began
    stage.check()
    ended = 0
    for _ in range(3 * KILLS):
        child = stage.start()
        time.sleep(chance.uniform(0, whole))
        child.end(signal.SIGKILL)
        ended += child.wait() == -signal.SIGKILL
        stage.check()
        if ended == KILLS // PARTS:
            break
    record_property("kills at random instants survived", ended)
    assert ended > 0


FAIL = "eval echo fatal: out of luck >&2; exit 128"
#: What git is asked for at last, the ref's move, is refused; what it cannot say of the checkout
#: (is it one? whose?) is a usage error; what it calls the base is no matter.
EXPECTED = (4, 5, 2, 0)


@pytest.mark.parametrize("part", range(PARTS))
def test_git_failing_at_each_command_in_turn(
    stage: Stage, part: int, record_property: Count, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures, at = 0, part + 1
    while True:
        with monkeypatch.context() as patch:
            for name, value in stage.wrapped(at, FAIL).items():
                patch.setenv(name, value)
            ran = stage.project.run(*stage.command)
        if stage.calls < at:
            break
        assert ran.code in EXPECTED, (at, ran.err + ran.out)
        assert (ran.err + ran.out).count("out of luck") == (ran.code != 0)
        assert "Traceback" not in ran.err
        stage.check()
        failures, at = failures + 1, at + PARTS
    record_property("failures of git commands survived", failures)
    assert failures > 10
