"""Two runs on one checkout: one works, the other waits and says for whom; on two, none waits."""

from __future__ import annotations

import os
import shutil
import signal
from dataclasses import dataclass
from pathlib import Path

import pytest

from backport import session
from forked import Child, start
from plainrun import BRANCH, SERIES, Plain, make_plain
from project import Project

#: Stands for git on the PATH. It stops once, while the checkout is asked for its base, until told.
GATE = """#!/bin/sh
case "$*" in
*for-each-ref*) if [ ! -e "$GATE.passed" ]; then
    : > "$GATE.passed"; read go < "$GATE"
fi;;
esac
exec {git} "$@"
"""


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Plain:
    """Give a project, and what its series makes."""
    return make_plain(tmp_path_factory)


@dataclass(frozen=True)
class Held:
    """A run that holds the lock, and stands still until it is let go."""

    child: Child
    gate: Path

    def let_go(self) -> None:
        """Let it go on."""
        self.gate.write_text("go\n")


def command(checkout: str) -> tuple[str, ...]:
    return ("run", SERIES, "--checkout", checkout, "--skip-tests")


@pytest.fixture
def project(plain: Plain, tmp_path: Path) -> Project:
    """Give a project to work on."""
    return plain.copy(tmp_path / "project")


@pytest.fixture
def held(project: Project, tmp_path: Path) -> Held:
    """Start a run, and return when it holds the lock."""
    (tmp_path / "bin").mkdir()
    git, gate = tmp_path / "bin/git", tmp_path / "gate"
    git.write_text(GATE.format(git=shutil.which("git")))
    git.chmod(0o755)
    os.mkfifo(gate)
    path = f"{git.parent}{os.pathsep}{os.environ['PATH']}"
    child = start(command("checkout"), project.root, {"PATH": path, "GATE": str(gate)})
    while not Path(f"{gate}.passed").exists():
        assert child.process.is_alive(), child.wait().said
    return Held(child, gate)


@pytest.mark.parametrize("way", ["itself", "a link", "a linked worktree"])
def test_the_second_run_waits_and_says_for_whom(
    project: Project, held: Held, plain: Plain, way: str
) -> None:
    other = project.root / "other"
    if way == "a link":
        other.symlink_to(project.repo.path)
    if way == "a linked worktree":
        project.repo.git("worktree", "add", "-q", str(other), "-b", "elsewhere")
    second = start(command("checkout" if way == "itself" else "other"), project.root)
    said = second.read_until("waiting for it to end")
    assert f"another run works on this checkout (process {held.child.pid})" in said
    held.let_go()
    assert held.child.wait().status == 0
    done = second.wait()
    assert done.status == 0
    assert "there already" in done.said
    assert project.repo.git("rev-parse", BRANCH) == plain.tip


def test_another_checkout_does_not_wait(
    project: Project, held: Held, plain: Plain, tmp_path: Path
) -> None:
    other = plain.copy(tmp_path / "other")
    ran = other.run(*command("checkout"))
    assert ran.code == 0
    assert "waiting" not in ran.err
    assert held.child.process.is_alive()
    held.let_go()
    assert held.child.wait().status == 0


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_lock_of_a_dead_run_is_taken_over(
    project: Project, held: Held, plain: Plain, number: signal.Signals
) -> None:
    held.child.end(number)
    assert held.child.wait().status == {signal.SIGKILL: -9, signal.SIGTERM: 130}[number]
    ran = project.run(*command("checkout"))
    assert ran.code == 0
    assert "waiting" not in ran.err
    assert project.repo.git("rev-parse", BRANCH) == plain.tip


def test_a_damaged_word_on_who_holds_it_does_not_matter(project: Project, held: Held) -> None:
    (holder,) = Path(os.environ["HOME"]).glob(".cache/backport/locks/*.json")
    holder.write_text("{")
    second = start(command("checkout"), project.root)
    assert "process unknown" in second.read_until("waiting for it to end")
    held.let_go()
    assert (held.child.wait().status, second.wait().status) == (0, 0)


def test_a_ref_s_lock_of_another_git_is_named_before_the_tests_are_run(
    project: Project,
) -> None:
    lock = project.repo.path / ".git" / f"{BRANCH}.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    ran = project.run(*command("checkout"))
    assert ran.code == 5
    assert f"{lock}isthere" in "".join(ran.out.split())
    assert "git -C" not in ran.out  # the branch holds nothing that could be looked at
    assert "remove that file" in ran.out
    assert "publish" not in ran.err
    lock.unlink()
    assert project.run(*command("checkout")).code == 0


def test_a_branch_that_a_checkout_is_to_begin_is_not_made_under_it(project: Project) -> None:
    """Or all of its files would be deleted ones, there."""
    project.repo.git("symbolic-ref", "HEAD", BRANCH)
    ran = project.run(*command("checkout"))
    assert ran.code == 5
    assert "is checked out in" in ran.err + ran.out
    assert BRANCH not in project.repo.git("for-each-ref")


def test_waiting_can_be_interrupted(project: Project, held: Held) -> None:
    second = start(command("checkout"), project.root)
    second.read_until("waiting for it to end")
    second.end(signal.SIGINT)
    assert second.wait().status == 130
    held.let_go()
    assert held.child.wait().status == 0


def test_waiting_comes_to_an_end(
    project: Project, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "PATIENCE", 0.01)
    ran = project.run(*command("checkout"))
    assert ran.code == 4
    assert f"does not end (process {held.child.pid})" in ran.err
    held.let_go()
    assert held.child.wait().status == 0


def test_many_runs_at_once_make_one_branch(project: Project, plain: Plain) -> None:
    children = [start(command("checkout"), project.root) for _ in range(4)]
    ended = [child.wait() for child in children]
    assert [one.status for one in ended] == [0] * 4, [one.said for one in ended]
    assert sum("created" in one.said for one in ended) == 1
    assert project.repo.git("rev-parse", BRANCH) == plain.tip
