"""Manifests: what they load as, and how their faults are told, all at once."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backport.errors import BackportError, ExitCode, ManifestError, UsageError
from backport.resources import data_folder
from backport.series.manifest import (
    find_branch,
    find_series,
    list_branches,
    list_series,
    load_branch,
    load_rewind,
    load_series,
)
from backport.series.message import render_message
from backport.series.model import Keepsake, Kind, Person, PythonLock
from backport.series.rewind import LineEdit, Rewind, RewindFile

BRANCH = """\
project: openstack/nova
branch: stable/ocata
eol-tag: ocata-eol
release-line: 15.10
stable-only-tag: "[stable only]"
newer-branches: [stable/pike, master]
tests:
  python: ["2.7"]
  requirements: requirements-py27.txt
  paths: [nova/tests/]
embedded:
  sdist: nova==15.1.5
  sha256: 32af5e4ee02bd1de3080145d9c9f5db25ec0493cc950de04c5ee931c9d4a98f6
  rewind: rewind.yaml
"""
SERIES = """\
title: Quota usage is not decremented
bug: 1783613
stable-only: the bug does not exist on master
changes:
  - patch: 1.patch
    kind: regression-test
    subject: Add a test
    change-id: Ib65b0c7c5b83c53edf63f23fa522334c6a666ae4
    tests: [nova.tests.functional.test_x]
  - patch: 2.patch
    kind: fix
    subject: Fix it
    description: |
      First.

      Second.
    change-id: I4d492dcad193ff0b1202dcae97954cc65b75c109
"""
PATCH = """\
From x
Subject: noise

diff --git nova/x.py nova/x.py
--- nova/x.py
+++ nova/x.py
@@ -1,3 +1,3 @@
 a
-b
+c
 d
"""
NORMAL = PATCH[PATCH.index("diff") :].replace("nova/x.py nova", "a/nova/x.py b/nova")
NORMAL = NORMAL.replace("--- ", "--- a/").replace("+++ ", "+++ b/")
REWIND = """\
why: >-
  the fix
  is in
files:
  - path: nova/x.py
    expects: 1111111111111111111111111111111111111111
    yields: 2222222222222222222222222222222222222222
    edits:
      - remove: 80
      - remove: 90-92
        put: "    x\\n"
  - path: nova/y.py
    expects: 1111111111111111111111111111111111111111
    remove-file: true
"""
FIRST, SECOND = 5, 10  # the lines where the changes begin


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A sound series."""
    return make(tmp_path / "patches")


def make(patches: Path, series: str = SERIES, branch: str = BRANCH) -> Path:
    folder = patches / "ocata" / "bug-1"
    folder.mkdir(parents=True, exist_ok=True)
    (folder.parent / "branch.yaml").write_text(branch)
    (folder.parent / "requirements-py27.txt").write_text("six==1.10.0\n")
    (folder.parent / "rewind.yaml").write_text(REWIND)
    (folder / "series.yaml").write_text(series)
    (folder / "1.patch").write_text(PATCH)
    (folder / "2.patch").write_text(PATCH)
    return folder


def faults(folder: Path) -> list[str]:
    """The problems of a series, with the folder's name cut off."""
    with pytest.raises(ManifestError) as caught:
        load_series(folder)
    assert caught.value.exit_code is ExitCode.USAGE
    lines = str(caught.value).split("\n")
    assert len(lines) == len(caught.value.problems)
    return [line.removeprefix(f"{folder}/").removeprefix(f"{folder.parent}/") for line in lines]


def test_a_series_is_loaded_with_its_branch(folder: Path) -> None:
    series = load_series(folder)
    assert (series.name, series.bug, series.folder) == ("ocata/bug-1", 1783613, folder)
    assert series.stable_only == "the bug does not exist on master"
    first, second = series.changes
    assert (first.number, first.kind, first.subject) == (1, Kind.REGRESSION_TEST, "Add a test")
    assert first.tests == ("nova.tests.functional.test_x",)
    assert first.patch == NORMAL.encode()
    assert first.patch_file == folder / "1.patch"
    assert first.source == (folder / "series.yaml", FIRST)
    assert second.source == (folder / "series.yaml", SECOND)
    assert second.description == "First.\n\nSecond.\n"
    assert second.change_id == "I4d492dcad193ff0b1202dcae97954cc65b75c109"
    assert not first.conflicts_section
    assert not first.allow_empty


