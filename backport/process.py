"""The only place that starts processes other than git. Nothing that is started here is left behind.

A process gets a session of its own and a mark in its environment. When it ends, or has
to be ended, so does every process of its group, its session, its descent, and every
process that bears its mark: a daemon that left the group is found by the mark (Linux,
through ``/proc``; elsewhere only the group is ended).
"""

from __future__ import annotations

import logging
import os
import selectors
import shlex
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from backport.errors import CannotTellError

_LOG = logging.getLogger("backport.run")
MARK = "BACKPORT_RUN"  # the environment variable that tells whose a process is
_PROC = Path("/proc")
_CHUNK = 65536
_ROUNDS = 50  # of looking for what is left, 20 ms apart: no fork bomb is fought for ever


#: A process that becomes the command, and has the system kill it when whoever started it dies: by
#: SIGKILL, too (prctl(2), PR_SET_PDEATHSIG is 1; it stays over execve). Not by a function that
#: subprocess calls between fork and exec: with threads around that may hang for ever.
_LEASH = """
import ctypes, os, signal, sys
parent = int(sys.argv[1])
ctypes.CDLL(None).prctl(1, signal.SIGKILL)
if os.getppid() == parent:
    os.execvpe(sys.argv[2], sys.argv[2:], os.environ)
"""


class StartError(CannotTellError):
    """A program could not be started: not there, not executable, or the system has no room."""


@dataclass(frozen=True)
class Command:
    """What to start, where, and with which environment: all of it, nothing is inherited."""

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]


