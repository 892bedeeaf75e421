"""Each command that is printed as a next step is pasted into a shell, as it is, and works."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from project import Project, Ran, make_project
from test_verdicts import (
    FIXED,
    FLIPPED,
    HERE,
    MODULE,
    RECREATE,
    TEST,
    TESTS,
    Row,
    build,
    with_tests,
)

GOOD = Row("", "", 0, ({TEST: RECREATE}, {MODULE: FIXED, TEST: FLIPPED}))
BROKEN = Row("", "", 1, ({MODULE: "def half(number):\n    return 1\n", TEST: FLIPPED},), ("fix",))
USELESS = Row(
    "",
    "",
    1,
    ({MODULE: FIXED, TEST: TESTS.replace("4", "8").replace("2,", "4,")},),
    ("fix",),
)
#: In the shell that a person has, the command is on the path.
SHELL = f'backport() {{ "{sys.executable}" -m backport "$@"; }}\n'


@pytest.fixture
def project(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Project:
    """A project whose path has to be quoted, and whose tests run under this Python."""
    monkeypatch.setenv("BACKPORT_CACHE", str(tmp_path_factory.getbasetemp() / "next-steps-cache"))
    monkeypatch.setenv("GIT_PAGER", "cat")
    root = tmp_path / "it's a folder"
    root.mkdir()
    made = make_project(root)
    with_tests(made, {HERE: "requirements.txt"})
    return made


def again(project: Project, series: str, *args: str) -> Ran:
    return run(project, series, "--json", *args)


def run(project: Project, series: str, *args: str) -> Ran:
    where = ("--checkout", str(project.repo.path), "--python", sys.executable)
    return project.run("run", series, *where, *args)


def dry(project: Project, series: str) -> Ran:
    return again(project, series, "--dry-run")


def untested(project: Project, series: str) -> Ran:
    return again(project, series, "--skip-tests")


def taken(project: Project, series: str) -> Ran:
    project.repo.git("branch", "backport/ocata/bug-1")
    return again(project, series, "--skip-tests")


def present(project: Project, series: str) -> Ran:
    again(project, series, "--skip-tests")
    return again(project, series, "--onto", "backport/ocata/bug-1")


def conflicting(project: Project, series: str) -> Ran:
    project.repo.commit("in the way", {MODULE: "def half(number):\n    return 7\n"})
    return again(project, series)


def dry_conflict(project: Project, series: str) -> Ran:
    project.repo.commit("in the way", {MODULE: "def half(number):\n    return 7\n"})
    return again(project, series, "--dry-run")


CASES = [
    ("proven", GOOD, again, {"git": 0}),
    ("a dry run", GOOD, dry, {"backport run": 0}),
    ("not tested", GOOD, untested, {"git": 0, "backport verify": 0}),
    ("broken", BROKEN, again, {"backport test": 1}),
    ("unproven", USELESS, again, {"backport run": 1}),
    ("refused", GOOD, taken, {"git": 0}),
    ("already in", GOOD, present, {"git": 0}),
    (
        "conflict",
        GOOD,
        conflicting,
        {"backport status": 3, "backport continue": 3, "backport abort": 0},
    ),
    ("conflict of a dry run", GOOD, dry_conflict, {"backport run": 3}),
]


@pytest.mark.parametrize(("name", "row", "how", "ends"), CASES, ids=[case[0] for case in CASES])
def test_every_next_step_works_as_it_is(
    project: Project,
    name: str,
    row: Row,
    how: Callable[[Project, str], Ran],
    ends: dict[str, int],
) -> None:
    ran = how(project, build(project, row))
    commands = [step["command"] for step in ran.report["next_steps"] if step["command"]]
    expected = dict(ends)
    assert commands
    for command in commands:
        assert "\n" not in command
        done = subprocess.run(
            ["bash", "-c", SHELL + command],
            cwd=project.root,
            env=dict(os.environ),
            capture_output=True,
            text=True,
        )
        start = next(word for word in expected if command.startswith(word))
        allowed = (expected[start], 0) if start == "backport status" else (expected[start],)
        assert done.returncode in allowed, (command, done.stdout, done.stderr)
    assert {next(word for word in ends if command.startswith(word)) for command in commands} == set(
        ends
    )


def test_backport_test_is_a_document_and_writes_what_it_says(project: Project) -> None:
    series = build(project, BROKEN)
    where = ("--checkout", str(project.repo.path), "--python", sys.executable)
    on = ("stable/ocata", "--series", series, "--change", "1", "--json", "--fresh", *where)
    ran = project.run("test", *on)
    assert (ran.code, ran.report["result"]) == (1, "failed")
    (one,) = ran.report["runs"]
    assert one["counts"] == {"failed": 1}
    for file in (*ran.report["files"], one["log"]):
        assert (project.root / file).is_file(), file
    assert (
        project.run("test", "stable/ocata", "--series", series, "--change", "2", *where).code == 2
    )


def test_an_error_after_the_checkout_is_known_goes_to_standard_error_too(project: Project) -> None:
    series = build(project, GOOD)
    ran = taken(project, series)
    assert ran.code == 5
    assert ran.report["problem"]["message"] in ran.err


def test_refused_is_said_once(project: Project) -> None:
    series = build(project, GOOD)
    project.repo.git("branch", "backport/ocata/bug-1")
    ran = run(project, series, "--skip-tests")
    assert "! Refused  branch" in ran.out
    assert (ran.out + ran.err).count(" refused") == 0
    assert (ran.out + ran.err).count("holds other commits already") == 1


def test_a_dry_run_is_not_stopped_by_what_it_would_not_write(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    series = build(project, GOOD)
    project.repo.git("branch", "backport/ocata/bug-1")
    for name in (
        "GIT_AUTHOR_NAME",
        "GIT_AUTHOR_EMAIL",
        "GIT_COMMITTER_NAME",
        "GIT_COMMITTER_EMAIL",
    ):
        monkeypatch.delenv(name, raising=False)
    project.repo.git("config", "user.useConfigOnly", "true")
    for key in ("user.name", "user.email"):
        subprocess.run(["git", "-C", project.repo.path, "config", "--unset", key], check=False)
    ran = dry(project, series)
    assert (ran.code, ran.report["result"]) == (0, "proven"), ran.err
    assert "holds other commits already" in ran.report["branch"]["reason"]


def test_a_remote_branch_that_differs_is_told_of(project: Project) -> None:
    series = build(project, GOOD)
    ahead = project.repo.git("rev-parse", "stable/ocata~0").strip()
    project.repo.commit("local", {"small/local.py": ""})
    project.repo.git("update-ref", "refs/remotes/origin/stable/ocata", ahead)
    ran = untested(project, series)
    (note,) = ran.report["checkout"]["notes"]
    assert f"origin/stable/ocata is at {ahead[:10]}" in note
    assert note.endswith("--onto origin/stable/ocata")


def test_bare_backport_prints_help(project: Project) -> None:
    ran = project.run()
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("Usage: backport")