def test_a_branch_is_loaded(folder: Path) -> None:
    branch = load_branch(folder.parent)
    assert (branch.name, branch.project, branch.branch) == (
        "ocata", "openstack/nova", "stable/ocata")  # fmt: skip
    assert (branch.eol_tag, branch.release_line) == ("ocata-eol", "15.10")
    assert branch.newer_branches == ("stable/pike", "master")
    assert branch.tests
    lock = PythonLock("2.7", folder.parent / "requirements-py27.txt")
    assert (branch.tests.pythons, branch.tests.paths) == ((lock,), ("nova/tests/",))
    assert (branch.tests.timeout, branch.tests.test_timeout) == (1800.0, 160.0)
    assert branch.embedded
    assert (branch.embedded.project, branch.embedded.version) == ("nova", "15.1.5")
    assert branch.embedded.rewind == folder.parent / "rewind.yaml"


def test_a_branch_may_say_all_there_is_about_its_tests(tmp_path: Path) -> None:
    more = """\
  python: ["2.7", "3.5"]
  requirements: {"2.7": requirements-py27.txt, "3.5": rewind.yaml}
  apart: [nova/tests/unit/]
  environment: {OS_DEBUG: 1, LANG: C}
  timeout: 60
  test-timeout: 1.5
  keep:
    - module: nova.tests.fixtures
      attribute: DB_SCHEMA
      depends-on: [nova/db/]
      note: the migrations were not run
"""
    old = '  python: ["2.7"]\n  requirements: requirements-py27.txt\n'
    folder = make(tmp_path, branch=BRANCH.replace(old, more))
    tests = load_branch(folder.parent).tests
    assert tests
    assert tests.pythons == (
        PythonLock("2.7", folder.parent / "requirements-py27.txt"),
        PythonLock("3.5", folder.parent / "rewind.yaml"),
    )
    assert tests.apart == ("nova/tests/unit/",)
    assert tests.environment == (("OS_DEBUG", "1"), ("LANG", "C"))
    note = "the migrations were not run"
    assert tests.keepsakes == (Keepsake("nova.tests.fixtures", "DB_SCHEMA", ("nova/db/",), note),)
    assert (tests.timeout, tests.test_timeout) == (60.0, 1.5)


def test_a_small_project_needs_few_keys(tmp_path: Path) -> None:
    (tmp_path / "branch.yaml").write_text("project: a/b\nbranch: stable/x\nrelease-line: 1\n")
    branch = load_branch(tmp_path)
    assert (branch.tests, branch.embedded, branch.eol_tag) == (None, None, None)
    assert (branch.newer_branches, branch.stable_only_tag) == ((), "[stable-only]")


def test_all_keys_of_a_change_are_carried(tmp_path: Path) -> None:
    text = f"""\
title: T
author: J. Doe Jr. <j@example.org>
date: 2018-08-06T14:32:00+02:00
conflicts-section: yes
changes:
  - commit: 0123456
    kind: fix
  - commit: {"a" * 40}
    patch: 1.patch
    strip: 0
    kind: other
    author: A <a@b>
    date: 2018-08-06 14:32:00Z
    trailers-add: ["Co-Authored-By: C <c@d>", "Depends-On: x"]
    conflicts-section: false
    conflicts: [nova/x.py]
    note: It differs.
  - kind: other
    subject: Nothing
    change-id: I{"1" * 40}
    allow-empty: true
    provenance: [{"b" * 40}]
    trailers: ["Co-Authored-By: C <c@d>"]
"""
    one, two, three = load_series(make(tmp_path, text)).changes
    assert (one.commit, one.patch, one.subject, one.change_id) == ("0123456", None, "", "")
    assert (one.author, one.date) == (Person("J. Doe Jr.", "j@example.org"), "1533558720 +0200")
    assert one.conflicts_section
    assert (two.commit, two.patch) == ("a" * 40, NORMAL.encode())
    assert (two.author, two.date) == (Person("A", "a@b"), "1533565920 +0000")
    assert two.trailers_add == (("Co-Authored-By", "C <c@d>"), ("Depends-On", "x"))
    assert (two.conflicts_section, two.conflicts) == (False, ("nova/x.py",))
    assert two.note == "It differs."
    assert (three.patch, three.commit, three.allow_empty) == (None, None, True)
    assert (three.provenance, three.trailers) == (("b" * 40,), (("Co-Authored-By", "C <c@d>"),))


