"""A clone of a URL and the built-in checkout are made beside their place: killed, nothing stays."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from backport.checkout.clone import clone_once
from backport.checkout.embedded import embedded_checkout
from backport.errors import CannotTellError, UsageError
from backport.progress import Silent
from backport.series.model import Branch, Embedded
from gitrepo import make_repo

Count = Callable[[str, int], None]
_CONTEXT = multiprocessing.get_context("forkserver")
WRAPPER = """#!/bin/sh
read n < "$COUNT" || n=0
n=$((n + 1))
echo $n > "$COUNT"
if [ $n = "$AT" ]; then kill -9 $PPID; exit 1; fi
exec {git} "$@"
"""


def unpack(folder: Path) -> None:
    folder.mkdir()
    (folder / "a").write_text("a\n")


def make_embedded(root: Path) -> str:
    """Make it, or find it there; return its tip."""
    branch = Branch(
        name="ocata",
        folder=root,
        project="openstack/small",
        branch="stable/ocata",
        eol_tag=None,
        release_line="1.1",
        stable_only_tag="",
        newer_branches=(),
        tests=None,
        embedded=Embedded("small", "1.0", "0" * 64, None),
    )
    checkout = embedded_checkout(root / "build/small", branch, None, unpack, Silent())
    return str(checkout.resolve("stable/ocata"))


def make_clone(root: Path) -> str:
    """Make it, or find it there; return its tip."""
    return str(clone_once(f"file://{root}/origin", root / "build", Silent()).resolve("HEAD"))


def _child(make: Callable[[Path], str], root: Path, environ: dict[str, str]) -> None:
    os.environ.update(environ)
    make(root)


@pytest.mark.parametrize("make", [make_embedded, make_clone])
def test_killed_before_each_git_command(
    tmp_path: Path, make: Callable[[Path], str], record_property: Count
) -> None:
    make_repo(tmp_path / "origin").commit("base", {"a": "a\n"})
    wrapper = tmp_path / "bin/git"
    wrapper.parent.mkdir()
    wrapper.write_text(WRAPPER.format(git=shutil.which("git")))
    wrapper.chmod(0o755)
    path = f"{wrapper.parent}{os.pathsep}{os.environ['PATH']}"
    whole = make(tmp_path)
    survived = 0
    while True:
        shutil.rmtree(tmp_path / "build")
        (tmp_path / "count").write_text("0\n")
        environ = {"PATH": path, "AT": str(survived + 1), "COUNT": str(tmp_path / "count")}
        process = _CONTEXT.Process(target=_child, args=(make, tmp_path, environ))
        process.start()
        process.join()
        if process.exitcode == 0:
            break
        assert process.exitcode == -signal.SIGKILL
        assert make(tmp_path) == whole
        assert not list((tmp_path / "build").rglob("run-*"))
        survived += 1
    record_property("kills while a checkout was made survived", survived)
    assert survived > 2


def test_what_lies_in_the_place_of_the_built_in_checkout_is_told(tmp_path: Path) -> None:
    make_embedded(tmp_path)
    (tmp_path / "build/small/.git/HEAD").unlink()
    with pytest.raises(UsageError, match="is no built-in checkout") as caught:
        make_embedded(tmp_path)
    assert "make clean" in caught.value.hint


def test_a_clone_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(CannotTellError, match="cannot clone"):
        clone_once(f"file://{tmp_path}/nowhere", tmp_path / "build", Silent())
    assert not [path for path in (tmp_path / "build/clones").iterdir() if path.is_dir()]
