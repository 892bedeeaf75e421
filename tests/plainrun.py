"""A checkout and a series that goes in exactly, by a merge, and along a rename; and what comes out.

Whatever the checkout's kind and whatever is set, the same commits must come out, hash for hash:
they are made once, on a plain repository, which tests copy and change.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from gitrepo import Repo
from project import Project, make_project

SERIES = "ocata/bug-1"
BRANCH = "refs/heads/backport/ocata/bug-1"
TEN = "".join(f"line {n}\n" for n in range(1, 11))
FIVE = TEN.replace("line 5", "line V")
CRLF = TEN.replace("\n", "\r\n")
IDENT = "$Id$\n" + TEN
BINARY = bytes(range(256)) * 8

BEFORE: dict[str, bytes | str | None] = {
    "merged": TEN,
    "moved": TEN * 3,
    "crlf": CRLF,
    "ident": IDENT,
    "binary": BINARY,
    "latin": TEN.encode() + b"gr\xfcn\n",
    "spaces": TEN,
    "grün": TEN,
}
ONE: dict[str, bytes | str | None] = {
    "crlf": CRLF.replace("line 5", "line V"),
    "ident": IDENT.replace("line 5", "line V"),
    "binary": BINARY + b"\0more",
    "latin": TEN.encode() + b"gr\xfcner\n",
    "spaces": TEN.replace("line 5", " \tline 5 \t\n\n"),
    "grün": FIVE,
}
TWO: dict[str, bytes | str | None] = {"merged": FIVE, "moved": "first\n" + TEN * 3}
BASE: dict[str, bytes | str | None] = {
    "merged": TEN.replace("line 8", "line VIII"),
    "moved": None,
    "d/there": TEN * 3 + "tail\n",
}


@dataclass(frozen=True)
class Plain:
    """A project to be copied, and the commit that its series makes."""

    root: Path
    tip: str

    def copy(self, root: Path, checkout: str = "checkout") -> Project:
        """Copy it; the checkout may get another name."""
        shutil.copytree(self.root, root, symlinks=True)
        if checkout != "checkout":
            (root / "checkout").rename(root / checkout)
        return Project(root, Repo(root / checkout))


def arrange(root: Path, *how: str) -> Project:
    """Make the checkout and the series; ``how`` is for git init."""
    project = make_project(root, *how)
    repo = project.repo
    before = repo.commit("before", BEFORE)
    one = repo.commit("one", ONE)
    two = repo.commit("two", TWO)
    project.patch_series(repo.diff(before, one), repo.diff(one, two))
    repo.git("checkout", "-q", "-B", "stable/ocata", before)
    repo.commit("base", BASE)
    return project


def make_plain(factory: pytest.TempPathFactory) -> Plain:
    """Make a plain project, and apply its series to a copy, with the machine's settings cut off."""
    root = factory.mktemp("plain")
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(("GIT_", "XDG_"))]:
            patch.delenv(name)
        patch.setenv("HOME", str(root / "home"))
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        (root / "home").mkdir()
        (root / "project").mkdir()
        arrange(root / "project")
        plain = Plain(root / "project", "")
        done = plain.copy(root / "done")
        ran = done.apply(SERIES)
        assert ran.code == 0, ran.err + ran.out
        return Plain(plain.root, done.repo.git("rev-parse", BRANCH))
