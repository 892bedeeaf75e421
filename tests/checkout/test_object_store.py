"""Objects and trees in and out of the scratch repository: the same as by git's own commands."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backport.checkout.git import GitFailedError
from backport.checkout.objects import Entry
from backport.checkout.repository import open_checkout
from backport.checkout.scratch import Scratch
from gitrepo import Repo, make_repo


@pytest.fixture(params=["sha1", "sha256"])
def repo(tmp_path: Path, request: pytest.FixtureRequest) -> Repo:
    """Give a repository of either object format."""
    return make_repo(tmp_path / "checkout", f"--object-format={request.param}")


@pytest.fixture
def scratch(repo: Repo, tmp_path: Path) -> Scratch:
    """Give a scratch repository on it."""
    repo.commit("base", {"a": "a\n", "d/b": "b\n", "d/e/c": "c\n", "x.y/z": "z\n"})
    return open_checkout(repo.path).scratch(tmp_path / "scratch")


def test_objects_are_read_by_all_their_names(repo: Repo, scratch: Scratch) -> None:
    commit, tree = repo.git("rev-parse", "HEAD"), repo.git("rev-parse", "HEAD^{tree}")
    assert scratch.resolve(commit[:9]) == commit
    assert scratch.tree(commit) == tree == scratch.tree(tree)
    assert scratch.resolve("0" * len(commit)) is None
    assert scratch.resolve("HEAD") is None  # a name is nothing that a patch or a series has
    blob = repo.git("rev-parse", "HEAD:a")
    assert scratch.full_ids([blob[:7], tree[:7], "f" * 7]) == {blob[:7]: blob}
    assert scratch.blob(blob) == b"a\n"
    with pytest.raises(GitFailedError, match="lacks object"):
        scratch.blob("0" * len(commit))


@pytest.mark.parametrize("data", [b"", b"\n", b"a\0b\r\n", b"x" * 1_000_000, b"1 blob 2\n"])
def test_blobs_are_kept_byte_for_byte(repo: Repo, scratch: Scratch, data: bytes) -> None:
    blob = scratch.write_blob(data)
    assert scratch.blob(blob) == data
    assert blob == repo.git("hash-object", "--stdin", stdin=data)
    assert scratch.git.run("cat-file", "blob", blob).out == data
    scratch.git.run("fsck", "--strict", "--no-dangling")


def test_what_came_later_is_found(repo: Repo, scratch: Scratch) -> None:
    assert scratch.resolve("1234567") is None
    later = repo.commit("later", {"new": "new\n"})
    assert scratch.file(later, "new") == b"new\n"


def test_a_git_that_is_ended_is_an_error_and_comes_again(repo: Repo, scratch: Scratch) -> None:
    blob = repo.git("rev-parse", "HEAD:a")
    assert scratch.blob(blob) == b"a\n"
    end("--batch", scratch.folder)
    with pytest.raises(GitFailedError, match="was ended by SIGKILL"):
        scratch.blob(blob[:-1])
    scratch.close()
    assert scratch.blob(blob[:-1]) == b"a\n"


def end(word: str, folder: Path) -> None:
    """Kill the git in ``folder`` that has a word among its arguments."""
    lines = subprocess.run(
        ["ps", "-wwAo", "pid,args"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    (pid,) = (line.split()[0] for line in lines if str(folder) in line and word in line.split())
    os.kill(int(pid), signal.SIGKILL)


def test_closing_leaves_no_process(scratch: Scratch) -> None:
    scratch.resolve("1234567")
    scratch.close()
    scratch.close()
    listed = subprocess.run(["ps", "-wwAo", "args"], capture_output=True, text=True, check=True)
    assert str(scratch.folder) not in listed.stdout


NAMES = st.sampled_from(["a", "b", "c", "a.b", "a-b", "ü x", "d\udcff"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
MODES = st.sampled_from(["100644", "100755", "120000", "160000", None])
STEPS = st.lists(st.tuples(PATHS, MODES), max_size=12)


@given(before=STEPS, steps=STEPS)
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_trees_come_out_as_git_makes_them_with_an_index(
    scratch: Scratch, before: list[tuple[str, str | None]], steps: list[tuple[str, str | None]]
) -> None:
    blob = scratch.write_blob(b"x")
    tree = scratch.update(None, {})
    for part in (before, steps):
        entries = {path: entry_of(mode, blob) for path, mode in part}
        expected = by_index(scratch, tree, entries)
        tree = scratch.update(tree, entries)
        assert tree == expected
    files = scratch.files(tree)
    paths = {path for path, _ in (*before, *steps)}
    for path in paths:
        within = {name: files[name] for name in files if f"{name}/".startswith(f"{path}/")}
        assert scratch.below(tree, [path, path + "/"]) == within
        assert set(scratch.entries(tree, [path])) == ({path} if within else set())


def entry_of(mode: str | None, blob: str) -> Entry | None:
    if mode is None:
        return None
    return Entry(mode, "1" * len(blob) if mode == "160000" else blob)


def by_index(scratch: Scratch, tree: str, entries: dict[str, Entry | None]) -> str:
    """Do it as git's own commands do."""
    env = {"GIT_INDEX_FILE": str(scratch.folder / "test-index")}
    scratch.git.run("read-tree", tree, env=env)
    zero = "0" * len(tree)
    lines = (
        f"{entry.mode} {entry.blob}\t{path}\0" if entry else f"0 {zero}\t{path}\0"
        for path, entry in entries.items()
    )
    stdin = "".join(lines).encode("utf-8", "surrogateescape")
    scratch.git.run("update-index", "-z", "--replace", "--index-info", stdin=stdin, env=env)
    return scratch.git.run("write-tree", "--missing-ok", env=env).text
