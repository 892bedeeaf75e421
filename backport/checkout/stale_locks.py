"""What a run is about to do in the checkout, noted first: so that what a killed one left is known.

A git that is killed (SIGKILL, a power cut) while it moves a ref leaves the ref's ``.lock`` behind,
and whoever moves that ref is refused from then on. Nobody can tell a lock that is left from one
that is held; but a note, made before, says what could be left, and by whom. The file of the note
is locked (flock(2)), and each git that works on it inherits the lock: when it can be had, they
are all gone, whatever became of the run.

What is cleared up is what git 2.39.5 leaves at each of its system calls, as
tests/checkout/test_handover finds out: locks, a line in a reflog, one ref of two, folders, and
the folder that objects come in by.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from backport.checkout.git import GitFailedError
from backport.errors import CannotTellError, RefusedError
from backport.workspace import remove, writing

if TYPE_CHECKING:
    from backport.checkout.repository import Checkout

#: What objects come in by: git prune (2.36 on) takes such a folder away after two weeks.
QUARANTINE = "tmp_objdir-backport-"

_PATIENCE = 60.0  # seconds for the git of a killed run to end
_MOMENT = 1.0  # seconds that a lock stays, unchanged, if nobody is at work on it
#: Seconds between a note and a lock of the git that it tells of; the two disks may have two clocks.
_EARLY, _LATE = -60.0, 600.0


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
    """All that could be left in a checkout.

    :param quarantine: the folder below ``objects`` that new objects come in by
    :param folders: those below the git directory that are not there yet, outermost first
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["backport-handover/1"] = "backport-handover/1"
    quarantine: str = Field(pattern=f"^{QUARANTINE}[0-9a-f]+$")
    refs: tuple[NotedRef, ...]
    folders: tuple[str, ...]


def make_note(checkout: Checkout, quarantine: str, updates: Sequence[RefUpdate]) -> Note:
    """Look at what is there before it is done."""
    refs = [
        NotedRef(name=up.name, new=up.new, old=up.old, log=_size(_log(checkout, up.name)))
        for up in updates
    ]
    names = [name for up in updates for name in (up.name, f"logs/{up.name}")]
    around = [str(folder) for name in names for folder in Path(name).parents]
    missing = {name for name in around if not (checkout.common_dir / name).exists()}
    return Note(quarantine=quarantine, refs=tuple(refs), folders=tuple(sorted(missing, key=len)))


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


def refuse_locked(checkout: Checkout, *refs: str) -> None:
    """Refuse to begin where somebody holds the lock of a ref, for longer than a moment.

    :raises RefusedError: naming the lock, and what to do about one that was left
    """
    for ref in refs:
        lock = _lock(checkout, ref)
        until = time.monotonic() + _MOMENT
        while lock.exists() and time.monotonic() < until:
            time.sleep(0.02)
        if lock.exists():
            raise RefusedError(
                f"another git moves {ref}, or was ended while it did: {lock} is there",
                "If no git is at work in this checkout, remove that file, and run it again.",
            )


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
        note = _read(path)
        with suppress(OSError):
            if note:
                _undo(checkout, note, os.fstat(held).st_mtime, tell)
            path.unlink()
    finally:
        os.close(held)


# -- inside --------------------------------------------------------------------------------


def _undo(checkout: Checkout, note: Note, since: float, tell: Callable[[str], None]) -> None:
    left = [ref for ref in note.refs if _is_left(_lock(checkout, ref.name), ref, since)]
    if left:
        with suppress(GitFailedError):  # somebody has moved it since, and it is theirs now
            _move_back(checkout, [ref for ref in note.refs if ref not in left])
    for ref in left:
        lock = _lock(checkout, ref.name)
        # First: as long as the lock is there, nobody else writes the reflog.
        _shorten(_log(checkout, ref.name), ref)
        lock.unlink()
        tell(f"removed {lock}, which a run that was killed had left")
    remove(checkout.objects / note.quarantine)
    for folder in reversed(note.folders):
        with suppress(OSError):  # it holds something, or was never made
            (checkout.common_dir / folder).rmdir()


def _is_left(lock: Path, ref: NotedRef, since: float) -> bool:
    """Whether a lock is one that our git left: by its time, by its content, and that it stays."""
    try:
        seen = lock.lstat()
        if not stat.S_ISREG(seen.st_mode) or not _EARLY <= seen.st_mtime - since <= _LATE:
            return False
        with lock.open("rb") as file:
            content = file.read(200)
    except OSError:
        return False
    return f"{ref.new}\n".encode().startswith(content) and _stays(lock)


def _stays(lock: Path) -> bool:
    """Whether a file is there, and the same one, for a moment."""
    first = now = _identity(lock)
    until = time.monotonic() + _MOMENT
    while first and now == first and time.monotonic() < until:
        time.sleep(0.02)
        now = _identity(lock)
    return first is not None and now == first


def _identity(file: Path) -> tuple[int, int, int] | None:
    try:
        seen = file.lstat()
    except OSError:
        return None
    return seen.st_ino, seen.st_mtime_ns, seen.st_ctime_ns


def _move_back(checkout: Checkout, refs: Sequence[NotedRef]) -> None:
    """Of two refs, one was moved: both move, or none."""
    there = checkout.refs(*(ref.name for ref in refs)) if refs else {}
    moved = [ref for ref in refs if there.get(ref.name) == ref.new]
    lines = [
        f"option no-deref\0update {ref.name}\0{ref.old}\0{ref.new}\0"
        if ref.old
        else f"option no-deref\0delete {ref.name}\0{ref.new}\0"
        for ref in moved
    ]
    if lines:
        checkout.git.run("update-ref", "--stdin", "-z", stdin="".join(lines).encode())


def _shorten(log: Path, ref: NotedRef) -> None:
    """Take the line back that git adds to the reflog before it moves the ref."""
    begin = f"{ref.old or '0' * len(ref.new)} {ref.new} ".encode()
    with suppress(OSError):
        with log.open("r+b") as file:
            file.seek(ref.log or 0)
            added = file.read()
            ours = added.startswith(begin) or begin.startswith(added)
            if ours and added.count(b"\n") <= 1:
                file.truncate(ref.log or 0)
        if ref.log is None and not log.stat().st_size:
            log.unlink()


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


def _read(path: Path) -> Note | None:
    """Read a note; one that is not whole was never acted on."""
    try:
        return Note.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def _lock(checkout: Checkout, ref: str) -> Path:
    return checkout.common_dir / f"{ref}.lock"


def _log(checkout: Checkout, ref: str) -> Path:
    return checkout.common_dir / "logs" / ref


def _size(file: Path) -> int | None:
    try:
        return file.stat().st_size
    except OSError:
        return None
