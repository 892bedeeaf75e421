"""Killed at each system call of the handing over: what is left is cleared up, by what was noted.

By git's, which a library counts (tests/killer.c), and by Python's own, which an audit hook counts.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from backport.checkout import transaction as leftover
from backport.checkout.objects import Signed
from backport.checkout.repository import open_checkout
from backport.checkout.transaction import RefUpdate, clear_up, hand_over, make_note, noted
from backport.errors import CannotTellError, RefusedError
from backport.series.model import Person
from gitrepo import Repo, Snapshot, make_repo, snapshot

Count = Callable[[str, int], None]
MOMENT = 0.05  # seconds
WHO = Signed(Person("Carl Committer", "carl@example.org"), "1530000000 +0000")
BRANCH, KEPT = "refs/heads/backport/ocata/bug-1", "refs/backport/replaced/bug-1/old"
_CONTEXT = multiprocessing.get_context("forkserver")
#: What Python does to files, and the starting of git.
EVENTS = {
    "open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.truncate", "subprocess.Popen",
}  # fmt: skip

WRAPPER = """#!/bin/sh
case "$*" in
*"$KILL_IN"*)
    [ -z "$BOTH" ] || export KILL_TOO=$PPID
    export LD_PRELOAD={library}
esac
exec {git} "$@"
"""


@dataclass(frozen=True)
class Stand:
    """A repository, and what is to be handed over to it."""

    repo: Repo
    note: Path
    pack: bytes
    updates: tuple[RefUpdate, ...]
    before: Snapshot

    def copy(self, root: Path) -> Stand:
        """Give one that nothing has happened to."""
        shutil.rmtree(root, ignore_errors=True)
        shutil.copytree(self.repo.path, root / "checkout", symlinks=True)
        repo = Repo(root / "checkout")
        return replace(self, repo=repo, note=root / "note", before=snapshot(repo.path))

    def hand_over(self) -> None:
        """Do it."""
        checkout = open_checkout(self.repo.path)
        hand_over(checkout, self.note, self.pack, self.updates, WHO, "backport: created")

    def killed(self, variables: Mapping[str, str], at: int = 0) -> int | None:
        """Do it in a process of its own; return its status, when all that it started has ended."""
        process = _CONTEXT.Process(target=_child, args=(self, {**os.environ, **variables}, at))
        process.start()
        process.join()
        return process.exitcode

    def check(self) -> bool:
        """See that nothing is left, and that it can be done again; whether it was done already."""
        left = snapshot(self.repo.path)
        allowed = [up.name for up in self.updates]
        assert left.without_leftovers().without(*allowed) == (
            self.before.without_leftovers().without(*allowed)
        )
        clear_up(open_checkout(self.repo.path), self.note, lambda _: None)
        assert not self.note.exists()
        now = snapshot(self.repo.path)
        done = all(now.refs.get(up.name) == up.new for up in self.updates)
        if done:
            assert now.without(*allowed) == self.before.without(*allowed)
        else:
            assert now.beside(self.before) == {}
            assert now == self.before
            self.hand_over()
        refs = snapshot(self.repo.path).refs
        assert [refs[up.name] for up in self.updates] == [up.new for up in self.updates]
        assert not [path for path in self.repo.path.rglob("*") if is_leftover(path.name)]
        self.repo.git("fsck", "--strict", "--no-dangling")
        return done


def is_leftover(name: str) -> bool:
    return name.endswith((".lock", ".new")) or name.startswith("tmp_")


def _child(stand: Stand, environ: dict[str, str], at: int) -> None:
    os.setsid()
    os.environ.clear()
    os.environ.update(environ)
    leftover._MOMENT = MOMENT
    checkout = open_checkout(stand.repo.path)
    calls = 0

    def count(event: str, _: object) -> None:
        nonlocal calls
        calls += event in EVENTS
        if calls == at and event in EVENTS:
            os.kill(os.getpid(), signal.SIGKILL)

    if at:
        sys.addaudithook(count)
    try:
        hand_over(checkout, stand.note, stand.pack, stand.updates, WHO, "backport: created")
    except CannotTellError:
        sys.exit(4)


@pytest.fixture
def created(tmp_path: Path) -> Stand:
    """Give a repository that is to get a new branch."""
    repo = make_repo(tmp_path / "origin")
    base = repo.commit("base", {"a": "a\n", "d/b": "b\n"})
    scratch = open_checkout(repo.path).scratch(tmp_path / "scratch")
    blob = scratch.write_blob(b"more\n")
    tree = scratch.tree(base)
    entry = next(iter(scratch.entries(tree, ["a"]).values()))
    tree = scratch.update(tree, {"a": replace(entry, blob=blob), "e/f": replace(entry, blob=blob)})
    made = scratch.make_commit(tree, (base,), "made", WHO, WHO)
    pack = scratch.pack([made], base)
    updates = (RefUpdate(BRANCH, made, None),)
    return Stand(repo, tmp_path / "note", pack, updates, snapshot(repo.path))


@pytest.fixture
def replaced(created: Stand) -> Stand:
    """Give a repository whose branch is to hold something else; what it held is kept."""
    repo = created.repo
    old = repo.git("rev-parse", "HEAD")
    repo.git("update-ref", "--create-reflog", "-m", "begun", BRANCH, old)
    updates = (RefUpdate(KEPT, old, None), RefUpdate(BRANCH, created.updates[0].new, old))
    return replace(created, updates=updates, before=snapshot(repo.path))


@pytest.fixture(params=["created", "replaced"])
def stand(request: pytest.FixtureRequest) -> Stand:
    """Give each of the two."""
    found = request.getfixturevalue(request.param)
    assert isinstance(found, Stand)
    return found


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile what kills git at its n-th call."""
    made = tmp_path_factory.mktemp("killer") / "killer.so"
    source = Path(__file__).parents[1] / "killer.c"
    try:
        subprocess.run(["cc", "-shared", "-fPIC", "-o", made, source, "-ldl"], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no C compiler: {error}")
    return made


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at a lock for less than a second: these tests leave more than a hundred."""
    monkeypatch.setattr(leftover, "_MOMENT", MOMENT)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("both", ["", "1"], ids=["git alone", "git and the run"])
@pytest.mark.parametrize("command", ["update-ref", "unpack-objects"])
def test_git_is_killed_before_each_of_its_system_calls(
    stand: Stand, tmp_path: Path, library: Path, command: str, both: str, record_property: Count
) -> None:
    wrapper = tmp_path / "bin/git"
    wrapper.parent.mkdir()
    wrapper.write_text(WRAPPER.format(git=shutil.which("git"), library=library))
    wrapper.chmod(0o755)
    path = f"{wrapper.parent}{os.pathsep}{os.environ['PATH']}"
    variables = {"PATH": path, "KILL_IN": command, "BOTH": both}
    survived = 0
    while True:
        one = stand.copy(tmp_path / "copy")
        status = one.killed({**variables, "KILL_AT": str(survived + 1)})
        if status == 0:
            break
        if both:
            assert status == -signal.SIGKILL
        else:
            # Whoever lives clears up at once.
            assert status == 4
            assert not one.note.exists()
            allowed = [up.name for up in one.updates]
            assert snapshot(one.repo.path).without(*allowed) == one.before.without(*allowed)
        one.check()
        survived += 1
    record_property(f"kills of {command} at its system calls survived", survived)
    assert survived > 10


@pytest.mark.usefixtures("impatient")
def test_the_run_is_killed_at_each_of_its_own_steps(
    stand: Stand, tmp_path: Path, record_property: Count
) -> None:
    survived, done = 0, 0
    while True:
        one = stand.copy(tmp_path / "copy")
        status = one.killed({}, at=survived + 1)
        if status == 0:
            break
        assert status == -signal.SIGKILL
        done += one.check()
        survived += 1
    record_property("kills of the run at its own system calls survived", survived)
    assert survived > done > 0


def test_a_git_that_outlives_the_run_is_waited_for(created: Stand, tmp_path: Path) -> None:
    """It has a session of its own: what ends the run and its group does not end it by half."""
    wrapper = tmp_path / "bin/git"
    wrapper.parent.mkdir()
    wrapper.write_text(
        f'#!/bin/sh\ncase "$*" in *update-ref*) kill -9 $PPID; sleep 0.5;; esac\n'
        f'exec {shutil.which("git")} "$@"\n'
    )
    wrapper.chmod(0o755)
    path = f"{wrapper.parent}{os.pathsep}{os.environ['PATH']}"
    assert created.killed({"PATH": path}) == -signal.SIGKILL
    assert BRANCH not in snapshot(created.repo.path).refs
    assert created.check()


def lock_of(stand: Stand) -> Path:
    lock = stand.repo.path / ".git" / f"{BRANCH}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    return lock


def test_a_lock_of_somebody_else_is_named_and_left(created: Stand) -> None:
    lock = lock_of(created)
    lock.touch()
    with pytest.raises(RefusedError, match=r"bug-1\.lock is there") as caught:
        created.hand_over()
    assert "remove that file" in caught.value.hint
    assert lock.exists()
    assert not created.note.exists()


def test_a_lock_that_goes_away_in_a_moment_is_waited_for(
    created: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = lock_of(created)
    lock.touch()
    meanwhile(monkeypatch, lock.unlink)
    created.hand_over()
    assert snapshot(created.repo.path).refs[BRANCH] == created.updates[0].new


def meanwhile(monkeypatch: pytest.MonkeyPatch, other: Callable[[], object]) -> None:
    """Let somebody else act as soon as we wait: by turns, not by the clock of a busy machine."""

    def sleep(seconds: float) -> None:
        monkeypatch.undo()
        other()

    monkeypatch.setattr(time, "sleep", sleep)


@pytest.mark.parametrize("kind", ["of another commit", "a link", "just now gone"])
def test_a_lock_that_our_git_cannot_have_left_is_left(
    created: Stand, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout = open_checkout(created.repo.path)
    new = created.updates[0].new
    with noted(created.note, make_note(checkout, created.updates)):
        lock = lock_of(created)
        lock.write_text(f"{new if kind != 'of another commit' else '0' * 40}\n")
    if kind == "a link":
        lock.rename(created.note.with_name("target"))
        lock.symlink_to(created.note.with_name("target"))
    if kind == "just now gone":
        theirs = created.note.with_name("theirs")
        theirs.write_text(f"{new}\n")
        meanwhile(monkeypatch, lambda: theirs.replace(lock))
    clear_up(checkout, created.note, lambda _: None)
    assert os.path.lexists(lock)
    assert not created.note.exists()


def test_a_note_that_is_not_whole_is_dropped(created: Stand) -> None:
    created.note.write_text('{"format": "backport-hand')
    clear_up(open_checkout(created.repo.path), created.note, lambda _: None)
    assert not created.note.exists()


def test_a_linked_worktree_has_its_refs_elsewhere(created: Stand, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    created.repo.git("worktree", "add", "-q", str(linked), "-b", "other")
    checkout = open_checkout(linked)
    with noted(created.note, make_note(checkout, created.updates)):
        lock = lock_of(created)
        lock.write_text(f"{created.updates[0].new}\n")
    told: list[str] = []
    clear_up(checkout, created.note, told.append)
    assert not lock.exists()
    assert len(told) == 1
    hand_over(checkout, created.note, created.pack, created.updates, WHO, "why")
    assert created.repo.git("rev-parse", BRANCH) == created.updates[0].new


def test_objects_keep_the_permissions_of_a_shared_repository(created: Stand) -> None:
    created.repo.git("config", "core.sharedRepository", "group")
    created.hand_over()
    new = created.updates[0].new
    home = created.repo.path / ".git/objects" / new[:2]
    assert home.stat().st_mode & 0o070 == 0o070
    assert (home / new[2:]).stat().st_mode & 0o777 == 0o444