def test_a_change_without_a_change_id_gets_one_of_its_place(tmp_path: Path) -> None:
    text = "".join(line for line in SERIES.splitlines(True) if "change-id" not in line)
    one, two = load_series(make(tmp_path, text)).changes
    assert (one.change_id_made, two.change_id_made) == (True, True)
    assert one.change_id == "Iae9804c45caad518bd1e997083ec3c23e80156a9"
    assert two.change_id != one.change_id
    (tmp_path / "ocata/bug-1/1.patch").write_text(PATCH.replace("+c", "+another"))
    again = load_series(make(tmp_path, text.replace("Add a test", "Add tests"))).changes[0]
    assert again.change_id == one.change_id
    elsewhere = load_series(make(tmp_path / "elsewhere", text)).changes[0]
    assert elsewhere.change_id == one.change_id


def replaced(old: str, new: str) -> str:
    assert old in SERIES, old
    return SERIES.replace(old, new, 1)


FAULTS = {
    "unknown key": (replaced("title:", "titel:"), [
        "series.yaml:1: the key 'title' is missing",
        "series.yaml:1: unknown key 'titel'; did you mean 'title'?"]),
    "unknown key of a change": (replaced("change-id:", "change_id:"), [
        "series.yaml:8: unknown key 'change_id'; did you mean 'change-id'?"]),
    "far from any key": (SERIES + "zzzzzz: 1\n", ["series.yaml:18: unknown key 'zzzzzz'"]),
    "empty value": (replaced("kind: fix", "kind:"), [
        "series.yaml:11: the key 'kind' has no value"]),
    "bad kind": (replaced("kind: fix", "kind: fux"), [
        "series.yaml:11: kind: must be one of regression-test, fix, partial-fix, other; "
        "did you mean 'fix'?"]),
    "bad bug": (replaced("bug: 1783613", "bug: '#1783613'"), [
        "series.yaml:2: bug: must be a whole number, not '#1783613'"]),
    "bug 0": (replaced("bug: 1783613", "bug: 0"), [
        "series.yaml:2: bug: must be greater than or equal to 1, not '0'"]),
    "huge bug": (replaced("bug: 1783613", "bug: " + "9" * 5000), [
        "series.yaml:2: bug: must be a whole number"]),
    "no bug": (replaced("bug: 1783613\n", ""), [
        "series.yaml:4: kind 'regression-test' names the bug, and the series has none: "
        "add 'bug: NUMBER' above",
        "series.yaml:9: kind 'fix' names the bug, and the series has none: "
        "add 'bug: NUMBER' above"]),
    "bad Change-Id": (replaced("Ib65b", "ib65b"), [
        "series.yaml:8: change-id: must be an I and 40 digits of 0-9a-f, "
        "not 'ib65b0c7c5b83c53edf63f23fa522334c6a666ae4'"]),
    "same Change-Id": (
        SERIES.replace("I4d492dcad193ff0b1202dcae97954cc65b75c109",
                       "Ib65b0c7c5b83c53edf63f23fa522334c6a666ae4"), [
        "series.yaml:17: change-id: the same as that of change 1: "
        "'Ib65b0c7c5b83c53edf63f23fa522334c6a666ae4'"]),
    "same patch": (replaced("2.patch", "1.patch"), [
        "series.yaml:10: patch: the same as that of change 1: '1.patch'"]),
    "no changes": (SERIES[: SERIES.index("changes")], [
        "series.yaml:1: the key 'changes' is missing"]),
    "empty changes": (SERIES[: SERIES.index("  - patch")], [
        "series.yaml:4: the key 'changes' has no value"]),
    "empty list": (SERIES[: SERIES.index("changes")] + "changes: []\n", [
        "series.yaml:4: changes: must not be empty"]),
    "changes no list": (SERIES[: SERIES.index("changes")] + "changes: 1.patch\n", [
        "series.yaml:4: changes: must be a list, not '1.patch'"]),
    "change no mapping": (SERIES[: SERIES.index("  - patch")] + "  - 1.patch\n", [
        "series.yaml:5: changes: must hold keys and values, not '1.patch'"]),
    "neither patch nor commit": (replaced("patch: 2.patch\n    kind", "kind"), [
        "series.yaml:10: a change needs a patch or a commit "
        "('allow-empty: true' if it is meant to be empty)"]),
    "no subject": (replaced("    subject: Fix it\n", ""), [
        "series.yaml:10: the key 'subject' is missing, which a change without a commit needs"]),
    "long subject": (replaced("Fix it", "F" * 66), [
        "series.yaml:12: subject: is 80 characters long with the tag '[stable only]'; "
        "at most 79, better 50"]),
    "subject with a line break": (replaced("subject: Fix it", "subject: |\n      Fix it"), [
        "series.yaml:12: subject: must not begin or end in a space or a line break "
        "(put it behind the key), not 'Fix it\\n'"]),
    "two-line subject": (replaced("subject: Fix it", "subject: |-\n      Fix\n      it"), [
        "series.yaml:12: subject: must be one line, of characters that can be printed, "
        "not 'Fix\\nit'"]),
    "empty subject": (replaced("subject: Fix it", "subject: ''"), [
        "series.yaml:12: subject: must not be empty"]),
    "subject list": (replaced("subject: Fix it", "subject: [Fix it]"), [
        "series.yaml:12: subject: must be text"]),
    "description with trailers": (replaced("      First.", "      Change-Id: I1"), [
        "series.yaml:13: description: must not hold a Change-Id line; it goes to the key "
        "change-id, not 'Change-Id: I1\\n\\nSecond.\\n'"]),
    "test with a dash": (replaced("[nova.tests.functional.test_x]", "[--help, -x.y]"), [
        "series.yaml:9: tests: must be the dotted name of a test module, class or method, "
        "not '--help'",
        "series.yaml:9: tests: must be the dotted name of a test module, class or method, "
        "not '-x.y'"]),
    "test as a path": (replaced("[nova.tests.functional.test_x]", "[nova/tests/x.py]"), [
        "series.yaml:9: tests: must be the dotted name of a test module, class or method, "
        "not 'nova/tests/x.py'"]),
    "tests no list": (replaced("[nova.tests.functional.test_x]", "nova.tests"), [
        "series.yaml:9: tests: must be a list, not 'nova.tests'"]),
    "no such patch": (replaced("2.patch", "3.patch"), [
        "series.yaml:10: patch: there is no file '3.patch' in FOLDER; did you mean '2.patch'?"]),
    "patch outside": (replaced("2.patch", "../../etc/passwd"), [
        "series.yaml:10: patch: must be a file in this folder, not a file name that leaves the "
        "tree, not '../../etc/passwd'"]),
    "patch absolute": (replaced("2.patch", "/etc/passwd"), [
        "series.yaml:10: patch: must be a file in this folder, not an absolute file name, "
        "not '/etc/passwd'"]),
    "dates": (SERIES + "    date: 2018-08-06\n    author: nobody\n", [
        "series.yaml:18: date: must be a date with its offset, such as "
        "2018-08-06T14:32:00+00:00, not '2018-08-06'",
        "series.yaml:19: author: must be 'Name <mail address>', not 'nobody'"]),
    "no such date": (SERIES + "    date: 2018-02-30T00:00:00Z\n", [
        "series.yaml:18: date: must be a date that there is, not '2018-02-30T00:00:00Z'"]),
    "old date": (SERIES + "    date: 1969-12-31T00:00:00Z\n", [
        "series.yaml:18: date: must be a date that git can keep, 1970 or later, "
        "not '1969-12-31T00:00:00Z'"]),
    "offset": (SERIES + "    date: 2018-02-03T00:00:00+25:00\n", [
        "series.yaml:18: date: must be a date that there is, not '2018-02-03T00:00:00+25:00'"]),
    "provenance": (SERIES + "    provenance: [abcdef1]\n", [
        "series.yaml:18: provenance: must be the 40 digits of a whole commit id, "
        "not 'abcdef1'"]),
    "trailer": (SERIES + "    trailers: [x, 'Change-Id: I1']\n", [
        "series.yaml:18: trailers: must be one line, 'Token: value', such as "
        "'Co-Authored-By: A <a@b.c>', not 'x'",
        "series.yaml:18: trailers: must not be the Change-Id, which has a key of its own: "
        "change-id, not 'Change-Id: I1'"]),
    "commit": (SERIES + "  - kind: fix\n    commit: HEAD~1\n", [
        "series.yaml:19: commit: must be 7 to 40 digits of 0-9a-f, not 'HEAD~1'"]),
    "keys of a message on a pick": (
        replaced("patch: 2.patch", "commit: abcdef1").replace("tests: [", "trailers-add: ['A: b']\n"
        "    conflicts: keep\n    tests: [") + "    trailers: ['x: y']\n    provenance: []\n", [
        "series.yaml:9: trailers-add: is for a picked commit; here it is trailers",
        "series.yaml:10: conflicts: there is no picked message whose section could be kept",
        "series.yaml:14: subject: a picked commit keeps its subject",
        "series.yaml:15: description: a picked commit keeps its text; what is to be said of the "
        "backport goes to note",
        "series.yaml:20: trailers: a picked commit keeps its trailers; more of them go to "
        "trailers-add",
        "series.yaml:21: provenance: a picked commit keeps its 'cherry picked from' lines, and "
        "gets one more"]),
    "conflicts": (SERIES + "    conflicts: drop\n", [
        "series.yaml:18: conflicts: must be 'keep', or a list of the files that were in "
        "conflict, not 'drop'"]),
    "conflicts outside": (SERIES + "    conflicts: [../x]\n", [
        "series.yaml:18: conflicts: must be a path in the project's tree, not a file name that "
        "leaves the tree, not '../x'"]),
    "strip": (SERIES + "    strip: 21\n", [
        "series.yaml:18: strip: must be less than or equal to 20, not '21'"]),
    "truth": (SERIES + "    allow-empty: maybe\n", [
        "series.yaml:18: allow-empty: must be true or false, not 'maybe'"]),
    "key twice": (SERIES + "    kind: other\n", [
        "series.yaml:18: 'kind' for a second time; the first is on line 11"]),
    "key no text": (SERIES + "[a]: b\n", ["series.yaml:18: a key must be text"]),
    "control character": (replaced("Quota", '"\\0"').replace(" usage is not decremented", ""), [
        "series.yaml:1: has a control character in it",
        "series.yaml:1: title: must be one line, of characters that can be printed, "
        "not '\\x00'"]),
    "surrogate": (replaced("First.", "First.").replace("|\n      First.\n\n      Second.",
                                                      '"\\uD800"'), [
        "series.yaml:13: has a control character in it"]),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), FAULTS.values(), ids=FAULTS)
