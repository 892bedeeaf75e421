"""Real git repositories for the tests, and what must be the same before and after."""

from __future__ import annotations

import hashlib
import os
import re
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
        """Leave out the refs that a run may make, and their reflogs."""
        made = {f"logs/{ref}" for ref in refs}
        files = {k: v for k, v in self.files.items() if k.removeprefix(".git/") not in made}
        return Snapshot({k: v for k, v in self.refs.items() if k not in refs}, files)

    def beside(self, other: Snapshot) -> dict[str, tuple[object, object]]:
        """Return what differs, for a message that can be read."""
        mine, theirs = {**self.refs, **self.files}, {**other.refs, **other.files}
        names = sorted({*mine, *theirs})
        pairs = {name: (mine.get(name), theirs.get(name)) for name in names}
        return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}

    def without_leftovers(self) -> Snapshot:
        """Leave out what a git that was killed leaves, and must not stay."""
        return Snapshot(self.refs, {k: v for k, v in self.files.items() if not _LEFT.search(k)})


#: Files whose names are no ids, and packs and what belongs to them: whole ones harm nobody.
_OBJECT = re.compile("objects/([0-9a-f]{2}/[0-9a-f]{38,62}|pack/pack-.*|info/.*)")
_REF = re.compile(r"(refs/.*|packed-refs)(?<!\.lock)(?<!\.new)")
_LEFT = re.compile(r"\.lock$|objects/.*tmp_|(^|/)(logs/)?refs/")


def snapshot(path: Path) -> Snapshot:
    """Take a snapshot: refs by name, and every file that is no object by bytes and times.

    Empty folders among the refs and reflogs count as well: git leaves some behind.
    """
    git_dir = path / ".git" if (path / ".git").is_dir() else path
    files: dict[str, tuple[object, ...]] = {}
    for folder, names, plain in os.walk(path):
        empty = not plain and not names
        if empty and re.match("(logs/)?refs/.*/", os.path.relpath(folder, git_dir)):
            files[os.path.relpath(folder, path) + "/"] = ("empty folder",)
        for name in sorted(
            [*plain, *(n for n in names if os.path.islink(os.path.join(folder, n)))]
        ):
            file = Path(folder) / name
            inside = str(file.relative_to(git_dir)) if file.is_relative_to(git_dir) else ""
            if _OBJECT.fullmatch(inside) or _REF.fullmatch(inside):
                continue
            state = _state(file)
            # A line that is taken back out of a reflog changes its time.
            kept = state[:1] if inside.startswith("logs/refs/") else state
            files[str(file.relative_to(path))] = kept
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
