"""Changes that are more than text: modes, links, submodules, picks, and names of branches."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitrepo import Repo, snapshot
from plainrun import BINARY, BRANCH, CRLF, FIVE, TEN
from project import Project, Ran

VIII = TEN.replace("line 8", "line VIII")
COMMIT = "1234567890" * 4
OTHER_COMMIT = "abcdef0123" * 4


# -- modes, links, submodules ---------------------------------------------------------------------


def make(repo: Repo, message: str, **entries: str | bytes | None) -> str:
    """Commit entries that are ``MODE CONTENT``; a submodule's content is its commit."""
    for name, what in entries.items():
        if what is None:
            repo.git("update-index", "--force-remove", name)
            continue
        mode, _, content = (what if isinstance(what, bytes) else what.encode()).partition(b" ")
        submodule = mode == b"160000"
        blob = (
            content.decode()
            if submodule
            else repo.git("hash-object", "-w", "--stdin", stdin=content)
        )
        repo.git("update-index", "--add", "--cacheinfo", f"{mode.decode()},{blob},{name}")
    tree = repo.git("write-tree")
    parent = repo.git("rev-parse", "--verify", "-q", "HEAD", check=False)
    commit = repo.git("commit-tree", tree, "-m", message, *(["-p", parent] if parent else []))
    repo.git("update-ref", "HEAD", commit)
    return commit


def brought(project: Project, before: str, after: str, base: str | None = None) -> Ran:
    """Bring the change from one commit to another onto a base, the first one."""
    repo = project.repo
    series = project.patch_series(repo.diff(before, after))
    repo.git("update-ref", "refs/heads/stable/ocata", base or before)
    untouched = snapshot(repo.path)
    ran = project.apply(series)
    assert snapshot(repo.path).without(BRANCH) == untouched
    return ran


def listed(project: Project, rev: str = BRANCH) -> dict[str, str]:
    """Map the files of a commit to mode and object."""
    lines = project.repo.git("ls-tree", "-r", rev).split("\n")
    fields = (line.split("\t") for line in lines)
    return {name: " ".join(head.split()[::2]) for head, name in fields}