def test_faults_are_told_with_their_line(tmp_path: Path, text: str, expected: list[str]) -> None:
    folder = make(tmp_path, text)
    assert faults(folder) == [line.replace("FOLDER", str(folder)) for line in expected]


BRANCH_FAULTS = {
    "unknown key": (BRANCH + "tags: 1\n", [
        "branch.yaml:15: unknown key 'tags'"]),
    "unknown key below": (BRANCH.replace("  paths:", "  path:"), [
        "branch.yaml:7: the key 'paths' is missing",
        "branch.yaml:10: unknown key 'path'; did you mean 'paths'?"]),
    "project": (BRANCH.replace("openstack/nova", "nova"), [
        "branch.yaml:1: project: must be OWNER/NAME, such as openstack/nova, not 'nova'"]),
    "branch": (BRANCH.replace("stable/ocata", "--upload-pack=x"), [
        "branch.yaml:2: branch: must be a branch or a tag, such as stable/ocata, "
        "not '--upload-pack=x'"]),
    "newer branch": (BRANCH.replace("master", "a..b"), [
        "branch.yaml:6: newer-branches: must be a branch or a tag, such as stable/ocata, "
        "not 'a..b'"]),
    "no lock": (BRANCH.replace("requirements-py27.txt", "requirement-py27.txt"), [
        "branch.yaml:9: requirements: there is no file 'requirement-py27.txt' in FOLDER; "
        "did you mean 'requirements-py27.txt'?"]),
    "a lock too few": (BRANCH.replace('["2.7"]', '["2.7", "3.5"]'), [
        "branch.yaml:9: requirements: name a file for each Python of 2.7, 3.5; "
        "'one file' is not so",
        "branch.yaml:9: requirements: name a file for each Python of 2.7, 3.5; '2.7' is not so",
        "branch.yaml:9: requirements: name a file for each Python of 2.7, 3.5; '3.5' is not so"]),
    "a lock for another": (
        BRANCH.replace(": requirements-py27.txt", ": {'3.5': requirements-py27.txt}"), [
        "branch.yaml:9: requirements: name a file for each Python of 2.7; '2.7' is not so",
        "branch.yaml:9: requirements: name a file for each Python of 2.7; '3.5' is not so"]),
    "python": (BRANCH.replace('"2.7"', "python2"), [
        "branch.yaml:8: python: must be a version of Python, such as 2.7, not 'python2'"]),
    "timeout": (BRANCH.replace("embedded:", "  timeout: -1\nembedded:"), [
        "branch.yaml:11: timeout: must be greater than 0, not '-1'"]),
    "timeout nan": (BRANCH.replace("embedded:", "  timeout: nan\nembedded:"), [
        "branch.yaml:11: timeout: must be a number, not 'nan'"]),
    "variable": (BRANCH.replace("embedded:", "  environment: {A-B: c}\nembedded:"), [
        "branch.yaml:11: A-B: must be the name of an environment variable, not 'A-B'"]),
    "tests path": (BRANCH.replace("nova/tests/", "../tests"), [
        "branch.yaml:10: paths: must be a path in the project's tree, not a file name that "
        "leaves the tree, not '../tests'"]),
    "tests no mapping": (BRANCH.replace(BRANCH[BRANCH.index("tests:"):BRANCH.index("embed")],
                                        "tests: nova/tests\n"), [
        "branch.yaml:7: tests: must hold keys and values, not 'nova/tests'"]),
    "sdist": (BRANCH.replace("nova==15.1.5", "nova>=15"), [
        "branch.yaml:12: sdist: must be NAME==VERSION, as nova==15.1.5, not 'nova>=15'"]),
    "sha": (BRANCH.replace("32af5e", "sha256:32af5e"), [
        "branch.yaml:13: sha256: must be 64 digits of 0-9a-f"]),
    "tag": (BRANCH.replace('"[stable only]"', "[stable only]"), [
        "branch.yaml:5: stable-only-tag: must be text"]),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), BRANCH_FAULTS.values(), ids=BRANCH_FAULTS)