@dataclass(frozen=True)
class Ended:
    """How a command ended, and the standard output and error that it left, in one stream."""

    status: int  # the exit status; negative: the signal that ended it
    output: bytes  # its beginning and its end, where there was more than was asked for
    timed_out: bool
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether it came to its end by itself, with exit status 0."""
        return self.status == 0 and not self.timed_out

    @property
    def text(self) -> str:
        """The output, decoded; what is no UTF-8 is replaced."""
        return self.output.decode("utf-8", "replace")


class Bounded:
    """Bytes with a bound: its first half and its last half are kept, the middle is counted."""

    def __init__(self, limit: int) -> None:
        self._half = max(limit // 2, 1)
        self._head = bytearray()
        self._tail = bytearray()
        self.size = 0

    def add(self, data: bytes) -> None:
        """Take in more bytes."""
        self.size += len(data)
        room = self._half - len(self._head)
        self._head += data[:room] if room > 0 else b""
        self._tail += data[max(room, 0) :]
        del self._tail[: max(len(self._tail) - self._half, 0)]

    def value(self) -> bytes:
        """Return what was kept, with a line that says how much was left out."""
        missing = self.size - len(self._head) - len(self._tail)
        gap = b"\n[... %d bytes left out ...]\n" % missing if missing else b""
        return bytes(self._head) + gap + bytes(self._tail)


class BoundedFile:
    """A log file that stops growing at a bound, so that a flood does not fill the disk."""

    def __init__(self, path: Path, limit: int, mode: str = "wb") -> None:
        self._file = path.open(mode)
        self._left = limit

    def add(self, data: bytes) -> None:
        """Write the bytes, as far as the bound allows."""
        if self._left <= 0:
            return
        self._file.write(data[: self._left])
        self._left -= len(data)
        if self._left <= 0:
            self._file.write(b"\n[... the output went on; it is cut here ...]\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class Running:
    """A process that was started, and all that it starts; leaving the context ends all of them.

    :param command: what to start
    :param pass_fds: file descriptors that the process inherits under the same numbers
    :param leash: it does not outlive the thread that starts it, even if that is killed (Linux;
        elsewhere this does nothing). It starts 20 ms later, and says itself if it cannot.
    :raises StartError: it could not be started
    """

    def __init__(
        self, command: Command, pass_fds: tuple[int, ...] = (), leash: bool = False
    ) -> None:
        _LOG.debug("%s", shlex.join(command.argv))
        command = _leashed(command) if leash else command
        self._mark = f"{MARK}={uuid.uuid4().hex}"
        name, _, value = self._mark.partition("=")
        try:
            self._process = subprocess.Popen(
                command.argv,
                cwd=command.cwd,
                env={**command.env, name: value},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                pass_fds=pass_fds,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise StartError(f"cannot start {command.argv[0]}: {error}") from error
        assert self._process.stdout is not None
        self.output_fd = self._process.stdout.fileno()
        os.set_blocking(self.output_fd, False)

    @property
    def pid(self) -> int:
        """The process; its group and its session have the same number."""
        return self._process.pid

    def __enter__(self) -> Running:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end(grace=0.0 if error is None else 1.0)
        if self._process.stdout is not None:
            self._process.stdout.close()

    def poll(self) -> int | None:
        """Return the exit status (negative: the signal), or None while it runs."""
        if self._process.returncode is not None or not hasattr(os, "waitid"):
            return self._process.poll()
        # Looked at, not waited for: so its number, which is its group's, stays its own until end().
        seen = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if seen is None:
            return None
        return seen.si_status if seen.si_code == os.CLD_EXITED else -seen.si_status

    def read(self) -> bytes | None:
        """Return output that is there now; None at its end, empty when there is none yet."""
        try:
            return os.read(self.output_fd, _CHUNK) or None
        except BlockingIOError:
            return b""

    def end(self, grace: float = 1.0) -> int:
        """End it and all that it started; ask first, then kill.

        :param grace: seconds between the asking (SIGTERM) and the killing (SIGKILL)
        :returns: the exit status, negative: the signal
        """
        if self._process.returncode is not None:
            return self._process.returncode
        if grace > 0 and self.poll() is None:
            self._signal_group(signal.SIGTERM)
            asked = time.monotonic()
            while self.poll() is None and time.monotonic() - asked < grace:
                time.sleep(0.02)
        for _ in range(_ROUNDS):
            family = _family(self.pid, self._mark.encode())
            self._signal_group(signal.SIGKILL)
            for pid in family:
                _kill(pid)
            if not family:
                break
            time.sleep(0.02)
        return self._process.wait()

    def _signal_group(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


def run(
    command: Command,
    *,
    timeout: float,
    limit: int = 1_000_000,
    log: Path | None = None,
    log_limit: int = 64_000_000,
    listener: Callable[[bytes], None] | None = None,
    leash: bool = False,
) -> Ended:
    """Run a command to its end.

    :param timeout: seconds; after them the command and all that it started is ended
    :param limit: bytes of output to hand back
    :param log: a file that gets the output as it comes, up to ``log_limit`` bytes
    :param listener: is called with each piece of output as it comes
    :param leash: it does not outlive this run even if that is killed, see :class:`Running`
    :raises StartError: it could not be started
    """
    kept = Bounded(limit)
    file = BoundedFile(log, log_limit) if log else None
    takers = [kept.add, *([file.add] if file else []), *([listener] if listener else [])]
    began = time.monotonic()
    try:
        with Running(command, leash=leash) as process:
            timed_out = not _listen(process, takers, began + timeout)
            status = process.end() if timed_out else process.end(grace=0.0)
    finally:
        if file:
            file.close()
    return Ended(status, kept.value(), timed_out, time.monotonic() - began)


def _leashed(command: Command) -> Command:
    if not sys.platform.startswith("linux"):
        return command
    before = (sys.executable, "-I", "-S", "-c", _LEASH, str(os.getpid()))
    return Command((*before, *command.argv), command.cwd, command.env)


def _listen(process: Running, takers: list[Callable[[bytes], None]], deadline: float) -> bool:
    """Hand the output on until the process ends; False when the time was up before."""
    with selectors.DefaultSelector() as selector:
        selector.register(process.output_fd, selectors.EVENT_READ)
        while (left := deadline - time.monotonic()) > 0:
            # A child that lives on may hold the pipe open, so its end is not waited for.
            ended = process.poll() is not None
            selector.select(0 if ended else min(left, 0.05))
            data = process.read()
            for take in takers if data else ():
                take(data or b"")
            if not data and ended:
                return True
            if data is None:  # closed its output, and still runs
                time.sleep(min(left, 0.02))
    return False


def _family(root: int, mark: bytes) -> set[int]:
    """Return what lives of the process's group, session and descent, and what bears the mark."""
    table = {}
    for entry in _PROC.iterdir() if _PROC.is_dir() else ():
        if entry.name.isdigit() and (known := _look_at(entry)):
            table[int(entry.name)] = known
    members = {pid for pid, known in table.items() if root in (pid, *known[1:])}
    members |= {pid for pid in table if pid not in members and mark in _environment(pid)}
    grown = True
    while grown:
        more = {pid for pid, known in table.items() if known[0] in members} - members
        members |= more
        grown = bool(more)
    return members - {os.getpid()}


def _look_at(entry: Path) -> tuple[int, int, int] | None:
    """Return parent, group and session of a process; None for a zombie or one that is gone."""
    try:
        # The name, in parentheses, may hold anything: split after the last one (proc(5)).
        fields = (entry / "stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
    if len(fields) < 4 or fields[0] in (b"Z", b"X"):
        return None
    return int(fields[1]), int(fields[2]), int(fields[3])


def _environment(pid: int) -> list[bytes]:
    """Return the environment that a process was started with; empty if it may not be read."""
    try:
        return (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return []


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)
