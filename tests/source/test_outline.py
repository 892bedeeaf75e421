"""Outlines of Python 2 and 3, by tree and by tokens; git's hunk headings; code or comments only."""

from __future__ import annotations

import ast
import inspect
import textwrap
from itertools import chain
from types import ModuleType

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from backport.source.logical_lines import decode, expand_indentation, logical_lines, malformed
from backport.source.outline import Outline, _from_lines, heading, outline, same_code
from gitrepo import Repo

PYTHON_2 = textwrap.dedent(
    '''\
    # -*- coding: utf-8 -*-
    import os


    class Old:
        """Doc."""
        mode = 0777
        raw = ur'\\d'

        def plain(self, (a, b), mode=0644):
            print >>sys.stderr, `a`, b
            exec 'x = 1' in {}
            try:
                return 10L
            except (A, B), e:
                raise E, 'text', tb
            # of plain

        @property
        @deco.rate(
            a=1)
        def second(self):
            if a <> b:
                def inner():
                    print "no"
                return inner

        # of the class
        last = 1


    def function(x, async=False): print x


    # of the module
    if os:
        class New(base.Base, mixin(A, b), metaclass=M):
            pass
    '''
).encode()


def names(found: Outline | None) -> list[str]:
    assert found is not None
    return [scope.name for scope in found.scopes]


def by_tokens(source: bytes) -> Outline:
    """What the slow way says, whether or not the fast one would do."""
    lines = logical_lines(expand_indentation(decode(source)[0]))
    assert lines is not None
    assert not any(map(malformed, lines))
    return Outline(tuple(_from_lines(lines)))


def test_python_2_is_read() -> None:
    found = outline(PYTHON_2)
    assert found is not None
    assert [(s.name, s.kind, s.first_line, s.def_line, s.last_line) for s in found.scopes] == [
        ("Old", "class", 5, 5, 29),
        ("Old.plain", "function", 10, 10, 17),
        ("Old.second", "function", 19, 22, 26),
        ("Old.second.inner", "function", 24, 24, 25),
        ("function", "function", 32, 32, 32),
        ("New", "class", 37, 37, 38),
    ]
    assert found.scopes[2].decorators == ("property", "deco.rate")
    assert found.scopes[5].bases == ("base.Base", "mixin(A,b)")


@pytest.mark.parametrize(
    ("line", "home"),
    [
        (1, ""),
        (4, ""),
        (5, "Old"),
        (9, "Old"),  # blank, between two methods
        (10, "Old.plain"),
        (17, "Old.plain"),  # a comment, indented like the body before it
        (18, "Old"),
        (19, "Old.second"),  # the first decorator
        (25, "Old.second.inner"),
        (26, "Old.second"),
        (28, "Old"),  # a comment, indented like the methods
        (30, ""),
        (32, "function"),
        (35, ""),
        (38, "New"),
        (1000, ""),
    ],
)
def test_each_line_has_a_home(line: int, home: str) -> None:
    found = outline(PYTHON_2)
    assert found is not None
    assert found.home(line) == home


def test_the_enclosing_scopes_come_outermost_first() -> None:
    found = outline(PYTHON_2)
    assert found is not None
    assert [s.name for s in found.enclosing(25)] == ["Old", "Old.second", "Old.second.inner"]


def test_async_is_a_name_where_it_was_one() -> None:
    source = (
        b"class API:\n"
        b"    def live_migrate(self, force=None, async=False):\n        f(async=async)\n"
        b"    def async(self): pass\n"
        b"async  def g():\n    async with x: pass\n"
    )
    assert names(outline(source)) == ["API", "API.live_migrate", "API.async", "g"]
    assert outline(source) == by_tokens(source)


