"""Processes are bounded in time and output, and leave nothing behind, however they misbehave."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from backport.process import Bounded, Command, Running, StartError, run

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs POSIX processes")

# Forks twice, leaves the session, closes everything, and writes its number into a file.
DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 64)
        {more}
        with open({file!r} + ".tmp", "w") as f:
            f.write(str(os.getpid()))
        os.rename({file!r} + ".tmp", {file!r})
        time.sleep(600)
    os._exit(0)
while not os.path.exists({file!r}):
    time.sleep(0.01)
"""


def python(code: str, folder: Path, **env: str) -> Command:
    return Command((sys.executable, "-c", code), folder, env)


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_output_and_status_are_handed_back(tmp_path: Path) -> None:
    code = "import sys; print('out', flush=True); print('err', file=sys.stderr); sys.exit(3)"
    ended = run(python(code, tmp_path), timeout=60)
    assert (ended.status, ended.text, ended.ok) == (3, "out\nerr\n", False)


def test_a_signal_is_a_negative_status(tmp_path: Path) -> None:
    ended = run(python("import os; os.kill(os.getpid(), 9)", tmp_path), timeout=60)
    assert ended.status == -signal.SIGKILL


def test_the_environment_is_what_is_given_and_a_mark(tmp_path: Path) -> None:
    ended = run(
        Command(("/usr/bin/env",), tmp_path, {"ONE": "1"}),
        timeout=60,
    )
    names = {line.partition("=")[0] for line in ended.text.splitlines()}
    assert names == {"ONE", "BACKPORT_RUN"}


@pytest.mark.parametrize("program", ["/nonexistent/program", "a\0b", "."])
def test_what_cannot_be_started_is_one_clear_error(tmp_path: Path, program: str) -> None:
    with pytest.raises(StartError, match="cannot start"):
        run(Command((program,), tmp_path, {}), timeout=60)


def test_time_out_ends_a_process_that_ignores_the_asking(tmp_path: Path) -> None:
    code = "import signal, time; signal.signal(15, signal.SIG_IGN); print('up', flush=True)\n"
    ended = run(python(code + "time.sleep(600)", tmp_path), timeout=1.0)
    assert ended.timed_out
    assert not ended.ok
    assert ended.status == -signal.SIGKILL


def test_a_flood_is_bounded_in_memory_and_on_disk(tmp_path: Path) -> None:
    code = "import sys\nfor i in range(3000): sys.stdout.write('x' * 1000 + '\\n')\nprint('last')"
    log = tmp_path / "log"
    ended = run(python(code, tmp_path), timeout=60, limit=2000, log=log, log_limit=5000)
    assert ended.ok
    assert len(ended.output) < 2100
    assert ended.text.endswith("last\n")
    assert "bytes left out" in ended.text
    assert log.stat().st_size < 5100
    assert b"cut here" in log.read_bytes()


def test_the_listener_hears_everything(tmp_path: Path) -> None:
    heard: list[bytes] = []
    run(python("print('a' * 200000)", tmp_path), timeout=60, limit=10, listener=heard.append)
    assert b"".join(heard) == b"a" * 200000 + b"\n"


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
def test_a_daemon_that_left_the_session_is_ended_with_the_run(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    ended = run(python(DAEMON.format(file=str(file), more=""), tmp_path), timeout=60)
    assert ended.ok
    assert not alive(int(file.read_text()))


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
def test_everything_is_ended_when_the_caller_is_interrupted(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    code = DAEMON.format(file=str(file), more="") + "time.sleep(600)"

    def interrupted() -> None:
        with Running(python(code, tmp_path)):
            while not file.exists():
                time.sleep(0.01)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not alive(int(file.read_text()))


def test_a_child_that_holds_the_output_open_does_not_hold_up_the_run(tmp_path: Path) -> None:
    code = "import os, time\nif os.fork() == 0: time.sleep(600)\nprint('parent', flush=True)"
    ended = run(python(code, tmp_path), timeout=300)
    assert ended.ok
    assert ended.text == "parent\n"


def test_a_process_that_closes_its_output_is_still_waited_for(tmp_path: Path) -> None:
    code = "import os, time; os.close(1); os.close(2); time.sleep(0.3); os._exit(7)"
    ended = run(python(code, tmp_path), timeout=60)
    assert (ended.status, ended.output) == (7, b"")


@pytest.mark.skipif(sys.platform != "linux", reason="prctl is Linux's")
def test_on_a_leash_it_does_not_outlive_a_killed_starter(tmp_path: Path) -> None:
    code = (
        "import time; from pathlib import Path; from backport.process import Command, Running\n"
        "with Running(Command(('sleep', '60'), Path('/'), {'PATH': '/bin:/usr/bin'}), leash=True) "
        "as one:\n print(one.pid, flush=True); time.sleep(60)"
    )
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    with Running(Command((sys.executable, "-c", code), tmp_path, env)) as starter:
        said = b""
        while not said.endswith(b"\n"):
            said += starter.read() or b""
            time.sleep(0.01)
        child = Path(f"/proc/{int(said)}")
        until = time.monotonic() + 10
        while (child / "cmdline").read_bytes() != b"sleep\x0060\0":
            assert time.monotonic() < until
        os.kill(starter.pid, signal.SIGKILL)
        # Its parent is gone: whoever takes it over may leave it a zombie.
        while child.exists() and b") Z " not in (child / "stat").read_bytes():
            assert time.monotonic() < until
            time.sleep(0.01)


def test_on_a_leash_it_is_the_command_that_was_given(tmp_path: Path) -> None:
    command = Command(("sh", "-c", "echo $$ $A; exit 3"), tmp_path, {"A": "a", "PATH": "/bin"})
    with Running(command, leash=True) as one:
        while one.poll() is None:
            time.sleep(0.01)
        assert one.poll() == 3
        assert one.read() == f"{one.pid} a\n".encode()


@pytest.mark.parametrize(
    ("limit", "pieces", "value"),
    [
        (10, [b"short"], b"short"),
        (10, [b"0123456789"], b"0123456789"),
        (10, [b"0123456789A"], b"01234\n[... 1 bytes left out ...]\n6789A"),
        (4, [b"ab", b"cd", b"ef", b"gh"], b"ab\n[... 4 bytes left out ...]\ngh"),
        (4, [], b""),
    ],
)
def test_bounded_keeps_the_beginning_and_the_end(
    limit: int, pieces: list[bytes], value: bytes
) -> None:
    kept = Bounded(limit)
    for piece in pieces:
        kept.add(piece)
    assert kept.value() == value
