"""Builds wheels from sources, for the packages of a lock that have no wheel that fits.

Nothing is fetched: what a ``setup.py`` wants at build time (pbr, cffi …) must be in the lock
as a wheel, which is installed by then. ``setup.py bdist_wheel`` is run as pip would run it;
pip itself, which takes over a second of processor time each, only where there is no setup.py.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from backport.download.requirement import Wanted
from backport.download.unpack import unpack
from backport.errors import CannotTellError
from backport.process import BoundedFile, Command, Running

_LONGEST = 1800.0  # seconds for one build
_LOG_LIMIT = 16_000_000  # bytes
_TURN = 0.02  # seconds between two looks at what runs
# setuptools first, or distutils would know no bdist_wheel; __file__ is what many ask for.
_SETUP = (
    "import sys, setuptools; sys.argv[0] = __file__ = 'setup.py'; "
    "exec(compile(open(__file__, 'rb').read(), __file__, 'exec'))"
)
_NOWHERE = "http://127.0.0.1:9"  # the discard port: whoever fetches all the same fails at once
# What a log says, and what that means. The first that fits is told.
_REASONS = (
    (r"No space left on device|Disk quota exceeded", "the disk is full"),
    (
        r"fatal error: (Python\.h|pyconfig\.h)",
        "the headers of Python are missing ({0}): install python-dev of that version",
    ),
    (r"fatal error: ([\w./+-]+\.h\w*)", "a header is missing: {0}"),
    (
        r"(?:unable to execute|command) '?([\w.+-]*(?:gcc|cc|g\+\+|c\+\+|clang)[\w.+-]*)'?"
        r"(?: failed)?: No such file or directory",
        "there is no compiler: install gcc (it looked for {0})",
    ),
    (r"(?:cannot|can't) find -l(\S+)", "a library is missing: {0}"),
    (
        r"(?:No matching distribution found for |Could not find suitable distribution for "
        r"Requirement\.parse\('|No local packages or working download links found for |"
        r"'pip',.* 'wheel',.* ')([\w.-]+)[^']*(?:'\]' returned non-zero|'\)|$)",
        "it wants {0} to be built, which the lock does not hold as a wheel",
    ),
)
_LOUD = re.compile(r"error|fatal|not found|No such", re.IGNORECASE)


@dataclass(frozen=True)
class Source:
    """A package and its source archive."""

    wanted: Wanted
    archive: Path


@dataclass(frozen=True)
class Workshop:
    """Where and with what wheels are built."""

    python: Path  # of an environment that holds setuptools, wheel and what the builds want
    scratch: Path
    logs: Path  # keeps the logs of builds that failed
    env: Mapping[str, str]

    def build(
        self,
        sources: Sequence[Source],
        begun: Callable[[Source], None],
        done: Callable[[Source, Path], None],
    ) -> None:
        """Build all, as many at once as there are processors, the large ones first.

        :param begun: is called with each source when its build begins
        :param done: is called with each source and its wheel
        :raises CannotTellError: one cannot be built; the others are ended
        """
        waiting = deque(sorted(sources, key=lambda one: -one.archive.stat().st_size))
        running: list[_Build] = []
        with ExitStack() as stack:
            while waiting or running:
                while waiting and len(running) < _processors():
                    running.append(stack.enter_context(_Build(self, waiting.popleft())))
                    begun(running[-1].source)
                time.sleep(_TURN)
                for build in [one for one in running if one.ended()]:
                    running.remove(build)
                    done(build.source, build.wheel())


class _Build:
    """One build while it runs; leaving the context ends it."""

    def __init__(self, workshop: Workshop, source: Source) -> None:
        self.source, self._workshop = source, workshop
        self._folder = workshop.scratch / f"{source.wanted.name}-{source.wanted.version}"
        self._out = self._folder / "wheel"
        self._log = self._folder / "log"
        unpack(source.archive, self._folder / "source")
        self._file = BoundedFile(self._log, _LOG_LIMIT)
        self._running = Running(self._command(), leash=True)
        self._began = time.monotonic()

    def _command(self) -> Command:
        folder, python = self._folder / "source", str(self._workshop.python)
        if (folder / "setup.py").exists():
            rest = ["-c", _SETUP, "--no-user-cfg", "bdist_wheel", "--dist-dir", str(self._out)]
        else:
            rest = ["-m", "pip", "wheel", "--no-deps", "--no-build-isolation"]
            rest += ["--wheel-dir", str(self._out), "."]
        return Command((python, *rest), folder, build_env(self._workshop.env))

    def __enter__(self) -> _Build:
        return self

    def __exit__(self, *_: object) -> None:
        self._running.end()
        self._file.close()

    def ended(self) -> bool:
        """Take in what it said, and tell whether it has come to its end."""
        over = self._running.poll() is not None
        while data := self._running.read():
            self._file.add(data)
        return over or time.monotonic() - self._began > _LONGEST

    def wheel(self) -> Path:
        """Return what was built.

        :raises CannotTellError: nothing was
        """
        timed_out = self._running.poll() is None
        status = self._running.end(grace=0.0)
        self._file.close()
        wheels = list(self._out.glob("*.whl"))
        if status or timed_out or len(wheels) != 1:
            raise self._failed(f"no end within {_LONGEST:.0f} s" if timed_out else "")
        shutil.rmtree(self._folder / "source", ignore_errors=True)
        return wheels[0]

    def _failed(self, reason: str) -> CannotTellError:
        text = self._log.read_text(encoding="utf-8", errors="replace")
        wanted, logs = self.source.wanted, self._workshop.logs
        logs.mkdir(parents=True, exist_ok=True)
        kept = self._log.replace(logs / f"{wanted.name}-{wanted.version}.log")
        return CannotTellError(
            f"{wanted} cannot be built: {reason or explain(text)}", f"The whole log: {kept}"
        )


def explain(log: str) -> str:
    """Return the reason that a build's log gives, in one line."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    loud = [line for line in lines if _LOUD.search(line)]
    last = (loud or lines or ["it said nothing"])[-1]
    for pattern, meaning in _REASONS:
        if match := re.search(pattern, log):
            return f"{meaning.format(*match.groups())} ({last})"
    return last


def build_env(env: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a build: nothing of the user's Python or pip, and no network."""
    kept = {
        name: value
        for name, value in env.items()
        if not name.startswith(("PIP_", "PYTHON", "VIRTUALENV")) and "proxy" not in name.lower()
    }
    proxies = dict.fromkeys(("http_proxy", "https_proxy", "HTTPS_PROXY"), _NOWHERE)
    # setuptools hands what it misses to pip (since 42), so pip too is told to ask nobody.
    pip = {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull, "PIP_NO_INPUT": "1"}
    return {**kept, **proxies, **pip, "LC_ALL": "C.UTF-8", "PYTHONNOUSERSITE": "1"}


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
