"""Patches as people have them, and what must not get past: a row a case."""

from __future__ import annotations

import base64
import gzip
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backport.errors import ExitCode, ManifestError
from backport.patch.checks import path_fault
from backport.patch.filenames import unquote
from backport.patch.reader import FileKind, Patch, parse_diff, parse_patch, patch_paths, read_patch
from backport.patch.writer import quote

WHERE = Path("patches/x.patch")
SHA = "a" * 40
HUNK = """\
@@ -1,3 +1,3 @@ def above():
 before
-old
+new
 after
"""
PLAIN = "--- a/nova/x.py\n+++ b/nova/x.py\n" + HUNK
GIT = "diff --git a/nova/x.py b/nova/x.py\nindex 1234567..89abcde 100644\n" + PLAIN
ADD = """\
diff --git a/{0} b/{0}
new file mode {1}
index 0000000..1234567
--- /dev/null
+++ b/{0}
@@ -0,0 +1 @@
+content
"""


def prefixed(text: str, old: str, new: str) -> str:
    """Put other prefixes in front of the names."""
    return text.replace("a/nova", f"{old}nova").replace("b/nova", f"{new}nova")


def parse(text: str | bytes, strip: int | None = None) -> Patch:
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
    return parse_patch(data, WHERE, strip)


def refusal(text: str | bytes) -> str:
    with pytest.raises(ManifestError) as caught:
        parse(text)
    assert caught.value.exit_code is ExitCode.USAGE
    assert str(caught.value).startswith(str(WHERE))
    return str(caught.value)


def test_a_hunk_is_read_with_its_heading_lines_and_place() -> None:
    patch = parse("Subject: x\n\n" + GIT)
    (file,) = patch.files
    (hunk,) = file.hunks
    assert (file.kind, file.path, file.line) == (FileKind.MODIFY, "nova/x.py", 3)
    assert (file.old_mode, file.new_mode) == ("100644", "100644")
    assert (file.old_blob, file.new_blob) == ("1234567", "89abcde")
    assert (hunk.heading, hunk.line) == ("def above():", 7)
    assert hunk.header == "@@ -1,3 +1,3 @@ def above():"
    assert hunk.lines == (b" before\n", b"-old\n", b"+new\n", b" after\n")
    assert (hunk.leading, hunk.trailing) == (1, 1)
    assert hunk.side(old=True) == (b"before\n", b"old\n", b"after\n")
    assert hunk.side(old=False) == (b"before\n", b"new\n", b"after\n")
    assert [(edit.old, edit.new) for edit in file.edits()] == [(range(2, 3), range(2, 3))]
    assert patch.data == GIT.encode()
    assert patch.strip == 1


@pytest.mark.parametrize(
    ("hunk", "edits"),
    [
        ("@@ -4,2 +4,3 @@\n a\n+b\n c\n", [(range(5, 5), range(5, 6))]),
        ("@@ -4,3 +4,2 @@\n a\n-b\n c\n", [(range(5, 6), range(5, 5))]),
        ("@@ -4 +4,2 @@\n a\n+b\n", [(range(5, 5), range(5, 6))]),
        (
            "@@ -1,4 +1,4 @@\n-a\n b\n c\n-d\n+e\n+f\n",
            [(range(1, 2), range(1, 1)), (range(4, 5), range(3, 5))],
        ),
        ("@@ -0,0 +1 @@\n+a\n", [(range(1, 1), range(1, 2))]),
        ("@@ -1 +0,0 @@\n-a\n", [(range(1, 2), range(1, 1))]),
    ],
)
def test_edits_are_the_changed_lines_of_both_sides(
    hunk: str, edits: list[tuple[range, range]]
) -> None:
    (file,) = parse("--- a/f\n+++ b/f\n" + hunk).files
    assert [(edit.old, edit.new) for edit in file.edits()] == edits