def test_faults_of_the_branch_are_told_with_their_line(
    tmp_path: Path, text: str, expected: list[str]
) -> None:
    folder = make(tmp_path, branch=text)
    found = [line for line in faults(folder) if line.startswith("branch.yaml")]
    assert sorted(found) == sorted(line.replace("FOLDER", str(folder.parent)) for line in expected)


def test_faults_of_all_files_come_at_once(folder: Path) -> None:
    (folder / "2.patch").write_text(PATCH.replace("-1,3", "-1,9").replace("nova/x.py", ".git/x"))
    (folder / "1.patch").write_text("")
    (folder / "series.yaml").write_text(SERIES.replace("bug: ", "bug: x").replace("fix\n", "f\n"))
    (folder.parent / "branch.yaml").write_text(BRANCH.replace("project", "projekt"))
    assert [line.split(": ")[0] for line in faults(folder)] == [
        "branch.yaml:1", "branch.yaml:1", "1.patch", "2.patch:7", "series.yaml:2", "series.yaml:11",
    ]  # fmt: skip


def test_a_patch_tells_what_to_do_about_it(folder: Path) -> None:
    (folder / "1.patch").write_bytes(b"\x1f\x8b")
    with pytest.raises(ManifestError) as caught:
        load_series(folder)
    assert caught.value.hint == "Unpack it first."


