"""A whole small project for a test: a checkout, a folder of series, and the command run on them."""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from gitrepo import Repo, make_repo

CHANGE_ID = "I" + "0123456789" * 4


@dataclass(frozen=True)
class Ran:
    """What a command left: its exit code and its output."""

    code: int
    out: str
    err: str

    @property
    def report(self) -> dict[str, Any]:
        """What ``--json`` printed."""
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found


@dataclass(frozen=True)
class Project:
    """A folder with ``patches/``, and a checkout beside it."""

    root: Path
    repo: Repo

    def branch_yaml(self, **more: Any) -> None:
        """Write ``branch.yaml``; ``more`` has underscores for dashes."""
        keys: dict[str, Any] = {
            "project": "openstack/small",
            "branch": "stable/ocata",
            "eol-tag": "ocata-eol",
            "release-line": "1.1",
            "stable-only-tag": "[stable only]",
            "newer-branches": ["stable/pike", "master"],
        }
        keys.update({name.replace("_", "-"): value for name, value in more.items()})
        folder = self.root / "patches/ocata"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "branch.yaml").write_text(yaml.safe_dump(keys, sort_keys=False))

    def series(
        self,
        changes: list[dict[str, Any]],
        patches: Mapping[str, bytes] | None = None,
        name: str = "bug-1",
        **more: Any,
    ) -> str:
        """Write a series and return its name. Patches get a subject and a Change-Id."""
        folder = self.root / "patches/ocata" / name
        folder.mkdir(parents=True, exist_ok=True)
        for file, data in (patches or {}).items():
            (folder / file).write_bytes(data)
        whole = [
            {
                "kind": "fix",
                **({} if "commit" in change else _message(number)),
                **change,
            }
            for number, change in enumerate(changes, 1)
        ]
        keys = {"title": "A small fix", "bug": 1, **more, "changes": whole}
        (folder / "series.yaml").write_text(yaml.safe_dump(keys, sort_keys=False))
        return f"ocata/{name}"

    def patch_series(self, *patches: bytes, **more: Any) -> str:
        """Write a series of one change per patch."""
        files = {f"{number:04}.patch": patch for number, patch in enumerate(patches, 1)}
        return self.series([{"patch": name} for name in files], files, **more)

    def run(self, *args: str) -> Ran:
        """Run the command in this process, as it is typed in ``root``."""
        from backport.cli import main  # not for every test that has a project

        out, err = io.StringIO(), io.StringIO()
        here = Path.cwd()
        os.chdir(self.root)
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = main(args)
        finally:
            os.chdir(here)
        return Ran(int(code), out.getvalue(), err.getvalue())

    def apply(self, series: str, *args: str) -> Ran:
        """Run a series on the checkout without tests, and give the report as JSON."""
        where = ("--checkout", str(self.repo.path))
        return self.run("run", series, *where, "--skip-tests", "--json", *args)

    def files(self, rev: str = "backport/ocata/bug-1") -> dict[str, bytes]:
        """Read all files of a commit of the checkout."""
        names = self.repo.git("ls-tree", "-r", "-z", "--name-only", rev).rstrip("\0").split("\0")
        return {name: self.repo.show(rev, name) for name in names if name}


def _message(number: int) -> dict[str, str]:
    return {"subject": f"Change number {number}", "change-id": f"{CHANGE_ID[:-1]}{number}"}


def make_project(root: Path, *how: str) -> Project:
    """Make an empty one; ``how`` is for git init."""
    project = Project(root, make_repo(root / "checkout", *how))
    project.branch_yaml()
    return project
