"""Messages and ids as a run makes them: what is stale goes, what is missing is made, and told."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from project import Project

TEN = "".join(f"line {n}\n" for n in range(1, 11))
FIVE, VIII = TEN.replace("line 5", "line V"), TEN.replace("line 8", "line VIII")
BRANCH = "backport/ocata/bug-1"
ID = "I" + "5" * 40
PICK = (
    "Fix the bounds\n\nOne line was wrong.\n\n{}"
    f"Change-Id: {ID}\nCloses-Bug: #1000002\n(cherry picked from commit {'01234567' * 5})\n"
)
STALE = "Conflicts:\n      a\n\nNOTE(author): it is due to a change that is not in newer.\n\n"


def message(project: Project, rev: str = BRANCH) -> str:
    return project.repo.git("log", "-1", "--format=%B", rev).removesuffix("\n") + "\n"


def pick(project: Project, text: str, here: str = TEN) -> str:
    """Commit a change on another branch, and what is on ours."""
    repo = project.repo
    base = repo.commit("base", {"a": TEN})
    repo.git("checkout", "-q", "-b", "stable/pike")
    picked = repo.commit(text, {"a": FIVE})
    repo.git("checkout", "-q", "-B", "stable/ocata", base)
    repo.commit("later", {"a": here, "b": "b\n"})
    return picked


@pytest.mark.parametrize("keep", [{}, {"conflicts": "keep"}])
def test_a_stale_conflicts_section_goes_unless_it_is_kept(
    project: Project, keep: dict[str, Any]
) -> None:
    picked = pick(project, PICK.format(STALE))
    ran = project.apply(project.series([{"commit": picked}], **keep))
    assert ran.code == 0, ran.err
    kept = PICK.format(STALE if keep else "")
    assert message(project) == f"{kept}(cherry picked from commit {picked})\n"
    said = ["no conflict here in a: taken out of the Conflicts section, and with it: "
            "NOTE(author): it is due to a change that is not in newer."]  # fmt: skip
    assert ran.report["changes"][0]["notes"] == ([] if keep else said)
    told = project.run("run", "ocata/bug-1", "--checkout", "checkout", "--skip-tests")
    assert ("taken out of the Conflicts section" in told.out) == (not keep)


def test_a_change_id_is_made_and_told_and_written(project: Project) -> None:
    repo = project.repo
    base = repo.commit("base", {"a": TEN})
    other = repo.diff(base, repo.commit("other", {"a": VIII}))
    repo.git("checkout", "-q", "-B", "stable/ocata", base)
    patch = repo.diff(base, repo.commit("after", {"a": FIVE}))
    repo.git("checkout", "-q", "-B", "stable/ocata", base)
    change = {"patch": "1.patch", "change-id": None}
    series = project.series([change], {"1.patch": patch})
    manifest = project.root / "patches/ocata/bug-1/series.yaml"
    manifest.write_text("# mine\n" + manifest.read_text().replace("  change-id: null\n", ""))
    ran = project.apply(series)
    assert ran.code == 0, ran.err
    made = ran.report["changes"][0]["change_id"]
    tip = repo.git("rev-parse", BRANCH)
    assert message(project).endswith(f"\nChange-Id: {made}\n")
    assert f"show {series} --write-ids" in ran.report["changes"][0]["notes"][0]
    (manifest.parent / "1.patch").write_bytes(other)
    assert project.apply(series, "--replace").report["changes"][0]["change_id"] == made
    (manifest.parent / "1.patch").write_bytes(patch)
    before = manifest.read_text()
    shown = project.run("show", series, "--write-ids")
    assert shown.code == 0, shown.err
    assert f"written into {manifest}: {made}" in shown.out
    line = f"  change-id: {made}\n"
    assert line in manifest.read_text()
    assert manifest.read_text().replace(line, "") == before
    again = project.apply(series, "--replace")
    assert again.report["changes"][0]["notes"] == []
    assert repo.git("rev-parse", BRANCH) == tip
    assert "nothing to write" in project.run("show", series, "--write-ids").out


@pytest.mark.parametrize("here", ["conflict", "content", "verified"])
def test_a_picked_change_always_has_a_subject(project: Project, here: str) -> None:
    mine = {"conflict": "rewritten\n", "content": FIVE, "verified": TEN}[here]
    picked = pick(project, PICK.format(""), mine)
    series = project.series([{"commit": picked}])
    ran = project.apply(series)
    if here == "verified":
        where = ("--checkout", "checkout", "--branch-name", "stable/ocata")
        ran = project.run("verify", series, *where)
        told = ran.out + ran.err
    elif here == "conflict":
        assert ran.report["conflict"]["subject"] == "Fix the bounds"
        told = project.run("status").out
    else:
        assert ran.report["changes"][0]["change_id"] == ID
        told = ran.report["changes"][0]["subject"]
    assert "Fix the bounds" in told
    assert "“”" not in told


def test_another_change_id_than_the_commits_own_is_refused(project: Project) -> None:
    series = project.series(
        [{"commit": pick(project, PICK.format("")), "change-id": "I" + "6" * 40}]
    )
    ran = project.apply(series)
    assert ran.code == 2
    assert "series.yaml:4: the commit" in ran.report["problem"]["message"]
    assert "leave the key out" in ran.report["problem"]["hint"]


def test_a_resolution_in_the_series_has_the_message_of_the_one_by_hand(project: Project) -> None:
    picked = pick(project, PICK.format(STALE.replace("      a\n", "      a\n      b\n")), "else\n")
    series = project.series([{"commit": picked}])
    assert project.apply(series).code == 3
    (work,) = Path(os.environ["HOME"]).rglob("work-1")
    (work / "a").write_text(FIVE)
    assert project.run("continue", "--save").code == 0
    by_hand, tip = message(project), project.repo.git("rev-parse", BRANCH)
    assert "Conflicts:\n      a\n\nNOTE" in by_hand
    project.repo.git("update-ref", "-d", f"refs/heads/{BRANCH}")
    assert project.apply(series).code == 0
    assert (message(project), project.repo.git("rev-parse", BRANCH)) == (by_hand, tip)
