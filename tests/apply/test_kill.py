"""Whatever ends a run, and whenever: the checkout is as it was or the branch is whole.

And the next run makes the same commits. Set BACKPORT_TEST_KILLS for more random instants.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from forked import Child, start
from gitrepo import Snapshot, snapshot
from plainrun import BRANCH, FIVE, SERIES, TEN, Plain, make_plain
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

    def start(self, variables: Mapping[str, str] | None = None, limit: int = -1) -> Child:
        """Start a run; see :func:`forked.start`."""
        return start(self.command, self.project.root, variables, limit)

    def unharmed(self, killed: bool = False) -> None:
        """See that the checkout is as it was, and the branch whole, if it is there.

        :param killed: a git may have been, and what it left is there until the next run
        """
        now = snapshot(self.project.repo.path).without(BRANCH)
        if killed:
            assert now.without_leftovers() == self.before.without_leftovers()
        else:
            assert now.beside(self.before) == {}
        now = snapshot(self.project.repo.path)
        if BRANCH in now.refs:
            assert now.refs[BRANCH] == self.tip
            self.project.repo.git("fsck", "--strict", "--no-dangling")

    def check(self) -> None:
        """See that it is unharmed, and that the next run is as if nothing had been."""
        self.unharmed(killed=True)
        repo = self.project.repo
        again = self.project.run(*self.command)
        assert again.code == 0, again.err + again.out
        self.unharmed()
        assert repo.git("rev-parse", BRANCH) == self.tip
        repo.git("update-ref", "-d", BRANCH)
        assert not list(Path(os.environ["HOME"]).glob(".cache/backport/runs/run-*"))


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
    while (ended := stage.start(stage.wrapped(at, KILL)).wait()).status != 0:
        assert ended.status == -signal.SIGKILL, ended.said
        stage.check()
        survived, at = survived + 1, at + PARTS
    assert stage.calls < at
    stage.check()
    record_property("kills before git commands survived", survived)
    assert survived > 10


def stop_often(stage: Stage, stop: Callable[[Child], None], status: int) -> int:
    """Stop runs until enough of them were still at work, and look at what they leave.

    :returns: how many ended with the status of one that was stopped
    """
    stopped = 0
    for _ in range(3 * KILLS):
        child = stage.start()
        stop(child)
        done = child.wait()
        assert done.status in (0, status), done
        assert "Traceback" not in done.said
        assert done.said.count("error: interrupted") == (done.status == 130)
        stopped += done.status == status
        stage.check()
        if stopped == KILLS // PARTS:
            break
    assert stopped > 0
    return stopped


def whole(stage: Stage) -> float:
    """Return the seconds that a run takes which nobody stops; the first one loads more."""
    taken = []
    for _ in range(3):
        began = time.monotonic()
        assert stage.start().wait().status == 0
        taken.append(time.monotonic() - began)
        stage.check()
    return min(taken)


@pytest.mark.parametrize("part", range(PARTS))
def test_killed_at_random_instants(stage: Stage, part: int, record_property: Count) -> None:
    chance, taken = random.Random(part), whole(stage)

    def kill(child: Child) -> None:
        time.sleep(chance.uniform(0, taken))
        child.end(signal.SIGKILL)

    survived = stop_often(stage, kill, -signal.SIGKILL)
    record_property("kills at random instants survived", survived)


@pytest.mark.parametrize("group", [True, False], ids=["and its group", "alone"])
def test_killed_while_it_publishes(stage: Stage, group: bool, record_property: Count) -> None:
    chance = random.Random(group)

    def kill(child: Child) -> None:
        child.read_until("publish:")
        time.sleep(chance.uniform(0, 0.06))
        child.end(signal.SIGKILL, group)

    survived = stop_often(stage, kill, -signal.SIGKILL)
    record_property("kills while publishing survived", survived)


STEP = 4  # each so manyth command will do: most of them are those of the tests above


def clash(stage: Stage) -> Path:
    """Let the branch be in the way of the series' second change; return where the state is."""
    stage.project.repo.commit("clash", {"merged": TEN.replace("line 5", "line five")})
    return Path(os.environ["HOME"]) / ".local/state/backport/conflicts"


