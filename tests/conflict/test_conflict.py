"""A conflict: the checkout as it was, a work tree to edit, and then as if there had been none."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from gitrepo import snapshot
from project import Project

TEN = "".join(f"line {n}\n" for n in range(1, 11))
FIVE = TEN.replace("line 5", "line V")
THEIRS = TEN.replace("line 5", "line five")
BRANCH = "refs/heads/backport/ocata/bug-1"


def conflicting(project: Project, **more: Any) -> str:
    """Make a series of two changes whose first conflicts with the branch."""
    repo = project.repo
    before = repo.commit("before", {"a": TEN, "b": TEN})
    one = repo.commit("one", {"a": FIVE})
    two = repo.commit("two", {"b": FIVE})
    patches = {"0001.patch": repo.diff(before, one), "0002.patch": repo.diff(one, two)}
    repo.git("checkout", "-q", "-B", "stable/ocata", before)
    repo.commit("base", {"a": THEIRS})
    repo.write({"dirty": "work in progress\n", "b": "edited\n"})
    return project.series([{"patch": name} for name in patches], patches, **more)


def work_tree(project: Project) -> Path:
    state = Path(os.environ["HOME"]) / ".local/state/backport/conflicts"
    (found,) = state.glob("*/*/work-*")
    return found


def test_a_conflict_leaves_the_checkout_as_it_was_and_shows_both_sides(project: Project) -> None:
    series = conflicting(project)
    before = snapshot(project.repo.path)
    ran = project.apply(series)
    assert ran.code == 3
    assert snapshot(project.repo.path) == before
    work = work_tree(project)
    assert ran.report["conflict"]["work_tree"] == str(work)
    assert not work.is_relative_to(project.repo.path)
    assert "<<<<<<< branch\nline five\n" in (work / "a").read_text()
    status = project.run("status")
    assert status.code == 3
    for words in ("Conflict pending", "line five", "line V", "backport continue", "line 5\n"):
        assert words in status.out


def test_continue_refuses_markers_and_then_goes_on(project: Project) -> None:
    series = conflicting(project)
    project.apply(series)
    before = snapshot(project.repo.path)
    refused = project.run("continue")
    assert refused.code == 3
    assert "conflict markers are left: a:5" in refused.err
    (work_tree(project) / "a").write_text(THEIRS.replace("five", "V and five"))
    (work_tree(project) / "a.orig").write_text("an editor's backup\n")
    done = project.run("continue", "--json")
    assert done.code == 0, done.err
    assert snapshot(project.repo.path).without(BRANCH) == before
    assert project.files()["a"] == THEIRS.replace("five", "V and five").encode()
    assert project.files()["b"] == FIVE.encode()
    assert "a.orig" not in project.files()
    assert project.run("status").out == "no conflict is pending\n"


def test_the_message_is_the_one_of_a_run_without_conflict(project: Project) -> None:
    series = conflicting(project)
    project.apply(series, "--onto", "stable/ocata~1", "--branch-name", "clean")
    clean = project.repo.git("log", "--format=%B%x00", "--reverse", "stable/ocata~1..clean")
    project.apply(series)
    (work_tree(project) / "a").write_text(FIVE)
    assert project.run("continue").code == 0
    resolved = project.repo.git("log", "--format=%B%x00", "--reverse", f"stable/ocata..{BRANCH}")
    assert resolved == clean


def test_a_conflicts_section_is_written_where_the_series_asks_for_one(project: Project) -> None:
    series = conflicting(project, **{"conflicts-section": True})
    project.apply(series)
    (work_tree(project) / "a").write_text(FIVE)
    assert project.run("continue").code == 0
    message = project.repo.git("log", "-1", "--format=%B", f"{BRANCH}~1")
    section, change_id = "\nConflicts:\n      a\n", "\nChange-Id: "
    assert section in message
    assert message.index(section) < message.index(change_id)


def test_a_second_run_says_that_a_conflict_is_pending(project: Project) -> None:
    series = conflicting(project)
    project.apply(series)
    again = project.apply(series)
    assert again.code == 3
    assert "pending" in again.err
    assert "backport abort" in again.err


def test_abort_leaves_nothing(project: Project) -> None:
    series = conflicting(project)
    project.apply(series)
    assert project.run("abort").code == 0
    state = Path(os.environ["HOME"]) / ".local/state/backport/conflicts"
    assert list(state.rglob("*")) == []
    assert project.run("abort").code == 2
    assert project.run("continue").code == 2


def test_saving_makes_the_next_run_clean(project: Project) -> None:
    series = conflicting(project)
    project.apply(series)
    (work_tree(project) / "a").write_text(FIVE)
    assert project.run("continue", "--save").code == 0
    tip = project.repo.git("rev-parse", BRANCH)
    project.repo.git("update-ref", "-d", BRANCH)
    again = project.apply(series)
    assert again.code == 0, again.err
    assert project.repo.git("rev-parse", BRANCH) == tip


def test_a_resolution_of_a_picked_commit_is_saved_beside_it(project: Project) -> None:
    repo = project.repo
    before = repo.commit("before", {"a": TEN})
    repo.git("checkout", "-q", "-b", "stable/pike")
    picked = repo.commit("Fix it\n\nChange-Id: I" + "a" * 40 + "\n", {"a": FIVE})
    repo.git("checkout", "-q", "-B", "stable/ocata", before)
    repo.commit("base", {"a": THEIRS})
    series = project.series([{"commit": picked, "kind": "fix", "change-id": "I" + "a" * 40}])
    assert project.apply(series).code == 3
    (work_tree(project) / "a").write_text(FIVE)
    assert project.run("continue", "--save").code == 0
    keys = yaml.safe_load((project.root / "patches/ocata/bug-1/series.yaml").read_text())
    change = keys["changes"][0]
    assert change["commit"] == picked
    assert change["patch"].endswith(".patch")
    tip = repo.git("rev-parse", BRANCH)
    message = repo.git("log", "-1", "--format=%B", BRANCH)
    assert message.endswith(f"(cherry picked from commit {picked})\n")
    repo.git("update-ref", "-d", BRANCH)
    assert project.apply(series).code == 0
    assert repo.git("rev-parse", BRANCH) == tip


def test_two_conflicts_in_a_row_keep_the_first_resolution(project: Project) -> None:
    series = conflicting(project)
    repo = project.repo
    repo.git("checkout", "-q", "-f", "stable/ocata")
    repo.commit("base too", {"b": THEIRS})
    assert project.apply(series).code == 3
    (work_tree(project) / "a").write_text(FIVE)
    assert project.run("continue").code == 3
    work = work_tree(project)
    assert "<<<<<<<" in (work / "b").read_text()
    (work / "b").write_text(FIVE)
    assert project.run("continue").code == 0
    assert (project.files()["a"], project.files()["b"]) == (FIVE.encode(), FIVE.encode())


def test_a_resolution_that_leaves_nothing_is_refused(project: Project) -> None:
    series = conflicting(project)
    project.apply(series)
    (work_tree(project) / "a").write_text(THEIRS)
    ran = project.run("continue")
    assert ran.code == 3
    assert "leaves nothing" in ran.err


def test_a_series_that_changed_meanwhile_is_not_gone_on_with(project: Project) -> None:
    series = conflicting(project)
    project.apply(series)
    manifest = project.root / "patches/ocata/bug-1/series.yaml"
    manifest.write_text(manifest.read_text().replace("Change number 1", "Another subject"))
    (work_tree(project) / "a").write_text(FIVE)
    ran = project.run("continue")
    assert ran.code == 3
    assert "has changed since the conflict" in ran.err
    assert (work_tree(project) / "a").read_text() == FIVE


def test_a_dry_run_tells_of_a_conflict_and_keeps_nothing(project: Project) -> None:
    series = conflicting(project)
    assert project.apply(series, "--dry-run").code == 3
    assert project.run("status").out == "no conflict is pending\n"


@pytest.mark.parametrize("damage", ["", "{", '{"form": 2}', "\0"])
def test_a_damaged_state_is_said_so_and_can_be_aborted(project: Project, damage: str) -> None:
    series = conflicting(project)
    project.apply(series)
    (work_tree(project).parent / "state.json").write_text(damage)
    ran = project.run("continue")
    assert ran.code == 2
    assert "backport abort" in ran.err
    assert project.run("abort").code == 0
