"""Patches and manifests that were damaged: refused for a named reason, or applied as git applies.

Set BACKPORT_TEST_FUZZ for more examples than a few; these are drawn anew in each run.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitrepo import Snapshot, snapshot
from plainrun import BINARY, BRANCH, CRLF, SERIES, TEN
from project import Project, make_project

Count = Callable[[str, int], None]
EXAMPLES = int(os.environ.get("BACKPORT_TEST_FUZZ") or 40)
FUZZ = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize="BACKPORT_TEST_FUZZ" not in os.environ,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

METHODS = "".join(
    f"    def test_{name}(self):\n        one = 1\n        self.ok({name!r})\n        two = 2\n\n"
    for name in ("this", "that", "other")
)
PYTHON = f"class First(object):\n{METHODS}\nclass Second(object):\n{METHODS}"
BEFORE: dict[str, bytes | str | None] = {
    "a": TEN * 3, "m.py": PYTHON, "crlf": CRLF, "bin": BINARY, "gone": TEN, "old name": TEN * 2,
    "latin": TEN.encode() + b"gr\xfcn",
}  # fmt: skip
#: What is done to the files: a patch each.
CHANGES: list[dict[str, bytes | str | None]] = [
    {"a": (TEN * 3).replace("line 5\n", "line V\n")},
    {"m.py": PYTHON.replace("ok('that')", "ok('that', 2)", 1)},
    {"crlf": CRLF.replace("line 5", "line V"), "latin": TEN.encode() + b"gr\xfcner\n"},
    {"bin": BINARY[:100] + b"\0" + BINARY[100:], "gone": None, "d/new": TEN},
    {"old name": None, "new name": "first\n" + TEN * 2, "empty": ""},
]


@dataclass(frozen=True)
class Ground:
    """A project whose branch went on a little, and real patches to be damaged."""

    project: Project
    patches: tuple[bytes, ...]
    before: Snapshot

    def try_patch(self, patch: bytes) -> str:
        """Run a series with the patch; return by what it ended. Nothing is left of it."""
        self.project.patch_series(patch)
        ran = self.project.apply(SERIES)
        assert ran.code in (0, 2, 3), ran.err + ran.out
        assert "Traceback" not in ran.err
        now = snapshot(self.project.repo.path)
        assert now.without(BRANCH) == self.before
        assert ran.code == 0 or BRANCH not in now.refs
        if ran.code == 2:
            text = ran.err if "error: " in ran.err else ran.report["problem"]["message"]
            assert re.search(r"(0001\.patch|series\.yaml):?\d*: |error: ", text), text
            return "refused"
        if ran.code == 3:
            conflict = ran.report["conflict"]
            assert conflict is None or any(file["reasons"] for file in conflict["files"])
            self.project.run("abort")
            return "conflict"
        return self._applied(patch, ran.report) if BRANCH in now.refs else "in already"

    def _applied(self, patch: bytes, report: dict[str, Any]) -> str:
        """See that an exact result is the one that git apply gives for the patch as it was."""
        repo = self.project.repo
        ours = repo.git("rev-parse", f"{BRANCH}^{{tree}}")
        repo.git("fsck", "--strict", "--connectivity-only", BRANCH)
        repo.git("update-ref", "-d", BRANCH)
        if any(file["rung"] != "exact" for file in report["changes"][0]["files"]):
            return "merged"
        assert self.git_apply(patch) == ours
        return "exact"

    def git_apply(self, patch: bytes) -> str:
        """Apply a patch by git alone, and return the tree."""
        repo, index = self.project.repo, self.project.root / "index"
        index.unlink(missing_ok=True)
        with pytest.MonkeyPatch.context() as context:
            context.setenv("GIT_INDEX_FILE", str(index))
            repo.git("read-tree", "stable/ocata")
            repo.git("apply", "--cached", "--whitespace=nowarn", stdin=patch)
            return repo.git("write-tree")


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    """Make the repository, and a patch of each change."""
    project = make_project(tmp_path)
    repo = project.repo
    before = repo.commit("before", BEFORE)
    patches = []
    for change in CHANGES:
        patches.append(repo.diff(before, repo.commit("change", change), "-M"))
        repo.git("reset", "-q", "--hard", before)
        repo.git("clean", "-q", "-f", "-d")
    repo.commit("base", {"a": "more\n" + TEN * 3, "crlf": CRLF.replace("line 8", "line VIII")})
    return Ground(project, tuple(patches), snapshot(repo.path))


PIECES = [
    b"", b" ", b"+", b"-", b"+added\n", b"-line 5\n", b" line 4\n", b"@@ -1,3 +1,3 @@\n",
    b"@@ -3,7 +3,7 @@ class Second(object):\n", b"diff --git a/a b/b\n", b"--- a/a\n", b"+++ b/b\n",
    b"rename from a\n", b"rename to ../b\n", b"new file mode 120000\n", b"old mode 100755\n",
    b"index 0000000..1111111 160000\n", b"GIT binary patch\n", b"literal 99999\n", b"\\ No\n",
    b"deleted file mode 100644\n", b"Binary files a/a and b/a differ\n", b"\0", b"\r\n", b"-- \n",
]  # fmt: skip


@st.composite
def damages(draw: st.DrawFn) -> Callable[[bytes], bytes]:
    """Draw what happens to a patch on its way: line by line, or byte by byte."""
    kinds = st.sampled_from("uuuucccccooodsinftx")  # most leave a patch of it
    numbers = [st.integers(0, 999)] * 3
    what = draw(st.lists(st.tuples(kinds, *numbers), min_size=1, max_size=3))

    def damage(patch: bytes) -> bytes:
        for kind, where, other, value in what:
            patch = damaged(patch, kind, where, other, value)
        return patch

    return damage


def damaged(patch: bytes, kind: str, where: int, other: int, value: int) -> bytes:
    """Do one thing to a patch."""
    lines = patch.splitlines(keepends=True) or [b""]
    at, to = where % len(lines), other % len(lines)
    if kind in "co":
        # The content of a context line, or of any, stays one line of the same kind.
        of = [n for n, line in enumerate(lines) if line[:1] in (b" " if kind == "c" else b" +-")]
        if of:
            line = bytearray(lines[of[where % len(of)]])
            line[1:2] = b"%d" % (value % 10)
            lines[of[where % len(of)]] = bytes(line)
    elif kind == "u":  # what it was made from is not known then
        lines = [line for line in lines if not line.startswith(b"index ")]
    elif kind == "d":
        del lines[at : at + 1 + value % 2]
    elif kind == "s":
        lines[at], lines[to] = lines[to], lines[at]
    elif kind == "i":
        lines.insert(at, PIECES[value % len(PIECES)])
    elif kind == "n":
        lines[at] = re.sub(rb"\d+", lambda _: b"%d" % (value % 12), lines[at], count=1)
    elif kind == "t":
        lines.insert(to, lines[at])
    elif kind == "x":
        lines = lines[: at + 1]
    data = bytearray(b"".join(lines))
    if kind == "f" and data:
        data[(where * 1000 + other) % len(data)] ^= 1 << value % 8
    return bytes(data)


def test_damaged_patches(ground: Ground, record_property: Count) -> None:
    ended: dict[str, int] = {}

    @FUZZ
    @given(number=st.integers(0, len(CHANGES) - 1), damage=damages())
    def attempt(number: int, damage: Callable[[bytes], bytes]) -> None:
        how = ground.try_patch(damage(ground.patches[number]))
        ended[how] = ended.get(how, 0) + 1

    attempt()
    for how, count in ended.items():
        record_property(f"damaged patches: {how}", count)


def test_the_patches_themselves_go_in(ground: Ground) -> None:
    """So that what is damaged is something that works."""
    ways = [ground.try_patch(patch) for patch in ground.patches]
    assert ways == ["exact", "exact", "merged", "exact", "exact"]


VALUES: list[object] = [
    None, "", 0, -1, 1.5, True, [], {}, ["x"], {"x": 1}, "x" * 5000, "\0", "\udc80", "../x", "-x",
    "{% for i in range(10**9) %}x{% endfor %}", "{{ 7*7 }}", "# x", "a\nb", ".git/x", 10**30,
]  # fmt: skip


@st.composite
def manifests(draw: st.DrawFn) -> bytes:
    """Draw a series' manifest with something wrong in it, as values or as text."""
    change: dict[str, object] = {
        "patch": "0001.patch", "kind": "fix", "subject": "Fix it", "change-id": "I" + "1" * 40,
        "description": "It was wrong.", "tests": ["x.test_y"], "author": "Ann <ann@example.org>",
        "date": "2018-10-05T00:00:00+00:00", "trailers": ["Co-Authored-By: Bob <b@example.org>"],
        "allow-empty": False,
    }  # fmt: skip
    series: dict[str, object] = {"title": "A fix", "bug": 1, "changes": [change]}
    keys = st.sampled_from([*change, "commit", "provenance", "bogus", "conflicts-section"])
    for key, value in draw(st.lists(st.tuples(keys, st.sampled_from(VALUES)), max_size=2)):
        change[key] = value
    outer = st.sampled_from([*series, "stable-only", "bogus"])
    for key, value in draw(st.lists(st.tuples(outer, st.sampled_from(VALUES)), max_size=1)):
        series[key] = value
    text = yaml.safe_dump(series, allow_unicode=True).encode("utf-8", "surrogatepass")
    if draw(st.booleans()):
        where = draw(st.tuples(*[st.integers(0, 999)] * 3))
        text = damaged(text, draw(st.sampled_from("dsnftx")), *where)
    return text


def test_damaged_manifests(ground: Ground, record_property: Count) -> None:
    ended: dict[str, int] = {}
    project = ground.project
    project.patch_series(ground.patches[0])
    manifest = project.root / "patches/ocata/bug-1/series.yaml"

    @FUZZ
    @given(text=manifests())
    def attempt(text: bytes) -> None:
        manifest.write_bytes(text)
        shown = project.run("show", SERIES)
        ran = project.apply(SERIES, "--dry-run")
        assert shown.code in (0, 2), shown.err
        assert ran.code == shown.code or ran.code == 2, ran.err + ran.out
        assert "Traceback" not in shown.err + ran.err
        if ran.code == 2:
            assert re.search(r"series\.yaml:?\d*: |error: ", ran.err + ran.out), ran.err
        how = "refused" if ran.code else "taken"
        ended[how] = ended.get(how, 0) + 1

    attempt()
    assert snapshot(project.repo.path) == ground.before
    for how, count in ended.items():
        record_property(f"damaged manifests: {how}", count)
