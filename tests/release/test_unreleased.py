"""``backport unreleased`` on small real repositories."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitrepo import snapshot
from project import Project
from released import begin, fix, message, run_json


@pytest.fixture
def released(project: Project) -> Project:
    begin(project)
    return project


def test_changes_stand_by_bug_and_the_test_stands_with_its_fix(released: Project) -> None:
    repo = released.repo
    test = message("[stable only] Recreate it", 11, "Related-Bug: #1001")
    first = repo.commit(test, {"small/tests/test_bug_1001.py": "1\n"})
    ci = repo.commit(message("Move the job", 12), {".zuul.yaml": "- job\n"})
    plain = repo.commit(message("Say it better", 13), {"small/api.py": "a = 3\n"})
    last = fix(released)
    done = run_json(released, "unreleased")
    assert [(group["title"], group["changes"]) for group in done["groups"]] == [
        ("bug 1001", [first, last]),
        ("no bug", [plain]),
        ("CI only", [ci]),
    ]
    changes = {change["commit"]: change for change in done["changes"]}
    assert changes[first]["stable_only"]
    assert changes[first]["tests_only"]
    assert changes[first]["bugs"] == {"1001": "related"}
    assert done["since"] == "1.1.0"


def test_merges_are_folded(released: Project) -> None:
    repo = released.repo
    repo.git("checkout", "-q", "-b", "side")
    on_side = fix(released)
    repo.git("checkout", "-q", "stable/ocata")
    repo.git("merge", "-q", "--no-ff", "-m", "Merge it", "side")
    done = run_json(released, "unreleased")
    assert [change["commit"] for change in done["changes"]] == [on_side]
    assert done["merges"] == 1


@pytest.mark.parametrize("tagged", [True, False])
def test_it_says_where_newer_branches_have_it_and_released_it(
    released: Project, tagged: bool
) -> None:
    repo = released.repo
    repo.git("checkout", "-q", "stable/pike")
    on_pike = fix(released)
    if tagged:
        repo.git("tag", "2.0.1")
    repo.git("checkout", "-q", "stable/ocata")
    fix(released)
    done = run_json(released, "unreleased")
    expected = {"stable/pike": [on_pike, "2.0.1" if tagged else None]}
    assert done["changes"][0]["elsewhere"] == expected
    ran = released.run("unreleased", "--checkout", str(repo.path))
    assert ("has not released it yet" in ran.out) is not tagged


def test_as_of_a_commit_that_is_tagged_it_is_as_before(released: Project) -> None:
    commit = fix(released)
    released.repo.git("tag", "1.1.1")
    fix(released, 2)
    assert run_json(released, "unreleased")["since"] == "1.1.1"
    done = run_json(released, "unreleased", "--as-of", "1.1.1")
    assert (done["since"], [each["commit"] for each in done["changes"]]) == ("1.1.0", [commit])


def test_the_plain_list_is_what_git_prints_for_openstack_releases(released: Project) -> None:
    fix(released)
    ran = released.run("unreleased", "--checkout", str(released.repo.path), "--list")
    how = ("--no-color", "--no-merges", "--format=%h %ci %s", "--graph", "1.1.0..HEAD")
    head = released.repo.git("rev-parse", "HEAD")[:10]
    assert ran.out.startswith("[ Unreleased changes in openstack/small (stable/ocata) ]\n")
    assert f"Changes between 1.1.0 and {head}\n\n{released.repo.git('log', *how)}\n" in ran.out


def test_in_markdown_what_others_wrote_is_no_markup(released: Project) -> None:
    released.repo.commit(message("Fix `a` <b> [c](d)", 5), {"small/x.py": "1\n"})
    ran = released.run("unreleased", "--checkout", str(released.repo.path), "--markdown")
    assert "`Fix 'a' <b> [c](d)`" in ran.out
    assert ran.out.startswith("# openstack/small `stable/ocata`: 1 change since 1.1.0")


def test_versions_of_another_major_number_do_not_count(released: Project) -> None:
    fix(released)
    released.repo.git("tag", "2015.1.0")
    released.repo.git("tag", "1.1.1.0rc1")
    released.repo.git("tag", "ocata-em")
    assert run_json(released, "unreleased")["since"] == "1.1.0"


def test_bad_input_gets_one_line(released: Project) -> None:
    repo = released.repo
    off = repo.git("commit-tree", "-m", "x", "HEAD^{tree}")
    for words, said in (
        (("--as-of", off), "is not on stable/ocata"),
        (("--since", off), "is not below"),
        (("--since", "9.9.9"), "is not in this checkout"),
    ):
        ran = released.run("unreleased", "--checkout", str(repo.path), *words)
        assert (ran.code, said in ran.err) == (2, True), ran.err


def test_the_checkout_is_not_harmed(released: Project, tmp_path: Path) -> None:
    fix(released)
    before = snapshot(released.repo.path)
    run_json(released, "unreleased")
    assert snapshot(released.repo.path) == before
