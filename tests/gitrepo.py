"""Real git repositories for the tests, and what must be the same before and after."""

from __future__ import annotations

import hashlib
import os
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

WHO = {
    "GIT_AUTHOR_NAME": "Ann Author",
    "GIT_AUTHOR_EMAIL": "ann@example.org",
    "GIT_AUTHOR_DATE": "1530000000 +0000",
    "GIT_COMMITTER_NAME": "Carl Committer",
    "GIT_COMMITTER_EMAIL": "carl@example.org",
    "GIT_COMMITTER_DATE": "1530000000 +0000",
}


@dataclass(frozen=True)
class Repo:
    """A repository in ``path``, driven by the real git."""

    path: Path

    def git(self, *args: str, stdin: bytes | None = None, check: bool = True) -> str:
        """Run git and return what it prints, without the last newline."""
        done = subprocess.run(
            ["git", *args],
            cwd=self.path,
            input=stdin,
            capture_output=True,
            check=False,
            env=os.environ | WHO,
        )
        if check and done.returncode:
            raise AssertionError(f"git {args}: {done.stderr.decode(errors='replace')}")
        return done.stdout.decode("utf-8", "surrogateescape").removesuffix("\n")

    def write(self, files: dict[str, bytes | str | None]) -> None:
        """Write files; None deletes."""
        for name, data in files.items():
            path = self.path / name
            if data is None:
                path.unlink()
                with suppress(OSError):  # a folder that is not empty stays
                    path.parent.rmdir()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data if isinstance(data, bytes) else data.encode())

    def commit(self, message: str, files: dict[str, bytes | str | None] | None = None) -> str:
        """Commit files (and whatever else lies about) and return the commit's id."""
        self.write(files or {})
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def show(self, rev: str, path: str) -> bytes:
        """Read a file of a commit."""
        done = subprocess.run(
            ["git", "cat-file", "blob", f"{rev}:{path}"],
            cwd=self.path,
            capture_output=True,
            check=True,
        )
        return done.stdout

    def diff(self, old: str, new: str, *how: str) -> bytes:
        """Return the patch between two commits."""
        done = subprocess.run(
            ["git", "diff", "--full-index", "--binary", *how, old, new],
            cwd=self.path,
            capture_output=True,
            check=True,
        )
        return done.stdout


def make_repo(path: Path, *how: str) -> Repo:
    """Make an empty repository on ``stable/ocata``."""
    path.mkdir(parents=True)
    repo = Repo(path)
    repo.git("init", "--quiet", "--template=", "--initial-branch=stable/ocata", *how)
    repo.git("config", "user.name", "Carl Committer")
    repo.git("config", "user.email", "carl@example.org")
    return repo


@dataclass(frozen=True)
class Snapshot:
    """All of a checkout that the tool must not touch, down to modes and times (must 1)."""

    refs: dict[str, str]
    files: dict[str, tuple[object, ...]]

    def without(self, *refs: str) -> Snapshot:
        """Leave out the refs that a run may make."""
        return Snapshot({k: v for k, v in self.refs.items() if k not in refs}, self.files)


_OBJECTS = ("objects", "logs/refs/heads/backport")


def snapshot(path: Path) -> Snapshot:
    """Take a snapshot: refs by name, every file outside the object database by bytes and times."""
    git_dir = path / ".git" if (path / ".git").is_dir() else path
    files: dict[str, tuple[object, ...]] = {}
    for folder, names, plain in os.walk(path):
        for name in sorted(
            [*plain, *(n for n in names if os.path.islink(os.path.join(folder, n)))]
        ):
            file = Path(folder) / name
            inside = str(file.relative_to(git_dir)) if file.is_relative_to(git_dir) else ""
            if inside.startswith(("objects/", "refs/", "packed-refs", "logs/refs/")):
                continue
            files[str(file.relative_to(path))] = _state(file)
    return Snapshot(_refs(path), files)


def _state(file: Path) -> tuple[object, ...]:
    stat = file.lstat()
    if file.is_symlink():
        return ("link", os.readlink(file), stat.st_mtime_ns)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    return (digest, stat.st_mode, stat.st_mtime_ns, stat.st_size)


def _refs(path: Path) -> dict[str, str]:
    done = subprocess.run(
        ["git", "for-each-ref", "--format=%(refname) %(objectname)"],
        cwd=path,
        capture_output=True,
        check=True,
    )
    lines = done.stdout.decode("utf-8", "surrogateescape").splitlines()
    return dict(line.split(" ", 1) for line in lines)
