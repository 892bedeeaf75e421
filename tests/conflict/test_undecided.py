"""Nothing of a fix is lost, and nothing appears, that nobody has decided: over all kinds.

Each kind of conflict, left untouched, edited, left out, and with either side taken.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gitrepo import Repo, snapshot
from project import Project, Ran

BRANCH = "refs/heads/backport/ocata/bug-1"
TEN = "".join(f"line {n}\n" for n in range(1, 11))
FIVE = TEN.replace("line 5", "line V")
THEIRS = TEN.replace("line 5", "line five")

Files = dict[str, "bytes | str | None"]
Make = Callable[[Repo], None]
ONES, TWOS = "1" * 40, "2" * 40


def nothing(repo: Repo) -> None:
    """Do nothing more than write the files."""


def link_to(target: str) -> Make:
    def make(repo: Repo) -> None:
        (repo.path / "f").unlink(missing_ok=True)
        (repo.path / "f").symlink_to(target)

    return make


def submodule_at(commit: str) -> Make:
    def make(repo: Repo) -> None:
        (repo.path / "f").mkdir(exist_ok=True)
        repo.git("update-index", "--add", "--cacheinfo", f"160000,{commit},f")

    return make


def executable(repo: Repo) -> None:
    (repo.path / "f").chmod(0o755)


def foreign(patch: bytes) -> bytes:
    """Let a patch be made from files that nobody has."""
    head, _, rest = patch.partition(b"diff --git a/f b/f")
    begin, _, end = rest.partition(b"\nindex ")
    return head + b"diff --git a/f b/f" + begin + b"\nindex 00112233" + end[8:]


@dataclass(frozen=True)
class Kind:
    """A change from ``before`` to ``after`` that conflicts with ``base``; "ok" always goes in.

    ``made`` is what a person makes of it. ``take`` is what --take-change comes to; a text is the
    word of the complaint where it cannot be.
    """

    name: str
    before: Files
    after: Files
    base: Files
    take: Files | str
    path: str = "f"
    made: Files = field(default_factory=lambda: {"f": "made by hand\n"})
    makes: tuple[Make, Make, Make] = (nothing, nothing, nothing)
    mangle: Callable[[bytes], bytes] = bytes
    branch: Files | None = None  # what --take-branch comes to, if not the branch's files


class_a, class_b = "class A:\n    def f(self):\n", "class B:\n    def f(self):\n"
BODY = "".join(f"        x{n} = {n}\n" for n in range(8))
CHANGED = BODY.replace("x4 = 4", "x4 = 40")

KINDS = [
    Kind("content", {"f": TEN}, {"f": FIVE}, {"f": THEIRS}, {"f": FIVE}),
    Kind(
        "content, one of two places",
        {"f": TEN + TEN},
        {"f": FIVE + TEN + "end\n"},
        {"f": "new\n" + THEIRS + TEN},
        {"f": "new\n" + FIVE + TEN + "end\n"},
        branch={"f": "new\n" + THEIRS + TEN + "end\n"},
    ),
    Kind("content of unknown origin", {"f": TEN}, {"f": FIVE}, {"f": THEIRS}, "known",
         mangle=foreign),
    Kind("modified, and not on the branch", {"f": TEN}, {"f": FIVE}, {"f": None}, {"f": FIVE}),
    Kind("modified, not on the branch, of unknown origin", {"f": TEN}, {"f": FIVE}, {"f": None},
         "known", mangle=foreign),
    Kind("deleted, and modified on the branch", {"f": TEN}, {"f": None}, {"f": THEIRS},
         {"f": None}),
    Kind("renamed, and not on the branch", {"e": TEN}, {"e": None, "f": TEN}, {"e": None},
         "known"),
    Kind("renamed, and renamed otherwise on the branch", {"e": TEN}, {"e": None, "f": FIVE},
         {"e": None, "g": TEN}, {"f": FIVE}),
    Kind("renamed, and changed on the branch", {"e": TEN}, {"e": None, "f": FIVE}, {"e": THEIRS},
         {"e": None, "f": FIVE}, branch={"e": None, "f": THEIRS},
         made={"f": "made by hand\n"}),
    Kind("added, and other on the branch", {}, {"f": TEN}, {"f": "x\n"}, {"f": TEN}),
    Kind("mode, of a file that the branch lacks", {"f": TEN}, {}, {"f": None}, "known",
         makes=(nothing, executable, nothing)),
    Kind("binary", {"f": b"\0one"}, {"f": b"\0two"}, {"f": b"\0three"}, {"f": b"\0two"}),
    Kind("link", {}, {}, {}, {"f": b"two"},
         makes=(link_to("one"), link_to("two"), link_to("three"))),
    Kind("link, and a file on the branch", {}, {}, {"f": None}, {"f": b"two"},
         makes=(link_to("one"), link_to("two"), lambda repo: repo.write({"f": "file\n"}))),
    Kind("a hunk that git places elsewhere",
         {"f": class_a + BODY + class_b + BODY}, {"f": class_a + BODY + class_b + CHANGED},
         {"f": class_a + BODY + "class C:\n    def f(self):\n        pass\n"}, "known"),
    Kind("a file where its folder would be", {}, {"d/f": TEN}, {"d": "file\n"}, "give way",
         path="d/f", made={"d": None, "d/f": "made by hand\n"}),
]  # fmt: skip


@dataclass(frozen=True)
class Stand:
    """A project in conflict."""

    project: Project
    kind: Kind
    series: str
    stopped: Ran

    def go_on(self, *words: str) -> Ran:
        return self.project.run("continue", *words, "--json")

    def on_branch(self, rev: str = BRANCH) -> dict[str, bytes]:
        return self.project.files(rev)


def work_tree() -> Path:
    state = Path(os.environ["HOME"]) / ".local/state/backport/conflicts"
    (found,) = state.glob("*/*/work-*")
    return found


@pytest.fixture(params=KINDS, ids=lambda kind: kind.name)
def stand(request: pytest.FixtureRequest, project: Project) -> Stand:
    kind: Kind = request.param
    repo = project.repo
    states: list[str] = []
    for number, files in enumerate((kind.before, kind.after, kind.base)):
        if number == 2:
            repo.git("checkout", "-q", "-B", "stable/ocata", states[0])
        repo.write({"ok": FIVE if number == 1 else TEN, "keep": "kept\n", **files})
        kind.makes[number](repo)
        states.append(repo.commit(f"state {number}"))
    patch = kind.mangle(repo.diff(states[0], states[1], "-M"))
    series = project.patch_series(patch)
    stopped = project.apply(series)
    assert stopped.code == 3, stopped.err + stopped.out
    assert kind.path in [file["path"] for file in stopped.report["conflict"]["files"]]
    return Stand(project, kind, series, stopped)


def with_files(stand: Stand, files: Files) -> dict[str, bytes]:
    """Return what the branch must hold, with "ok" as the change has it, and some files."""
    wanted = {**stand.on_branch("stable/ocata"), "ok": FIVE.encode()}
    for name, data in files.items():
        wanted.pop(name, None)
        if data is not None:
            wanted[name] = data if isinstance(data, bytes) else data.encode()
    return wanted


def fates(ran: Ran, path: str) -> set[str]:
    (change,) = ran.report["changes"]
    return {hunk["fate"] for hunk in change["hunks"] if hunk["path"] == path}


def test_untouched_it_is_undecided(stand: Stand) -> None:
    before = snapshot(stand.project.repo.path)
    for words in ((), ("--save",)):
        ran = stand.go_on(*words)
        assert ran.code == 3, ran.out + ran.err
        assert f"{stand.kind.path} is undecided" in ran.err
        assert f"--leave-out {stand.kind.path}" in ran.err
    assert snapshot(stand.project.repo.path) == before
    status = stand.project.run("status")
    assert status.code == 3
    assert f"--leave-out {stand.kind.path}" in status.out
    for words_of_git in ("CONFLICT", "patch failed", "patch does not apply", "No such file"):
        assert words_of_git not in status.out + ran.err + stand.stopped.out


def test_left_out_it_is_as_on_the_branch_and_is_said_to_be_left_out(stand: Stand) -> None:
    path = stand.kind.path
    ran = stand.go_on("--leave-out", path)
    assert ran.code == 0, ran.out + ran.err
    assert stand.on_branch() == with_files(stand, {})
    assert fates(ran, path) == {"left out"}
    assert fates(ran, "ok") == {"applied as written"}
    assert "left out" in ran.report["sentence"]
    message = stand.project.repo.git("log", "-1", "--format=%B", BRANCH)
    assert f"\nConflicts:\n      {path}\n\n" in message


def test_edited_it_goes_on_with_the_edit(stand: Stand) -> None:
    work = work_tree()
    for name, data in stand.kind.made.items():
        place = work / name
        if place.is_symlink() or place.is_file():
            place.unlink()
        if data is not None:
            place.parent.mkdir(exist_ok=True)
            place.write_text(str(data))
    assert stand.project.run("status").code == 0
    ran = stand.go_on()
    assert ran.code == 0, ran.out + ran.err
    now = stand.on_branch()
    assert now[stand.kind.path] == b"made by hand\n"
    assert now["ok"] == FIVE.encode()
    assert "adapted by hand" in fates(ran, stand.kind.path)
    assert "left out" not in fates(ran, stand.kind.path)
    rungs = {file["path"]: file["rung"] for file in ran.report["changes"][0]["files"]}
    assert rungs[stand.kind.path] == "resolved by hand"
    assert rungs["ok"] != "resolved by hand"


def test_taken_from_the_branch(stand: Stand) -> None:
    ran = stand.go_on("--take-branch", stand.kind.path)
    assert ran.code == 0, ran.out + ran.err
    assert stand.on_branch() == with_files(stand, stand.kind.branch or {})
    assert "left out" in fates(ran, stand.kind.path)


def test_taken_from_the_change(stand: Stand) -> None:
    ran = stand.go_on("--take-change", stand.kind.path)
    if isinstance(stand.kind.take, str):
        assert ran.code == 2
        assert stand.kind.take in ran.err
        assert stand.go_on().code == 3
        return
    assert ran.code == 0, ran.out + ran.err
    assert stand.on_branch() == with_files(stand, stand.kind.take)
    assert "left out" not in fates(ran, stand.kind.path)
