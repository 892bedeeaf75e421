"""A folder of the tool's own for one run, that a killed run cannot leave lying about for good."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import BaseFileLock, FileLock, Timeout

from backport.errors import CannotTellError

_LOCK = ".lock"


@contextmanager
def workspace(parent: Path) -> Iterator[Path]:
    """Give a new folder below ``parent``, and take it away at the end.

    The folder is held by a lock that dies with the process, so that what a killed
    run left behind is told from what another run works in, and swept.
    """
    with writing(parent):
        folder, held = _held(parent)
    try:
        yield folder
    finally:
        remove(folder)
        held.release()


def _held(parent: Path) -> tuple[Path, BaseFileLock]:
    parent.mkdir(parents=True, exist_ok=True)
    # One at a time: else a folder whose lock is not there could be one that is just being made,
    # and one that was left by a kill in that very moment would stay for good.
    with FileLock(parent / _LOCK):
        _sweep(parent)
        folder = Path(tempfile.mkdtemp(prefix="run-", dir=parent))
        held = FileLock(folder / _LOCK)
        held.acquire()
    return folder, held


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Name the folder where something cannot be written: a full disk tells no file's name.

    :raises CannotTellError: for any :class:`OSError` within
    """
    try:
        yield
    except OSError as error:
        raise CannotTellError(
            f"{error.filename or folder} cannot be written: {error.strerror}",
            "Make room there, or see to the permissions; nothing else was changed.",
        ) from error


def remove(folder: Path) -> None:
    """Delete a folder, whatever tests may have done to its permissions."""

    def retry(function: object, path: str, _: object) -> None:
        os.chmod(os.path.dirname(path), 0o700)
        os.chmod(path, 0o700, follow_symlinks=False) if not os.path.islink(path) else None
        os.unlink(path) if os.path.islink(path) or os.path.isfile(path) else shutil.rmtree(path)

    try:
        shutil.rmtree(folder, onerror=retry)
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)


def _sweep(parent: Path) -> None:
    for left in parent.glob("run-*"):
        try:
            with FileLock(left / _LOCK, timeout=0):
                remove(left)
        except (Timeout, OSError):
            continue
