"""The table: one row per kind of change, checkout and accident.

Each row runs the whole command on a real repository. It states the exit code and what
the branch holds afterwards; that the checkout is the same before and after, in all but
the new branch, is checked for every row.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from gitrepo import Repo, snapshot
from project import Project

Files = dict[str, "bytes | str | None"]
BRANCH = "refs/heads/backport/ocata/bug-1"
TEN = "".join(f"line {n}\n" for n in range(1, 11))
FIVE = TEN.replace("line 5", "line V")
VIII = TEN.replace("line 8", "line VIII")
OTHER = "".join(f"other {n}\n" for n in range(1, 11))
CRLF = TEN.replace("\n", "\r\n")
BINARY = bytes(range(256)) * 8


@dataclass(frozen=True)
class Row:
    """A change from ``before`` to ``after`` is brought onto ``base`` (None: ``before`` itself)."""

    name: str
    before: Files
    after: Files
    base: Files | None = None
    code: int = 0
    result: Files = field(default_factory=dict)  # files of the branch; {}: those of ``after``
    rungs: dict[str, str] = field(default_factory=dict)
    diff: tuple[str, ...] = ()  # how the patch is made
    mangle: Callable[[bytes], bytes] = bytes  # what happened to the patch on its way
    says: str = ""  # in the report or the complaint
    args: tuple[str, ...] = ()
    change: dict[str, Any] = field(default_factory=dict)


def header_and_footer(patch: bytes) -> bytes:
    """Put a mail around a patch."""
    return b"From: Ann\nSubject: [PATCH] x\n\nBody.\n---\n a | 2 +-\n\n" + patch + b"-- \n2.39.5\n"


MOVED = "more\n" * 5 + TEN

ROWS = [
    Row("modify", {"a": TEN}, {"a": FIVE}, rungs={"a": "exact"}),
    Row(
        "modify at an offset", {"a": TEN}, {"a": FIVE}, {"a": MOVED}, 0, {"a": "more\n" * 5 + FIVE}
    ),
    Row("add", {"a": TEN}, {"new": TEN}, rungs={"new": "exact"}),
    Row("add in a new folder", {"a": TEN}, {"d/e/new": TEN}),
    Row("add an empty file", {"a": TEN}, {"empty": ""}),
    Row("delete", {"a": TEN, "b": TEN}, {"a": None}),
    Row("rename", {"a": TEN}, {"a": None, "b": TEN}),
    Row("rename and modify", {"a": TEN}, {"a": None, "b": FIVE}),
    Row("copy", {"a": TEN}, {"b": TEN}, diff=("-C", "--find-copies-harder")),
    Row(
        "copy and modify both", {"a": TEN}, {"a": FIVE, "b": FIVE.replace("9", "IX")}, diff=("-C",)
    ),
    Row("binary", {"a": BINARY}, {"a": BINARY + b"\0more"}),
    Row("binary added", {"a": TEN}, {"b": BINARY}),
    Row("binary that differs", {"a": BINARY}, {"a": BINARY + b"x"}, {"a": b"\0other"}, 3),
    Row("no newline at the end", {"a": TEN}, {"a": TEN + "line 11"}),
    Row("newline put at the end", {"a": TEN[:-1]}, {"a": TEN}),
    Row("carriage returns", {"a": CRLF}, {"a": CRLF.replace("line 5", "line V")}),
    Row("carriage returns taken out", {"a": CRLF}, {"a": TEN}),
    Row("latin-1", {"a": TEN.encode() + b"gr\xfcn\n"}, {"a": TEN.encode() + b"gr\xfcner\n"}),
    Row("a name with blanks", {"a b": TEN}, {"a b": FIVE}),
    Row("a quoted name", {'a\t"b"\\': TEN}, {'a\t"b"\\': FIVE}),
    Row("a non-ASCII name", {"grün": TEN}, {"grün": FIVE}),
    Row("a name with a newline", {"a\nb": TEN}, {"a\nb": FIVE}),
    Row("a name with a leading dash", {"-a": TEN}, {"-a": FIVE}),
    Row("whitespace errors", {"a": TEN}, {"a": TEN.replace("line 5", " \tline 5 \t")}),
    Row("without prefixes", {"a/b": TEN}, {"a/b": FIVE}, diff=("--no-prefix",)),
    Row("other prefixes", {"a": TEN}, {"a": FIVE}, diff=("--src-prefix=i/", "--dst-prefix=w/")),
    Row("a mail around it", {"a": TEN}, {"a": FIVE}, mangle=header_and_footer),
    Row("zero context", {"a": TEN}, {"a": FIVE}, code=2, diff=("-U0",), says="context"),
    Row("function context", {"a": TEN}, {"a": FIVE}, diff=("-W",)),
    Row("several hunks", {"a": TEN * 9}, {"a": "first\n" + TEN * 9 + "last\n"}),
    Row("no patch at all", {"a": TEN}, {"a": FIVE}, code=2, mangle=lambda _: b"hello\n"),
    Row("cut off", {"a": TEN}, {"a": FIVE}, code=2, mangle=lambda patch: patch[:-20]),
    Row(
        "merged with another change nearby",
        {"a": TEN},
        {"a": FIVE},
        {"a": VIII},
        0,
        {"a": FIVE.replace("line 8", "line VIII")},
        {"a": "three-way"},
    ),
    Row(
        "following a rename on the branch",
        {"a": TEN * 3},
        {"a": "first\n" + TEN * 3},
        {"a": None, "moved/b": TEN * 3 + "tail\n"},
        0,
        {"moved/b": "first\n" + TEN * 3 + "tail\n"},
        {"moved/b": "three-way, following a rename"},
    ),
    Row(
        "a look-alike that was always beside it is not followed",
        {"a": TEN * 3, "b": TEN * 3 + "b\n"},
        {"a": "first\n" + TEN * 3},
        {"a": None},
        3,
    ),
    Row(
        "some files exactly, others merged",
        {"a": TEN, "b": TEN},
        {"a": FIVE, "b": FIVE},
        {"a": VIII},
        0,
        {"a": FIVE.replace("line 8", "line VIII"), "b": FIVE},
        {"a": "three-way", "b": "exact"},
    ),
    Row(
        "a conflict",
        {"a": TEN},
        {"a": FIVE},
        {"a": TEN.replace("line 5", "line five")},
        3,
        says="a",
    ),
    Row("the file is gone", {"a": TEN, "b": "b\n"}, {"a": FIVE}, {"a": None}, 3, says="deleted"),
    Row("the added file is there, other", {"a": TEN}, {"new": "1\n2\n"}, {"new": "x\n"}, 3),
    Row("NUL in a text", {"a": TEN}, {"a": TEN.replace("line 5", "line \0")}, diff=("--text",)),
    Row(
        "a file becomes a folder",
        {"a": TEN},
        {"a": None, "a/b": TEN},
        code=0,
    ),
    Row(
        "a copy and its source changed, beside a file that is merged",
        {"a": TEN, "c": TEN},
        {"a": FIVE, "b": TEN, "c": FIVE},
        {"c": VIII},
        0,
        {"a": FIVE, "b": TEN, "c": FIVE.replace("line 8", "line VIII")},
        {"a": "exact", "b": "exact", "c": "three-way"},
        diff=("-C",),
    ),
    Row(
        "a deletion, where the branch has moved the file as it is",
        {"a": TEN * 3, "b": ""},
        {"a": None},
        {"a": None, "c": TEN * 3},
        0,
        {"c": None},
        {"c": "three-way, following a rename"},
    ),
    Row("a folder becomes a file", {"a/b": TEN, "k": ""}, {"a/b": None, "a": TEN}),
    Row("two files swapped", {"a": TEN, "b": OTHER}, {"a": OTHER, "b": TEN}, diff=("-M", "-B")),
    Row(
        "three files go round",
        {"a": TEN, "b": OTHER, "c": CRLF},
        {"a": CRLF, "b": TEN, "c": OTHER},
        diff=("-M", "-B"),
    ),
    Row(
        "two files swapped, one changed on the branch",
        {"a": TEN, "b": OTHER},
        {"a": OTHER, "b": FIVE},
        {"a": VIII},
        3,
        diff=("-M", "-B"),
    ),
    Row("a name in another case", {"a": TEN}, {"a": None, "A": FIVE}, diff=("-M",)),
    Row(
        "a rename whose source changed on the branch",
        {"a": TEN},
        {"a": None, "b": FIVE},
        {"a": VIII},
        0,
        {"a": None, "b": FIVE.replace("line 8", "line VIII")},
        {"b": "three-way"},
        diff=("-M",),
    ),
    Row(
        "a copy whose source changed on the branch",
        {"a": TEN},
        {"b": FIVE},
        {"a": VIII},
        0,
        {"b": FIVE},  # as git cherry-pick has it: no merge knows of copies
        {"b": "three-way"},
        diff=("-C", "--find-copies-harder"),
    ),
    Row(
        "a rename of what the branch has renamed otherwise",
        {"a": TEN * 3},
        {"a": None, "b": TEN * 3},
        {"a": None, "c": TEN * 3},
        3,
        diff=("-M",),
    ),
    Row(
        "a rename onto what the branch has, other",
        {"a": TEN},
        {"a": None, "b": TEN},
        {"b": OTHER},
        3,
        diff=("-M",),
    ),
    Row(
        "a deletion of what the branch has changed",
        {"a": TEN, "b": ""},
        {"a": None},
        {"a": FIVE},
        3,
        says="a",
    ),
    Row(
        "a deletion of what the branch has moved",
        {"a": TEN * 3, "b": ""},
        {"a": None},
        {"a": None, "c": TEN * 3 + "tail\n"},
        3,
        says="c",
    ),
    Row(
        "carriage returns, merged",
        {"a": CRLF},
        {"a": CRLF.replace("line 5", "line V")},
        {"a": CRLF.replace("line 8", "line VIII")},
        0,
        {"a": CRLF.replace("line 5", "line V").replace("line 8", "line VIII")},
        {"a": "three-way"},
    ),
    Row(
        "no newline at the end, merged",
        {"a": TEN[:-1]},
        {"a": FIVE[:-1]},
        {"a": VIII[:-1]},
        0,
        {"a": FIVE.replace("line 8", "line VIII")[:-1]},
        {"a": "three-way"},
    ),
    Row(
        "line ends changed on the branch",
        {"a": TEN},
        {"a": FIVE},
        {"a": CRLF},
        3,
    ),
    Row(
        "added to a folder that the branch has moved",
        {"d/a": TEN, "d/b": TEN + "b"},
        {"d/new": OTHER},
        {"d/a": None, "d/b": None, "e/a": TEN, "e/b": TEN + "b"},
        0,
        {"d/new": OTHER},
    ),
    Row("a binary file added already", {"a": TEN}, {"b": BINARY}, {"b": BINARY}, says="content"),
    Row("a binary file added otherwise", {"a": TEN}, {"b": BINARY}, {"b": BINARY + b"x"}, 3),
    Row(
        "a rename that is in",
        {"a": TEN},
        {"a": None, "b": TEN},
        {"a": None, "b": TEN},
        says="content",
        diff=("-M",),
    ),
    Row("in already, by content", {"a": TEN}, {"a": FIVE}, {"a": "more\n" + FIVE}, says="content"),
    Row("added already", {"a": TEN}, {"new": TEN}, {"new": TEN}, says="content"),
    Row("deleted already", {"a": TEN, "b": TEN}, {"a": None}, {"a": None}, says="content"),
]


def build(project: Project, row: Row) -> str:
    """Make the repository and the series of a row; the base is the tip of stable/ocata."""
    repo = project.repo
    before = repo.commit("before", {"keep": "kept\n", **row.before})
    after = repo.commit("after", row.after)
    patch = row.mangle(repo.diff(before, after, *row.diff))
    repo.git("checkout", "-q", "-B", "stable/ocata", before)
    if row.base is not None:
        repo.commit("base", row.base)
    return project.series([{"patch": "0001.patch", **row.change}], {"0001.patch": patch})


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_row(project: Project, row: Row) -> None:
    series = build(project, row)
    untouched = snapshot(project.repo.path)
    ran = project.apply(series, *row.args)
    now = snapshot(project.repo.path)
    assert ran.code == row.code, ran.err + ran.out
    assert now.without(BRANCH) == untouched
    assert (BRANCH in now.refs) == (row.code == 0 and row.says != "content")
    assert row.says in ran.err + ran.out
    assert "Traceback" not in ran.err
    if BRANCH in now.refs:
        check_branch(project, row, ran.report["changes"][0]["files"])


def check_branch(project: Project, row: Row, files: list[dict[str, Any]]) -> None:
    """Compare the branch's files and the rungs with what the row states."""
    wanted = {**project.files("stable/ocata")}
    for name, data in (row.result or row.after).items():
        wanted.pop(name, None)
        if data is not None:
            wanted[name] = data if isinstance(data, bytes) else data.encode()
    assert project.files() == wanted
    rungs = {file["path"]: file["rung"] for file in files}
    assert {path: rungs.get(path) for path in row.rungs} == row.rungs