def test_the_depth_of_a_patch_may_be_given(folder: Path) -> None:
    (folder / "1.patch").write_text(PATCH.replace(" nova/", " a/top/nova/"))
    (folder / "series.yaml").write_text(SERIES.replace("1.patch", "1.patch\n    strip: 2"))
    assert load_series(folder).changes[0].patch == NORMAL.encode()


@pytest.mark.parametrize("name", ["link.patch", "sub/1.patch"])
def test_no_link_leads_out_of_the_folder(folder: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "1.patch").write_text(PATCH)
    (folder / "link.patch").symlink_to(tmp_path / "outside" / "1.patch")
    (folder / "sub").symlink_to(tmp_path / "outside")
    (folder / "series.yaml").write_text(SERIES.replace("1.patch", name))
    (line,) = faults(folder)
    assert line.startswith("series.yaml:5: patch: must be no link")


def test_a_patch_may_lie_in_a_folder_below(folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "1.patch").rename(folder / "sub" / "1.patch")
    (folder / "series.yaml").write_text(SERIES.replace("1.patch", "sub/1.patch"))
    assert load_series(folder).changes[0].patch_file == folder / "sub" / "1.patch"


BOMB = "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n"
NO_DOCUMENT = {
    "empty": ("", "series.yaml: is empty"),
    "comment": ("# nothing\n", "series.yaml: is empty"),
    "text": ("title\n", "series.yaml:1: must hold keys and values, such as 'title: …'"),
    "list": ("- a\n", "series.yaml:1: must hold keys and values, such as 'title: …'"),
    "python tag": ("title: !!python/object/apply:os.system [id]\n", "series.yaml:1: tags such as"),
    "python name": ("a: 1\n!!python/name:os.system : x\n", "series.yaml:2: tags such as"),
    "own tag": ("title: !x y\n", "series.yaml:1: tags such as '!x' are not taken"),
    "binary tag": ("title: !!binary aGk=\n", "series.yaml:1: tags such as"),
    "bomb": (BOMB, "series.yaml:1: anchors (&) and aliases (*) are not taken: write it out"),
    "merge": ("a: {<<: *b}\n", "series.yaml:1: anchors (&) and aliases (*)"),
    "self": ("&a [*a]\n", "series.yaml:1: anchors (&) and aliases (*)"),
    "deep": ("[" * 10000, "series.yaml:1: is nested too deeply"),
    "deep blocks": ("- " * 10000, "series.yaml:1: is nested too deeply"),
    "many values": ("- a\n" * 30000, "series.yaml:20000: has more than 20000 values"),
    "two documents": ("a: b\n---\nc: d\n", "series.yaml:2: is not YAML: expected a single doc"),
    "tab": ("a:\n\tb: c\n", "series.yaml:2: is not YAML: while scanning for the next token"),
    "open quote": ('a: "b\n', "series.yaml:2: is not YAML: while scanning a quoted scalar"),
    "escape": ('a: "\\U99999999"\n', "series.yaml: is not YAML"),
    "bell": ("a: \a\n", "series.yaml:1: has a character that is not allowed in YAML"),
    "NUL": ("a: b\nc: \0\n", "series.yaml:2: has a NUL byte in it"),
    "template": ("{% for x in y %}\n", "series.yaml:1: is not YAML"),
}


