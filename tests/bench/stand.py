"""What all sections measure on: throwaway copies of a checkout, and caches of the bench's own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import backport
from backport.checkout.git import scrub
from backport.checkout.repository import Checkout, open_checkout
from backport.commands.frame import Frame
from backport.progress import Silent
from backport.request import TestOptions
from backport.series.manifest import find_series
from backport.series.model import Series
from backport.session import Places, Session, open_session
from backport.verification import ensure_environments
from backport.workspace import remove, workspace

_WHO = {"NAME": "Bench", "EMAIL": "bench@localhost"}
_BASE = "refs/heads/bench-base"


class BenchError(Exception):
    """Something cannot be measured, and why."""


class Told(Silent):
    """Tells of what takes long before there is anything to measure."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say

    def step(self, name: str, detail: str = "") -> None:
        """Say it."""
        self._say(f"{name} {detail}")

    def note(self, text: str) -> None:
        """Say it."""
        self._say(text)


@dataclass(frozen=True)
class Stand:
    """Where is measured, and what.

    :param folder: goes away at the end
    :param own: where things lie for whoever runs this; environments are taken from there
    :param places: where they lie for what is measured: all of it in ``folder``
    :param origin: the checkout that copies are made of; it is only read
    :param turns: None is as many as the section thinks fit
    """

    folder: Path
    own: Places
    places: Places
    origin: Checkout
    base: str
    series: Series
    turns: int | None
    say: Callable[[str], None]

    def copy(self) -> Path:
        """Make a bare repository on top of the checkout's objects, its base on a branch."""
        folder = self.new_folder("copy") / "checkout.git"
        git = ("git", "-C", str(folder))
        how = f"--object-format={self.origin.object_format}"
        run(["git", "init", "--quiet", "--bare", "--template=", how, str(folder)], self.git_env)
        (folder / "objects/info").mkdir(exist_ok=True)
        (folder / "objects/info/alternates").write_text(f"{self.origin.objects}\n")
        if self.origin.is_shallow:
            shutil.copy(self.origin.common_dir / "shallow", folder / "shallow")
        run([*git, "update-ref", _BASE, self.base], self.git_env)
        run([*git, "symbolic-ref", "HEAD", _BASE], self.git_env)
        for setting in ("user.name=Bench", "user.email=bench@localhost", "gc.auto=0"):
            run([*git, "config", *setting.split("=")], self.git_env)
        return folder

    def new_folder(self, what: str) -> Path:
        """Make a new, empty folder."""
        number = len(list(self.folder.glob(f"{what}-*")))
        while (folder := self.folder / f"{what}-{number}").exists():
            number += 1
        folder.mkdir()
        return folder

    @contextmanager
    def session(self) -> Iterator[Session]:
        """Open a session on a fresh copy, as a command would."""
        copy = self.copy()
        where = (self.places, self.series.branch, str(copy), self.base, Silent())
        with open_session(*where) as session:
            yield session
        remove(copy.parent)

    @property
    def git_env(self) -> dict[str, str]:
        """The environment of git as its users run it, without settings of theirs."""
        who = {f"GIT_{role}_{key}": _WHO[key] for role in ("AUTHOR", "COMMITTER") for key in _WHO}
        return {**self.own.environ, **who, "HOME": str(self.folder), "GIT_CONFIG_NOSYSTEM": "1"}

    def backport(self, *args: str, ok: Sequence[int] = (0,)) -> None:
        """Run the command, with the caches of the bench's own; ``ok`` as in :func:`run`."""
        env = {
            **self.own.environ,
            "BACKPORT_CACHE": str(self.places.cache),
            "BACKPORT_STATE": str(self.places.state),
            "PYTHONPATH": str(Path(backport.__file__).parents[1]),
        }
        report = ("--report", str(self.folder / "report"))
        run([sys.executable, "-m", "backport", *args, *report], env, self.folder, ok)

    def provide_environment(self) -> None:
        """Let what is measured have the environments that the user has, built if need be."""
        self.say("the environment of the branch's tests, built if it is not there")
        ensure_environments(self.own, self.series.branch, TestOptions(), Told(self.say))
        mine = self.places.cache / "environments"
        mine.parent.mkdir(exist_ok=True)
        if not mine.is_symlink():
            mine.symlink_to(self.own.cache / "environments")


def run(
    argv: Sequence[str],
    env: Mapping[str, str],
    cwd: Path | None = None,
    ok: Sequence[int] = (0,),
) -> str:
    """Run a command and return what it printed.

    :param ok: the exit statuses that are fine
    :raises BenchError: any other; with the end of its output
    """
    with subprocess.Popen(
        argv, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=-1, stderr=-2, text=True
    ) as process:
        said, _ = process.communicate()
    if process.returncode not in ok:
        tail = "\n".join(said.splitlines()[-15:])
        raise BenchError(f"{' '.join(argv)[:300]} ended with {process.returncode}:\n{tail}")
    return said


@contextmanager
def open_stand(turns: int | None, say: Callable[[str], None]) -> Iterator[Stand]:
    """Find the checkout (NOVA, ONTO and SERIES of the environment), and make the folder."""
    scrub(os.environ)
    own = Frame.of_process(sys.argv).places
    series = find_series(own.environ.get("SERIES") or "ocata/bug-1783613", own.patches)
    nova, onto = (own.environ.get(name) or None for name in ("NOVA", "ONTO"))
    say("the checkout, made if it is not there")
    with open_session(own, series.branch, nova, onto, Told(say)) as session:
        origin, base = open_checkout(session.checkout.folder), session.base.commit
    # Beside the user's cache: on the same file system, and swept there if this run is killed.
    with workspace(own.cache / "bench") as folder:
        places = replace(own, cache=folder / "cache", state=folder / "state", build=folder)
        yield Stand(folder, own, places, origin, base, series, turns, say)