def executable(repo: Repo) -> None:
    (repo.path / "a").chmod(0o755)


def link(repo: Repo) -> None:
    (repo.path / "link").symlink_to("/etc/passwd")


def file_to_link(repo: Repo) -> None:
    (repo.path / "a").unlink()
    (repo.path / "a").symlink_to("keep")


@pytest.mark.parametrize("make", [executable, link, file_to_link])
def test_modes_and_links_are_carried_as_data(
    project: Project, make: Callable[[Repo], None]
) -> None:
    repo = project.repo
    before = repo.commit("before", {"a": TEN, "keep": "kept\n"})
    make(repo)
    after = repo.commit("after")
    series = project.patch_series(repo.diff(before, after))
    repo.git("checkout", "-q", "-B", "stable/ocata", before)
    assert project.apply(series).code == 0
    tip, wanted = (repo.git("rev-parse", f"{rev}^{{tree}}") for rev in (BRANCH, after))
    assert tip == wanted


METHOD = """\
    def check(self):
        one = 1
        two = 2
        three = 3
        self.assertEqual(1, value)
        four = 4
        five = 5
        six = 6
"""
T0, T1 = (f"class {name}(object):\n{METHOD}\n\n" for name in ("T0", "T1"))


@pytest.mark.parametrize(("blob_is_known", "belongs"), [(True, "T0.check"), (False, "T0")])
def test_a_hunk_never_lands_in_a_look_alike(
    project: Project, blob_is_known: bool, belongs: str
) -> None:
    """`git am` puts T0's hunk into T1, with exit status 0 (git 2.39.5)."""
    repo = project.repo
    before = repo.commit("before", {"t.py": "import x\n\n\n" + T0 + T1})
    changed = T0.replace("assertEqual(1", "assertEqual(2")
    patch = repo.diff(before, repo.commit("after", {"t.py": "import x\n\n\n" + changed + T1}))
    # The branch lacks T0.
    repo.git("checkout", "-q", "--orphan", "other")
    repo.commit("base", {"t.py": "import x\n\n\n" + T1})
    repo.git("branch", "-f", "stable/ocata")
    repo.git("checkout", "-q", "stable/ocata")
    if not blob_is_known:
        patch = patch.replace(patch.split(b"index ")[1][:40], b"1" * 40)
    ran = project.apply(project.patch_series(patch))
    assert ran.code == 3
    assert f"belongs in {belongs}, landed in T1.check" in ran.out
    assert project.run("abort").code == 0
    where = re.search(r"--accept-moved (t\.py:\d+)", ran.out)
    assert where
    accepted = ("--accept-moved", where[1], "--accept-moved", "t.py:99")
    ran = project.apply("ocata/bug-1", *accepted)
    assert ran.code == 0, ran.out
    assert b"assertEqual(2" in project.files()["t.py"]
    assert "--accept-moved t.py:99: no hunk has landed there" in ran.err
    assert f"--accept-moved {where[1]}:" not in ran.err


