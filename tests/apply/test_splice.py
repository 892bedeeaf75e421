"""Hunks put where they say: the same as git apply makes, or left to it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backport.apply.splice import splice
from backport.checkout.objects import Entry
from backport.checkout.repository import open_checkout
from backport.checkout.scratch import Scratch
from backport.patch.model import FilePatch
from backport.patch.reader import parse_diff
from backport.patch.writer import render_patch
from gitrepo import make_repo

LINE = st.sampled_from([b"", b"a", b"b", b"c\r", b"-", b"\\", b"@@ -1 +1 @@", b"\xff"])
FILE = st.builds(
    lambda lines, ending: b"\n".join(lines) + (b"\n" if ending and lines else b""),
    st.lists(LINE, max_size=14),
    st.booleans(),
)
NUMBERS = st.integers(-2, 2)


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    """Give a scratch repository."""
    repo = make_repo(tmp_path / "checkout")
    return open_checkout(repo.path).scratch(tmp_path / "scratch")


def difference(scratch: Scratch, before: bytes, after: bytes, context: int) -> FilePatch | None:
    old, new = (
        scratch.update(None, {"file": Entry("100644", scratch.write_blob(data))})
        for data in (before, after)
    )
    files = parse_diff(scratch.diff(old, new, context), Path("it")).files
    return files[0] if files else None


def by_git(scratch: Scratch, before: bytes, file: FilePatch) -> bytes | None:
    there = {"file": Entry("100644", scratch.write_blob(before))}
    after, _ = scratch.patched(there, render_patch([file]))
    return None if after is None else scratch.blob(after["file"].blob)


@given(before=FILE, after=FILE, context=st.integers(1, 3), data=st.data())
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_it_is_what_git_apply_makes(
    scratch: Scratch, before: bytes, after: bytes, context: int, data: st.DataObject
) -> None:
    file = difference(scratch, before, after, context)
    if file is None or file.binary:
        return
    assert splice(before, file.hunks) == after == by_git(scratch, before, file)
    at = data.draw(st.integers(0, len(file.hunks) - 1))
    hunk = file.hunks[at]
    moved = replace(
        hunk,
        old_start=max(hunk.old_start + data.draw(NUMBERS), 0),
        new_start=max(hunk.new_start + data.draw(NUMBERS), 0),
    )
    file = replace(file, hunks=(*file.hunks[:at], moved, *file.hunks[at + 1 :]))
    base = data.draw(st.sampled_from([before, before + b"more\n", b"more\n" + before]))
    assert splice(base, file.hunks) in (None, by_git(scratch, base, file))