def solve(state: Path) -> None:
    """Resolve the conflict."""
    (work,) = state.glob("*/*/work-*")
    (work / "merged").write_text(FIVE)


def test_killed_while_a_conflict_is_kept(stage: Stage, record_property: Count) -> None:
    state = clash(stage)
    before = snapshot(stage.project.repo.path)
    survived, at = 0, 1
    while (ended := stage.start(stage.wrapped(at, KILL)).wait()).status != 3:
        assert ended.status == -signal.SIGKILL, ended.said
        assert snapshot(stage.project.repo.path) == before
        assert stage.project.run(*stage.command).code == 3
        assert stage.project.run("status").code == 3
        solve(state)
        assert stage.project.run("abort").code == 0
        survived, at = survived + 1, at + STEP
    record_property("kills in a run with a conflict survived", survived)
    assert survived > 5


def test_killed_while_going_on_after_a_conflict(stage: Stage, record_property: Count) -> None:
    state = clash(stage)
    repo = stage.project.repo
    before = snapshot(repo.path)
    survived, at, tips = 0, 1, set()
    while True:
        assert stage.project.run(*stage.command).code == 3
        solve(state)
        how = stage.wrapped(at, KILL)
        ended = start(("continue",), stage.project.root, how).wait()
        made = BRANCH in snapshot(repo.path).refs
        if ended.status != 0:
            assert ended.status == -signal.SIGKILL, ended.said
            now = snapshot(repo.path).without(BRANCH)
            assert now.without_leftovers() == before.without_leftovers()
            again = stage.project.run("continue")
            assert again.code == 0 or (made and "no conflict" in again.err), again.err
        tips.add(repo.git("rev-parse", BRANCH))
        repo.git("update-ref", "-d", BRANCH)
        if ended.status == 0:
            break
        survived, at = survived + 1, at + STEP
    record_property("kills of a continue survived", survived)
    assert survived > 5
    assert len(tips) == 1
    assert stage.project.run("status").out == "no conflict is pending\n"


@pytest.mark.parametrize("words", [("continue", "--save"), ("abort",)], ids=" ".join)
def test_killed_before_each_change_of_a_file(
    stage: Stage, words: tuple[str, ...], record_property: Count
) -> None:
    """What a person made of the conflict is somewhere, the series is whole, and it goes on."""
    state = clash(stage)
    patches, kept = stage.project.root / "patches", stage.root / "patches"
    shutil.copytree(patches, kept)
    survived = 0
    while True:
        assert stage.project.run(*stage.command).code == 3
        solve(state)
        ended = start(words, stage.project.root, die_at=survived + 1).wait()
        made = BRANCH in snapshot(stage.project.repo.path).refs
        if ended.status != 0:
            assert ended.status == -signal.SIGKILL, ended.said
            assert made or is_kept(state.parent), ended.said
            assert stage.project.run("show", SERIES).code == 0
            again = stage.project.run(*words)
            assert again.code == 0 or "no conflict" in again.err, again.err
        assert stage.project.run("status").out == "no conflict is pending\n"
        if words == ("abort",):
            assert is_kept(state.parent)
            shutil.rmtree(state.parent / "aborted")
        else:
            stage.project.repo.git("update-ref", "-d", BRANCH)
            assert stage.project.run(*stage.command).code == 0
            stage.project.repo.git("update-ref", "-d", BRANCH)
        shutil.rmtree(patches)
        shutil.copytree(kept, patches)
        if ended.status == 0:
            break
        survived += 1
    record_property("kills before changes of a file survived", survived)
    assert survived > 0


def is_kept(state: Path) -> bool:
    """Whether the resolution is there: in the work tree, or where it was given up."""
    files = (*state.glob("conflicts/*/*/work-*/merged"), *state.glob("aborted/*/work-*/merged"))
    return any(file.read_text() == FIVE for file in files)


