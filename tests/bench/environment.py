"""``make bench ARGS=environment``: the tests' environment from nothing, against upstream's way.

Upstream's way is tox's: virtualenv, then pip with upstream's constraints. They are not in the
project's tree, so a file of them is given: ``CONSTRAINTS=PATH``, openstack/requirements'
``upper-constraints.txt`` at the tag of the branch. Some of its pins cannot be built any more;
those are lifted or left out, and the notes say which.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from packaging.utils import canonicalize_name

from backport.checkout.repository import open_checkout
from backport.environment.environment import ensure_environment
from backport.environment.interpreter import Interpreter, find_interpreter
from backport.progress import Silent
from backport.series.model import PythonLock
from backport.verification import test_settings
from backport.workspace import remove
from bench.stand import BenchError, Stand, run
from bench.table import Section
from bench.timing import Figure, Spent, Way, in_turns, spent

_TURNS = 2
#: What upstream's constraints need in order to be built today: another version, or None.
_DEVIATIONS: dict[str, tuple[str | None, str]] = {
    "psycopg2": (None, "2.6.2 does not know PostgreSQL 10 and later; no test needs it"),
    "cryptography": ("3.3.2", "1.7.1 does not build against OpenSSL 3"),
    "cffi": ("1.12.3", "cryptography 3.3.2 wants 1.12"),
}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class Upstream:
    """The files that pip is given."""

    constraints: Path
    requirements: tuple[Path, ...]


def measure(stand: Stand) -> list[Section]:
    """Measure how long an environment takes from nothing."""
    title = "Environment from nothing"
    given = stand.own.environ.get("CONSTRAINTS")
    if not given:
        why = "Skipped: give upstream's upper-constraints.txt of the branch: CONSTRAINTS=PATH"
        return [Section(title, (), (why,))]
    upstream = _upstream(stand, Path(given).expanduser())
    lock = test_settings(stand.series.branch).pythons[0]
    interpreter = find_interpreter(lock.version, None, stand.own.environ)
    ways: dict[str, Way] = {
        "pip": partial(_pip, stand, interpreter, upstream),
        "ours": partial(_ours, stand, interpreter, lock),
    }
    stand.say("the environment; each turn takes minutes")
    taken = in_turns(ways, stand.turns or _TURNS, stand.say)
    figure = Figure(
        "the lock, installed", "pip with constraints", taken["ours"], taken["pip"], 0.40
    )
    return [Section(title, (figure,), tuple(_notes()))]


def _notes() -> list[str]:
    said = [
        f"{name} {f'is {version}' if version else 'is left out'}: {why}"
        for name, (version, why) in _DEVIATIONS.items()
    ]
    return [
        "Both from empty caches, an empty virtual environment included.",
        "Upstream's constraints, but: " + "; ".join(said),
    ]


def _upstream(stand: Stand, constraints: Path) -> Upstream:
    """Write the project's own requirements, and the constraints, as far as they can be had."""
    folder = stand.new_folder("requirements")
    try:
        pins = constraints.read_text("utf-8").splitlines()
    except OSError as error:
        raise BenchError(f"CONSTRAINTS={constraints}: {error.strerror}") from error
    (folder / "constraints.txt").write_text("".join(map(_pin, pins)))
    scratch = open_checkout(stand.copy()).scratch(stand.new_folder("reading") / "git")
    tree, written = scratch.tree(stand.base), []
    for name in ("requirements.txt", "test-requirements.txt"):
        lines = (scratch.file(tree, name) or b"").decode().splitlines(True)
        written.append(folder / name)
        written[-1].write_text("".join(line for line in lines if not _is_left_out(line)))
    return Upstream(folder / "constraints.txt", tuple(written))


def _deviation(line: str) -> tuple[str | None, str] | None:
    found = _NAME.match(line)
    return _DEVIATIONS.get(canonicalize_name(found[0])) if found else None


def _is_left_out(line: str) -> bool:
    deviation = _deviation(line)
    return deviation is not None and deviation[0] is None


def _pin(line: str) -> str:
    deviation = _deviation(line)
    if deviation is None or deviation[0] is None:
        return line + "\n"
    return re.sub(r"===?[^;]+", f"==={deviation[0]}", line) + "\n"


def _ours(stand: Stand, interpreter: Interpreter, lock: PythonLock) -> Spent:
    cache = stand.new_folder("nothing")
    where = (lock.requirements, interpreter, cache, stand.own.environ, Silent())
    taken = spent(partial(ensure_environment, *where))
    remove(cache)
    return taken


def _pip(stand: Stand, interpreter: Interpreter, upstream: Upstream) -> Spent:
    folder = stand.new_folder("nothing")
    env = {**stand.own.environ, "PIP_CACHE_DIR": str(folder / "pip"), "TMPDIR": str(folder)}
    made = folder / "environment"
    make = [sys.executable, "-m", "virtualenv", "--no-download", "--no-periodic-update"]
    make += ["--python", str(interpreter.path), "--app-data", str(folder / "app-data"), str(made)]
    files = [part for file in upstream.requirements for part in ("-r", str(file))]
    install = [str(made / "bin/python"), "-m", "pip", "install", "--quiet"]

    def work() -> None:
        run(make, env)
        run([*install, "-c", str(upstream.constraints), *files], env)

    taken = spent(work)
    remove(folder)
    return taken
