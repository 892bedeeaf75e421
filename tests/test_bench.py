"""The bench measures what it says: medians of turns, ratios within a turn, a line a figure."""

from __future__ import annotations

import io
import operator
import subprocess
import sys
import time

import pytest
from rich.console import Console

from backport.runner.results import Run, Status, TestResult
from bench.__main__ import main
from bench.equality import Difference, differences, our_outcomes, read_table
from bench.table import Section, row, show
from bench.timing import Figure, Spent, added, in_turns, spent


def turns(*seconds: float) -> tuple[Spent, ...]:
    return tuple(Spent(one, one / 2) for one in seconds)


def test_a_figure_is_the_median_of_the_turns_ratios_not_the_ratio_of_the_medians() -> None:
    figure = Figure("ours", "theirs", turns(1, 2, 9), turns(10, 4, 10), aim=0.5)
    assert figure.turns == [0.1, 0.5, 0.9]
    assert (figure.value, figure.cpu, figure.met) == (0.5, 0.5, True)


def test_a_figure_can_be_seconds_more() -> None:
    figure = Figure("ours", "theirs", turns(2.5, 2.0), turns(0.5, 0.5), 1.5, operator.sub)
    assert (figure.value, figure.met) == (1.75, False)
    assert row(figure)[2:] == ("1.750 s", "1.500–2.000", "0.875", "≤ 1.50 s", "missed")


def test_ways_are_gone_in_turns_and_a_warm_up_is_not_counted() -> None:
    gone: list[str] = []

    def way(name: str) -> Spent:
        gone.append(name)
        return Spent(len(gone), 0)

    said: list[str] = []
    taken = in_turns({"a": lambda: way("a"), "b": lambda: way("b")}, 2, said.append, warm_up=1)
    assert gone == ["a", "b"] * 3
    assert [one.wall for one in taken["a"]] == [3, 5]
    assert [one.wall for one in taken["b"]] == [4, 6]
    assert len(said) == 6


def test_what_is_gone_one_after_the_other_is_added_turn_by_turn() -> None:
    assert added([turns(1, 2), turns(10, 20)]) == turns(11, 22)


def test_processor_time_of_ended_processes_counts() -> None:
    busy = "import time\nwhile time.process_time() < 0.3: pass"
    taken = spent(lambda: subprocess.run([sys.executable, "-c", busy], check=True))
    assert taken.cpu >= 0.25
    idle = spent(lambda: time.sleep(0.2))
    assert idle.wall >= 0.2 > idle.cpu


def test_the_table_has_a_line_a_figure_with_its_aim_and_the_notes() -> None:
    figure = Figure("ours", "git am", turns(1, 1), turns(5, 10), aim=0.1)
    output = io.StringIO()
    section = Section("Engine", (figure,), ("the same trees", "on [brackets]"))
    show([section, Section("Environment", (), ("skipped",))], Console(file=output, width=120))
    said = output.getvalue()
    (line,) = [line for line in said.splitlines() if "git am" in line]
    assert line.split()[-6:] == ["0.150", "0.100–0.200", "0.150", "≤", "0.10", "missed"]
    assert "Engine (2 turns)" in said
    assert "on [brackets]" in said
    assert "skipped" in said


@pytest.mark.parametrize("args", [["nothing"], ["--turns", "0"], ["--turns", "x"]])
def test_what_is_no_section_is_a_usage_error_before_anything_is_made(
    args: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(args)
    assert ended.value.code == 2
    assert "usage: make bench" in capsys.readouterr().err


def test_outcomes_are_compared_test_by_test() -> None:
    theirs = read_table(
        "test,status,start_time,stop_time\na.T.same,success,,\na.T.gone,skip,,\n"
        '"a.T.odd(x,y)",fail,,\n'
    )
    statuses = {"same": Status.PASSED, "odd(x,y)": Status.PASSED, "new": Status.SETUP_ERROR}
    results = tuple(TestResult(f"a.T.{name}", status, 0) for name, status in statuses.items())
    ours = our_outcomes(Run("t", ("a",), results, 0, "", "", ""))
    assert differences(ours, theirs) == [
        Difference("a.T.gone", "did not run", "skip"),
        Difference("a.T.new", "fail", "did not run"),
        Difference("a.T.odd(x,y)", "success", "fail"),
    ]