def test_an_interrupt_while_the_branch_is_made_comes_after_it(stage: Stage) -> None:
    """And says so: the checkout is not as it was."""
    stop = 'case "$*" in *update-ref*-m*) kill -INT $PPID; sleep 0.2;; esac; exec '
    git = stage.root / "bin/git"
    git.write_text(WRAPPER.replace("exec ", stop).format(git=shutil.which("git")))
    done = stage.start(stage.wrapped(0, "")).wait()
    assert done.status == 130
    assert "interrupted, when the branch backport/ocata/bug-1 had been created" in done.said
    assert snapshot(stage.project.repo.path).refs[BRANCH] == stage.tip
    stage.unharmed()


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
        stage.unharmed()
        assert (BRANCH in snapshot(stage.project.repo.path).refs) == (ran.code == 0)
        stage.project.repo.git("update-ref", "-d", BRANCH)
        failures, at = failures + 1, at + PARTS
    stage.check()
    record_property("failures of git commands survived", failures)
    assert failures > 10


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_at_random_instants(
    stage: Stage, number: signal.Signals, record_property: Count
) -> None:
    """By Ctrl-C, which git gets as well, and by kill, which it does not."""
    chance, taken = random.Random(number), whole(stage)

    def interrupt(child: Child) -> None:
        time.sleep(chance.uniform(0, taken))
        child.end(number, group=number is signal.SIGINT)

    record_property("interrupts survived", stop_often(stage, interrupt, 130))


LIMITS = [0, 20, 100, 160, 250, 400, 600, 900, 1500, 3000, 20000]


def test_no_file_can_grow_beyond_a_size(stage: Stage, record_property: Count) -> None:
    """Each limit stops another write: of Python, which gets an error, or of git, which dies."""
    for limit in LIMITS:
        done = stage.start(limit=limit).wait()
        assert done.status in (4, 5), (limit, done.said)
        assert "Traceback" not in done.said
        assert re.search("cannot be written.*File too large|SIGXFSZ", done.said), done.said
        stage.check()
    record_property("failed writes survived", len(LIMITS))


NO_ROOM = re.compile(
    "No space left on device|Out of diskspace|(failed to|unable to|couldn't) write"
)
FULL = {
    "the cache": ".cache/backport",
    "the state": ".local/state/backport",
    "the folder for temporary files": "tmp",
    "the report's folder": ".local/state/backport/reports",
    "the checkout's objects": "project/checkout/.git/objects",
    "the checkout's refs": "project/checkout/.git/refs",
}


@pytest.mark.parametrize("place", FULL)
def test_a_disk_that_is_full(
    stage: Stage, tmp_path: Path, record_property: Count, place: str
) -> None:
    """Mount a small file system there, fill it more and more, and run (tests/fulldisk.py)."""
    home = Path(os.environ["HOME"])
    inside = {"project": tmp_path}.get(FULL[place].split("/")[0], home)
    folder = inside / FULL[place]
    folder.mkdir(parents=True, exist_ok=True)
    (home / "tmp").mkdir(exist_ok=True)
    driver = Path(__file__).parents[1] / "fulldisk.py"
    arguments = [str(folder), str(stage.project.root), *stage.command]
    done = subprocess.run(
        ["unshare", "--map-root-user", "--mount", sys.executable, str(driver), *arguments],
        env=os.environ | {"TMPDIR": str(home / "tmp")},
        capture_output=True,
        text=True,
        check=False,
    )
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip(f"no mounts here: {done.stderr}")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    for one in told:
        assert one["unharmed"], one
        assert one["code"] in (0, 4, 5), one
        assert "Traceback" not in one["said"], one
        assert one["code"] == 0 or NO_ROOM.search(one["said"]), one
    record_property("full disks survived", sum(one["code"] != 0 for one in told))
    assert told[-1]["code"] == 0
    assert told[0]["code"] != 0 or place == "the state"  # which only a conflict needs
