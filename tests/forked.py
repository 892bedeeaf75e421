"""The command in a process of its own that can be killed, forked from one that has all loaded.

A Python that starts anew loads libraries for most of a second; kill tests start hundreds.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import resource
import signal
import sys
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    ["git", "forked", "backport.cli", "backport.pipeline", "backport.commands.run",
     "backport.report.build", "backport.report.files", "backport.report.summary",
     "backport.report.terminal"]
)  # fmt: skip


@dataclass(frozen=True)
class Child:
    """A command that runs; its group is its own, so that whatever it leaves behind is known."""

    process: BaseProcess
    output: Connection
    mark: str  # in the environment of all that it starts

    @property
    def pid(self) -> int:
        """Its process, which is also its group."""
        assert self.process.pid is not None
        return self.process.pid

    def end(self, number: signal.Signals, group: bool = True) -> None:
        """Send a signal to it and to all that it started, or to it alone."""
        with suppress(ProcessLookupError):
            (os.killpg if group else os.kill)(self.pid, number)

    def read_until(self, words: str) -> str:
        """Wait until it has printed some words; return what it has printed so far."""
        said = ""
        while words not in said:
            more = os.read(self.output.fileno(), 1 << 16).decode()
            assert more, f"it ended without {words!r}: {said}"
            said += more
        return said

    def wait(self) -> Ended:
        """Wait for it and for all that it started."""
        self.process.join()
        while _lives(self.mark):
            time.sleep(0.005)
        status = self.process.exitcode
        assert status is not None
        said = os.read(self.output.fileno(), 1 << 20).decode()
        self.output.close()
        return Ended(status, said)


@dataclass(frozen=True)
class Ended:
    """The status of a command (negative: the signal), and what it printed."""

    status: int
    said: str


def start(
    args: Sequence[str],
    folder: Path,
    variables: Mapping[str, str] | None = None,
    limit: int = -1,
    die_at: int = 0,
) -> Child:
    """Start the command as it is typed in ``folder``; it has begun when this returns.

    :param variables: of the environment, beside those that are set here
    :param limit: bytes that a file may have at most; what writes more fails, or is killed
    :param die_at: it is killed just before it changes the tool's state or a series' folder for
        this time; 0: never
    """
    begun, begins = _CONTEXT.Pipe(duplex=False)
    output, prints = _CONTEXT.Pipe(duplex=False)  # holds 64 KiB: more than a run prints
    mark = f"FORKED_RUN={uuid.uuid4().hex}"
    environ = {**os.environ, **(variables or {}), **dict([mark.split("=")])}
    how = (tuple(args), folder, environ, limit, die_at, begins, prints)
    process = _CONTEXT.Process(target=_run, args=how)
    process.start()
    begins.close()
    prints.close()
    begun.recv_bytes()
    begun.close()
    return Child(process, output, mark)


def _run(
    args: tuple[str, ...],
    folder: Path,
    environ: Mapping[str, str],
    limit: int,
    die_at: int,
    begins: Connection,
    prints: Connection,
) -> None:
    os.setsid()
    os.environ.clear()
    os.environ.update(environ)
    os.chdir(folder)
    for stream in (1, 2):
        os.dup2(prints.fileno(), stream)
    from backport.__main__ import hear
    from backport.cli import main

    hear()
    if die_at:
        _die_before_change(die_at)
    begins.send_bytes(b"begun")
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    sys.exit(int(main(args)))


_CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.symlink")


def _die_before_change(number: int) -> None:
    left = number

    def hook(event: str, args: tuple[object, ...]) -> None:
        nonlocal left
        if event == "open":
            changes = isinstance(args[2], int) and bool(args[2] & (os.O_WRONLY | os.O_RDWR))
        else:
            changes = event in _CHANGES
        if changes and re.search("/state/backport/conflicts/|/patches/", os.fsdecode(str(args[0]))):
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def _lives(mark: str) -> bool:
    """Whether a process lives that bears the mark, whatever its group."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (entry / "environ").read_bytes().split(b"\0"):
                return True
        except OSError:
            continue
    return False