AS_PEOPLE_HAVE_THEM = {
    "plain git diff": GIT,
    "without an index line": GIT.replace("index 1234567..89abcde 100644\n", ""),
    "plain diff": PLAIN,
    "diff command above": "diff -u a/nova/x.py b/nova/x.py\n" + PLAIN,
    "svn": "Index: nova/x.py\n=======\n" + prefixed(PLAIN, "", ""),
    "dates": PLAIN.replace("x.py\n", "x.py\t2018-07-25 17:00:00.000000000 +0200\n"),
    "no prefix": prefixed(GIT, "", ""),
    "mnemonic prefix": prefixed(GIT, "i/", "w/"),
    "other folders": prefixed(PLAIN, "nova-15.1.3/", "nova-15.1.3.new/"),
    "mail": "From x\nSubject: [PATCH] y\n\nText\n---\n x | 2 +-\n\n" + GIT + "-- \n2.39.5\n",
    "signature without blank": GIT + "--\n2.39.5\n\n",
    "CRLF by a mail program": GIT.replace("\n", "\r\n"),
    "CRLF, last line cut": GIT.replace("\n", "\r\n")[:-2],
    "CRLF headers only": GIT.replace("x.py\n", "x.py\r\n").replace("100644\n", "100644\r\n"),
    "byte order mark": "\ufeff" + GIT,
    "last newline lost": GIT[:-1],
    "blank lines behind": GIT + "\n\n",
    "no a in the commit": "commit " + "a" * 40 + "\nAuthor: x\n\n    text\n\n" + GIT,
    "commit id in prose": "From " + "a" * 40 + " Mon Sep 17 00:00:00 2001\n\ncommit "
    + "b" * 40 + " upstream.\n\n" + GIT,
}  # fmt: skip


@pytest.mark.parametrize("text", AS_PEOPLE_HAVE_THEM.values(), ids=AS_PEOPLE_HAVE_THEM)
def test_patches_as_people_have_them_are_normalised(text: str) -> None:
    patch = parse(text)
    assert patch_paths(patch) == ("nova/x.py",)
    blobs = patch.files[0].old_blob is not None
    expected = GIT if blobs else GIT.replace("index 1234567..89abcde 100644\n", "")
    assert patch.data.decode() == expected
    assert parse_patch(patch.data, WHERE) == parse_patch(patch.data, WHERE, patch.strip)


@pytest.mark.parametrize("context", ["\n", "\r\n", " \r\n"])
def test_blank_context_that_an_editor_has_stripped_is_context(context: str) -> None:
    text = "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n" + context + "-old\n+new\n" + context
    (hunk,) = parse(text).files[0].hunks
    blank = b" \r\n" if "\r" in context else b" \n"
    assert hunk.lines == (blank, b"-old\n", b"+new\n", blank)


def test_a_patch_of_a_crlf_file_keeps_its_crs() -> None:
    text = GIT.replace("old\n", "old\r\n").replace("new\n", "new\r\n")
    assert parse(text).data == text.encode()


def test_trees_that_are_the_same_have_no_patch() -> None:
    assert parse_diff(b"", WHERE) == Patch(b"", ())
    assert parse_diff(GIT.encode(), WHERE) == parse(GIT)


def test_content_survives_byte_for_byte() -> None:
    odd = bytes(byte for byte in range(256) if byte != 10)
    data = GIT.encode().replace(b"-old", b"-" + odd).replace(b"+new", b"+" + odd[::-1])
    patch = parse(data)
    assert patch.data == data
    assert patch.files[0].hunks[0].lines[1] == b"-" + odd + b"\n"


def test_a_translated_marker_is_a_marker() -> None:
    hunks = "@@ -1 +1 @@\n-a\n\\ Kein Zeilenumbruch am Dateiende.\n+b\n"
    patch = parse("--- a/f\n+++ b/f\n" + hunks + "--- a/g\n+++ b/g\n" + hunks)
    assert [file.hunks[0].lines for file in patch.files] == [(b"-a", b"+b\n")] * 2
    assert b"\\ No newline at end of file\n" in patch.data


@pytest.mark.parametrize(
    ("text", "kind", "path"),
    [
        ("--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n", FileKind.ADD, "new"),
        ("--- /dev/null\n+++ sub/new\n@@ -0,0 +1 @@\n+x\n", FileKind.ADD, "sub/new"),
        ("--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n", FileKind.DELETE, "old"),
        (
            "--- a/new\t1970-01-01 01:00:00.000000000 +0100\n"
            "+++ b/new\t2018-07-25 01:00:00.000000000 +0100\n@@ -0,0 +1 @@\n+x\n",
            FileKind.ADD,
            "new",
        ),
    ],
)
def test_plain_diffs_add_and_delete(text: str, kind: FileKind, path: str) -> None:
    (file,) = parse(text).files
    assert (file.kind, file.path) == (kind, path)