def test_two_runs_make_the_same_commits_and_the_second_has_nothing_to_do(
    project: Project,
) -> None:
    series = build(project, ROWS[0])
    first = project.apply(series).report
    second = project.apply(series).report
    assert first["branch"]["action"] == "created"
    assert second["branch"]["action"] == "nothing-to-do"
    assert first["branch"]["tip"] == second["branch"]["tip"]


def test_a_series_that_is_half_in_gets_its_other_half(project: Project) -> None:
    repo = project.repo
    base = repo.commit("base", {"a": TEN, "b": TEN})
    one = repo.commit("one", {"a": FIVE})
    two = repo.commit("two", {"b": FIVE})
    series = project.patch_series(repo.diff(base, one), repo.diff(one, two))
    repo.git("checkout", "-q", "-B", "stable/ocata", one)
    report = project.apply(series).report
    assert [bool(change["already_in"]) for change in report["changes"]] == [True, False]
    assert repo.git("rev-list", "--count", f"stable/ocata..{BRANCH}") == "1"


@pytest.mark.parametrize(
    ("message", "layer"),
    [
        ("Change number 1\n\nChange-Id: I0123456789012345678901234567890123456781\n", "Change-Id"),
        ("Another subject\n", "patch-id"),
    ],
)
def test_a_change_that_is_in_under_later_ones_is_recognised(
    project: Project, message: str, layer: str
) -> None:
    repo = project.repo
    base = repo.commit("base", {"a": TEN})
    patch = repo.diff(base, repo.commit("after", {"a": FIVE}))
    repo.git("checkout", "-q", "-B", "stable/ocata", base)
    commit = repo.commit(message, {"a": FIVE})
    repo.commit("later", {"a": FIVE.replace("line V", "line 5.0")})
    ran = project.apply(project.patch_series(patch))
    assert ran.code == 0, ran.out
    already = ran.report["changes"][0]["already_in"]
    assert (already["layer"], already["commit"]) == (layer, commit)


