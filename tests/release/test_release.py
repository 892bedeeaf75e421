"""``backport release`` on small real repositories: version, notes, checks, request, tag."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from gitrepo import Repo, make_repo, snapshot
from project import Project
from released import begin, fix, message, run_json

FILE = "deliverables/ocata/small.yaml"
OURS = """---
launchpad: small
release-model: cycle-with-milestones
releases:
  - version: 1.0.0
    diff-start: 0.9.0
    projects:
      - repo: openstack/small
        hash: {old}
{last}repository-settings:
  openstack/small: {{}}
"""
FORMS = {
    "dumped": "  - projects:\n      - hash: {tag}\n        repo: openstack/small\n"
    "    version: 1.1.0\n",
    "written": "  - version: 1.1.0\n    projects:\n      - repo: openstack/small\n"
    "        hash: {tag}\n",
}


@pytest.fixture
def released(project: Project) -> Project:
    begin(project)
    return project


def releases(project: Project, form: str = "dumped", status: str = "maintained") -> Repo:
    """Make a clone of openstack/releases that lists 1.1.0."""
    repo = make_repo(project.root / "releases", "--initial-branch=master")
    tag = project.repo.git("rev-parse", "1.1.0^{commit}")
    text = OURS.format(old="0" * 40, last=FORMS[form].format(tag=tag))
    state = f"---\n- name: ocata\n  status: {status}\n"
    repo.commit("Begin", {FILE: text, "data/series_status.yaml": state})
    return repo


def failing(done: dict[str, object]) -> list[str]:
    rows = done["checks"]
    assert isinstance(rows, list)
    return [row["name"] for row in rows if row["ok"] is False]


def test_version_reason_and_entry(released: Project) -> None:
    commit = fix(released)
    done = run_json(released, "release")
    assert (done["version"], done["previous"], done["commit"]) == ("1.1.1", "1.1.0", commit)
    assert [(each["step"], each["why"]) for each in done["changes"]] == [("patch", "a fix")]
    assert yaml.safe_load(done["entry"]) == [
        {"projects": [{"hash": commit, "repo": "openstack/small"}], "version": "1.1.1"}
    ]
    assert failing(done) == []


def test_a_raised_minimum_asks_for_a_minor_version(released: Project) -> None:
    fix(released)
    released.repo.commit(message("Raise a", 9), {"requirements.txt": "a>=2\n"})
    done = run_json(released, "release")
    assert done["version"] == "1.2.0"
    assert "the minimum of a goes up from 1 to 2" in done["reason"]
    ran = released.run("release", "--checkout", str(released.repo.path), "--version", "1.1.1")
    assert (ran.code, "not enough" in ran.err) == (2, True)


@pytest.mark.parametrize("form", FORMS)
def test_the_request_is_four_lines_in_the_files_own_form(released: Project, form: str) -> None:
    commit = fix(released)
    repo = releases(released, form)
    before = snapshot(repo.path)
    done = run_json(released, "release", "--releases", str(repo.path))
    name, made = done["request"].split()
    assert name == "release/small-ocata-1.1.1"
    assert repo.git("rev-parse", name) == made
    old, new = repo.show("master", FILE).decode(), repo.show(made, FILE).decode()
    entry = FORMS[form].format(tag=commit).replace("1.1.0", "1.1.1")
    assert new == old.replace("repository-settings", entry + "repository-settings")
    subject, *_, last = repo.git("log", "-1", "--format=%B", made).strip().split("\n")
    assert subject == "small: release ocata 1.1.1"
    assert last.startswith("Change-Id: I")
    ref = f"refs/heads/{name}"
    assert snapshot(repo.path).without(ref) == before
    again = run_json(released, "release", "--releases", str(repo.path))
    assert again["request"] == done["request"]


@pytest.mark.parametrize(
    ("old", "new", "check"),
    [
        ("status: maintained", "status: extended maintenance", "new_releases_in_open_series"),
        ("version: 1.1.0", "version: 1.0.9", "version_numbers"),
        ("version: 1.1.0", "version: 1.1.1", "version_numbers"),
        ("version: 1.1.0", "version: 1.3.0", "version_numbers"),
    ],
)
def test_where_a_check_fails_nothing_is_made(
    released: Project, old: str, new: str, check: str
) -> None:
    fix(released)
    repo = releases(released)
    files = {name: repo.show("master", name).decode() for name in (FILE, "data/series_status.yaml")}
    repo.commit("Change it", {name: text.replace(old, new) for name, text in files.items()})
    before, ours = snapshot(repo.path), snapshot(released.repo.path)
    done = run_json(released, "release", "--releases", str(repo.path), "--tag", code=1)
    assert check in failing(done)
    assert (done["request"], done["tag"]) == ("", "")
    assert (snapshot(repo.path), snapshot(released.repo.path)) == (before, ours)


def test_a_version_that_is_tagged_elsewhere_fails(released: Project) -> None:
    fix(released)
    off = released.repo.git("commit-tree", "-m", "elsewhere", "HEAD^{tree}")
    released.repo.git("tag", "1.1.1", off)
    assert failing(run_json(released, "release", code=1)) == ["existing_tags"]


def test_notes_are_those_that_reno_gives_the_version(released: Project) -> None:
    note = "releasenotes/notes/new-0123456789abcdef.yaml"
    fix(released)
    released.repo.commit(message("Tell of it", 7), {note: "---\nfixes:\n  - It is *mended*.\n"})
    done = run_json(released, "release")
    assert done["notes"] == [note]
    assert "1.1.1\n=====" in done["notes_report"]
    assert "It is *mended*." in done["notes_report"]
    (draft,) = done["note_drafts"].values()
    assert yaml.safe_load(draft)["fixes"][0].startswith("`Bug 1001 <")
    assert "DRAFT" in draft


@pytest.mark.parametrize("note", ["fixes: [", "only words\n"])
def test_a_note_that_reno_cannot_read_gets_one_line(released: Project, note: str) -> None:
    path = "releasenotes/notes/new-0123456789abcdef.yaml"
    released.repo.commit(message("Tell of it", 7), {path: note})
    ran = released.run("release", "--checkout", str(released.repo.path))
    assert (ran.code, "reno cannot read a release note" in ran.err) == (2, True), ran.err


def test_the_tag_is_annotated_as_the_release_tools_write_it(released: Project) -> None:
    commit = fix(released)
    repo, ours = releases(released), released.repo
    before = snapshot(ours.path)
    words = ("--releases", str(repo.path), "--tag")
    done = run_json(released, "release", *words)
    assert ours.git("rev-parse", "1.1.1^{commit}") == commit
    lines = ours.git("tag", "-l", "--format=%(contents)", "1.1.1").split("\n")
    assert lines[:3] == ["small 1.1.1 release", "", "meta:version: 1.1.1"]
    assert "meta:series: ocata" in lines
    assert any(line.startswith("meta:release:Change-Id: I") for line in lines)
    assert snapshot(ours.path).without("refs/tags/1.1.1") == before
    again = run_json(released, "release", *words, "--as-of", "1.1.1")
    assert again["tag"] == done["tag"] == ours.git("rev-parse", "1.1.1")
    assert ours.git("fsck", "--strict") == ""


def test_the_announcement_has_changes_and_diffstat(released: Project, tmp_path: Path) -> None:
    commit = fix(released)
    mail = tmp_path / "mail.txt"
    run_json(released, "release", "--announcement", str(mail))
    text = mail.read_text()
    assert "Subject: [small] small 1.1.1 (ocata)" in text
    assert f"Changes in small 1.1.0..1.1.1\n-----------------------------\n\n{commit[:10]}" in text
    assert " small/fix1.py | 1 +" in text


def test_bad_input_gets_one_line(released: Project) -> None:
    repo = make_repo(released.root / "other")
    repo.commit("x", {"a": "1"})
    where = ("release", "--checkout", str(released.repo.path))
    assert "There is nothing to release" in released.run(*where).err
    fix(released)
    for words, said in (
        (("--version", "1.1.0"), "does not come after 1.1.0"),
        (("--releases", str(released.root / "nowhere")), "there is no folder"),
        (("--releases", str(repo.path)), f"has no file {FILE}"),
    ):
        ran = released.run(*where, *words)
        assert (ran.code, said in ran.err, ran.err.count("error: ")) == (2, True, 1), ran.err
    repo.commit("y", {FILE: "releases: 1\n"})
    ran = released.run(*where, "--releases", str(repo.path))
    assert (ran.code, "is no list of releases" in ran.err) == (2, True), ran.err


@pytest.mark.parametrize("missing", ["reno", "ruamel.yaml"])
def test_without_the_extra_the_error_names_it(
    released: Project, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fix(released)
    repo = releases(released)
    for name in [name for name in sys.modules if name.split(".")[0] == missing.split(".")[0]]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    where = ("--checkout", str(released.repo.path), "--releases", str(repo.path))
    ran = released.run("release", *where)
    assert (ran.code, "backport[release]" in ran.err) == (2, True), ran.err


def test_the_base_install_does_without() -> None:
    code = "import backport.commands.release, sys; print({'reno', 'ruamel'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