@pytest.mark.parametrize(
    ("text", "strip", "paths"),
    [
        (prefixed(PLAIN, "a/top/", "b/top/"), 2, ("nova/x.py",)),
        (prefixed(PLAIN, "a/top/", "b/top/"), None, ("top/nova/x.py",)),
        (prefixed(PLAIN, "x.orig/y/", "x/z/"), None, ("nova/x.py",)),
        (prefixed(GIT, "a/", "a/"), 1, ("nova/x.py",)),
        (prefixed(GIT, "a/", "a/"), None, ("a/nova/x.py",)),
        ("diff --git a/t/p b/t/q\nrename from t/p\nrename to t/q\n", 2, ("p", "q")),
        ("diff --git a/p b/q\nrename from p\nrename to q\n", None, ("p", "q")),
        ("diff --git a/p b/q\nrename from a/p\nrename to b/q\n", None, ("a/p", "b/q")),
        ("diff --git a b c b c d\ncopy from a b\ncopy to c b c d\n", None, ("a b", "c b c d")),
    ],
)
def test_the_depth_is_read_off_the_patch_or_given(
    text: str, strip: int | None, paths: tuple[str, ...]
) -> None:
    assert patch_paths(parse(text, strip)) == paths


@pytest.mark.parametrize(
    "name",
    [b"plain", b"with space", b'"', b"\\", b"\t\n\r\a\b\v\f", "ä€".encode(), bytes(range(1, 256))],
)
def test_quoting_round_trips(name: bytes) -> None:
    assert unquote(quote(name, force=True)) == name


@pytest.mark.parametrize(
    "text", [b'"', b'"a', b'"\\', b'"\\"', b'"\\q"', b'"\\400"', b'"\\7"', b'"a"b"']
)
def test_bad_quoting_is_no_name(text: bytes) -> None:
    assert unquote(text) is None


OUTSIDE = [
    "../x", "x/../../y", "/etc/passwd", "x/..", "C:/x", "..\\x", "x\\..\\..\\y",
    ".git/config", ".GIT/hooks/pre-commit", "x/.Git/y", ".git", ".git /x", ".git./x", ".git. ./x",
    "git~1/x", "GIT~1/x", ".git::$INDEX_ALLOCATION/x", ".g\u200cit/x", ".\ufeffGIT/x", "x\\.git\\y",
    "x//y", "./x", "x/./y", "x/", "a\0b",
]  # fmt: skip


@pytest.mark.parametrize("path", OUTSIDE)
@pytest.mark.parametrize("mode", ["100644", "120000"])
def test_no_path_leaves_the_tree(path: str, mode: str) -> None:
    name = '"%s/' + path.replace("\\", "\\\\").replace("\0", "\\000") + '"'
    text = ADD.replace("a/{0}", name % "a").replace("b/{0}", name % "b").replace("{1}", mode)
    assert "a file name" in refusal(text) or "absolute" in refusal(text)
    assert path_fault(path)


@pytest.mark.parametrize(
    "path", [".gitignore", ".github/x", "git", "a.git/x", "x..y", "...", "a\\b", "git~2", "ä/\n"]
)
def test_names_that_only_look_dangerous_are_fine(path: str) -> None:
    assert path_fault(path) == ""


def test_rename_lines_cannot_leave_the_tree_either() -> None:
    text = "diff --git a/x b/../y\nsimilarity index 100%\nrename from x\nrename to ../y\n"
    assert "leaves the tree: '../y'" in refusal(text)


def hunks(*lines: str) -> str:
    return "--- a/f\n+++ b/f\n" + "\n".join(lines) + "\n"


