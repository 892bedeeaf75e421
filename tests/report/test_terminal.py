"""The live view, and the quiet one: on wide and narrow terminals, in logs, without UTF-8."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from threading import Thread

import pytest
from rich.cells import cell_len
from rich.console import Console

from backport.progress import Progress, Silent
from backport.report.live import CellProgress, LiveView, time_left
from backport.report.phrases import nickname
from backport.report.terminal import LineView, progress_view

HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"
TEST = "nova.tests.unit.test_api.ApiTestCase.test_quota"


class Clock:
    """Goes on by a second whenever it is looked at."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def terminal(width: int = 100, color: bool = True) -> Console:
    """A console that believes it is a terminal, and keeps what it is given."""
    return Console(
        file=io.StringIO(),
        width=width,
        height=30,
        force_terminal=True,
        color_system="standard" if color else None,
        _environ={"TERM": "xterm"},
    )


def log(width: int = 80) -> Console:
    """A console whose output goes to a file."""
    return Console(file=io.StringIO(), width=width, force_terminal=False, _environ={})


def written(console: Console) -> str:
    """What has come out, escapes and all."""
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def seen(console: Console) -> str:
    """What has come out, without escapes and returns to the start of a line."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", written(console))


def work(progress: Progress) -> None:
    """A run with everything in it that a progress hears of."""
    progress.step("load", "ocata/bug-1783613")
    progress.step("apply", "2 changes [stable only] onto 77ece76a70")
    progress.note("api.py went in by three-way")
    progress.update("change 2", 1, 2)
    progress.step("verify")
    progress.cell_started("green 1/1", 2)
    progress.cell_test("green 1/1", TEST, True)
    progress.cell_test("green 1/1", f"{TEST}_two", False)
    progress.cell_finished("green 1/1", "1 passed, 1 failed", False)
    progress.cell_started("red 2/1", 1)
    progress.cell_test("red 2/1", TEST, False)
    progress.cell_finished("red 2/1", "1 of 1 fails, as it must", True)


def draw(view: LiveView, width: int = 100) -> list[str]:
    """The picture that is below the finished lines now."""
    console = Console(file=io.StringIO(), width=width, height=30)
    console.print(view)
    return [line.rstrip() for line in seen(console).splitlines()]


def test_a_log_gets_one_line_per_step_failing_test_and_cell() -> None:
    console = log()
    with progress_view(console, Clock()) as view:
        work(view)
    assert written(console).splitlines() == [
        "· load: ocata/bug-1783613",
        "· apply: 2 changes [stable only] onto 77ece76a70",
        "    api.py went in by three-way",
        "· verify",
        "    green 1/1 fails: ApiTestCase.test_quota_two",
        "  ✗ green 1/1: 1 passed, 1 failed (1.0 s)",
        "    red 2/1 fails: ApiTestCase.test_quota",
        "  ✓ red 2/1: 1 of 1 fails, as it must (1.0 s)",
    ]


def test_a_log_line_stays_one_line_however_long() -> None:
    console = log(width=40)
    with progress_view(console, Clock()) as view:
        view.step("verify", "x" * 300)
        view.note("one\ntwo\r\nthree")
    assert written(console).splitlines() == [f"· verify: {'x' * 300}", "    one two three"]


def test_a_log_names_some_of_many_failing_tests() -> None:
    console = log()
    with progress_view(console, Clock()) as view:
        view.cell_started("green 1/1", 500)
        for number in range(500):
            view.cell_test("green 1/1", f"{TEST}_{number}", False)
        view.cell_finished("green 1/1", "500 failed", False)
    lines = written(console).splitlines()
    assert len(lines) == 11
    assert lines[9].endswith("test_quota_9 (further ones are in the report)")
    assert lines[10].startswith("  ✗ green 1/1: 500 failed")


def test_each_line_of_a_log_is_flushed() -> None:
    class Watched(io.StringIO):
        flushed = 0

        def flush(self) -> None:
            self.flushed += 1

    file = Watched()
    with LineView(Console(file=file, _environ={}), Clock()) as view:
        view.step("load")
        first = file.flushed
        view.step("apply")
    assert 0 < first < file.flushed


def test_a_terminal_keeps_finished_steps_and_cells() -> None:
    console = terminal()
    with progress_view(console, Clock()) as view:
        work(view)
    text = seen(console)
    for line in (
        r"✓ load +ocata/bug-1783613 +\d",
        r"✓ apply +change 2 +\d",
        r"    api.py went in by three-way",
        r"· verify",
        r"  ✗ green 1/1  1 passed, 1 failed +\d",
        r"  ✓ red 2/1    1 of 1 fails, as it must +\d",
    ):
        assert re.search(f"^{line}", text, re.MULTILINE), line


def test_a_running_cell_has_a_bar_counts_its_failing_tests_and_the_time_that_is_left() -> None:
    view = LiveView(terminal(), Clock())
    view.step("verify")
    view.cell_started("green 2/2", 8)
    for number in range(4):
        view.cell_test("green 2/2", f"{TEST}_{number}", number != 2)
    row, failing = draw(view)
    assert re.search(r"green 2/2  ━{12}─{12} 4/8  1 failed +\d.* left$", row)
    assert failing.strip() == "✗ ApiTestCase.test_quota_2"


def test_only_the_last_failing_tests_are_named_and_the_others_counted() -> None:
    view = LiveView(terminal(), Clock())
    view.step("verify")
    view.cell_started("green 2/2", 8)
    for number in range(6):
        view.cell_test("green 2/2", f"{TEST}_{number}", False)
    assert [line.strip() for line in draw(view)[1:]] == [
        "✗ ApiTestCase.test_quota_3",
        "✗ ApiTestCase.test_quota_4",
        "✗ ApiTestCase.test_quota_5",
        "and 3 more",
    ]


def test_what_must_fail_is_not_drawn_in_red() -> None:
    for label, red in (("red 2/1", False), ("flip 1/2", False), ("green 1/1", True)):
        console = terminal()
        view = LiveView(console, Clock())
        view.cell_started(label, 2)
        view.cell_test(label, TEST, False)
        console.print(view)
        assert ("\x1b[31m" in written(console)) is red


@pytest.mark.parametrize("width", [20, 40, 59, 80])
def test_nothing_is_wider_than_the_terminal(width: int) -> None:
    view = LiveView(terminal(width), Clock())
    view.step("environment", "installing 日本語 packages, which takes a while")
    view.update("installing SQLAlchemy-1.1.5", 3, 103)
    first = draw(view, width)
    view.step("verify")
    view.cell_started("green 2/2", 714)
    view.cell_test("green 2/2", f"{TEST}_with_a_name_that_goes_on_and_on", False)
    rows = [*first, *draw(view, width)]
    assert rows
    assert all(cell_len(row) <= width for row in rows)
    assert any("714" in row for row in rows) or width < 40


def test_more_cells_than_lines_are_cut_to_the_screen() -> None:
    view = LiveView(terminal(), Clock())
    for number in range(200):
        view.cell_started(f"green {number}/{number}", 5)
    assert len(draw(view)) <= 30


def test_no_color_means_no_colour() -> None:
    console = terminal(color=False)
    with progress_view(console, Clock()) as view:
        work(view)
    assert not re.search(r"\x1b\[[0-9;]*m", written(console))


def _break_off(console: Console, error: BaseException) -> None:
    with progress_view(console, Clock()) as view:
        view.step("verify")
        view.cell_started("green 1/1", 5)
        view.cell_test("green 1/1", TEST, True)
        raise error


@pytest.mark.parametrize("error", [RuntimeError("bug"), KeyboardInterrupt(), SystemExit(1)])
def test_the_cursor_comes_back_whatever_happens(error: BaseException) -> None:
    console = terminal()
    with pytest.raises(type(error)):
        _break_off(console, error)
    text = written(console)
    assert text.count(HIDE) == text.count(SHOW) == 1
    assert text.index(HIDE) < text.rindex(SHOW)
    assert "green 1/1: stopped at 1/5" in seen(console)
    assert re.search(r"^✗ verify", seen(console), re.MULTILINE)


def test_a_dumb_terminal_gets_lines() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, _environ={"TERM": "dumb"})
    assert isinstance(progress_view(console, Clock()), LineView)


@pytest.mark.parametrize("encoding", ["ascii", "iso-8859-1", "koi8-r"])
@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_terminal_without_utf8_gets_signs_that_it_has(encoding: str, is_terminal: bool) -> None:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding, errors="strict")
    console = Console(file=file, width=70, force_terminal=is_terminal, _environ={"TERM": "xterm"})
    with progress_view(console, Clock()) as view:
        view.step("apply", "日本 …")
        work(view)
        view.cell_started("green 3/3", 4)
        view.cell_test("green 3/3", "a.b.test_日本", False)
        console.print(view if isinstance(view, LiveView) else "")
    file.flush()
    text = raw.getvalue().decode(encoding)
    assert "ok" in text
    assert "no" in text
    assert "test_\\u65e5" in text
    assert "2 changes [stable only] onto" in text or is_terminal


def test_escapes_in_names_do_not_reach_the_terminal() -> None:
    console = log()
    with progress_view(console, Clock()) as view:
        view.step("load\x1b[2J", "\x1b]0;title\x07 [bold]x[/bold] :bomb: \x00")
        view.cell_started("green 1/1", 1)
        view.cell_test("green 1/1", "a.b.test\x1b[31m_x\u202e", False)
    text = written(console)
    assert "\x1b" not in text
    assert "[bold]x[/bold] :bomb:" in text
    assert "\u202e" not in text


def test_many_threads_may_report_at_once() -> None:
    console = terminal()

    def cell(label: str) -> None:
        view.cell_started(label, 300)
        for number in range(300):
            view.cell_test(label, f"{TEST}_{number}", number % 3 > 0)
            if number % 50 == 0:
                view.note(f"{label} has come to {number}")
                view.update(label, number, 300)
        view.cell_finished(label, "300 tests", True)

    with progress_view(console, Clock()) as view:
        view.step("verify")
        threads = [Thread(target=cell, args=(f"green {n}/{n}",)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert not any(thread.is_alive() for thread in threads)
    assert len(set(re.findall(r"✓ (green \d/\d)", seen(console)))) == 8


def test_all_three_are_progress() -> None:
    listeners: Iterator[Progress] = iter([LiveView(terminal(), Clock()), LineView(log(), Clock())])
    for listener in (*listeners, Silent()):
        work(listener)


@pytest.mark.parametrize(
    ("done", "elapsed", "past", "left"),
    [
        (0, 5.0, None, None),  # nobody knows
        (0, 5.0, 20.0, 15.0),  # only the past
        (50, 10.0, None, 10.0),  # half of it took 10 s
        (50, 10.0, 30.0, 15.0),  # between 10 by share and 20 by the past
        (100, 10.0, 30.0, 0.0),
        (0, 50.0, 20.0, 0.0),  # slower than ever
        (1, 1.0, None, None),  # too early to say
    ],
)
def test_the_time_that_is_left(
    done: int, elapsed: float, past: float | None, left: float | None
) -> None:
    assert time_left(CellProgress("green", 100, 7.0, done), 7.0 + elapsed, past) == left


def test_time_left_without_a_total_is_unknown() -> None:
    assert time_left(CellProgress("green", 0, 0.0, 5), 9.0) is None


@pytest.mark.parametrize(
    ("test", "name"),
    [
        ("a.b.Class.test", "Class.test"),
        ("a.b.Class.test(x.y.z)", "Class.test(x.y.z)"),
        ("test", "test"),
        ("", ""),
    ],
)
def test_nicknames(test: str, name: str) -> None:
    assert nickname(test) == name
