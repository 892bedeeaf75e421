"""Where one stands: which checkout and which series are meant, and where reports go."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gitrepo import Repo, make_repo, snapshot
from project import Project

TEN = "".join(f"line {n}\n" for n in range(1, 11))
STATE = ".local/state/backport"


def small_series(project: Project, name: str = "bug-1") -> str:
    repo = project.repo
    base = repo.commit("base", {"a": TEN, "sub/b": "b\n"})
    patch = repo.diff(base, repo.commit("after", {"a": TEN.replace("5", "V")}))
    repo.git("checkout", "-q", "-B", "stable/ocata", base)
    return project.patch_series(patch, name=name)


def known_by(how: str, repo: Repo) -> None:
    if how == "its .gitreview":
        repo.commit("review", {".gitreview": "[gerrit]\nproject=openstack/small.git\n"})
    else:
        repo.git("remote", "add", "origin", how)


@pytest.mark.parametrize(
    ("how", "known"),
    [
        ("https://opendev.org/openstack/small", True),
        ("git@example.org:openstack/small.git", True),
        ("ssh://ann@review.example.org:29418/openstack/small/", True),
        ("its .gitreview", True),
        ("https://example.org/ann/smaller", False),
        ("https://example.org/not-openstack/small", False),
    ],
)
def test_a_clone_that_one_is_in_is_the_checkout(project: Project, how: str, known: bool) -> None:
    series = small_series(project)
    known_by(how, project.repo)
    inside = replace(project, root=project.repo.path / "sub")
    before = snapshot(project.repo.path)
    ran = inside.run("run", series, "--patches", str(project.root / "patches"), "--skip-tests")
    if not known:
        assert (ran.code, "there is no built-in checkout" in ran.err) == (2, True)
        return
    assert ran.code == 0, ran.err
    assert f"locate: {project.repo.path}, the clone that you are in" in ran.err
    ref = "refs/heads/backport/ocata/bug-1"
    assert snapshot(project.repo.path).without(ref) == before
    named = inside.run("run", series, "--checkout", "built-in", "--patches", "../../patches")
    assert "locate: the built-in checkout" in named.err


def test_a_bare_clone_that_one_is_in_is_the_checkout(project: Project) -> None:
    series = small_series(project)
    known_by("https://opendev.org/openstack/small", project.repo)
    bare = project.root / "bare.git"
    project.repo.git("clone", "-q", "--bare", ".", str(bare))
    Repo(bare).git("remote", "set-url", "origin", "https://opendev.org/openstack/small")
    Repo(bare).git("config", "user.name", "Carl")
    Repo(bare).git("config", "user.email", "carl@example.org")
    inside = replace(project, root=bare / "refs")
    ran = inside.run("run", series, "--patches", str(project.root / "patches"), "--skip-tests")
    assert f"locate: {bare}, the clone that you are in" in ran.err
    assert ran.code == 0, ran.err


def test_reports_go_to_a_folder_of_the_run_and_nowhere_else(project: Project) -> None:
    series = small_series(project)
    known_by("https://opendev.org/openstack/small", project.repo)
    inside = replace(project, root=project.repo.path)
    patches = ("--patches", "../patches")
    for _ in range(2):
        assert inside.run("run", series, *patches, "--dry-run", "--skip-tests").code == 0
    assert project.repo.git("status", "--porcelain", "--ignored") == ""
    reports = Path(os.environ["HOME"]) / STATE / "reports"
    names = {"report.html", "report.md", "report.json", "junit.xml"}
    assert {path.name for path in (reports / "latest").iterdir()} == names
    assert (reports / "latest").is_symlink()
    given = inside.run("run", series, *patches, "--dry-run", "--skip-tests", "--report", "../mine")
    assert given.code == 0
    assert {path.name for path in (project.root / "mine").iterdir()} == names


def test_old_reports_go_when_there_are_many(project: Project) -> None:
    series = small_series(project)
    reports = Path(os.environ["HOME"]) / STATE / "reports"
    for number in range(60):
        folder = reports / f"20180101T0000{number:02}-1"
        folder.mkdir(parents=True)
        if number < 20:
            os.utime(folder, (0, 0))
    assert project.run("run", series, "--checkout", "checkout", "--skip-tests").code == 0
    left = sorted(path.name for path in reports.glob("2*"))
    assert len(left) == 50
    assert left[0] == "20180101T000011-1"


@pytest.mark.parametrize("way", ["--patches", "BACKPORT_PATCHES", "./patches", "backport.yaml"])
def test_series_are_found_where_the_user_says(
    project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, way: str
) -> None:
    series = small_series(project)
    folder = project.root / "patches"
    elsewhere = replace(project, root=tmp_path / "elsewhere")
    elsewhere.root.mkdir()
    args: tuple[str, ...] = ()
    if way == "--patches":
        args = ("--patches", str(folder))
    elif way == "BACKPORT_PATCHES":
        monkeypatch.setenv(way, f"/nowhere{os.pathsep}{folder}")
    elif way == "backport.yaml":
        (elsewhere.root / way).write_text("patches: [../patches]\ncheckout: ../checkout\njobs: 1\n")
    else:
        elsewhere = project
    assert series in elsewhere.run("show", *args).out.split()
    # The data of ocata that came with the tool is there for a series that has none.
    (folder / "ocata/branch.yaml").unlink()
    shown = elsewhere.run("show", series, *args)
    assert "stable/ocata of openstack/nova" in shown.out
    if way == "backport.yaml":
        ran = elsewhere.run("run", series, "--skip-tests")
        assert "checkout, by your configuration" in ran.err
        assert (
            "[default: 1"
            in elsewhere.run("run", "--jobs", "0").err + elsewhere.run("run", "--help").out
        )


def test_a_configuration_that_is_not_sound_is_told_with_its_line(project: Project) -> None:
    (project.root / "backport.yaml").write_text("jobs: many\ncolour: red\n")
    ran = project.run("show")
    assert ran.code == 2
    assert "backport.yaml:1: jobs: must be a whole number, not 'many'" in ran.err
    assert "backport.yaml:2: unknown key 'colour'" in ran.err
    home = Path(os.environ["HOME"]) / ".config/backport"
    home.mkdir(parents=True)
    (home / "config.yaml").write_text("checkout: ~/nova\n")
    (project.root / "backport.yaml").unlink()
    ran = project.run("run", small_series(project))
    assert f"there is no folder {os.environ['HOME']}/nova" in ran.err


@pytest.fixture
def log_levels() -> Iterator[None]:
    """Put back what ``--verbose`` changes in this process."""
    log = logging.getLogger("backport")
    level, handlers = log.level, [*log.handlers]
    yield
    log.setLevel(level)
    log.handlers[:] = handlers


@pytest.mark.usefixtures("log_levels")
def test_quiet_and_verbose(project: Project) -> None:
    series = small_series(project)
    assert project.run("run", series, "--checkout", "checkout", "--skip-tests", "-q").err == ""
    told = project.run("run", series, "--checkout", "checkout", "--skip-tests", "--verbose").err
    assert f"patches: {project.root / 'patches'}, " in told
    assert "backport.git: rev-parse" in told
    assert project.run("-V").out.startswith("backport ")


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("backport show o", "ocata/bug-1783613"),
        ("backport env --branch ", "ocata"),
        ("backport con", "continue"),
    ],
)
def test_shells_complete_names(words: str, offered: str) -> None:
    typed = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    done = subprocess.run(
        [sys.executable, "-c", "import sys; sys.argv[0] = 'backport'; "
         "from backport.cli import main; main()"],
        env={**os.environ, **typed, "_BACKPORT_COMPLETE": "bash_complete"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert f"plain,{offered}" in done.stdout.splitlines(), done.stderr


def test_a_folder_of_another_project_is_no_checkout(project: Project, tmp_path: Path) -> None:
    other = make_repo(tmp_path / "other")
    other.commit("it", {"a": "a\n"})
    inside = replace(project, root=other.path)
    ran = inside.run("run", small_series(project), "--patches", str(project.root / "patches"))
    assert "locate: the built-in checkout" in ran.err
    assert other.git("status", "--porcelain") == ""


def test_a_conflict_of_a_series_from_elsewhere_is_gone_on_with_from_anywhere(
    project: Project,
) -> None:
    series = small_series(project)
    project.repo.commit("other", {"a": TEN.replace("5", "five")})
    (project.root / "series").mkdir()
    (project.root / "patches").rename(project.root / "series/patches")
    args = ("--patches", "series/patches", "--checkout", "checkout", "--skip-tests")
    assert project.run("run", series, *args).code == 3
    (work,) = Path(os.environ["HOME"]).rglob("work-1*/a")
    work.write_text(TEN.replace("5", "V"))
    inside = replace(project, root=project.repo.path / "sub")
    done = inside.run("continue")
    assert done.code == 0, done.err + done.out