@pytest.mark.parametrize(("text", "words"), NO_DOCUMENT.values(), ids=NO_DOCUMENT)
def test_what_is_no_manifest_gets_one_line(tmp_path: Path, text: str, words: str) -> None:
    (line,) = faults(make(tmp_path, text))
    assert line.startswith(words)


def test_what_is_no_text_gets_one_line(folder: Path) -> None:
    (folder / "series.yaml").write_bytes(b"a: b\nc: \xff\n")
    assert faults(folder) == ["series.yaml:2: is not UTF-8 text"]


def test_a_huge_file_is_not_read(folder: Path) -> None:
    with (folder / "series.yaml").open("wb") as file:
        file.truncate(1 << 40)
    (line,) = faults(folder)
    assert line == "series.yaml: is larger than 1000000 bytes, which no manifest is"


def test_missing_files_are_told(folder: Path) -> None:
    (folder.parent / "branch.yaml").unlink()
    (folder / "series.yaml").unlink()
    (folder / "series.yaml").mkdir()
    assert sorted(faults(folder)) == [
        "branch.yaml: cannot be read: No such file or directory",
        "series.yaml: is no file",
    ]


def test_more_faults_than_anyone_reads_are_counted(tmp_path: Path) -> None:
    folder = make(tmp_path, SERIES + "".join(f"key{number}: x\n" for number in range(99)))
    with pytest.raises(ManifestError) as caught:
        load_series(folder)
    assert len(caught.value.problems) == 50
    assert caught.value.hint == "There are 49 problems more."


