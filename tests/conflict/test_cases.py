"""Cases that went wrong once: a hunk that vanished, a patch written over, two checkouts at once."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

import pytest

from gitrepo import snapshot
from project import Project, Ran

LINES = "".join(f"line = {n}\n" for n in range(1, 31))
FIXED = LINES.replace("line = 15\n", "line = 1500\n")
SPELT = LINES.replace("line = 15\n", "line = fifteen\n")
SHOUTED = LINES.replace("line = 15\n", "line = FIFTEEN\n")
GUARD, GUARDED = "return x > 0\n", "return x > 0 and x < 10\n"
BRANCH = "backport/ocata/bug-1"
STATE = ".local/state/backport"


def works(name: str = "bug-1") -> list[Path]:
    conflicts = Path(os.environ["HOME"]) / STATE / "conflicts"
    return sorted(conflicts.glob(f"*/ocata%2F{name}/work-*"))


def lost_hunk(project: Project, how: str) -> str:
    """Make a fix of two files, of which the branch has one."""
    repo = project.repo
    begin = repo.commit("Begin", {"engine.py": LINES})
    repo.git("checkout", "-q", "-b", "stable/pike")
    guard = repo.commit("Add a guard", {"guard.py": GUARD})
    fix = repo.commit("Fix the bounds", {"engine.py": FIXED, "guard.py": GUARDED})
    repo.git("checkout", "-q", "-B", "stable/ocata", begin)
    if how == "absent":
        return project.series([{"commit": fix, "kind": "fix"}])
    patch = repo.diff(guard, fix)
    if how == "foreign":
        head, _, part = patch.rpartition(b"\nindex ")
        patch = (head + b"\nindex " + b"0011223344" + part[10:]).replace(b"-return x > 0", b"-y")
    return project.patch_series(patch)


@pytest.mark.parametrize("how", ["absent", "patched", "foreign"])
def test_a_hunk_for_a_file_that_the_branch_lacks_never_vanishes(project: Project, how: str) -> None:
    stopped = project.apply(lost_hunk(project, how))
    assert stopped.code == 3
    assert [file["path"] for file in stopped.report["conflict"]["files"]] == ["guard.py"]
    before = snapshot(project.repo.path)
    assert "guard.py: undecided" in project.run("status").out
    untouched = project.run("continue", "ocata/bug-1")
    assert untouched.code == 3
    assert "guard.py is undecided" in untouched.err
    assert snapshot(project.repo.path) == before
    (work,) = works()
    (work / "guard.py").write_text(GUARDED)
    assert "✓ guard.py: made" in project.run("status").out
    done = project.run("continue", "ocata/bug-1", "--json")
    assert done.code == 0, done.err
    assert project.files()["guard.py"] == GUARDED.encode()
    assert done.report["result"] == "not-tested"
    assert "left out" not in done.report["sentence"]


@pytest.mark.parametrize("how", ["absent", "patched", "foreign"])
def test_what_was_left_out_is_said_in_every_view(project: Project, how: str) -> None:
    project.apply(lost_hunk(project, how))
    done = project.run("continue", "--leave-out", "guard.py")
    assert done.code == 0, done.err
    headline = next(line for line in done.out.splitlines() if line.strip())
    assert "1 hunk of guard.py was left out." in headline
    assert "left out of guard.py, by --leave-out: @@" in done.out
    assert list(project.files()) == ["engine.py"]
    message = project.repo.git("log", "-1", "--format=%B", BRANCH)
    assert "\nConflicts:\n      guard.py\n" in message
    for name in ("report.md", "report.html"):
        text = (Path(os.environ["HOME"]) / STATE / "reports/latest" / name).read_text()
        assert "guard.py was left out" in text


def test_words_are_remembered_where_the_run_goes_no_further(project: Project) -> None:
    project.apply(lost_hunk(project, "patched"))
    foreign = project.repo.git("commit-tree", "HEAD^{tree}", "-m", "foreign")
    project.repo.git("branch", "-f", BRANCH, foreign)
    refused = project.run("continue", "--leave-out", "guard.py")
    assert refused.code == 5, refused.err
    status = project.run("status")
    assert status.code == 0
    assert "guard.py: named with --leave-out" in status.out
    project.repo.git("branch", "-D", BRANCH)
    done = project.run("continue")
    assert done.code == 0, done.err
    assert "left out of guard.py, by --leave-out: @@" in done.out


def test_what_the_policy_has_against_it_is_in_every_view(project: Project) -> None:
    series, _ = kept_patch(project)
    assert project.apply(series).code == 3
    (work,) = works()
    (work / "engine.py").write_text(SHOUTED)
    done = project.run("continue", "--json")
    (one,) = (each for each in done.report["findings"] if each["name"] == "no-provenance")
    tip = project.repo.git("rev-parse", BRANCH)
    assert (one["severity"], one["commit"]) == ("error", tip)
    assert all(one[key] for key in ("subject", "reason", "source", "remedy"))
    for name in ("report.md", "report.html"):
        text = (Path(os.environ["HOME"]) / STATE / "reports/latest" / name).read_text()
        assert "no-provenance" in text


def test_an_edit_goes_before_a_word_that_was_said_earlier(project: Project) -> None:
    project.apply(lost_hunk(project, "patched"))
    foreign = project.repo.git("commit-tree", "HEAD^{tree}", "-m", "foreign")
    project.repo.git("branch", "-f", BRANCH, foreign)
    assert project.run("continue", "--leave-out", "guard.py").code == 5
    (work,) = works()
    (work / "guard.py").write_text(GUARDED)
    project.repo.git("branch", "-D", BRANCH)
    assert project.run("continue").code == 0
    assert project.files()["guard.py"] == GUARDED.encode()


def kept_patch(project: Project) -> tuple[str, Path]:
    repo = project.repo
    begin = repo.commit("Begin", {"engine.py": LINES})
    spell = repo.commit("Spell", {"engine.py": SPELT})
    shout = repo.commit("Shout", {"engine.py": SHOUTED})
    repo.git("checkout", "-q", "-B", "stable/ocata", begin)
    name = "0001-fix.patch"
    series = project.series([{"patch": name}], {name: repo.diff(spell, shout)})
    manifest = project.root / "patches/ocata/bug-1/series.yaml"
    text = manifest.read_text().replace(f"patch: {name}", f"patch: {name}  # as it was sent")
    manifest.write_text("# mine\n" + text)
    return series, manifest


def test_saving_writes_over_nothing_and_says_what_it_wrote(project: Project) -> None:
    series, manifest = kept_patch(project)
    patch, text = manifest.with_name("0001-fix.patch"), manifest.read_text()
    theirs = patch.read_bytes()
    assert project.apply(series).code == 3
    (work,) = works()
    (work / "engine.py").write_text(SHOUTED)
    done = project.run("continue", "--save")
    assert done.code == 0, done.err
    fresh = manifest.with_name("0001-fix-resolved.patch")
    assert patch.read_bytes() == theirs
    assert manifest.read_text() == text.replace("0001-fix.patch", fresh.name)
    said = done.err.replace("\n", "")
    for line in (f"written: {fresh}", f"written: {manifest}", f"kept as it was: {patch}"):
        assert line in done.err, done.err + said
    tip = project.repo.git("rev-parse", BRANCH)
    project.repo.git("branch", "-D", BRANCH)
    assert project.apply(series).code == 0
    assert project.repo.git("rev-parse", BRANCH) == tip


def test_what_was_left_out_stays_said_after_saving(project: Project) -> None:
    series = lost_hunk(project, "patched")
    project.apply(series)
    assert project.run("continue", "--leave-out", "guard.py", "--save").code == 0
    tip = project.repo.git("rev-parse", BRANCH)
    project.repo.git("branch", "-D", BRANCH)
    again = project.apply(series)
    assert again.code == 0
    assert project.repo.git("rev-parse", BRANCH) == tip
    (left,) = (h for h in again.report["changes"][0]["hunks"] if h["fate"] == "left out")
    assert (left["path"], left["by"]) == ("guard.py", "left-out: in series.yaml")


@pytest.fixture
def two(project: Project) -> tuple[Project, Path]:
    """One series in conflict on two checkouts."""
    series, _ = kept_patch(project)
    second = project.root / "second"
    who = ("-c", "user.name=Carl", "-c", "user.email=carl@example.org")
    project.repo.git("clone", "-q", *who, ".", str(second))
    assert project.apply(series).code == 3
    assert project.run("run", series, "--checkout", str(second), "--skip-tests").code == 3
    return project, second


def inside(folder: Path, project: Project, *args: str) -> Ran:
    return Project(folder, project.repo).run(*args)


def test_an_ambiguous_command_lists_both_with_the_words_to_use(two: tuple[Project, Path]) -> None:
    project, second = two
    for verb in ("continue", "abort"):
        ran = project.run(verb, "ocata/bug-1")
        assert ran.code == 2
        for place in (project.repo.path, second):
            assert f"backport {verb} ocata/bug-1 --checkout {place}" in ran.err
    status = project.run("status", "ocata/bug-1")
    assert status.code == 3
    assert str(second) in status.out
    assert str(project.repo.path) in status.out


def test_each_of_two_checkouts_can_be_finished(two: tuple[Project, Path]) -> None:
    project, second = two
    status = inside(second, project, "status", "--json")
    (meant,) = json.loads(status.out)["pending"]
    assert meant["checkout"] == str(second)
    (Path(meant["work_tree"]) / "engine.py").write_text(SHOUTED)
    assert inside(second, project, "status").code == 0
    done = inside(second, project, "continue", "--report", "../rep")
    assert done.code == 0, done.err
    assert BRANCH not in project.repo.git("branch", "--list", BRANCH)
    other = project.run("status", "--checkout", str(project.repo.path), "--json")
    (meant,) = json.loads(other.out)["pending"]
    words = shlex.split(meant["next"][-1]["command"])
    assert inside(second, project, *words[1:]).code == 0
    assert project.run("status").out == "no conflict is pending\n"


@pytest.mark.parametrize("file", ["engine.py", "keep.py"])
def test_giving_up_keeps_what_a_person_has_done_so_far(project: Project, file: str) -> None:
    project.repo.commit("Keep", {"keep.py": "kept\n"})
    series, _ = kept_patch(project)
    aborted = Path(os.environ["HOME"]) / STATE / "aborted"
    assert project.apply(series).code == 3
    assert project.run("abort").code == 0
    assert not aborted.exists()
    assert project.apply(series).code == 3
    (work,) = works()
    (work / file).write_text("what a person wrote\n")
    done = project.run("abort")
    assert done.code == 0
    (kept,) = aborted.glob(f"*/work-*/{file}")
    assert kept.read_text() == "what a person wrote\n"
    assert str(kept.parent.parent) in done.out.replace("\n", "")
