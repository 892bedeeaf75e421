"""The main job, from the release on the package index to a proven branch."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stranger import Stranger

pytestmark = pytest.mark.nova

SERIES = "ocata/bug-1783613"
BRANCH = "backport/ocata/bug-1783613"

TEST_MESSAGE = """\
[stable only] Add functional regression test for bug 1783613

Related-Bug: #1783613

Change-Id: Ib65b0c7c5b83c53edf63f23fa522334c6a666ae4
"""
FIX_ENDS = """

Closes-Bug: #1783613

Change-Id: I4d492dcad193ff0b1202dcae97954cc65b75c109
"""


@pytest.fixture(scope="module")
def first(stranger: Stranger) -> dict[str, Any]:
    """The report of the first run, everything made from nothing."""
    ran = stranger.run("run", SERIES, "--prove-hunks", "--json")
    assert ran.returncode == 0, ran.stderr + ran.stdout
    report = json.loads(ran.stdout)
    assert isinstance(report, dict)
    return report


def test_the_proof_holds_cell_by_cell(first: dict[str, Any]) -> None:
    assert first["result"] == "proven"
    cells = {cell["label"]: cell for cell in first["proof"]["cells"]}
    assert sorted(cells) == ["flip 1/2", "green 1/1", "green 2/2", "red 2/1", "whole 2/2"]
    assert all(cell["ok"] for cell in cells.values())
    counts = {label: cell["counts"] for label, cell in cells.items()}
    assert counts["green 1/1"] == {"passed": 2}
    assert counts["flip 1/2"] == {"failed": 2}
    assert set(counts["red 2/1"]) == {"failed"}
    assert counts["green 2/2"]["passed"] > 712
    assert "failed" not in counts["green 2/2"]


def test_the_red_cell_fails_by_the_tests_of_this_bug_and_no_other(first: dict[str, Any]) -> None:
    red = next(cell for cell in first["proof"]["cells"] if cell["kind"] == "red")
    for test in red["tests"]:
        assert "test_bug_1783613" in test["id"] or "test_delete_while_booting" in test["id"]


def test_every_hunk_of_the_fix_is_guarded(first: dict[str, Any]) -> None:
    guards = {hunk["header"]: hunk["guard"] for hunk in first["proof"]["hunks"]}
    assert len(guards) == 2
    assert set(guards.values()) == {"guarded"}


def test_the_messages_end_exactly_as_they_must(stranger: Stranger, first: dict[str, Any]) -> None:
    assert stranger.git("log", "-1", "--format=%B", f"{BRANCH}~1") == TEST_MESSAGE + "\n"
    fix = stranger.git("log", "-1", "--format=%B", BRANCH)
    assert fix.startswith("[stable only] Handle quota usage during create/delete races\n\n")
    assert fix.endswith(FIX_ENDS + "\n")
    assert max(map(len, fix.splitlines())) <= 72


def test_the_commits_carry_the_checkouts_own_identity(
    stranger: Stranger, first: dict[str, Any]
) -> None:
    who = stranger.git("log", "--format=%an <%ae> %cn", f"{first['checkout']['base']}..{BRANCH}")
    assert set(who.splitlines()) == {"Built-in checkout <backport@localhost> Built-in checkout"}


def test_the_built_in_checkout_is_two_commits_and_clean(
    stranger: Stranger, first: dict[str, Any]
) -> None:
    subjects = stranger.git("log", "--format=%s", "stable/ocata").splitlines()
    assert subjects[1] == "openstack/nova 15.1.5, as released"
    assert len(subjects) == 2
    assert stranger.git("rev-parse", "15.1.5") == stranger.git("rev-parse", "stable/ocata~1")
    assert stranger.git("status", "--porcelain") == ""
    stranger.git("fsck", "--strict")


def test_the_reports_are_there(stranger: Stranger, first: dict[str, Any]) -> None:
    folder = stranger.home / ".local/state/backport/reports/latest"
    assert sorted(path.name for path in folder.iterdir()) == [
        "junit.xml",
        "report.html",
        "report.json",
        "report.md",
    ]
    assert json.loads((folder / "report.json").read_text()) == first


def test_a_second_run_has_nothing_to_do_and_runs_nothing(
    stranger: Stranger, first: dict[str, Any]
) -> None:
    ran = stranger.run("run", SERIES, "--json")
    assert ran.returncode == 0
    assert "nothing to do" in ran.stderr
    second = json.loads(ran.stdout)
    assert second["branch"]["action"] == "nothing-to-do"
    assert second["branch"]["tip"] == first["branch"]["tip"]
    assert all(cell["reused"] for cell in second["proof"]["cells"])


def test_any_test_can_be_run_on_any_commit(stranger: Stranger, first: dict[str, Any]) -> None:
    name = "nova.tests.functional.regressions.test_bug_1783613"
    good = stranger.run("test", BRANCH, name)
    assert good.returncode == 0, good.stderr
    assert "2 passed" in good.stdout
    missing = stranger.run("test", f"{BRANCH}~2", name)
    assert missing.returncode == 2
    assert "there is no such module" in missing.stderr


def test_env_prints_an_interpreter_that_can_import_nova_s_dependencies(
    stranger: Stranger, first: dict[str, Any]
) -> None:
    ran = stranger.run("env")
    assert ran.returncode == 0
    assert ran.stdout.endswith("/bin/python\n")
