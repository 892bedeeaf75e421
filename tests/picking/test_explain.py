"""A conflict is explained by the commits that are missing here, graded, with the NOTE for it."""

from __future__ import annotations

import pytest

from backport.errors import ExitCode
from newer import History, make_history


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> History:
    return make_history(tmp_path_factory.mktemp("history"))


def test_the_missing_change_is_named_and_noted(made: History) -> None:
    made.run("import", made.stats, "--series", "stats")
    ran = made.run("explain", "ocata/stats", "--json")
    assert ran.code == ExitCode.DONE, ran.err
    (change,) = ran.report["changes"]
    (hunk,) = change["hunks"]
    assert (hunk["path"], hunk["home"]) == ("small/api.py", "show")
    (cause,) = [one for one in hunk["causes"] if one["grade"] == "prerequisite"]
    assert cause["subject"] == "Count what is shown"
    assert cause["on"] == ["pike-eol", "origin/unmaintained/queens", "master"]
    assert (cause["files"], cause["insertions"], cause["deletions"]) == (1, 4, 0)
    words = "The conflict is due to not having change"
    assert change["note"] == f"NOTE(carl): {words} {'I' + 'd4' * 20} in Ocata."
    assert "prerequisite" in made.run("explain", "ocata/stats").out


def test_a_file_that_is_not_here_is_explained_by_what_brought_it(made: History) -> None:
    made.run("import", made.fix, "--series", "fix")
    ran = made.run("explain", "ocata/fix", "--json")
    hunks = ran.report["changes"][0]["hunks"]
    brought = [one for hunk in hunks for one in hunk["causes"] if "brought" in one["why"]]
    assert [one["commit"] for one in brought] == [made.test]


def test_where_nothing_conflicts_there_is_nothing_to_explain(made: History) -> None:
    made.run("import", made.test, "--series", "clean")
    ran = made.run("explain", "ocata/clean")
    assert (ran.code, "nothing conflicts" in ran.out) == (ExitCode.DONE, True)