@pytest.mark.parametrize(
    "source",
    [
        PYTHON_2.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + PYTHON_2,
        PYTHON_2.replace(b"utf-8", b"latin-1").replace(b"# of the class", b"# \xe9"),
        PYTHON_2.replace(b"utf-8", b"unheard-of"),
        PYTHON_2.replace(b"# of the class", b"# \xe9"),  # not the encoding that it says
        PYTHON_2.replace(b"        ", b"\t"),  # a tab reaches to column 8
        PYTHON_2.replace(b"\n\n\n", b"\n\f\n\n"),
        PYTHON_2.replace(b"\nclass Old", b"\n\fclass Old"),
        PYTHON_2.replace(b"\n", b"\r\r\n"),
        PYTHON_2.rstrip(b"\n"),
    ],
    ids=["crlf", "bom", "latin-1", "unknown", "wrong", "tabs", "feeds", "feed", "crcrlf", "no-eol"],
)
def test_encodings_and_line_ends_move_nothing(source: bytes) -> None:
    assert outline(source) == outline(PYTHON_2)


def test_only_line_feeds_count_as_lines() -> None:
    source = "x = '\x0b \x1c \u2028 \x85'\ny = '\x0c'\ndef f():\n    pass\n".encode()
    found = outline(source)
    assert found is not None
    assert found.scopes[0].def_line == 3


@pytest.mark.parametrize(
    "source",
    [
        b"",
        b"\n\n",
        b"# only a comment",
        b"x = 1",
    ],
)
def test_python_without_scopes_has_an_empty_outline(source: bytes) -> None:
    assert outline(source) == Outline(())


@pytest.mark.parametrize(
    "source",
    [
        b"Dear reader, this is prose.\n",
        b"int main(void) {\n    return 0;\n}\n",
        b"<<<<<<< ours\nx = 1\n=======\nx = 2\n>>>>>>> theirs\n",
        b"print 'a'\ndef f(:\n    pass\n",
        b"print 'a'\nx = (1,\n",
        b"print 'a'\nx = '\n",
        b"print 'a'\nif x:\n        a\n    b\n",
        b"print 'a'\nclass of objects:\n    pass\n",
        b"def f(x}: print x\n",
        b"\x00\x01\x02",
        b"\x89PNG\r\n\x1a\n",
    ],
)
def test_what_is_no_python_has_no_outline(source: bytes) -> None:
    assert outline(source) is None


