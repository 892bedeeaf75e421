"""Input that is meant to do harm: one clear line, exit code 2, nothing run and nothing written."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gitrepo import snapshot
from plainrun import FIVE, TEN
from project import Project

PATCH = """\
diff --git a/NAME b/NAME
new file mode 100644
--- /dev/null
+++ b/NAME
@@ -0,0 +1 @@
+x
"""
EDIT = """\
--- a/a
+++ b/a
@@ -COUNT +COUNT @@
 line 1
-line 2
+line II
 line 3
"""


def adds(name: str) -> bytes:
    return PATCH.replace("NAME", name).encode()


def through_a_link() -> bytes:
    link = PATCH.replace("NAME", "d").replace("100644", "120000").replace("+x", "+/tmp")
    return (link + PATCH.replace("NAME", "d/x")).encode()


def counts(count: str) -> bytes:
    return EDIT.replace("COUNT", count).encode()


PATCHES: dict[str, bytes] = {
    "leaves the tree": adds("../x"),
    "leaves the tree, further down": adds("a/../../x"),
    "absolute": adds("/etc/x").replace(b"a//etc", b"/etc").replace(b"b//etc", b"/etc"),
    "a drive's": adds("C:/x"),
    "into .git": adds(".git/hooks/post-checkout"),
    "into .GIT": adds(".GIT/config"),
    "into .git of a folder": adds("d/.git/config"),
    "into git~1": adds("git~1/config"),
    "into .git with a blank": adds(".git /config"),
    "into .git with a stream": adds(".git::$INDEX_ALLOCATION/config"),
    "into .g\u200cit": adds(".g\u200cit/config"),
    "back slashes": adds(r'"..\\\\..\\\\x"'),
    "through a link": through_a_link(),
    ".gitmodules as a link": adds(".gitmodules").replace(b"100644", b"120000"),
    "a quoted name that leaves": adds("x").replace(b"b/x", rb'"b/\056\056/x"'),
    "huge counts": counts("1,99999999999999999999"),
    "counts that lie": counts("1,2147483647"),
    "negative counts": counts("-1,-3"),
    "NUL in a name": adds("a\0b"),
    "another encoding": EDIT.replace("COUNT", "1,3").encode("utf-16"),
    "a mode that git does not have": adds("x").replace(b"100644", b"104755"),
    "a folder's mode": adds("x").replace(b"100644", b"040000"),
    "no patch": b"rm -rf /\n",
    "nothing": b"",
    "an ed script": b"--- a/a\n+++ b/a\n1,2c\n!touch MARK\n.\n",
    "renames onto itself": b"diff --git a/a b/a\nrename from a\nrename to a\n",
}


@pytest.fixture
def hostile(project: Project) -> Project:
    """Give a project with a series that would go in."""
    repo = project.repo
    before = repo.commit("before", {"a": TEN})
    project.patch_series(repo.diff(before, repo.commit("after", {"a": FIVE})))
    repo.git("reset", "-q", "--hard", before)
    return project


def refused(project: Project, *args: str, says: str = "") -> None:
    """Run, and see that it ends with one complaint and exit code 2, as if it had never been."""
    before, around = snapshot(project.repo.path), everything(project.root.parent)
    ran = project.apply("ocata/bug-1", *args)
    assert ran.code == 2, ran.err + ran.out
    complaint = ran.err if "error: " in ran.err else str(ran.report["problem"]["message"])
    assert ran.err.count("error: ") <= 1
    assert says in complaint
    assert "Traceback" not in ran.err
    assert snapshot(project.repo.path) == before
    assert everything(project.root.parent) == around


def everything(root: Path) -> set[str]:
    """List all files but those of the cache and of the report."""
    return {
        str(path)
        for path in root.rglob("*")
        if not {"build", "objects", ".cache", ".local"} & set(path.relative_to(root).parts)
    }


@pytest.mark.parametrize("what", PATCHES)
def test_a_patch_that_is_hostile_is_refused(hostile: Project, what: str) -> None:
    (hostile.root / "patches/ocata/bug-1/0001.patch").write_bytes(PATCHES[what])
    refused(hostile, says="0001.patch")


def test_a_patch_that_is_too_large_is_not_even_read(hostile: Project) -> None:
    with (hostile.root / "patches/ocata/bug-1/0001.patch").open("r+b") as file:
        file.truncate(200 << 20)
    refused(hostile, says="larger than 64 MiB")


@pytest.mark.parametrize("kind", ["fifo", "folder", "link to nowhere", "device", "loop"])
def test_a_patch_that_is_no_file_is_refused(hostile: Project, kind: str) -> None:
    patch = hostile.root / "patches/ocata/bug-1/0001.patch"
    patch.unlink()
    make: dict[str, Callable[[], object]] = {
        "fifo": lambda: os.mkfifo(patch),
        "folder": patch.mkdir,
        "link to nowhere": lambda: patch.symlink_to("/nowhere/at/all"),
        "device": lambda: patch.symlink_to("/dev/zero"),
        "loop": lambda: patch.symlink_to(patch),
    }
    make[kind]()
    refused(hostile, says="0001.patch")


BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{','.join([f'*{chr(ord(name) - 1)}'] * 9)}]\n" for name in "bcdefghij"
)
MANIFESTS: dict[str, str] = {
    "a bomb": BOMB + "title: x\nbug: 1\nchanges: *j\n",
    "a loop": "title: x\nbug: 1\nchanges: &a [*a]\n",
    "a python object": "title: !!python/object/apply:os.system ['touch MARK']\nchanges: []\n",
    "a python name": "title: !!python/name:os.system\nbug: 1\nchanges: []\n",
    "a constructor": "!!python/object/new:tuple [[1, 2]]\n",
    "a merge key": "<<: {title: x}\nbug: 1\nchanges: []\n",
    "deep": "changes: " + "[" * 20000,
    "a NUL": "title: x\0\nbug: 1\nchanges: []\n",
    "no text": "\x80\x81",
    "a number": "17\n",
    "many documents": "title: x\n---\ntitle: y\n",
    "the same key twice": "title: x\ntitle: y\nbug: 1\nchanges: []\n",
}


@pytest.mark.parametrize("what", MANIFESTS)
def test_a_manifest_that_is_hostile_is_refused(hostile: Project, tmp_path: Path, what: str) -> None:
    text = MANIFESTS[what].replace("MARK", str(tmp_path / "mark"))
    (hostile.root / "patches/ocata/bug-1/series.yaml").write_text(text, encoding="latin-1")
    refused(hostile, says="series.yaml")


CHANGES: dict[str, dict[str, object]] = {
    "a patch elsewhere": {"patch": "../../../../etc/passwd"},
    "a patch with too long a name": {"patch": "x" * 5000},
    "an absolute patch": {"patch": "/etc/passwd"},
    "an option for a commit": {"commit": "--output=MARK"},
    "a revision for a commit": {"commit": "HEAD~1"},
    "an option for a test": {"tests": ["--load-list=MARK"]},
    "a path for a test": {"tests": ["/etc/passwd"]},
    "code for a test": {"tests": ["x;import os;os.system('touch MARK')"]},
    "a line break in the subject": {"subject": "x\nCloses-Bug: #2"},
    "a line break in an author": {"author": "x\nparent 0 <a@example.org>"},
    "a bracket in an author": {"author": "x <y> <a@example.org>"},
    "a date that git cannot write": {"date": "yesterday"},
    "a Change-Id that is none": {"change-id": "I1234"},
    "provenance that is none": {"provenance": ["--all"]},
    "a line break in a trailer": {"trailers": ["Co-Authored-By: x\nChange-Id: I1"]},
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_that_is_hostile_is_refused(hostile: Project, tmp_path: Path, what: str) -> None:
    hostile.series([{"patch": "0001.patch", **CHANGES[what]}])
    manifest = hostile.root / "patches/ocata/bug-1/series.yaml"
    manifest.write_text(manifest.read_text().replace("MARK", str(tmp_path / "mark")))
    refused(hostile, says="series.yaml")


OPTIONS = [
    "--onto=--output=MARK", "--onto=-n1", "--onto=--exec=touch MARK", "--onto=HEAD..HEAD~1",
    "--onto=@{-1}x", "--branch-name=-x", "--branch-name=--force",
    "--branch-name=../../config", "--branch-name=a..b", "--branch-name=x.lock",
    "--branch-name=a b", "--branch-name=HEAD", "--branch-name=@{-1}", "--branch-name=a\nb",
    "--branch-name=a//b", "--branch-name=.x", "--branch-name=x/", "--branch-name=a~1",
    "--accept-moved=--output=MARK", "--accept-moved=a:-1",
]  # fmt: skip


@pytest.mark.parametrize("option", OPTIONS)
def test_an_option_that_is_hostile_is_refused(
    hostile: Project, tmp_path: Path, option: str
) -> None:
    refused(hostile, option.replace("MARK", str(tmp_path / "mark")))


@pytest.mark.parametrize("where", ["x" * 5000, "~no-such-user/x", "file:///" + "x" * 5000])
def test_a_checkout_that_cannot_be_named_is_refused(hostile: Project, where: str) -> None:
    ran = hostile.run("run", "ocata/bug-1", "--checkout", where, "--skip-tests")
    assert ran.code in (2, 4)
    assert ran.err.count("error: ") == 1
    assert "Traceback" not in ran.err


def test_templates_and_markup_in_texts_are_texts(hostile: Project) -> None:
    text = (
        "{% for a in range(10**9) %}{% for b in range(10**9) %}x{% endfor %}{% endfor %}\n"
        "{{ cycler.__init__.__globals__.os.system('touch /tmp/x') }}\n"
        "[bold]not bold[/bold] \x1b[31mnot red <script>alert(1)</script>"
    )
    hostile.series([{"patch": "0001.patch", "description": text.replace("\x1b", "")}])
    ran = hostile.apply("ocata/bug-1")
    assert ran.code == 0, ran.err
    message = hostile.repo.git("log", "-1", "--format=%B", "backport/ocata/bug-1")
    assert text.replace("\x1b", "") in message


@pytest.mark.parametrize("way", ["link", "file"])
def test_nothing_is_put_below_what_is_no_folder_on_the_branch(
    hostile: Project, tmp_path: Path, way: str
) -> None:
    """A link out of the tree, or a file, which must not be taken away for it."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x").write_text("<<<<<<< a\nsecret\n=======\n>>>>>>> b\n")
    if way == "link":
        (hostile.repo.path / "d").symlink_to(outside)
    hostile.repo.commit("base", {"d": "a file\n"} if way == "file" else {})
    hostile.patch_series(adds("d/x"))
    before = snapshot(hostile.repo.path)
    ran = hostile.apply("ocata/bug-1")
    assert ran.code == 3, ran.err + ran.out
    assert f"d is a {way} on the branch" in ran.report["conflict"]["files"][0]["reasons"][-1]
    assert snapshot(hostile.repo.path) == before
    assert "secret" not in hostile.run("status").out
    assert hostile.run("continue").code in (2, 3, 4)
    assert hostile.run("abort").code == 0
    assert [path.name for path in outside.iterdir()] == ["x"]
    assert "secret" in (outside / "x").read_text()


def test_a_file_where_the_branch_has_a_folder_is_a_conflict(hostile: Project) -> None:
    """A merge would say that the patch takes the folder away."""
    hostile.repo.commit("base", {"d/x": "x\n", "d/y/z": "z\n"})
    hostile.patch_series(adds("d"))
    ran = hostile.apply("ocata/bug-1")
    assert ran.code == 3, ran.err + ran.out
    assert "d is a folder on the branch" in ran.report["conflict"]["files"][0]["reasons"][-1]
