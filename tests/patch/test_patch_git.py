"""Patches that real git writes: read back as what git itself says that they hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backport.patch.reader import FileKind, Patch, parse_patch, patch_paths, render_patch
from plumbing import GitRepo, Tree

WHERE = Path("test.patch")
LINES = [b"line %d of the file\n" % number for number in range(1, 31)]
TEXT = b"".join(LINES)
CONTENTS = [
    b"",
    TEXT,
    TEXT.replace(b"line 15 ", b"line fifteen "),
    TEXT.replace(b"line 2 ", b"line two ").replace(b"line 25 of the file\n", b""),
    b"".join(LINES[:20]) + b"put in\n" + b"".join(LINES[20:]),
    TEXT[:-1],
    TEXT + b"no newline",
    TEXT.replace(b"\n", b"\r\n"),
    TEXT.replace(b"\n", b"\r\n").replace(b"line 9 ", b"line nine "),
    TEXT.replace(b"line 12 ", b"\x0cform feed \x85\x1c\x1d\x1e\x0b "),
    TEXT.replace(b"line 4 ", "naïve – Ω ".encode("utf-16-le").replace(b"\0", b"\xff")),
    TEXT.replace(b"line 5 of the file", b"").replace(b"line 6 of the file", b" "),
    b"-- \n++ \n-- a/x\n++ b/x\n@@ -1 +1 @@\n\\ No newline at end of file\ndiff --git a/x b/x\n",
    b"-- \n++ \n-- a/x\n+++ b/x\n@@ -1 +1 @@\n\\ No newline\ndiff --git a/x b/x",
    b"one\n",
    b"one",
    b"\n",
    b"\r",
    bytes(range(256)) * 4,
    bytes(range(256)) * 4 + b"\0more",
    b"../target",
]
NAMES = [b"a", b"b", b"my file", b" x", b"x ", b'q"q', b"back\\slash", b"t\tt", b"n\nn",
         "ä".encode(), b"\xff\xfe", b"b a", b"dev", b"null", b"z.py"]  # fmt: skip
MODES = ["100644", "100644", "100644", "100755", "120000"]


@st.composite
def trees(draw: st.DrawFn) -> dict[bytes, tuple[str, int]]:
    """A tree: paths to a mode and the number of a content."""
    paths = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map(b"/".join)
    files = draw(
        st.dictionaries(
            paths,
            st.tuples(st.sampled_from(MODES), st.integers(0, len(CONTENTS) - 1)),
            max_size=5,
        )
    )
    return {
        path: what
        for path, what in files.items()
        if not any(path != other and path.startswith(other + b"/") for other in files)
    }


@pytest.fixture(scope="session")
def blobs(plumbing: GitRepo) -> list[str]:
    return [plumbing.blob(content) for content in CONTENTS]


Fact = tuple[str, str | None, str | None, str | None, str | None, str | None, str | None]


def _raw_facts(raw: bytes) -> set[Fact]:
    """What ``git diff --raw -z`` says; a change of type as two files, as a patch has it."""
    facts: set[Fact] = set()
    fields = iter(raw.split(b"\0"))
    for head in fields:
        if not head:
            break
        old_mode, new_mode, old_blob, new_blob, status = head[1:].decode().split(" ")
        first = next(fields).decode("utf-8", "surrogateescape")
        second = next(fields).decode("utf-8", "surrogateescape") if status[0] in "RC" else first
        if status[0] in "AT":
            facts.add(("add", None, first, None, new_mode, None, new_blob))
        if status[0] in "DT":
            facts.add(("delete", first, None, old_mode, None, old_blob, None))
        if status[0] in "RC":
            kind = {"R": "rename", "C": "copy"}[status[0]]
            facts.add((kind, first, second, old_mode, new_mode, old_blob, new_blob))
        if status[0] == "M":
            kind = "mode" if old_blob == new_blob else "modify"
            facts.add((kind, first, first, old_mode, new_mode, old_blob, new_blob))
    return facts


def _facts(patch: Patch) -> set[Fact]:
    return {
        (f.kind.value, f.old_path, f.new_path, f.old_mode, f.new_mode, f.old_blob, f.new_blob)
        for f in patch.files
    }


def _without_what_git_leaves_out(facts: set[Fact]) -> set[Fact]:
    """A patch has no blob ids where the content stays, and no mode where that is all that stays."""
    plain = set()
    for kind, old, new, old_mode, new_mode, old_blob, new_blob in facts:
        if old_blob == new_blob:
            old_blob = new_blob = None
            if old_mode == new_mode:
                old_mode = new_mode = None
        plain.add((kind, old, new, old_mode, new_mode, old_blob, new_blob))
    return plain


def _store(plumbing: GitRepo, blobs: list[str], files: dict[bytes, tuple[str, int]]) -> str:
    tree: Tree = {path: (mode, blobs[number]) for path, (mode, number) in files.items()}
    return plumbing.tree(tree)


def _git_cannot_read(patch: Patch) -> bool:
    """Whether a name with a space stands in the ``diff --git`` line alone: git trips over some."""
    kinds = (FileKind.RENAME, FileKind.COPY)
    return any(" " in f.path and not f.hunks and f.kind not in kinds for f in patch.files)


FULL = ("--full-index", "--binary")
given_trees = given(old=trees(), new=trees())
slow = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@slow
@given_trees
def test_a_patch_holds_what_git_diff_raw_says(
    plumbing: GitRepo, blobs: list[str], old: Any, new: Any
) -> None:
    before, after = _store(plumbing, blobs, old), _store(plumbing, blobs, new)
    for options in [("--no-renames",), ("-M", "-C", "--find-copies-harder"), ("-B", "-M", "-l0")]:
        data = plumbing.diff(before, after, *FULL, *options)
        raw = plumbing.diff(before, after, "--raw", "-z", "--no-abbrev", *options)
        if before == after:
            return
        patch = parse_patch(data, WHERE)
        assert _facts(patch) == _without_what_git_leaves_out(_raw_facts(raw))
        assert patch.data == data or _git_cannot_read(patch)
        if "-B" not in options:  # git apply does not take a copy onto a file that is there
            assert plumbing.applied(before, patch.data) == after


@slow
@given_trees
def test_every_way_to_write_a_patch_is_normalised_to_the_same(
    plumbing: GitRepo, blobs: list[str], old: Any, new: Any
) -> None:
    before, after = _store(plumbing, blobs, old), _store(plumbing, blobs, new)
    if before == after:
        return
    for more in (("--no-renames",), ("-M",)):
        plain = plumbing.diff(before, after, *FULL, *more)
        normal = parse_patch(plain, WHERE).data
        for options in [
            ("--no-prefix",),
            ("--src-prefix=i/", "--dst-prefix=w/"),
            ("--src-prefix=old/nova/", "--dst-prefix=new/nova/"),
        ]:
            written = plumbing.diff(before, after, *FULL, *more, *options)
            strip = 2 if "nova" in options[0] else None
            if strip and more == ("-M",):
                continue  # rename lines do not have the prefix, so that -p2 cuts into them
            assert parse_patch(written, WHERE, strip).data == normal
        crlf = plain.replace(b"\n", b"\r\n")
        if b"\r\n" not in plain:
            assert parse_patch(crlf, WHERE).data == normal
        assert parse_patch(normal, WHERE).data == normal


@slow
@given_trees
def test_noise_of_mails_and_of_git_show_is_left_out(
    plumbing: GitRepo, blobs: list[str], old: Any, new: Any
) -> None:
    before, after = _store(plumbing, blobs, old), _store(plumbing, blobs, new)
    if before == after:
        return
    first = plumbing.commit(before, b"First\n")
    second = plumbing.commit(after, b"Second\n\n--- a\n@ -1 +1\n+ added\n- removed\n", first)
    plain = parse_patch(plumbing.diff(before, after, *FULL, "-M"), WHERE).data
    mail = plumbing.git("format-patch", "--stdout", "-1", *FULL, "-M", second)
    shown = plumbing.git("show", *FULL, "-M", second)
    assert parse_patch(mail, WHERE).data == plain
    assert parse_patch(shown, WHERE).data == plain
    footer = b"\n_______________\nmailing list\n- nova@example.org\n"
    assert parse_patch(mail + footer, WHERE).data == plain


@slow
@given_trees
def test_edits_rebuild_the_new_side_from_the_old(
    plumbing: GitRepo, blobs: list[str], old: Any, new: Any
) -> None:
    before, after = _store(plumbing, blobs, old), _store(plumbing, blobs, new)
    if before == after:
        return
    patch = parse_patch(plumbing.diff(before, after, *FULL, "-M"), WHERE)
    for file in patch.files:
        if not file.hunks or not (file.old_blob and file.new_blob):
            continue
        was, is_now = (
            plumbing.git("cat-file", "blob", blob).split(b"\n")
            for blob in (file.old_blob, file.new_blob)
        )
        built, at = [], 1
        for edit in file.edits():
            built += was[at - 1 : edit.old.start - 1]
            built += is_now[edit.new.start - 1 : edit.new.stop - 1]
            at = edit.old.stop
        built += was[at - 1 :]
        # A newline that is lost or won at the end is one empty piece more or less.
        assert [line for line in built if line] == [line for line in is_now if line]
    assert set(patch_paths(patch)) == {
        path for file in patch.files for path in (file.old_path, file.new_path) if path
    }


def test_a_hunk_that_is_left_out_leaves_a_patch_of_the_others(plumbing: GitRepo) -> None:
    new = TEXT.replace(b"line 3 ", b"put in\nline three ").replace(b"line 27 ", b"line x ")
    before = plumbing.tree({b"f": ("100644", plumbing.blob(TEXT))})
    after = plumbing.tree({b"f": ("100644", plumbing.blob(new))})
    (file,) = parse_patch(plumbing.diff(before, after), WHERE).files
    first, second = file.hunks

    without_first = file.leave_out(first)
    assert without_first is not None
    assert without_first.hunks[0].new_start == second.old_start
    assert without_first.new_blob is None
    only_second = render_patch([without_first])
    rest = plumbing.blob(TEXT.replace(b"line 27 ", b"line x "))
    expected = plumbing.tree({b"f": ("100644", rest)})
    assert plumbing.applied(before, only_second) == expected
    assert parse_patch(only_second, WHERE).data == only_second
    last = without_first.leave_out(without_first.hunks[0])
    assert last is None


def test_a_submodule_that_moves_is_data(plumbing: GitRepo) -> None:
    before = plumbing.tree({b"sub": ("160000", "1" * 40), b"gone": ("160000", "2" * 40)})
    after = plumbing.tree({b"sub": ("160000", "3" * 40), b"come": ("160000", "4" * 40)})
    data = plumbing.diff(before, after, "--full-index", "--no-renames")
    patch = parse_patch(data, WHERE)
    assert patch.data == data
    assert {file.path: file.kind for file in patch.files} == {
        "sub": FileKind.MODIFY,
        "gone": FileKind.DELETE,
        "come": FileKind.ADD,
    }
    assert plumbing.applied(before, patch.data) == after