KINDS = {
    "a mode": ("100644 a\n", "100755 a\n"),
    "a mode taken back": ("100755 a\n", "100644 a\n"),
    "a mode and a text": (f"100644 {TEN}", f"100755 {FIVE}"),
    "a link's target": ("120000 here", "120000 there"),
    "a link added": (None, "120000 ../outside"),
    "a link taken away": ("120000 here", None),
    "a link that becomes a file": ("120000 here", f"100644 {TEN}"),
    "a file that becomes a link": (f"100644 {TEN}", "120000 here"),
    "a submodule's commit": (f"160000 {COMMIT}", f"160000 {OTHER_COMMIT}"),
    "a submodule added": (None, f"160000 {COMMIT}"),
    "a submodule taken away": (f"160000 {COMMIT}", None),
    "a submodule that becomes a file": (f"160000 {COMMIT}", f"100644 {TEN}"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_it_goes_in_as_it_is(project: Project, kind: str) -> None:
    repo = project.repo
    old, new = KINDS[kind]
    before = make(repo, "before", keep="100644 k\n", x=old) if old else make(
        repo, "before", keep="100644 k\n")  # fmt: skip
    after = make(repo, "after", x=new)
    ran = brought(project, before, after)
    assert ran.code == 0, ran.err + ran.out
    assert listed(project) == listed(project, after)


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_recognised_where_it_is_in(project: Project, kind: str) -> None:
    repo = project.repo
    old, new = KINDS[kind]
    before = make(repo, "before", keep="100644 k\n", x=old) if old else make(
        repo, "before", keep="100644 k\n")  # fmt: skip
    after = make(repo, "after", x=new)
    ran = brought(project, before, after, after)
    assert ran.code == 0, ran.err + ran.out
    assert ran.report["result"] == "already-in"


@pytest.mark.parametrize(
    ("before", "after", "base", "wanted"),
    [
        (f"100644 {TEN}", f"100755 {FIVE}", f"100644 {VIII}", f"100755 {FIVE}"),
        (f"100644 {TEN}", f"100644 {FIVE}", f"100755 {VIII}", f"100755 {FIVE}"),
        (f"100644 {TEN}", f"100755 {TEN}", f"100644 {VIII}", f"100755 {TEN}"),
    ],
)
def test_a_mode_and_a_text_are_merged_each(
    project: Project, before: str, after: str, base: str, wanted: str
) -> None:
    repo = project.repo
    start, end = make(repo, "before", x=before), make(repo, "after", x=after)
    repo.git("reset", "-q", start)
    ran = brought(project, start, end, make(repo, "base", x=base))
    assert ran.code == 0, ran.err + ran.out
    merged = make(repo, "wanted", x=wanted.replace("line 8", "line VIII"))
    assert listed(project) == listed(project, merged)


@pytest.mark.parametrize(
    ("before", "after", "base"),
    [
        ("120000 here", "120000 there", "120000 elsewhere"),
        ("120000 here", "120000 there", f"100644 {TEN}"),
        (f"100644 {TEN}", f"100644 {FIVE}", "120000 here"),
        (f"100644 {TEN}", f"100644 {FIVE}", f"160000 {COMMIT}"),
        (f"160000 {COMMIT}", f"160000 {OTHER_COMMIT}", f"160000 {COMMIT[::-1]}"),
        (f"160000 {COMMIT}", f"160000 {OTHER_COMMIT}", f"100644 {TEN}"),
        (b"100644 " + BINARY, b"100644 " + BINARY + b"x", b"100644 \0" + BINARY),
        (b"100644 " + BINARY, None, b"100644 \0" + BINARY),
    ],
)
def test_what_cannot_be_merged_is_a_conflict_that_leaves_nothing(
    project: Project, before: str | bytes, after: str | bytes | None, base: str | bytes
) -> None:
    repo = project.repo
    start = make(repo, "before", keep="100644 k\n", x=before)
    end = make(repo, "after", x=after)
    repo.git("reset", "-q", start)
    ours = make(repo, "base", x=base)
    ran = brought(project, start, end, ours)
    assert ran.code == 3, ran.err + ran.out
    assert ran.report["conflict"]["files"][0]["path"] == "x"
    assert ran.report["conflict"]["files"][0]["reasons"]
    assert BRANCH not in snapshot(repo.path).refs
    assert project.run("status").code == 3
    assert project.run("abort").code == 0


# -- picks ----------------------------------------------------------------------------------------


def on_pike(project: Project, message: bytes, head: str = "", name: str = "Ann Author") -> str:
    """Make a commit of a newer branch, with a message in whatever bytes."""
    repo = project.repo
    base = repo.commit("base", {"a": TEN})
    tree = repo.git("rev-parse", repo.commit("x", {"a": FIVE}) + "^{tree}")
    repo.git("reset", "-q", "--hard", base)
    who = "<ann@example.org> 1530000000 +0000"
    raw = f"tree {tree}\nparent {base}\nauthor {name} {who}\ncommitter x {who}\n{head}\n"
    encoding = "latin-1" if "8859" in head else "utf-8"
    stdin = raw.encode(encoding) + message
    commit = repo.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=stdin)
    repo.git("branch", "stable/pike", commit)
    return commit


def pick(project: Project, commit: str, digit: str = "a") -> Ran:
    series = project.series([{"commit": commit, "kind": "fix", "change-id": "I" + digit * 40}])
    return project.apply(series)


CHANGE_ID = b"Change-Id: I" + b"a" * 40


@pytest.mark.parametrize(
    ("message", "encoding", "wanted"),
    [
        ("Grün".encode(), "utf-8", "Grün"),
        ("Grün".encode("latin-1"), "iso-8859-1", "Grün"),
        ("鉛".encode("euc-jp"), "euc-jp", "鉛"),
        ("Grün".encode("latin-1"), "utf-8", "Gr\udcfcn"),
        ("Grün".encode("latin-1"), "no-such-encoding", "Gr\udcfcn"),
        (b"\xff\xfe\x80", "utf-8", "\udcff\udcfe\udc80"),
    ],
    ids=["utf-8", "latin-1", "euc-jp", "latin-1 unsaid", "unknown", "no text"],
)
def test_a_message_of_any_encoding_is_kept_and_told(
    project: Project, message: bytes, encoding: str, wanted: str
) -> None:
    """What its commit says that it is written in is written in UTF-8; other bytes stay."""
    text = message + b"\n\n" + CHANGE_ID + b"\n"
    picked = on_pike(project, text, f"encoding {encoding}\n" * (encoding != "utf-8"))
    ran = pick(project, picked)
    assert ran.code == 0, ran.err + ran.out
    raw = project.repo.git("cat-file", "commit", BRANCH)
    assert raw.split("\n\n", 1)[1] == (
        f"{wanted}\n\n{CHANGE_ID.decode()}\n(cherry picked from commit {picked})"
    )
    assert "\nencoding " not in raw


def test_an_author_s_name_is_read_in_the_commit_s_encoding(project: Project) -> None:
    message = "für\n\n".encode("latin-1") + CHANGE_ID
    picked = on_pike(project, message, "encoding iso-8859-1\n", "Jürgen Jr.")
    ran = pick(project, picked)
    assert ran.code == 0, ran.err + ran.out
    raw = project.repo.git("cat-file", "commit", BRANCH)
    assert "\nauthor Jürgen Jr. <ann@example.org> 1530000000 +0000\n" in raw
    assert "\n\nfür\n" in raw


def test_the_signature_of_a_pick_is_not_taken_along(project: Project) -> None:
    picked = on_pike(project, b"x\n\n" + CHANGE_ID + b"\n", "gpgsig x\n y\n")
    assert pick(project, picked).code == 0
    assert "gpgsig" not in project.repo.git("cat-file", "commit", BRANCH)


@pytest.mark.parametrize("kind", ["a merge", "a root", "a tree", "a blob", "a tag", "nothing"])
def test_what_is_no_single_change_cannot_be_picked(project: Project, kind: str) -> None:
    repo = project.repo
    picked = on_pike(project, b"x\n")
    merge = repo.git("commit-tree", "-p", "HEAD", "-p", picked, "-m", "merge", f"{picked}^{{tree}}")
    repo.git("tag", "-a", "-m", "x", "t", merge)
    what = {
        "a merge": merge,
        "a root": repo.git("rev-parse", "HEAD"),
        "a tree": repo.git("rev-parse", "HEAD^{tree}"),
        "a blob": repo.git("rev-parse", "HEAD:a"),
        "a tag": repo.git("rev-parse", "t"),
        "nothing": "0" * 39 + "1",
    }[kind]
    ran = pick(project, what)
    assert ran.code == 2
    assert "series.yaml:" in ran.err + ran.out
    assert BRANCH not in snapshot(repo.path).refs


@pytest.mark.parametrize("allowed", [True, False])
def test_an_empty_change_is_made_where_the_series_says_so(project: Project, allowed: bool) -> None:
    base = project.repo.commit("base", {"a": TEN})
    ran = project.apply(project.series([{"allow-empty": True}] if allowed else [{}]))
    assert ran.code == (0 if allowed else 2), ran.err + ran.out
    if allowed:
        assert project.files() == project.files(base)
        assert project.repo.git("rev-list", "--count", f"{base}..{BRANCH}") == "1"


def test_a_file_that_a_newer_branch_has_renamed_is_found(project: Project) -> None:
    """The patch names it as it is there, and the branch has it as it was."""
    repo = project.repo
    base = repo.commit("base", {"old/a": TEN * 3, "old/b": TEN * 3 + "b"})
    repo.git("checkout", "-q", "-b", "stable/pike")
    renamed = repo.commit("rename", {"old/a": None, "new/a": TEN * 3, "old/b": None, "new/b": TEN})
    fixed = repo.commit("fix", {"new/a": "first\n" + TEN * 3})
    repo.git("checkout", "-q", "-B", "stable/ocata", base)
    ran = project.apply(project.patch_series(repo.diff(renamed, fixed)))
    assert ran.code == 0, ran.err + ran.out
    assert project.files()["old/a"] == ("first\n" + TEN * 3).encode()
    assert ran.report["changes"][0]["files"][0]["renamed_from"] == "new/a"


# -- names of branches ----------------------------------------------------------------------------


@pytest.fixture
def small(project: Project) -> Project:
    """Give a project with a series that goes in."""
    before = project.repo.commit("before", {"a": TEN, "crlf": CRLF})
    after = project.repo.commit("after", {"a": FIVE})
    project.patch_series(project.repo.diff(before, after))
    project.repo.git("reset", "-q", "--hard", before)
    return project


@pytest.mark.parametrize("there", ["backport", "backport/ocata", "backport/ocata/bug-1/x"])
@pytest.mark.parametrize("packed", [True, False])
def test_a_branch_around_it_or_below_it_is_in_the_way(
    small: Project, there: str, packed: bool
) -> None:
    small.repo.git("branch", there)
    if packed:
        small.repo.git("pack-refs", "--all")
    before = snapshot(small.repo.path)
    ran = small.apply("ocata/bug-1", "--replace")
    assert ran.code == 5
    assert there in ran.out
    assert snapshot(small.repo.path) == before


def test_a_packed_branch_with_the_same_commits_has_nothing_to_do(small: Project) -> None:
    assert small.apply("ocata/bug-1").code == 0
    small.repo.git("pack-refs", "--all")
    before = snapshot(small.repo.path)
    assert small.apply("ocata/bug-1").report["branch"]["action"] == "nothing-to-do"
    assert snapshot(small.repo.path) == before


def test_what_was_replaced_twice_is_kept_twice(small: Project) -> None:
    repo = small.repo
    olds = []
    for name in ("one", "two"):
        olds.append(repo.git("commit-tree", "-m", name, "HEAD^{tree}"))
        repo.git("update-ref", BRANCH, olds[-1])
        assert small.apply("ocata/bug-1", "--replace").code == 0
    again = repo.git("update-ref", BRANCH, olds[0])
    assert again == ""
    assert small.apply("ocata/bug-1", "--replace").code == 0
    kept = repo.git("for-each-ref", "--format=%(objectname)", "refs/backport/replaced/")
    assert sorted(kept.split("\n")) == sorted(olds)


def test_a_branch_that_is_checked_out_elsewhere_or_rebased_is_refused(
    small: Project, tmp_path: Path
) -> None:
    repo = small.repo
    repo.git("branch", "backport/ocata/bug-1", "HEAD")
    repo.git("worktree", "add", "-q", str(tmp_path / "linked"), "backport/ocata/bug-1")
    ran = small.apply("ocata/bug-1", "--replace")
    assert ran.code == 5
    assert str(tmp_path / "linked") in ran.out.replace("\\n", "")


def test_a_branch_that_is_a_link_to_another_is_not_followed(small: Project) -> None:
    """`update-ref` would move the other branch (gitglossary, symref)."""
    repo = small.repo
    repo.git("branch", "other")
    repo.git("symbolic-ref", BRANCH, "refs/heads/other")
    before = snapshot(repo.path)
    for how in ((), ("--replace",)):
        ran = small.apply("ocata/bug-1", *how)
        assert ran.code == 5, ran.out
    assert snapshot(repo.path) == before


def test_a_broken_branch_is_said_so(small: Project) -> None:
    ref = small.repo.path / ".git" / BRANCH
    ref.parent.mkdir(parents=True)
    ref.write_text("0123\n")
    ran = small.apply("ocata/bug-1")
    assert ran.code in (4, 5)
    assert "backport/ocata/bug-1" in ran.out
    assert ref.read_text() == "0123\n"


def test_a_text_beside_a_file_that_git_has_to_make_goes_in_too(project: Project) -> None:
    repo = project.repo
    before = make(repo, "before", text=f"100644 {TEN}", data="100644 \0a")
    after = make(repo, "after", text=f"100644 {FIVE}", data="100644 \0b")
    ran = brought(project, before, after)
    assert ran.code == 0, ran.err + ran.out
    assert listed(project) == listed(project, after)