def test_series_are_found_by_name_and_by_path(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    patches = folder.parent.parent
    assert list_series([patches]) == {"ocata/bug-1": patches}
    assert find_series("ocata/bug-1", [patches]).folder == folder
    assert find_series(str(folder), []).folder == folder
    monkeypatch.chdir(folder)
    here = find_series(".", [])
    assert (here.name, here.branch.name) == ("ocata/bug-1", "ocata")
    assert find_series("../bug-1", []).name == "ocata/bug-1"


def test_what_a_folder_lacks_is_taken_from_the_next_one(folder: Path, tmp_path: Path) -> None:
    """A series of one's own needs no copy of the branch's data, nor its data one of the lock."""
    theirs, mine = folder.parent.parent, tmp_path / "mine"
    shutil.copytree(folder, mine / "ocata/bug-2")
    shutil.copytree(folder, mine / "ocata/bug-1")
    both = [mine, theirs]
    assert list_series(both) == {"ocata/bug-1": mine, "ocata/bug-2": mine}
    assert find_series("ocata/bug-1", both).folder == mine / "ocata/bug-1"
    found = find_series("ocata/bug-2", both)
    assert (found.name, found.branch.folder) == ("ocata/bug-2", folder.parent)
    assert find_series(str(mine / "ocata/bug-2"), both) == found
    assert find_branch("ocata", both) == found.branch
    own = BRANCH.replace("release-line: 15.10", "release-line: 15.2")
    (mine / "ocata/branch.yaml").write_text(own)
    branch = find_series("ocata/bug-2", both).branch
    assert (branch.release_line, branch.folder) == ("15.2", mine / "ocata")
    assert branch.tests
    assert branch.tests.pythons[0].requirements == folder.parent / "requirements-py27.txt"
    assert list_branches(both) == {"ocata": mine}
    with pytest.raises(UsageError, match="no branch 'okata'"):
        find_branch("okata", both)


@pytest.mark.parametrize(
    "name",
    ["ocata/bug-2", "", "/", "ocata", "x\0y", "x" * 5000, "-x", "ocata/../../etc", "{{ x }}", "*"],
)
def test_an_unknown_series_names_those_that_there_are(folder: Path, name: str) -> None:
    with pytest.raises(UsageError) as caught:
        find_series(name, [folder.parent.parent])
    assert caught.value.message == f"there is no series {name!r}"
    assert "There are: ocata/bug-1" in caught.value.hint


def test_the_nearest_series_is_offered(folder: Path) -> None:
    with pytest.raises(UsageError) as caught:
        find_series("ocata/bug-2", [folder.parent.parent])
    assert caught.value.hint == "Did you mean ocata/bug-1?\nThere are: ocata/bug-1"


def test_no_series_at_all_is_told(tmp_path: Path) -> None:
    assert list_series([tmp_path / "none"]) == {}
    with pytest.raises(UsageError) as caught:
        find_series("x", [tmp_path])
    assert caught.value.hint == f"There is none below {tmp_path}."


def test_a_rewind_is_loaded(folder: Path) -> None:
    assert load_rewind(folder.parent / "rewind.yaml") == Rewind(
        "the fix is in",
        (
            RewindFile(
                "nova/x.py",
                "1" * 40,
                "2" * 40,
                (LineEdit(80, 80, b""), LineEdit(90, 92, b"    x\n")),
            ),
            RewindFile("nova/y.py", "1" * 40, None),
        ),
    )


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("remove: 80", "remove: 91", ":10: edits must be in ascending order"),
        ("90-92", "92-90", ":10: edits must be in ascending order"),
        ("90-92", "0-9", ":10: remove: must be lines: 7, or 7-9, not '0-9'"),
        ("remove-file: true", "remove-file: false", ":12: a file needs either"),
        ("    yields: 2222222222222222222222222222222222222222\n", "", ":5: a file needs either"),
        ("nova/x.py", "../x.py", ":5: path: must be a path in the project's tree"),
        ("why", "wy", ":1: unknown key 'wy'; did you mean 'why'?"),
        ("put", "puts", ":11: unknown key 'puts'; did you mean 'put'?"),
    ],
)
def test_faults_of_a_rewind_are_told(folder: Path, old: str, new: str, words: str) -> None:
    path = folder.parent / "rewind.yaml"
    path.write_text(REWIND.replace(old, new, 1))
    with pytest.raises(ManifestError) as caught:
        load_rewind(path)
    assert f"{path}{words}" in str(caught.value)


def test_the_built_in_series_have_the_messages_of_the_design() -> None:
    series = find_series("ocata/bug-1783613", [data_folder("patches")])
    test, fix = (render_message(change, series) for change in series.changes)
    assert test == (
        "[stable only] Add functional regression test for bug 1783613\n\n"
        "Related-Bug: #1783613\n\n"
        "Change-Id: Ib65b0c7c5b83c53edf63f23fa522334c6a666ae4\n"
    )
    assert fix.startswith("[stable only] Handle quota usage during create/delete races\n\n")
    assert fix.endswith(
        "\n\nCloses-Bug: #1783613\n\nChange-Id: I4d492dcad193ff0b1202dcae97954cc65b75c109\n"
    )
    assert max(map(len, fix.split("\n"))) <= 72


def _mutations(text: str) -> st.SearchStrategy[str]:
    positions = st.integers(0, len(text))
    cuts = st.tuples(positions, st.integers(0, 20), st.text(max_size=5))
    return cuts.map(lambda cut: text[: cut[0]] + cut[2] + text[cut[0] + cut[1] :])


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
keys = st.sampled_from(
    ["title", "bug", "changes", "patch", "kind", "commit", "tests", "date", "strip", "subject"]
)
values: st.SearchStrategy[Any] = st.recursive(
    scalars | st.sampled_from(["1.patch", "fix", "..", "true", "-1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)


@settings(
    max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    text=st.text(max_size=60)
    | _mutations(SERIES)
    | values.map(lambda value: yaml.safe_dump(value, allow_unicode=True)),
    of_branch=st.booleans(),
)
def test_any_text_gives_a_series_or_clear_lines(
    text: str, of_branch: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    patches = tmp_path_factory.mktemp("patches")
    folder = make(patches)
    path = folder.parent / "branch.yaml" if of_branch else folder / "series.yaml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        series = load_series(folder)
    except BackportError as error:
        lines = str(error).split("\n")
        assert all(line.startswith(str(patches)) for line in lines)
    else:
        assert [change.number for change in series.changes] == [1, 2][: len(series.changes)]
    finally:
        shutil.rmtree(patches)
