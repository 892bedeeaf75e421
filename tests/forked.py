"""The command in a process of its own that can be killed, forked from one that has all loaded.

A Python that starts anew loads libraries for most of a second; kill tests start hundreds.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
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
    output: Path

    @property
    def pid(self) -> int:
        """Its process, which is also its group."""
        assert self.process.pid is not None
        return self.process.pid

    def wait(self) -> int:
        """Wait for it and for all that it started; return its status, negative: the signal."""
        self.process.join()
        while _lives(self.pid):
            time.sleep(0.005)
        status = self.process.exitcode
        assert status is not None
        return status

    def end(self, number: signal.Signals) -> None:
        """Send a signal to it and to all that it started."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def said(self) -> str:
        """Return what it printed."""
        return self.output.read_text()


def start(args: Sequence[str], folder: Path, output: Path, **variables: str) -> Child:
    """Start the command as it is typed in ``folder``; it has begun when this returns."""
    begun, begins = _CONTEXT.Pipe(duplex=False)
    environ = {**os.environ, **variables}
    process = _CONTEXT.Process(target=_run, args=(tuple(args), folder, output, environ, begins))
    process.start()
    begins.close()
    begun.recv_bytes()
    return Child(process, output)


def _run(
    args: tuple[str, ...],
    folder: Path,
    output: Path,
    environ: Mapping[str, str],
    begins: multiprocessing.connection.Connection,
) -> None:
    os.setsid()
    os.environ.clear()
    os.environ.update(environ)
    os.chdir(folder)
    file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(file, stream)
    from backport.cli import main

    begins.send_bytes(b"begun")
    sys.exit(int(main(args)))


def _lives(group: int) -> bool:
    """Whether a process of the group lives, other than those that nobody has asked after."""
    proc = Path("/proc")
    if not proc.is_dir():
        return False
    for entry in proc.iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_bytes().rpartition(b")")[2].split()
            except OSError:
                continue
            if int(fields[2]) == group and fields[0] not in (b"Z", b"X"):
                return True
    return False