@settings(deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
@example(b"# coding: utf-16\nx\n")
@example(b"# coding: rot13\nx\n")
@example(b"(" * 2000)
@example(b"-" * 5000 + b"1")
@example(b"if x:\n" + b"".join(b" " * n + b"if x:\n" for n in range(1, 150)) + b" " * 150 + b"x")
def test_nothing_raises(source: bytes) -> None:
    found = outline(source)
    assert found is None or found.home(1) == found.home(1)
    assert same_code(source, source)
    assert isinstance(same_code(source, source + b"\n"), bool)
    assert isinstance(heading(source, 3), str)


LINES = st.sampled_from(
    [
        "x = 1", "", "# comment", "    ", "x = '''\ndef no(): pass\n'''", "f(1,\n  2)",
        "x = [a for a in b] \\\n  + c", "y = lambda: (yield)", "def one(): pass", "class C: x = 1",
        'f"{x!r:>{w}} def no(): {f(1)}"', "await_ = {1: 2}  # def no():", "'doc'; x = 2",
    ]
)  # fmt: skip
HEADERS = st.sampled_from(
    [
        ["class A:"], ["class B(A, b.C, f(x, y)[0], metaclass=M):"], ["def f(self, a=(1, 2)):"],
        ["@deco", "@a.b(c,\n  d)", "", "# why", "def g(x):"], ["async def h():"], ["if x:"],
        ["for x in y:"], ["with a as b, c:"], ["@property", "def f(\n    self,\n):"],
    ]
)  # fmt: skip


def indented(block: list[str]) -> list[str]:
    return ["    " + line if line else line for text in block for line in text.split("\n")]


def compound(children: st.SearchStrategy[list[list[str]]]) -> st.SearchStrategy[list[str]]:
    return st.builds(
        lambda header, body: header + indented(["pass", *chain(*body)]), HEADERS, children
    )


BLOCKS = st.recursive(
    LINES.map(lambda line: [line]), lambda inner: compound(st.lists(inner)), max_leaves=20
)
MODULES = st.lists(BLOCKS).map(lambda blocks: "\n".join(chain(*blocks)))


@settings(deadline=None)
@given(MODULES)
def test_tree_and_tokens_agree(text: str) -> None:
    source = text.encode()
    ast.parse(source)  # or the strategy is wrong
    with_comments = outline(source)
    assert with_comments is not None
    plain = by_tokens(source)
    for ours, theirs in zip(with_comments.scopes, plain.scopes, strict=True):
        assert theirs.last_line <= ours.last_line
        assert (ours.name, ours.kind, ours.first_line, ours.def_line, ours.bases, ours.decorators) \
            == (theirs.name, theirs.kind, theirs.first_line, theirs.def_line, theirs.bases,
                theirs.decorators)  # fmt: skip
    assert outline(source + b"\nprint 'old'\n") == with_comments  # now by the slow way


@pytest.mark.parametrize("module", [ast, inspect, textwrap, pytest], ids=lambda m: m.__name__)
def test_tree_and_tokens_agree_on_real_modules(module: ModuleType) -> None:
    source = inspect.getsource(module).encode()
    assert outline(source + b"\nprint 'old'\n") == outline(source)


HEADINGS = (
    b"import os\n$odd = 1\n  indented\n_under = 1\nclass A(object):\n    x = 1\n\n"
    b"    def f(self):   \n        pass\n\n"
    b"    async  def g(self):\n        # def no\n        pass\n9 = x\n"
    + "def h(ü, ".encode() + b"x" * 100 + b"):\n    pass\n\xe9clair\ndeffer\nclass\tT:\n pass\n"
)  # fmt: skip


@pytest.mark.parametrize("python", [False, True])
def test_headings_are_those_of_git(repo: Repo, python: bool) -> None:
    name = "a.py" if python else "a.txt"
    (repo.path / ".git" / "info").mkdir(exist_ok=True)
    (repo.path / ".git" / "info" / "attributes").write_text("*.py diff=python\n")
    lines = HEADINGS.split(b"\n")[:-1]
    old = repo.commit("old", {name: HEADINGS})
    for number in range(2, len(lines) + 1):
        changed = [*lines[: number - 1], b"CHANGED", *lines[number:], b""]
        new = repo.commit("new", {name: b"\n".join(changed)})
        header = next(
            line for line in repo.diff(old, new, "--unified=0").split(b"\n") if line[:2] == b"@@"
        )
        said = header.split(b"@@", 2)[2].lstrip(b" ").decode("utf-8", "surrogateescape")
        assert heading(HEADINGS, number, python=python) == said


CODE = b'''"""Module."""
import a


class C(object):
    """Doc."""

    x = """text"""

    def f(self):
        "doc"
        return `self.x`  # why
'''


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        (b"# why", b"# because", True),
        (b"  # why", b"", True),
        (b'"doc"', b'"other"', True),
        (b'"""Doc."""\n', b'"""Doc.\n\n    More."""\n', True),
        (b'    """Doc."""\n', b"", True),
        (b'"""Module."""\n', b"", True),
        (b"\n\n\n", b"\n", True),
        (b"(self)", b"(\n        self)", True),
        (b"import a", b"import b", False),
        (b'"""text"""', b'"""other"""', False),
        (b'"doc"', b'"doc" + x', False),
        (b"        return", b"    return", False),
        (b"`self.x`", b"self.x", False),
        (b'"""text"""', b"'text'", False),  # the same, but it takes more than tokens to tell
        (b"    x", b"\tx", False),
        (b"`self.x`", b"'self.x", False),
        (b'"""Module."""', b"# coding: latin-1", False),  # the strings may have changed with it
    ],
)
def test_code_is_told_from_comments(old: bytes, new: bytes, same: bool) -> None:
    changed = CODE.replace(old, new)
    assert changed != CODE
    assert same_code(CODE, changed) is same
    assert same_code(changed, CODE) is same


def test_two_versions_that_are_no_python_are_never_the_same_code() -> None:
    assert not same_code(b"x = 'a # one\n", b"x = 'a # two\n")
    assert not same_code(b"Some prose. # one\n", b"Other prose. # two\n")
