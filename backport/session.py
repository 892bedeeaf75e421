"""What every command on a checkout needs: the repository, its lock, a scratch repository."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from backport.checkout.clone import clone_once
from backport.checkout.embedded import embedded_checkout, fetch_sdist, unpack_sdist
from backport.checkout.git import git_version
from backport.checkout.locate import Base, check_project, clone_around, locate_base
from backport.checkout.remote import is_url, without_password
from backport.checkout.repository import Checkout, open_checkout
from backport.checkout.scratch import Scratch
from backport.checkout.transaction import clear_up
from backport.download.pip_settings import read_settings
from backport.errors import CannotTellError, UsageError
from backport.progress import Progress
from backport.series.manifest import load_rewind
from backport.series.model import Branch
from backport.workplace import LITTLE_ROOM, workplace
from backport.workspace import workspace, writing

#: Seconds that a run waits for another one on the same checkout.
PATIENCE = 3600.0


@dataclass(frozen=True)
class Places:
    """Where things lie on this machine, and the environment: told by the command line, once.

    :param patches: folders of series, the first that has what is looked for wins
    :param here: the folder that the command is typed in
    :param checkout: what is worked on where nothing is said, as the configuration has it
    :param cache: may be lost at any time; environments, downloads, results
    :param state: may not: conflicts that wait for a person
    :param build: where the built-in checkout goes
    """

    patches: tuple[Path, ...]
    cache: Path
    state: Path
    build: Path
    here: Path
    environ: Mapping[str, str]
    checkout: str | None = None


@dataclass(frozen=True)
class Session:
    """A checkout that is being worked on."""

    checkout: Checkout
    kind: str  # of the checkout, in a word or two
    scratch: Scratch
    base: Base
    folder: Path  # for whatever the run needs; gone at its end
    places: Places
    note: Path  # of what is about to be done in the checkout


@contextmanager
def open_session(
    places: Places, branch: Branch, where: str | None, onto: str | None, progress: Progress
) -> Iterator[Session]:
    """Find the checkout, hold its lock, and make a scratch repository on it.

    :param where: a path or a URL; None is the built-in checkout
    """
    git_version()
    checkout, kind = _find(places, branch, where, progress)
    with (
        _held(places, checkout, progress) as note,
        workspace(places.cache / "runs") as folder,
        workplace(folder, LITTLE_ROOM) as place,
        _scratch(places, checkout, place / "git", note, progress) as scratch,
    ):
        base = locate_base(checkout, branch, onto)
        scratch.tips = lambda: (
            *checkout.refs("refs/heads/", "refs/remotes/").values(),
            base.commit,
        )
        if scratch.promisor:
            scratch.promisor.bring(scratch.folder, [base.commit])
        check_project(checkout, scratch.file(base.commit, ".gitreview"), branch)
        yield Session(checkout, kind, scratch, base, folder, places, note)


@contextmanager
def open_repository(
    places: Places, folder: Path, progress: Progress
) -> Iterator[tuple[Checkout, Scratch, Path]]:
    """Open another repository of the user's, held and with a scratch repository like a checkout.

    :returns: the third is the file for a note of what is about to be done in it
    """
    checkout = open_checkout(folder.expanduser())
    with (
        _held(places, checkout, progress) as note,
        workspace(places.cache / "runs") as beside,
        _scratch(places, checkout, beside / "git", note, progress) as scratch,
    ):
        yield checkout, scratch, note


def choose_checkout(
    places: Places, branch: Branch, given: str | None, progress: Progress
) -> str | None:
    """Choose what is worked on, and say so before it is looked for; None is the built-in checkout.

    :param given: by ``--checkout``; left out, it is the clone of the branch's project that the
        command is typed in, else the configuration's
    """
    where, why = given, ""
    if given == "built-in" and not os.path.exists(given):
        where = None
    elif given is None and (clone := clone_around(places.here, branch)):
        where, why = str(clone), ", the clone that you are in"
    elif given is None and places.checkout:
        where, why = places.checkout, ", by your configuration"
    named = "the built-in checkout" if where is None else without_password(where)
    progress.step("locate", named + why)
    return where


def _scratch(
    places: Places, checkout: Checkout, folder: Path, note: Path, progress: Progress
) -> closing[Scratch]:
    """Clear up after a killed run, then make a scratch repository."""
    clear_up(checkout, note, progress.note)
    scratch = checkout.scratch(folder)
    scratch.history_folder = places.cache / "history"
    return closing(scratch)


def _find(
    places: Places, branch: Branch, where: str | None, progress: Progress
) -> tuple[Checkout, str]:
    if where == "":  # pathlib would take it for the folder that one is in
        raise UsageError(
            "--checkout names nothing", "Leave it out for the built-in checkout, or name one."
        )
    if where is None:
        return _built_in(places, branch, progress), "built-in"
    if is_url(where) and not os.path.exists(where):
        checkout = clone_once(where, places.cache, progress)
        return checkout, f"clone of {without_password(where)} in the cache"
    checkout = open_checkout(Path(os.path.expanduser(where)))
    return checkout, checkout.kind


def _built_in(places: Places, branch: Branch, progress: Progress) -> Checkout:
    embedded = branch.embedded
    if embedded is None:
        raise UsageError(
            f"there is no built-in checkout for {branch.branch}",
            "Name one with --checkout.",
        )

    def unpack(folder: Path) -> None:
        settings = read_settings(places.environ)
        archive = fetch_sdist(
            embedded.project, embedded.version, embedded.sha256, places.cache, settings, progress
        )
        unpack_sdist(archive, folder)

    rewind = load_rewind(embedded.rewind) if embedded.rewind else None
    folder = places.build / branch.project.rsplit("/", 1)[-1]
    return embedded_checkout(folder, branch, rewind, unpack, progress)


@contextmanager
def _held(places: Places, checkout: Checkout, progress: Progress) -> Iterator[Path]:
    """Hold the checkout's lock. The system lets it go when its process dies, so none gets stale.

    :returns: the file for a note of what is about to be done in the checkout
    """
    key = hashlib.sha256(os.fsencode(checkout.common_dir)).hexdigest()[:16]
    path = places.cache / "locks" / f"{key}.lock"
    with writing(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
    holder = path.with_suffix(".json")
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except PermissionError as error:
        # The system frees the lock of a process that died; its file stays that user's.
        raise CannotTellError(
            f"{path} is another user's ({path.owner()}), and cannot be locked",
            "If no run of theirs is going on, it can be removed; or set BACKPORT_CACHE to a folder"
            " of your own.",
        ) from error
    except Timeout:
        who = _holder(holder)
        progress.note(f"another run works on this checkout ({who}); waiting for it to end")
        try:
            lock.acquire(timeout=PATIENCE)
        except Timeout as error:
            raise CannotTellError(
                f"another run works on {checkout.folder} and does not end ({who})",
                "Wait for it, or end it; nothing was changed.",
            ) from error
    try:
        with writing(path.parent):
            holder.write_text(json.dumps({"pid": os.getpid()}))
        yield path.with_suffix(".note")
    finally:
        holder.unlink(missing_ok=True)
        lock.release()


def _holder(path: Path) -> str:
    try:
        return f"process {json.loads(path.read_text())['pid']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "process unknown"
