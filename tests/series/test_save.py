"""Writing into series.yaml: the keys are there, and every other byte is as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from backport.errors import UsageError
from backport.series.save import Edit, edit_changes, replace_file

ID = "Ib65b0c7c5b83c53edf63f23fa522334c6a666ae4"
HEAD = "# About it.\ntitle: T  # why\nchanges:\n"
ADD_ID = Edit(1, {"change-id": ID}, "subject")
SAVE = Edit(2, {"patch": "2.patch", "conflicts": ["a b", "null", "c.py"]}, "commit", ("strip",))
LISTED = 'conflicts:\n      - "a b"\n      - "null"\n      - c.py\n'

TABLE = {
    "below its line": (
        ADD_ID,
        "  - subject: S  # so\n    # of the kind\n    kind: fix\n\n  # the next\n  - kind: other\n",
        f"  - subject: S  # so\n    change-id: {ID}\n    # of the kind\n    kind: fix\n\n"
        "  # the next\n  - kind: other\n",
    ),
    "at the end, without a newline": (
        ADD_ID,
        "- kind: fix\n  subject: 'a: b'",
        f"- kind: fix\n  subject: 'a: b'\n  change-id: {ID}\n",
    ),
    "text over two lines": (
        ADD_ID,
        "  - kind: fix\n    subject: a\n      b\n    tests: []\n",
        f"  - kind: fix\n    subject: a\n      b\n    change-id: {ID}\n    tests: []\n",
    ),
    "block text": (
        ADD_ID,
        "  - kind: fix\n    subject: >-\n      a\n      b\n\n    tests: []\n",
        f"  - kind: fix\n    subject: >-\n      a\n      b\n\n    change-id: {ID}\n    tests: []\n",
    ),
    "block text at the end": (
        ADD_ID,
        "  - kind: fix\n    subject: |-\n      a",
        f"  - kind: fix\n    subject: |-\n      a\n    change-id: {ID}\n",
    ),
    "in braces": (
        ADD_ID,
        "  - {kind: fix, subject: S}\n",
        f"  - {{kind: fix, subject: S, change-id: {ID}}}\n",
    ),
    "lines of Windows": (
        ADD_ID,
        "  - kind: fix\r\n    subject: S\r\n",
        f"  - kind: fix\r\n    subject: S\r\n    change-id: {ID}\r\n",
    ),
    "other line breaks": (
        ADD_ID,
        "  - kind: fix\n    note: 'x\u2028y'\n    subject: S\n",
        f"  - kind: fix\n    note: 'x\u2028y'\n    subject: S\n    change-id: {ID}\n",
    ),
    "keys on a dash of their own": (
        ADD_ID,
        "  -\n    subject: S\n    kind: fix\n",
        f"  -\n    subject: S\n    change-id: {ID}\n    kind: fix\n",
    ),
    "a resolution": (
        SAVE,
        "  - kind: x\n  - commit: abc  # on pike\n    strip: 1\n    kind: fix\n",
        f"  - kind: x\n  - commit: abc  # on pike\n    patch: 2.patch\n    {LISTED}    kind: fix\n",
    ),
    "a resolution in braces": (
        SAVE,
        "  - kind: x\n  - {strip: 1, commit: abc, kind: fix}\n",
        "  - kind: x\n"
        '  - {commit: abc, patch: 2.patch, conflicts: ["a b", "null", c.py], kind: fix}\n',
    ),
    "what goes stands first": (
        Edit(1, drop=("strip",)),
        "  - strip: 1\n    kind: fix\n",
        "  - kind: fix\n",
    ),
    "what goes stands last": (
        Edit(1, drop=("strip",)),
        "  - {kind: fix, strip: 1}\n",
        "  - {kind: fix}\n",
    ),
}


@pytest.mark.parametrize(("edit", "before", "after"), TABLE.values(), ids=TABLE)
@pytest.mark.parametrize("head", [HEAD, "\ufeff" + HEAD], ids=["", "with a mark"])
def test_only_the_lines_of_the_keys_change(
    tmp_path: Path, head: str, edit: Edit, before: str, after: str
) -> None:
    path = tmp_path / "series.yaml"
    path.write_bytes((head + before).encode())
    assert edit_changes(path, [edit])
    assert path.read_bytes().decode() == head + after


def test_nothing_to_do_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "series.yaml"
    path.write_text(HEAD + "  - kind: fix\n")
    before = path.stat()
    assert not edit_changes(path, [Edit(1, drop=("strip",))])
    assert path.stat() == before


def test_what_would_read_otherwise_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "series.yaml"
    text = HEAD + "  - ? subject\n    : S\n    kind: fix\n"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        edit_changes(path, [ADD_ID])
    assert caught.value.hint == f"Write it there: change-id: {ID}"
    assert path.read_text() == text
    assert [*tmp_path.iterdir()] == [path]


def test_mode_and_link_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "f", tmp_path / "link"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    replace_file(link, b"new")
    assert (link.is_symlink(), path.read_text(), path.stat().st_mode & 0o777) == (
        True, "new", 0o640)  # fmt: skip
