"""Conflicts that a named rule resolves, and their neighbours that no rule may touch."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backport.apply.rules import _WORD
from project import Project

HEAD = "class Driver(object):\n    def plug(self, port, old, new):\n        begin(port)\n\n"
TAIL = "\n        end(port)\n\n    def last(self):\n        return 1\n"


def body(*lines: str) -> str:
    """Return a module whose function has these lines in the middle."""
    return HEAD + "".join(f"        {line}\n" for line in lines) + TAIL


class Row(NamedTuple):
    """A file on three sides, and what comes out; None: a person has to look."""

    name: str
    base: str
    change: str
    branch: str
    result: str | None
    rule: str = ""
    path: str = "driver.py"


ONE, TWO = "one = take(port, 1)", "two = take(port, 2)"
ROWS = (
    Row(
        "lines that touch",
        body(ONE, TWO),
        body("one = take(port, 10)", TWO),
        body(ONE, "two = give(port)"),
        body("one = take(port, 10)", "two = give(port)"),
        "neighbouring lines",
    ),
    Row(
        "a test beside neighbours that the branch never had",
        body("def a():", "    pass", "", "def b():", "    pass"),
        body("def a():", "    pass", "", "def b():", "    pass", "", "def c():", "    pass"),
        body(),
        body("", "def c():", "    pass"),
        "neighbouring lines",
    ),
    Row(
        "words of one line",
        body("LOG.info('plugged %s into %s', port, old)"),
        body("LOG.info('plugged %s into %s', port, new)"),
        body("LOG.info(_LI('plugged %s into %s'), port, old)"),
        body("LOG.info(_LI('plugged %s into %s'), port, new)"),
        "words of a line",
    ),
    Row("the same word", body("x = 1"), body("x = 2"), body("x = 3"), None),
    Row(
        "words that touch",
        body("take(port, 1)"),
        body("take(port, 12, 3)"),
        body("take(port, 1 + 1, 3)"),
        None,
    ),
    Row(
        "both put lines in one place",
        body(ONE),
        body(ONE, TWO),
        body(ONE, "three = take(port, 3)"),
        None,
    ),
    Row(
        "the change's lines behind what the branch has grown",
        body(ONE),
        body(ONE, TWO),
        body("one = give(port)", "more = give(port)"),
        None,
    ),
    Row(
        "an indentation that nothing opens",
        body("with cell():", "    take(port)"),
        body("with cell():", "    take(port)", "    return"),
        body("take(port)"),
        None,
    ),
    Row(
        "a line that gets too long",
        body(f"call({'a' * 30}, {'b' * 20}, c)"),
        body(f"call({'a' * 30}, {'b' * 20}, {'c' * 9})"),
        body(f"call(_({'a' * 30}), {'b' * 20}, c)".replace("call", "recall_it")),
        None,
    ),
    Row(
        "a migration, whose number is the branch's own",
        body(ONE, TWO),
        body("one = take(port, 10)", TWO),
        body(ONE, "two = give(port)"),
        None,
        path="db/migrate_repo/versions/045_grow.py",
    ),
    Row(
        "a paragraph that would have to be wrapped anew",
        "Begin.\n\nThe hosts are there and are told.\n\nEnd.\n",
        "Begin.\n\nThe hosts are there and are told. If they\nare not, that is said.\n\nEnd.\n",
        "Begin.\n\nThe hosts are told.\n\nEnd.\n",
        None,
        path="doc/manage.rst",
    ),
)


def picked(project: Project, row: Row) -> str:
    """Make the history of a row, and a series that picks the change onto the branch."""
    repo = project.repo
    base = repo.commit("base", {row.path: row.base})
    repo.git("checkout", "-q", "-b", "stable/pike")
    message = f"Mend it\n\nChange-Id: I{'a' * 40}"
    change = repo.commit(message, {row.path: row.change})
    repo.git("checkout", "-q", "-B", "stable/ocata", base)
    repo.commit("the branch's own", {row.path: row.branch})
    return project.series([{"commit": change, "subject": None, "change-id": None}])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_what_a_rule_resolves_and_what_it_leaves_to_a_person(project: Project, row: Row) -> None:
    ran = project.apply(picked(project, row))
    if row.result is None:
        assert ran.code == 3, ran.out
        return
    assert ran.code == 0, ran.out + ran.err
    assert project.files()[row.path].decode() == row.result
    (change,) = ran.report["changes"]
    (file,) = change["files"]
    assert (file["rung"], file["rules"]) == ("resolved by rule", [row.rule])
    assert f"Conflicts:\n      {row.path}\n" in change["message"]


def test_one_file_that_no_rule_resolves_leaves_all_to_a_person(project: Project) -> None:
    repo, one, other = project.repo, ROWS[0], ROWS[3]
    base = repo.commit("base", {"a.py": one.base, "b.py": other.base})
    change = repo.commit(
        f"Both\n\nChange-Id: I{'a' * 40}", {"a.py": one.change, "b.py": other.change}
    )
    repo.git("checkout", "-q", "-B", "stable/ocata", base)
    repo.commit("the branch's own", {"a.py": one.branch, "b.py": other.branch})
    ran = project.apply(project.series([{"commit": change, "subject": None, "change-id": None}]))
    assert ran.code == 3
    assert {file["path"] for file in ran.report["conflict"]["files"]} == {"a.py", "b.py"}


@given(st.binary(max_size=80))
def test_no_byte_is_lost_between_words(data: bytes) -> None:
    assert b"".join(_WORD.findall(data)) == data