@pytest.mark.parametrize("hop", ["itself", "the same source", "a source of its source"])
def test_a_change_is_recognised_by_where_it_comes_from(project: Project, hop: str) -> None:
    """Also where the branch's commit has another Change-Id, subject and content."""
    repo = project.repo
    base = repo.commit("base", {"a": TEN})
    master = repo.commit("on master", {"a": FIVE})
    repo.git("checkout", "-q", "-B", "stable/pike", base)
    pike = repo.commit(f"on pike\n\n(cherry picked from commit {master})", {"a": FIVE})
    repo.git("checkout", "-q", "-B", "stable/ocata", pike if hop == "itself" else base)
    cited = pike if hop == "the same source" else master
    if hop != "itself":
        repo.commit(f"other words\n\n(cherry picked from commit {cited})", {"a": VIII})
    here = repo.commit("later", {"a": "rewritten\n"})
    series = project.series([{"commit": pike, "kind": "fix", "change-id": f"I{'a' * 40}"}])
    ran = project.apply(series)
    assert ran.code == 0, ran.err + ran.out
    already = ran.report["changes"][0]["already_in"]
    assert already["layer"] == "provenance"
    assert repo.git("merge-base", "--is-ancestor", already["commit"], here) == ""


def test_a_change_that_was_in_and_reverted_is_applied_again(project: Project) -> None:
    repo = project.repo
    base = repo.commit("base", {"a": TEN})
    patch = repo.diff(base, repo.commit("after", {"a": FIVE}))
    repo.git("checkout", "-q", "-B", "stable/ocata", base)
    change_id = "Change-Id: I0123456789012345678901234567890123456781"
    commit = repo.commit(f"Change number 1\n\n{change_id}\n", {"a": FIVE})
    repo.commit(f'Revert "x"\n\nThis reverts commit {commit}.\n', {"a": TEN})
    assert project.apply(project.patch_series(patch)).report["branch"]["action"] == "created"