REFUSED = {
    "empty": ("", "is empty"),
    "blank": (" \n\n", "is empty"),
    "prose": ("Please apply this.\n", "holds no patch"),
    "diffstat only": ("From x\nSubject: y\n\n---\n x | 2 +-\n", "holds no patch"),
    "web page": ("<!DOCTYPE html>\n<html><pre>\n" + GIT, "is a web page"),
    "base64": (base64.encodebytes(GIT.encode() * 3).decode(), "is base64 text"),
    "coloured": ("\x1b[1m" + GIT.replace("\n", "\x1b[m\n\x1b[1m"), "has colours in it"),
    "context diff": ("*** a/x\n--- b/x\n***************\n*** 1 ****\n! x\n", "is a context diff"),
    "normal diff": ("2c2\n< old\n---\n> new\n", "is a normal diff"),
    "ed script": ("2c\nnew\n.\n", "is an ed script"),
    "lfs": ("version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "Git LFS"),
    "merge": ("diff --cc x\nindex 1,2..3\n--- a/x\n+++ b/x\n@@@ -1 -1 +1 @@@\n", "of a merge"),
    "quoted-printable": (
        "Subject: x\nContent-Transfer-Encoding: quoted-printable\n\n" + GIT, "encoded"),
    "two mails": ((f"From {SHA} Mon Sep 17 00:00:00 2001\n\n" + GIT) * 2, "second commit"),
    "two commits shown": ((f"commit {SHA}\nAuthor: x\n\n" + GIT) * 2, "second commit"),
    "hunk without a file": (HUNK, "without the name of a file"),
    "header only": ("diff --git a/x b/x\n", "no change at all"),
    "header and index only": ("diff --git a/x b/x\nindex 1234567..89abcde 100644\n", "cut off"),
    "no hunk": ("diff --git a/x b/x\n--- a/x\n+++ b/x\n", "no hunk where one must be"),
    "no plus line": ("diff --git a/x b/x\n--- a/x\n", "without the '+++' line"),
    "cut in a hunk": (GIT[:-10], "a hunk"),
    "cut before a signature": (GIT.replace(" after\n", "") + "-- \n2.39.5\n", "a hunk"),
    "counts too small": (GIT + " more\n", "more lines than the hunk"),
    "counts too small, added": (GIT + "+more\n", "more lines than the hunk"),
    "counts too large": (GIT.replace("-1,3", "-1,4"), "a hunk"),
    "counts differ": (GIT.replace("+1,3", "+1,2"), "do not match its counts"),
    "next file too early": (GIT.replace("-1,3 +1,3", "-1,5 +1,5") + GIT, "2 lines before"),
    "huge count": (GIT.replace("-1,3", "-1,999999999"), "in a patch that ends before"),
    "huger count": (GIT.replace("-1,3", "-1," + "9" * 5000), "begins like a hunk and is none"),
    "huge line": (GIT.replace("-1,3", "-4294967295,3"), "at a line that no file has"),
    "no numbers": (GIT.replace("-1,3", "-x"), "begins like a hunk and is none"),
    "no change": (hunks("@@ -1,2 +1,2 @@", " a", " b"), "changes nothing"),
    "no context": (hunks("@@ -5 +5 @@", "-a", "+b"), "without context"),
    "no context, insertion": (hunks("@@ -5,0 +6 @@", "+b"), "without context"),
    "no context, insertion after the first line": (hunks("@@ -1,0 +2 @@", "+b"), "without context"),
    "backwards": (
        hunks("@@ -9,2 +9,2 @@", " a", "-b", "+c", "@@ -1,2 +1,2 @@", " a", "-b", "+c"), "above"),
    "overlapping": (
        hunks("@@ -1,2 +1,2 @@", " a", "-b", "+c", "@@ -2,2 +2,2 @@", " a", "-b", "+c"), "over"),
    "newline lost in the middle": (
        hunks("@@ -1,3 +1,3 @@", " a", "-b", "\\ No newline", "+c", " d"), "not the last"),
    "newline lost in an earlier hunk": (
        hunks("@@ -1,2 +1,2 @@", " a", "-b", "+c", "\\ No newline",
              "@@ -8,2 +8,2 @@", " a", "-b", "+c"), "not the last of its file"),
    "add with old lines": (
        ADD.format("f", "100644").replace("-0,0", "-1").replace("+content", "-a\n+content"),
        "that were there before"),
    "delete with lines left": (
        "diff --git a/f b/f\ndeleted file mode 100644\n--- a/f\n+++ /dev/null\n"
        "@@ -1,2 +1 @@\n-a\n b\n", "lines that stay"),
    "delete without content": (
        "diff --git a/f b/f\ndeleted file mode 100644\nindex 1234567..0000000\n", "git diff -D"),
    "twice": (GIT + GIT, "for a second time: 'nova/x.py'"),
    "deleted twice": (
        "diff --git a/f b/f\ndeleted file mode 100644\nindex e69de29..0000000\n" * 2, "second"),
    "changed and renamed": (
        GIT + "diff --git a/nova/x.py b/y\nrename from nova/x.py\nrename to y\n", "taken away"),
    "through a link": (ADD.format("l", "120000") + ADD.format("l/x", "100644"), "below a link"),
    "through a link, before": (ADD.format("l/x", "100644") + ADD.format("l", "120000"), "a link"),
    "through a link, case": (ADD.format("L", "120000") + ADD.format("l/x", "100644"), "a link"),
    "below a file": (ADD.format("l", "100644") + ADD.format("l/x", "100644"), "below another file"),
    "link for settings": (ADD.format("x/.gitmodules", "120000"), "reads its settings"),
    "mode": (ADD.format("x", "040000"), "a file mode that git does not have"),
    "setuid": (ADD.format("x", "104755"), "a file mode that git does not have"),
    "odd mode": (ADD.format("x", "é"), "a file mode that git does not have"),
    "half a mode": ("diff --git a/x b/x\nold mode 100644\n", "half of a change of mode"),
    "another type": (
        "diff --git a/x b/x\nold mode 100644\nnew mode 120000\n", "becomes something else"),
    "half a rename": ("diff --git a/x b/y\nrename from x\n", "half of a rename"),
    "names disagree": (GIT.replace("+++ b/nova/x.py", "+++ b/nova/y.py"), "do not agree"),
    "names disagree with the header": (GIT.replace("--git a/n", "--git a/m"), "do not agree"),
    "names disagree in a plain diff": (PLAIN.replace("b/nova/x.py", "b/y"), "do not agree"),
    "both nowhere": (PLAIN.replace("a/nova/x.py", "/dev/null").replace("b/nova/x.py", "/dev/null"),
                     "do not agree"),
    "orig": (PLAIN.replace("a/nova/x.py", "nova/x.py.orig").replace("b/nova", "nova"), "not agree"),
    "depths": (GIT + prefixed(GIT, "", "").replace("x.py", "y.py"), "depth"),
    "too deep": ("--- a\n+++ b\n" + HUNK, "do not agree"),
    "bad quoting": (PLAIN.replace("a/nova/x.py", '"a/\\x"'), "quoted"),
    "bad index": (GIT.replace("1234567..", "1234567,1234567.."), "index line"),
    "bad similarity": (
        "diff --git a/x b/y\nsimilarity index 101%\nrename from x\nrename to y\n", "similarity"),
    "twice in a header": ("diff --git a/x b/x\nold mode 100644\nold mode 100644\n", "twice"),
    "long name": ("diff --git a/{0} b/{0}\n".format("x" * 20000), "too long"),
    "submodule with a tree": (
        ADD.format("s", "160000"), "does not go from one commit to another"),
    "dirty submodule": (
        ADD.format("s", "160000").replace("content", "Subproject commit " + "1" * 40 + "-dirty"),
        "does not go from one commit"),
    "submodule summary": (GIT + "Submodule sub 1234567..89abcde:\n  > x\n", "the summary"),
    "only in": (GIT + "Only in b/nova: y.py\n", "named and not carried"),
    "binary in a plain diff": (GIT + "Binary files a/x and b/x differ\n", "not carried"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "words"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_says_why_in_one_line(text: str, words: str) -> None:
    line = refusal(text)
    assert words in line
    assert "\n" not in line


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (GIT.encode("utf-16"), "UTF-16"),
        (gzip.compress(b"x", mtime=0), "compressed"),
        (b"PK\x03\x04", "compressed"),
        (b"\0" * 100, "holds no patch"),
        (b"+\n" * 1_000_001, "has more than 1000000 lines"),
        (b"diff --git a/x b/x\n" * 10_001, "has more than 10000 files"),
    ],
)
def test_what_is_no_text_is_refused(data: bytes, words: str) -> None:
    assert words in refusal(data)


def test_all_faults_of_a_patch_come_at_once() -> None:
    text = ADD.format("../x", "100644") + ADD.format("y", "104755")
    text += hunks("@@ -5 +5 @@", "-a", "+b")
    lines = refusal(text).splitlines()
    assert [line.split(":")[1] for line in lines] == ["1", "8", "17"]


def blob_lines(content: bytes, word: bytes = b"literal", size: int | None = None) -> bytes:
    packed = zlib.compress(content)
    lines = [word + b" %d" % (len(content) if size is None else size)]
    for at in range(0, len(packed), 52):
        part = packed[at : at + 52]
        length = bytes([len(part) + (64 if len(part) <= 26 else 70)])
        lines.append(length + base64.b85encode(part, pad=True))
    return b"\n".join(lines) + b"\n\n"


BINARY = b"diff --git a/x.png b/x.png\nindex " + b"1" * 40 + b".." + b"2" * 40 + b" 100644\n"
DATA = b"GIT binary patch\n" + blob_lines(b"\0new") + blob_lines(b"\0old")


@pytest.mark.parametrize("end", [b"\n", b"", b"\n-- \n2.39\n"])
def test_binary_data_is_carried(end: bytes) -> None:
    patch = parse(BINARY + DATA[:-1] + end)
    assert patch.data == BINARY + DATA
    assert patch.files[0].binary
    assert patch.files[0].kind is FileKind.MODIFY


def test_binary_without_data_is_carried_for_a_checkout_that_has_the_blob() -> None:
    data = BINARY + b"Binary files a/x.png and b/x.png differ\n"
    assert parse(data).data == data


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (BINARY.replace(b"1" * 40, b"1" * 7) + DATA, "without full blob ids"),
        (BINARY.replace(b"index", b"xxdex") + b"GIT binary patch\n", "no change at all"),
        (BINARY + b"GIT binary patch\n", "cut off"),
        (BINARY + b"GIT binary patch\nliteral 4\n\n", "not as long"),
        (BINARY + DATA.replace(b"literal 4", b"literal 5"), "not as long"),
        (BINARY + DATA.replace(b"literal 4", b"literal 9999999999"), "size"),
        (BINARY + DATA.replace(b"literal 4", b"literal 3"), "not as long"),
        (BINARY + b"GIT binary patch\nliteral 4\nZ!\n\n", "damaged"),
        (BINARY + b"GIT binary patch\nliteral 4\n" + b"D" + b"~" * 5 + b"\n\n", "damaged"),
        (BINARY + b"GIT binary patch\n" + blob_lines(b"\0" * 10**7, size=10), "not as long"),
        (BINARY + b"GIT binary patch\n" + blob_lines(b"x") + b"literal 1\nxx\n", "damaged"),
    ],
)
def test_damaged_binary_data_is_refused(data: bytes, words: str) -> None:
    assert words in refusal(data)


