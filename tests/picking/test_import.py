"""A series from commits of a newer branch: which commits, what is written, what is said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from backport.errors import ExitCode
from gitrepo import snapshot
from newer import BUG, FIX_ID, STATS_ID, TEST, History, make_history

# What is typed, with {names} of the history; the commits that are picked, and from where.
FOUND = {
    "a bug: the recreate test and its fix, in order": (
        ["--bug", str(BUG)],
        ["test", "fix"],
        "pike-eol",
    ),
    "commits in the wrong order": (["{fix}", "{test}"], ["test", "fix"], "pike-eol"),
    "a range": (["{test}~1..{fix}"], ["test", "fix"], "pike-eol"),
    "a Change-Id": ([FIX_ID], ["fix"], "pike-eol"),
    "master's: the nearer one is taken": (["{stats}"], ["pike_stats"], "pike-eol"),
    "a Change-Id that two branches have": ([STATS_ID], ["pike_stats"], "pike-eol"),
    "as named": (["--as-named", "{stats}"], ["stats"], "master"),
    "a commit twice": (["{fix}", FIX_ID], ["fix"], "pike-eol"),
}
# What is typed; what the error says.
REFUSED = {
    "a merge: its parents are named": (["{merge}", "--series", "x"], "is a merge"),
    "nothing": ([], "nothing is named"),
    "no such commit": (["0123456789", "--series", "x"], "has no commit '0123456789'"),
    "no such Change-Id": (["I" + "9" * 40, "--series", "x"], "has the Change-Id I999"),
    "no such bug": (["--bug", "4"], "trailer for bug 4"),
    "a number within another": (["--bug", str(BUG)[:-1]], "trailer for bug 168269"),
    "no name": (["{fix}"], "needs a name"),
    "a name that leads elsewhere": (["{fix}", "--series", "ocata/.."], "cannot be the name"),
    "an empty range": (["{fix}..{fix}", "--series", "x"], "holds no commit"),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> History:
    return make_history(tmp_path_factory.mktemp("history"))


@pytest.fixture
def names(made: History) -> Iterator[dict[str, str]]:
    """Give the commits by name, and take away what was imported."""
    yield {
        name: str(getattr(made, name)) for name in ("test", "fix", "stats", "pike_stats", "merge")
    }
    for file in made.project.root.glob("patches/ocata/*/series.yaml"):
        file.unlink()
        file.parent.rmdir()


@pytest.mark.parametrize("case", FOUND)
def test_commits_are_found_on_the_nearest_newer_branch(
    made: History, names: dict[str, str], case: str
) -> None:
    typed, picked, line = FOUND[case]
    before = snapshot(made.repo.path)
    ran = made.run("import", *(word.format(**names) for word in typed), "--series", "x", "--json")
    assert ran.report["schema"] == "backport-import/1", ran.err
    sources = ran.report["sources"]
    assert [one["commit"] for one in sources] == [names[name] for name in picked]
    assert {one["line"] for one in sources} == {line}
    assert before.beside(snapshot(made.repo.path)) == {}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_imported_is_refused_in_words(
    made: History, names: dict[str, str], case: str
) -> None:
    typed, words = REFUSED[case]
    ran = made.run("import", *(word.format(**names) for word in typed))
    assert (ran.code, words in ran.err) == (ExitCode.USAGE, True), ran.err
    assert list((made.project.root / "patches/ocata").glob("*/series.yaml")) == []


def test_a_merge_names_what_it_merged(made: History, names: dict[str, str]) -> None:
    ran = made.run("import", made.merge, "--series", "x")
    first, second = made.repo.git("rev-parse", f"{made.merge}^1", f"{made.merge}^2").split()
    assert f"{first[:12]}..{second[:12]}" in ran.err
    assert "On a topic" in ran.err


def test_the_series_is_complete_and_runs(made: History, names: dict[str, str]) -> None:
    ran = made.run("import", "--bug", str(BUG))
    assert ran.code == ExitCode.DONE, ran.err
    file = made.project.root / f"patches/ocata/bug-{BUG}/series.yaml"
    keys = yaml.safe_load(file.read_text())
    assert (keys["bug"], keys["title"]) == (BUG, "Copy the filters")
    test, fix = keys["changes"]
    assert (test["kind"], fix["kind"]) == ("regression-test", "fix")
    assert fix["change-id"] == FIX_ID
    assert fix["author"] == "Ann Author <ann@example.org>"
    assert fix["tests"] == ["small.tests.test_bug_1682693.Filters.test_tags"]
    ran = made.run("run", f"ocata/bug-{BUG}", "--skip-tests", "--json")
    assert ran.code == ExitCode.DONE, ran.err
    branch = f"backport/ocata/bug-{BUG}"
    assert made.repo.show(branch, TEST) == made.repo.show(made.fix, TEST)
    assert made.repo.git("log", "-1", "--format=%B", branch).rstrip().splitlines()[-2:] == [
        f"Closes-Bug: #{BUG}",
        f"(cherry picked from commit {made.fix})",
    ]
    made.repo.git("branch", "-D", branch)


def test_nothing_is_overwritten(made: History, names: dict[str, str]) -> None:
    folder = made.project.root / "patches/ocata/mine"
    folder.mkdir()
    ran = made.run("import", "--bug", str(BUG), "--series", "mine")
    assert (ran.code, list(folder.iterdir())) == (ExitCode.USAGE, [])
    assert "nothing is overwritten" in ran.err
    folder.rmdir()


def test_a_conflict_is_said_and_the_changes_after_it_are_tried(
    made: History, names: dict[str, str]
) -> None:
    ran = made.run("import", made.stats, made.fix, "--series", "x", "--as-named", "--json")
    assert ran.code == ExitCode.CONFLICT
    fix, stats = ran.report["trials"]
    assert (fix["fate"], stats["fate"]) == ("conflict", "conflict")
    assert stats["alone"]
    assert stats["files"][0]["path"] == "small/api.py"


def test_a_series_elsewhere_gets_its_branch_beside_it(
    made: History, names: dict[str, str], tmp_path: Path
) -> None:
    ran = made.run("import", "--bug", str(BUG), "--series", str(tmp_path / "ocata/pair"))
    assert ran.code == ExitCode.DONE, ran.err
    there = sorted(path.name for path in (tmp_path / "ocata").iterdir())
    assert there == ["branch.yaml", "pair", "requirements.txt"]
    ran = made.run("run", str(tmp_path / "ocata/pair"), "--skip-tests", "--dry-run")
    assert ran.code == ExitCode.DONE, ran.err
