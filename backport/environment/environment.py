"""The environment that a branch's tests run in: built once, whole or not at all, and kept.

It is built in place, under a lock, and its record is written last: what has no record is what a
killed run has left, and is built anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from backport.environment.interpreter import Interpreter
from backport.errors import CannotTellError
from backport.process import Command, run
from backport.progress import Progress
from backport.runner.results import Environment
from backport.workspace import remove, workspace

RECIPE = 3  # count up when environments come out otherwise than before
_RECORD = "backport-environment.json"
_PATIENCE = 60.0  # seconds for a start of the environment's Python
_PROBE = (
    "import sqlite3, sys; print('%d.%d.%d %s' % (sys.version_info[:3] + (sqlite3.sqlite_version,)))"
)


@dataclass(frozen=True)
class Description:
    """What an environment is, for a report."""

    interpreter: str  # the path of the one that it was made from
    version: str
    sqlite: str
    lock: str  # the name of the lock's file
    lock_sha256: str
    packages: int  # those of the lock
    distributions: int  # those that are in the folder


def ensure_environment(
    lock: Path,
    interpreter: Interpreter,
    cache: Path,
    env: Mapping[str, str],
    progress: Progress,
) -> Environment:
    """Return the environment of a lock and an interpreter, built if it is not there.

    :param lock: a file as :mod:`backport.environment.lock` reads it
    :param cache: the folder for what can be had again
    :param env: the environment, whole; pip's settings are found through it
    :raises CannotTellError: it cannot be built; the message names the package, the hint the log
    :raises ManifestError: the lock cannot be meant so
    """
    key = _key(lock, interpreter)
    folder = cache / "environments" / f"{interpreter.short_version}-{key}"
    found = Environment(folder / "bin" / "python", key, interpreter.version, folder)
    try:
        with suppress(OSError):
            os.utime(folder / _RECORD)  # before anything else: it is in use (forget_unused)
        if _works(found, env):
            return found
        with _held(folder.with_name(f"{folder.name}.lock"), progress):
            if not _works(found, env):
                _build(found, lock, interpreter, cache, env, progress)
        return found
    except OSError as error:
        reason = error.strerror or str(error)
        raise CannotTellError(
            f"the environment cannot be kept in {cache}: {reason}",
            "It needs some 500 MB there, and the right to write",
        ) from error


def forget_unused(cache: Path, unused: float) -> None:
    """Remove environments that no run has asked for in the last ``unused`` seconds.

    One that is being built is held, and left. A run that asks for one in the very moment that
    it goes finds none, or half of one, and builds it anew.
    """
    for folder in (one for one in (cache / "environments").glob("*") if one.is_dir()):
        record = folder / _RECORD
        with suppress(OSError, Timeout), FileLock(f"{folder}.lock", timeout=0):
            if time.time() - (record if record.exists() else folder).stat().st_mtime > unused:
                record.unlink(missing_ok=True)
                remove(folder)


def describe(environment: Environment) -> Description:
    """Return what was written down when the environment was built.

    :raises CannotTellError: it is not there, or damaged
    """
    try:
        return Description(**json.loads((environment.folder / _RECORD).read_text()))
    except (OSError, ValueError, TypeError) as error:
        raise CannotTellError(f"{environment.folder} is no environment: {error}") from error


def _key(lock: Path, interpreter: Interpreter) -> str:
    try:
        content = lock.read_bytes()
    except OSError as error:
        raise CannotTellError(f"the lock {lock} cannot be read: {error.strerror}") from error
    parts = [str(RECIPE), hashlib.sha256(content).hexdigest(), interpreter.identity]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:20]


def _works(environment: Environment, env: Mapping[str, str]) -> bool:
    """Whether the environment is there, whole, and its Python runs: the one it came from may go."""
    try:
        known = describe(environment)
        said = _ask(environment, env)
    except CannotTellError:
        return False
    return said == (known.version, known.sqlite) and known.distributions == _count(environment)


def _ask(environment: Environment, env: Mapping[str, str]) -> tuple[str, ...]:
    """Run the environment's Python; return its version and SQLite's.

    :raises CannotTellError: it does not run
    """
    command = Command((str(environment.python), "-E", "-s", "-c", _PROBE), Path("/"), env)
    ended = run(command, timeout=_PATIENCE)
    if not ended.ok:
        raise CannotTellError(f"{environment.python} does not run: {ended.text.strip()}")
    return tuple(ended.text.split())


def _count(environment: Environment) -> int:
    """Return the number of installed distributions: fewer than there were means damage."""
    return sum(1 for _ in environment.folder.glob("lib*/python*/site-packages/*.dist-info"))


def _build(
    environment: Environment,
    lock: Path,
    interpreter: Interpreter,
    cache: Path,
    env: Mapping[str, str],
    progress: Progress,
) -> None:
    # What follows takes half a second to import, and is needed only here.
    from backport.environment.builder import Order, build
    from backport.environment.lock import read_lock

    packages = read_lock(lock, dict(interpreter.markers))
    remove(environment.folder)
    order = Order(interpreter, packages, environment.folder, cache, env, progress)
    try:
        with workspace(cache / "building") as scratch:
            build(order, scratch)
        version, sqlite = _ask(environment, env)
        digest = hashlib.sha256(lock.read_bytes()).hexdigest()
        count = _count(environment)
        record = Description(
            str(interpreter.path), version, sqlite, lock.name, digest, len(packages), count
        )
        (environment.folder / _RECORD).write_text(json.dumps(asdict(record), indent=1))
    except BaseException:
        remove(environment.folder)
        raise


@contextmanager
def _held(lock: Path, progress: Progress) -> Iterator[None]:
    """Hold a lock that the system takes away from a process that dies."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    held = FileLock(lock)
    try:
        held.acquire(timeout=0)
    except Timeout:
        progress.note("another run is building this environment; waiting for it")
        held.acquire()
    try:
        yield
    finally:
        held.release()
