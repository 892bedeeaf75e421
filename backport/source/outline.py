"""Python source of any age: its classes and functions, and which lines are theirs.

``ast`` reads what the running Python can parse, a 5,000-line module in some 50 ms. Python 2
is read from the tokens of ``parso``, whose tokenizer takes both. Its tree does not do: its
last grammar of Python 2 went with parso 0.8, and error recovery drops a whole function for
``mode=0777`` or ``def f(a, (b, c))``, which would move its lines into another home.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal

from backport.source.logical_lines import (
    LogicalLine,
    decode,
    expand_indentation,
    header_of,
    logical_lines,
    malformed,
    same_code,
)

__all__ = ["Kind", "Outline", "Scope", "heading", "headings", "outline", "parse", "same_code"]

Kind = Literal["class", "function"]


@dataclass(frozen=True)
class Scope:
    """A class or function. Lines count from 1, as git cuts them; both ends belong to it.

    It begins with its first decorator and ends with its last statement, or with a comment
    after that which is indented deeper than its header. Blank lines after it are not its own.
    """

    name: str  # qualified, without "<locals>": "API._delete"
    kind: Kind
    first_line: int
    def_line: int  # of the word "class", "def" or "async"
    last_line: int
    bases: tuple[str, ...] = ()  # as written, without blanks: "base.Base", "with_metaclass(M,B)"
    decorators: tuple[str, ...] = ()  # without their arguments: "mock.patch.object"

    @property
    def lines(self) -> range:
        """All of its lines."""
        return range(self.first_line, self.last_line + 1)


@dataclass(frozen=True)
class Outline:
    """The classes and functions of a module, in the order of their lines, nested ones included."""

    scopes: tuple[Scope, ...]

    def enclosing(self, line: int) -> tuple[Scope, ...]:
        """Return the scopes that a line is in, outermost first."""
        return self._around[line] if 0 <= line < len(self._around) else ()

    def home(self, line: int) -> str:
        """Return the qualified name of the innermost scope that a line is in; "" is the module."""
        around = self.enclosing(line)
        return around[-1].name if around else ""

    @cached_property
    def _around(self) -> list[tuple[Scope, ...]]:
        """For each line the scopes around it; a nested scope comes after the one that it is in."""
        end = max((scope.last_line for scope in self.scopes), default=0)
        around: list[tuple[Scope, ...]] = [()] * (end + 1)
        for scope in self.scopes:
            chain = (*around[scope.first_line], scope)
            around[scope.first_line : scope.last_line + 1] = [chain] * len(scope.lines)
        return around


@lru_cache(maxsize=64)  # the rungs of the ladder, and the hunks, ask for the same few again
def outline(source: bytes) -> Outline | None:
    """Find the classes and functions of Python source; None where it is no Python of any age."""
    text = decode(source)[0]
    tree = parse(text)
    if tree is not None:
        scopes = list(_from_tree(tree.body, ""))
    else:
        logical = logical_lines(expand_indentation(text))
        if logical is None or any(map(malformed, logical)):
            return None
        scopes = _from_lines(logical)
    lines = text.split("\n")
    return Outline(tuple(_with_comments(scope, lines) for scope in scopes))


# git 2.39: def_ff() in xdiff/xemit.c, and PATTERNS("python") in userdiff.c.
_DEFAULT_HEADING = re.compile(rb"([A-Za-z_$].*)")
_PYTHON_HEADING = re.compile(rb"[ \t]*((?:class|(?:async[ \t]+)?def)[ \t].*)")
_HEADING_BYTES = 80  # struct func_line


def heading(source: bytes, line: int, *, python: bool = False) -> str:
    """Return what git writes after the ``@@`` of a hunk that begins at ``line``, or "".

    It is the last line before that which begins with a letter, ``_`` or ``$``; with the
    ``python`` driver of gitattributes, the last that begins a class or function.
    """
    above = b"\n".join(source.split(b"\n")[: max(line - 1, 0)])
    found = headings(above, python=python)
    return found[-1][1] if found else ""


def headings(source: bytes, *, python: bool = False) -> tuple[tuple[int, str], ...]:
    """Return all lines that :func:`heading` chooses from, with their numbers."""
    pattern = _PYTHON_HEADING if python else _DEFAULT_HEADING
    lines = enumerate(source.split(b"\n"), start=1)
    return tuple(
        (number, _as_heading(match[1])) for number, text in lines if (match := pattern.match(text))
    )


def _as_heading(text: bytes) -> str:
    return text[:_HEADING_BYTES].rstrip().decode("utf-8", "surrogateescape")


# A name until Python 3.6: def live_migrate(self, force=None, async=False), in nova's compute API.
_ASYNC_AS_NAME = re.compile(r"\basync\b(?!\s+(?:def|for|with)\b)")


def parse(text: str) -> ast.Module | None:
    """Parse what the running Python can read, with ``async`` as a name, too; None: it cannot."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes: no concern of ours
        for attempt in dict.fromkeys((_async_as_name(text), text)):
            try:
                return ast.parse(attempt)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
    return None


