"""Handing over to the checkout: the objects that were made, then the refs that are to hold them.

A git that is killed (SIGKILL, a power cut) while it moves a ref leaves the ref's ``.lock`` behind,
and whoever moves that ref is refused from then on. Nobody can tell a lock that is left from one
that is held; but a note, made before, says what could be left, and by whom. The file of the note
is locked (flock(2)), and each git that works on it inherits the lock: when it can be had, they
are all gone, whatever became of the run. What git 2.39.5 leaves at each of its system calls,
tests/checkout/test_transaction finds out.
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from backport.checkout.git import GitFailedError, quoted
from backport.checkout.objects import Signed
from backport.checkout.repository import Checkout
from backport.errors import CannotTellError, RefusedError
from backport.workspace import remove, writing

#: What objects come in by: git prune (2.36 on) takes such a folder away after two weeks.
QUARANTINE = "tmp_objdir-backport-"

_PATIENCE = 60.0  # seconds for the git of a killed run to end
_MOMENT = 1.0  # seconds that a lock stays, unchanged, if nobody is at work on it


@dataclass(frozen=True)
class RefUpdate:
    """One ref, from where to where; ``old`` None means that it must not be there yet."""

    name: str
    new: str
    old: str | None


class NotedRef(BaseModel):
    """A ref that is about to be moved; ``log`` is the size of its reflog in bytes, if any."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    new: str
    old: str | None
    log: int | None