def test_another_change_under_the_same_change_id_is_not_in(project: Project) -> None:
    repo = project.repo
    base = repo.commit("base", {"a": TEN})
    patch = repo.diff(base, repo.commit("after", {"a": FIVE}))
    repo.git("checkout", "-q", "-B", "stable/ocata", base)
    repo.commit(
        "Something else\n\nChange-Id: I0123456789012345678901234567890123456781\n", {"b": TEN}
    )
    ran = project.apply(project.patch_series(patch))
    assert ran.code == 3
    assert "on another change" in ran.out
    assert "touches b" in ran.out


def test_a_branch_with_other_commits_is_refused_and_kept_when_replaced(project: Project) -> None:
    series = build(project, ROWS[0])
    old = project.repo.git("commit-tree", "-m", "other", "HEAD^{tree}")
    project.repo.git("update-ref", BRANCH, old)
    refused = project.apply(series)
    assert refused.code == 5
    assert "holds other commits" in refused.out
    assert project.repo.git("rev-parse", BRANCH) == old
    assert project.apply(series, "--replace").code == 0
    refs = project.repo.git("for-each-ref", "--format=%(objectname)", "refs/backport/replaced/")
    assert refs == old


def test_a_branch_that_is_checked_out_is_refused(project: Project) -> None:
    series = build(project, ROWS[0])
    project.repo.git("checkout", "-q", "-b", "backport/ocata/bug-1")
    ran = project.apply(series, "--onto", "stable/ocata", "--replace")
    assert ran.code == 5
    assert "checked out in" in ran.out


def test_a_dry_run_works_on_a_checkout_that_cannot_be_written(project: Project) -> None:
    series = build(project, ROWS[0])
    before = snapshot(project.repo.path)
    ran = project.apply(series, "--dry-run")
    assert ran.code == 0
    assert ran.report["branch"]["action"] == "dry-run"
    assert snapshot(project.repo.path) == before
    assert "commit" in ran.report["changes"][0]