def test_reading_refuses_by_size_before_it_reads(tmp_path: Path) -> None:
    large = tmp_path / "large.patch"
    with large.open("wb") as file:
        file.truncate((64 << 20) + 1)
    with pytest.raises(ManifestError, match="larger than 64 MiB"):
        read_patch(large)


def test_reading_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="is no file"):
        read_patch(tmp_path)
    with pytest.raises(ManifestError, match="cannot be read: No such file"):
        read_patch(tmp_path / "none.patch")


def test_reading_gives_what_parsing_gives(tmp_path: Path) -> None:
    path = tmp_path / "x.patch"
    path.write_text(GIT)
    assert read_patch(path) == parse(GIT)


PIECES = [line + b"\n" for line in (GIT + ADD.format("n", "100644")).encode().splitlines()] + [
    b"--- /dev/null\n", b"+++ /dev/null\n", b"rename from nova/x.py\n", b"rename to y\n", b"\n",
    b"old mode 100644\n", b"new mode 100755\n", b"new mode 120000\n", b"-- \n", b"\\ No newline\n",
    b"GIT binary patch\n", b"literal 4\n", b"IcmZQzWX>!B0000>\n", b"@@ -1,2 +3,4 @@\n",
    b"@@ -1 +1 @@\n",
    b'--- "a/\\303\\244"\n', b"Binary files a/x and b/x differ\n", b"similarity index 50%\n",
    b"index 1111111..2222222\n", b"deleted file mode 100644\n", b"From x\n", b"\xff\xfe\0\n",
    b"+\n",
]  # fmt: skip
hostile = st.one_of(
    st.binary(max_size=300),
    st.lists(st.sampled_from(PIECES), max_size=14).map(b"".join),
    st.tuples(st.integers(0, 320), st.binary(max_size=6), st.integers(0, 9)).map(
        lambda cut: (GIT.encode() * 2)[: cut[0]] + cut[1] + (GIT.encode() * 2)[cut[0] + cut[2] :]
    ),
)


@settings(max_examples=800, deadline=None)
@given(data=hostile, strip=st.sampled_from([None, 0, 1, 2]))
def test_any_bytes_give_a_patch_or_one_clear_refusal(data: bytes, strip: int | None) -> None:
    try:
        patch = parse_patch(data, WHERE, strip)
    except ManifestError as error:
        problems = [str(problem) for problem in error.problems]
    else:
        problems = []
        assert not any(path_fault(path) for path in patch_paths(patch))
        assert parse_patch(patch.data, WHERE, patch.strip).data == patch.data
        assert parse_patch(patch.data, WHERE).data == patch.data
    assert all("\n" not in problem for problem in problems)