class Note(BaseModel):
    """All that could be left; ``quarantine``: the folder below ``objects`` that they come in by."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    quarantine: str = Field(pattern=f"^{QUARANTINE}[0-9a-f]+$")
    refs: tuple[NotedRef, ...]


def hand_over(
    checkout: Checkout,
    note: Path,
    pack: bytes,
    updates: Sequence[RefUpdate],
    who: Signed,
    why: str,
) -> None:
    """Take the objects over, then move the refs, in their order: all or none of them.

    However it ends, nothing else stays in the checkout; if it is killed, see :func:`clear_up`.

    :param note: a file outside of the checkout, its own, for what is about to be done
    :param pack: what :meth:`~backport.checkout.scratch.Scratch.pack` gave
    :param who: stands in the reflogs, with ``why``
    :raises CannotTellError: the objects cannot be written
    :raises RefusedError: a ref is not (any more) what its update says, or somebody locks it
    """
    refuse_locked(checkout, *(update.name for update in updates))
    about = make_note(checkout, updates)
    try:
        with noted(note, about) as held:
            _take_over(checkout, pack, checkout.objects / about.quarantine, held)
            _move(checkout, updates, who, why, held)
    finally:
        clear_up(checkout, note, lambda _: None)


def refuse_locked(checkout: Checkout, *refs: str) -> None:
    """Refuse to begin where somebody holds the lock of a ref, for longer than a moment.

    :raises RefusedError: naming the lock, and what to do about one that was left
    """
    for ref in refs:
        lock = _lock(checkout, ref)
        if _stays(lock):
            raise RefusedError(
                f"another git moves {ref}, or was ended while it did: {lock} is there",
                "If no git is at work in this checkout, remove that file, and run it again.",
            )


def make_note(checkout: Checkout, updates: Sequence[RefUpdate]) -> Note:
    """Look at what is there before it is done."""
    logs = [_log(checkout, up.name) for up in updates]
    sizes = [log.stat().st_size if log.is_file() else None for log in logs]
    refs = [
        NotedRef(name=up.name, new=up.new, old=up.old, log=size)
        for up, size in zip(updates, sizes, strict=True)
    ]
    return Note(quarantine=QUARANTINE + uuid.uuid4().hex, refs=tuple(refs))


@contextmanager
def noted(path: Path, note: Note) -> Iterator[int]:
    """Write the note down; it is held as long as this, or a process that inherited it, lasts.

    :returns: the file descriptor that a git is to inherit
    """
    with writing(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        held = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _wait(held, path)
        with writing(path):
            os.truncate(held, 0)
            os.write(held, note.model_dump_json().encode())
            os.fsync(held)
        yield held
    finally:
        os.close(held)


def clear_up(checkout: Checkout, path: Path, tell: Callable[[str], None]) -> None:
    """Undo what was begun and not finished, as the note at ``path`` says; then drop the note.

    Waits for a git that lives on. Only what the note names is taken away, and a lock only if
    it is just what our git would have left; what cannot be taken away stays, with the note.

    :param tell: gets a line for each lock that is taken away
    :raises CannotTellError: a git of the run that made the note does not end
    """
    try:
        held = os.open(path, os.O_RDWR)
    except OSError:
        return
    try:
        _wait(held, path)
        with suppress(OSError):
            with suppress(ValidationError):  # a note that is not whole was never acted on
                _undo(checkout, Note.model_validate_json(path.read_bytes()), tell)
            path.unlink()
    finally:
        os.close(held)


# -- doing it ------------------------------------------------------------------------------


def _take_over(checkout: Checkout, pack: bytes, quarantine: Path, held: int) -> None:
    """Unpack beside the objects, and rename, as git does for a push (tmp_objdir in git's source).

    So that whatever is half done lies in one folder, under a name that is known.
    """
    env = {
        "GIT_OBJECT_DIRECTORY": str(quarantine),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": quoted(checkout.objects),
    }
    try:
        with writing(checkout.objects):
            quarantine.mkdir(mode=0o700)
        checkout.git.run("unpack-objects", "-q", stdin=pack, env=env, apart=held)
        with writing(checkout.objects):
            _migrate(quarantine, checkout.objects)
    except GitFailedError as error:
        raise CannotTellError(
            f"{checkout.objects} cannot be written: {error.message}",
            "No branch was made, and nothing else was changed.",
        ) from error


def _migrate(quarantine: Path, objects: Path) -> None:
    for folder in sorted(quarantine.glob("[0-9a-f][0-9a-f]")):
        home = objects / folder.name
        try:
            folder.rename(home)  # with the permissions that git gave it (core.sharedRepository)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            for file in folder.iterdir():
                if not (home / file.name).exists():
                    file.rename(home / file.name)


def _move(
    checkout: Checkout, updates: Sequence[RefUpdate], who: Signed, why: str, held: int
) -> None:
    signed = {"GIT_COMMITTER_NAME": who.person.name, "GIT_COMMITTER_EMAIL": who.person.email}
    done = checkout.git.run(
        *("update-ref", "--stdin", "-z", "-m", why),
        stdin=_lines(updates),
        ok=(0, 128),
        env=signed,
        apart=held,
    )
    if done.status:
        names = " and ".join(update.name for update in updates)
        raise RefusedError(
            f"git would not move {names}: {done.err.strip().removeprefix('fatal: ')}",
            "Somebody else may be at work in this checkout. Nothing was changed; run it again.",
        )


def _lines(updates: Sequence[RefUpdate]) -> bytes:
    """Say it to git: one transaction, at the end of the input; a null id is a ref not there.

    With "start" and "commit" git would say that it has understood, and be ended by SIGPIPE where
    the run that is to read it was killed.
    """
    pairs = [(up, "0" * len(up.new)) for up in updates]
    lines = [f"option no-deref\0update {up.name}\0{up.new}\0{up.old or no}\0" for up, no in pairs]
    return "".join(lines).encode()


# -- undoing it ----------------------------------------------------------------------------


def _undo(checkout: Checkout, note: Note, tell: Callable[[str], None]) -> None:
    left = [ref for ref in note.refs if _is_left(_lock(checkout, ref.name), ref)]
    if left:
        # Of two refs, one may have been moved: both move, or none.
        there = checkout.refs(*(ref.name for ref in note.refs))
        moved = [ref for ref in note.refs if ref not in left and there.get(ref.name) == ref.new]
        back = [RefUpdate(ref.name, ref.old or "0" * len(ref.new), ref.new) for ref in moved]
        with suppress(GitFailedError):  # somebody has moved it since, and it is theirs now
            checkout.git.run("update-ref", "--stdin", "-z", stdin=_lines(back))
    for ref in left:
        lock = _lock(checkout, ref.name)
        # First: as long as the lock is there, nobody else writes the reflog.
        _shorten(_log(checkout, ref.name), ref)
        lock.unlink()
        tell(f"removed {lock}, which a run that was killed had left")
    remove(checkout.objects / note.quarantine)
    for ref in note.refs:
        _prune(checkout.common_dir, ref.name)
        _prune(checkout.common_dir / "logs", ref.name)


def _is_left(lock: Path, ref: NotedRef) -> bool:
    """Whether a lock is one that our git left: by its content, and that it stays."""
    try:
        content = None if lock.is_symlink() else lock.read_bytes()
    except OSError:
        return False
    return content is not None and f"{ref.new}\n".encode().startswith(content) and _stays(lock)


def _stays(file: Path) -> bool:
    """Whether a file is there, and the same one, for a moment."""
    first = _identity(file)
    if first:
        time.sleep(_MOMENT)
    return first is not None and _identity(file) == first


def _identity(file: Path) -> tuple[int, int, int] | None:
    try:
        seen = file.lstat()
    except OSError:
        return None
    return seen.st_ino, seen.st_mtime_ns, seen.st_ctime_ns


def _shorten(log: Path, ref: NotedRef) -> None:
    """Take the line back that git adds to the reflog before it moves the ref."""
    begin = f"{ref.old or '0' * len(ref.new)} {ref.new} ".encode()
    with suppress(OSError):
        added = log.read_bytes()[ref.log or 0 :]
        ours = added.startswith(begin) or begin.startswith(added)
        if ours and added.count(b"\n") <= 1:
            os.truncate(log, ref.log or 0)
        if ref.log is None and not log.stat().st_size:
            log.unlink()


def _prune(top: Path, name: str) -> None:
    """Take away the folders that a ref would be in and that hold nothing, as git itself does."""
    for folder in list(Path(name).parents)[:-3]:  # not refs/heads, nor what is above it
        with suppress(OSError):  # it holds something, or was never made
            (top / folder).rmdir()


def _wait(held: int, path: Path) -> None:
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            return fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise CannotTellError(
                    "the git of a run that was killed is still at work in this checkout",
                    f"End it, and run it again. It holds {path}",
                ) from None
            time.sleep(0.01)


def _lock(checkout: Checkout, ref: str) -> Path:
    return checkout.common_dir / f"{ref}.lock"


def _log(checkout: Checkout, ref: str) -> Path:
    return checkout.common_dir / "logs" / ref