def _async_as_name(text: str) -> str:
    # Identifiers are NFKC-normalised after keywords are told apart (PEP 3131): with a
    # full-width "a", it is a name, and in the tree it is the name "async" again.
    return _ASYNC_AS_NAME.sub("\uff41sync", text) if "async" in text else text


_BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")  # as they are written


def _from_tree(body: Sequence[ast.AST], prefix: str) -> Iterator[Scope]:
    for node in body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            yield _scope(node, prefix)
            yield from _from_tree(node.body, f"{prefix}{node.name}.")
        else:
            for block in _BLOCKS:
                yield from _from_tree(getattr(node, block, ()), prefix)


def _scope(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, prefix: str) -> Scope:
    is_class = isinstance(node, ast.ClassDef)
    decorators = node.decorator_list
    return Scope(
        name=prefix + node.name,
        kind="class" if is_class else "function",
        first_line=min([node.lineno, *(each.lineno for each in decorators)]),
        def_line=node.lineno,
        last_line=node.end_lineno or node.lineno,
        bases=tuple(map(_written, node.bases)) if isinstance(node, ast.ClassDef) else (),
        decorators=tuple(
            _written(each.func if isinstance(each, ast.Call) else each) for each in decorators
        ),
    )


def _written(node: ast.expr) -> str:
    return "".join(ast.unparse(node).split())


def _from_lines(logical: Sequence[LogicalLine]) -> list[Scope]:
    scopes: list[Scope] = []
    open_at: list[tuple[int, int]] = []  # the depth of a header, its place in scopes
    decorators: list[LogicalLine] = []
    last = 0
    for line in logical:
        while open_at and line.depth <= open_at[-1][0]:
            at = open_at.pop()[1]
            scopes[at] = replace(scopes[at], last_line=last)
        last = line.last
        if line.words[0] == "@":
            decorators.append(line)
            continue
        if header_of(line.words):
            prefix = f"{scopes[open_at[-1][1]].name}." if open_at else ""
            open_at.append((line.depth, len(scopes)))
            scopes.append(_scope_of_line(line, decorators, prefix))
        decorators = []
    for _, at in open_at:
        scopes[at] = replace(scopes[at], last_line=last)
    return scopes


def _scope_of_line(line: LogicalLine, decorators: Sequence[LogicalLine], prefix: str) -> Scope:
    header = header_of(line.words)
    return Scope(
        name=prefix + header[1],
        kind="class" if header[0] == "class" else "function",
        first_line=decorators[0].first if decorators else line.first,
        def_line=line.first,
        last_line=line.last,
        bases=tuple(_bases(header)) if header[0] == "class" else (),
        decorators=tuple("".join(each.words[1:]).partition("(")[0] for each in decorators),
    )


def _bases(header: Sequence[str]) -> Iterator[str]:
    """Cut ``class X(A, b.C, metaclass=M):`` at its commas, and leave keywords out."""
    if header[2] != "(":
        return
    depth, base = 0, ""
    for word in header[2:]:
        depth += (word in "([{") - (word in ")]}")
        if depth == 0 or (depth == 1 and word == ","):
            if base and not re.match(r"\w+=", base):
                yield "".join(base.split())
            base = ""
            if depth == 0:
                return
        elif depth > 1 or word != "(":
            base += word


def _with_comments(scope: Scope, lines: Sequence[str]) -> Scope:
    """Give a scope the comments after its last statement that are indented like its body."""
    margin = _margin(lines[scope.def_line - 1])
    last = scope.last_line
    for number in range(scope.last_line + 1, len(lines) + 1):
        text = lines[number - 1].strip()
        if text and (text[0] != "#" or _margin(lines[number - 1]) <= margin):
            break
        last = number if text else last
    return replace(scope, last_line=last) if last != scope.last_line else scope


def _margin(line: str) -> int:
    expanded = expand_indentation(line)
    return len(expanded) - len(expanded.lstrip())
