"""Builds an environment: an empty one, the wheels of the lock, then what has to be built.

virtualenv makes it, the pip that it puts in installs. That pip fetches nothing: it would have to
run each ``setup.py`` of what has no wheel, before what those want is there.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from threading import Thread

from backport.download.checksum_store import Store
from backport.download.fetch import Fetcher
from backport.download.pip_settings import read_settings
from backport.download.requirement import Wanted
from backport.environment.interpreter import Interpreter
from backport.environment.source_builds import Source, Workshop, build_env, explain
from backport.errors import CannotTellError
from backport.process import Command, run
from backport.progress import Progress

_AT_ONCE = 8  # files that are fetched at the same time
_PATIENCE = 300.0  # seconds for an empty environment, and for installing: ten on a busy machine


@dataclass(frozen=True)
class Order:
    """What to build, where, and who is told."""

    interpreter: Interpreter
    packages: tuple[Wanted, ...]
    folder: Path  # the environment's; is made
    cache: Path
    env: Mapping[str, str]
    progress: Progress


def build(order: Order, scratch: Path) -> None:
    """Build the environment where it will be used: its scripts name that place.

    :param scratch: a workspace on the same file system
    :raises CannotTellError: why not, and where the log is
    """
    _Builder(order, scratch).build()


@contextmanager
def _fetching(fetcher: Fetcher, order: Order) -> Iterator[Iterator[tuple[Wanted, Path]]]:
    """Fetch all packages side by side, and give them as they come in.

    The threads are daemons, and no ThreadPoolExecutor's: Python would wait for those at its end,
    and so after Ctrl-C for as long as a server keeps silent.
    """
    waiting = deque(order.packages)
    results: SimpleQueue[tuple[Wanted, Path | Exception]] = SimpleQueue()

    def work() -> None:
        with suppress(IndexError):
            while one := waiting.popleft():
                try:
                    results.put((one, fetcher.fetch(one, order.interpreter.tags)))
                except Exception as error:  # whatever it is, the main thread raises it
                    results.put((one, error))

    def arriving() -> Iterator[tuple[Wanted, Path]]:
        for _ in order.packages:
            wanted, result = results.get()
            if isinstance(result, Exception):
                raise result
            yield wanted, result

    for _ in range(min(_AT_ONCE, len(waiting))):
        Thread(target=work, daemon=True).start()
    try:
        yield arriving()
    finally:
        waiting.clear()
        fetcher.stop()


class _Builder:
    """One environment while it is built."""

    def __init__(self, order: Order, scratch: Path) -> None:
        self._order, self._scratch = order, scratch
        self._done = 0

    def build(self) -> None:
        """Fetch, install, build, install; wheels first, for the builds want some of them."""
        order = self._order
        settings = read_settings(order.env, "install")
        wheels: list[Path] = []
        sources = []
        with (
            Fetcher(settings, Store(order.cache / "files"), self._scratch) as fetcher,
            _fetching(fetcher, order) as files,
        ):
            self._create()
            for wanted, file in files:
                if file.suffix == ".whl":
                    wheels.append(file)
                    self._count(f"fetched {wanted}")
                else:
                    sources.append(Source(wanted, file))
        self._install([one for one in wheels if not _is_pip(one)])
        built = self._built(sources)
        self._install([one for one in built if not _is_pip(one)])
        # What is to do needs the pip that virtualenv put in; the lock's own comes last.
        self._install([one for one in (*wheels, *built) if _is_pip(one)])

    def _create(self) -> None:
        """Make an empty environment out of what virtualenv brings along; nothing is fetched."""
        order = self._order
        self._say("making an empty environment")
        argv = [sys.executable, "-m", "virtualenv", "--no-download", "--no-periodic-update"]
        argv += ["--python", str(order.interpreter.path), "--activators", ""]
        # Not kept: virtualenv does not notice what a killed run or a full disk left half in there.
        argv += ["--app-data", str(self._scratch / "virtualenv")]
        env = {key: value for key, value in order.env.items() if not key.startswith("VIRTUALENV")}
        env |= {"VIRTUALENV_CONFIG_FILE": os.devnull}
        command = Command((*argv, str(order.folder)), self._scratch, env)
        ended = run(command, timeout=_PATIENCE, leash=True)
        if not ended.ok:
            last = (ended.text.strip().splitlines() or ["it said nothing"])[-1]
            raise CannotTellError(f"virtualenv made no environment: {last}", _command_line(command))

    @property
    def _python(self) -> Path:
        return self._order.folder / "bin" / "python"

    def _install(self, wheels: Sequence[Path]) -> None:
        """Let the environment's pip install wheels whose checksums were made sure of.

        By name, out of their folders: what is installed by its path is noted with that path
        (PEP 610), which ``pip freeze`` would print. A release that virtualenv brought along goes.
        """
        if not wheels:
            return
        argv = [str(self._python), "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile"]
        argv += ["--force-reinstall", "--no-index"]
        for wheel in wheels:
            # A wheel's name has an underscore where the version has a dash (PEP 427).
            pinned = "==".join(wheel.name.split("-")[:2]).replace("_", "-")
            argv += ["--find-links", str(wheel.parent), pinned]
        log = self._order.cache / "logs" / "install.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        ended = run(
            Command(tuple(argv), self._scratch, build_env(self._order.env)),
            timeout=_PATIENCE,
            log=log,
            leash=True,
        )
        if not ended.ok:
            raise CannotTellError(
                f"the wheels of the lock cannot be installed: {explain(ended.text)}",
                f"The whole log: {log}",
            )

    def _count(self, what: str) -> None:
        self._done += 1
        self._say(what)

    def _say(self, what: str) -> None:
        self._order.progress.update(what, self._done, len(self._order.packages))

    def _built(self, sources: list[Source]) -> list[Path]:
        wheels: list[Path] = []

        def begun(source: Source) -> None:
            self._say(f"building {source.wanted}")

        def done(source: Source, wheel: Path) -> None:
            wheels.append(wheel)
            self._count(f"built {source.wanted}")

        logs = self._order.cache / "logs"
        Workshop(self._python, self._scratch, logs, self._order.env).build(sources, begun, done)
        return wheels


def _is_pip(wheel: Path) -> bool:
    return wheel.name.startswith("pip-")


def _command_line(command: Command) -> str:
    return f"The command was: {shlex.join(command.argv)}"
