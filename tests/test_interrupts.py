"""An interrupt that comes while Python cleans up is not lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from backport.interrupts import deferred, interrupts


class Slow:
    """Is interrupted while it is cleaned up."""

    def __init__(self, number: signal.Signals) -> None:
        self.number = number

    def __del__(self) -> None:
        os.kill(os.getpid(), self.number)
        sum(range(1000))


def clean_up(number: signal.Signals) -> None:
    """Drop an object, and go on until the interrupt comes."""
    Slow(number)
    while True:
        time.sleep(0.001)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_comes_again_and_nothing_is_printed(
    number: signal.Signals, capsys: pytest.CaptureFixture[str]
) -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt), interrupts():
        clean_up(number)
    assert capsys.readouterr().err == ""
    assert signal.getsignal(signal.SIGTERM) is before


def turned_into_another_error(number: signal.Signals) -> None:
    """Be interrupted in a library that knows errors of its own only."""
    try:
        os.kill(os.getpid(), number)
        clean_up(number)
    except KeyboardInterrupt as error:
        raise ValueError("cannot be built") from error


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_is_told_from_the_error_that_a_library_makes_of_it(number: signal.Signals) -> None:
    with pytest.raises(KeyboardInterrupt), interrupts():
        turned_into_another_error(number)


def test_other_errors_stay_what_they_are() -> None:
    with pytest.raises(ValueError, match="x"), interrupts():
        int("x")


def interrupted_within(*numbers: signal.Signals) -> list[str]:
    done: list[str] = []
    try:
        with interrupts(), deferred():
            for number in numbers:
                os.kill(os.getpid(), number)
            done.append("all of it")
    except KeyboardInterrupt:
        done.append("then the interrupt")
    return done


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_waits_until_what_is_not_to_be_done_by_half_is_done(number: signal.Signals) -> None:
    assert interrupted_within(number) == ["all of it", "then the interrupt"]


def test_a_second_one_does_not_wait() -> None:
    assert interrupted_within(signal.SIGINT, signal.SIGTERM) == ["then the interrupt"]


def test_without_one_nothing_happens() -> None:
    before = signal.getsignal(signal.SIGINT)
    with interrupts(), deferred():
        pass
    assert signal.getsignal(signal.SIGINT) is before


def test_one_that_comes_while_the_tool_is_loaded_is_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("import os\nos.kill(os.getpid(), 2)\nprint('loaded')\n")
    done = subprocess.run(
        [sys.executable, "-m", "backport", "show"],
        env=os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{Path(__file__).parents[1]}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "error: interrupted\n")


def test_a_folder_that_is_gone_is_said_so(tmp_path: Path) -> None:
    script = 'mkdir gone && cd gone && rmdir ../gone && exec "$0" -m backport show ocata/bug-1'
    done = subprocess.run(
        ["sh", "-c", script, sys.executable],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "is not there any more" in done.stderr
    assert "Traceback" not in done.stderr
