"""A version of a file as placement sees it: which home each of its lines has."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from operator import itemgetter

from backport.placement.landing import Lines, split_lines
from backport.source.outline import Outline, headings, outline

NOTHING = range(0)
# Of setup.cfg and the like: git's heading would be the line above, which tells nothing.
_SECTION_LINE = re.compile(rb"\[[ -\\^-~]+\](?=\s*$)")
_SECTION = re.compile(r"\[")
_NAME = re.compile(r"(?:async[ \t]+)?(?:class|def)[ \t]+(\w*)")
_UNDERLINE = re.compile(rb"([-=~^\"'`#*+.:_])\1*\s*$")
_NUMBER = itemgetter(0)


@dataclass(frozen=True)
class View:
    """One version. Lines count from 1; ``outline`` is None where homes are told by headings.

    :param aliases: homes that are told by another name, which the branch has for them
    """

    source: bytes
    outline: Outline | None
    python: bool
    prose: bool = False
    aliases: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def lines(self) -> Lines:
        """Its lines, each with its line feed."""
        return split_lines(self.source)

    @cached_property
    def headings(self) -> tuple[tuple[int, str], ...]:
        """The lines that git takes for headings of hunks, and ``[sections]``, with numbers.

        In prose, where any line may begin with a letter, they are the titles.
        """
        titles = tuple(self._underlined()) if self.prose else ()
        found = titles or headings(self.source, python=self.python)
        if titles or self.python:
            return found
        matches = ((n, _SECTION_LINE.match(line)) for n, line in enumerate(self.lines, start=1))
        sections = ((number, match[0].decode()) for number, match in matches if match)
        return tuple(sorted([*found, *sections]))

    def _underlined(self) -> Iterator[tuple[int, str]]:
        """Yield the titles of reStructuredText, and of Markdown where they are underlined."""
        for number, (line, below) in enumerate(pairwise(self.lines), start=1):
            title = line.strip()
            if title and _UNDERLINE.match(below) and len(below.strip()) >= len(title):
                yield number, title.decode("utf-8", "surrogateescape")

    def telling(self, changed: range) -> Iterator[int]:
        """Yield the lines that are not blank: whose a blank line is, nobody knows."""
        for line in changed:
            if line <= len(self.lines) and self.lines[line - 1].strip():
                yield line

    def home(self, line: int, changed: range = NOTHING) -> str:
        """Return the home of a line; a scope whose header is among ``changed`` is none.

        What a patch adds or renames has its home where it was put, and carries it along.
        """
        if self.outline is None:
            return (self._by_indentation if self.python else self._heading)(line, changed)
        for scope in reversed(self.outline.enclosing(line)):
            if scope.def_line not in changed:
                return self.aliases.get(scope.name, scope.name)
        return ""

    def homes(self, line: int, count: int) -> tuple[str, ...]:
        """Return the homes of the lines of a block that are not blank."""
        return tuple(map(self.home, self.telling(range(line, line + count))))

    def census(self) -> Iterator[tuple[bytes, str]]:
        """Yield what each line that is not blank holds, and its home."""
        for line in self.telling(range(1, len(self.lines) + 1)):
            yield self.lines[line - 1], self.home(line)

    def neighbours(self, changed: range) -> tuple[str, str] | None:
        """Name the definitions of the same class or module above and below the changed lines.

        "" is none; None altogether in a function, and in a file that is no Python.
        """
        if self.outline is None:
            return None
        home = self.home(changed.start, changed)
        if any(scope.name == home and scope.kind == "function" for scope in self.outline.scopes):
            return None
        beside = [
            scope
            for scope in self.outline.scopes
            if scope.name.rpartition(".")[0] == home and scope.def_line not in changed
        ]
        above = [scope.name for scope in beside if scope.last_line < changed.start]
        below = [scope.name for scope in beside if scope.def_line >= changed.stop]
        return above[-1] if above else "", below[0] if below else ""

    def differs(self, origin: View, belongs: str, landed: str) -> bool:
        """Whether two homes are two, or may be one that was reworded.

        A heading is but a line: of a C function with one more argument, it is another. It
        counts where the file has the one that belongs too, or the other had this one.
        """
        if belongs == landed or self.python:
            return belongs != landed
        return not reworded(belongs, landed) and (
            belongs in self._titles or landed in origin._titles
        )

    @cached_property
    def _titles(self) -> frozenset[str]:
        return frozenset(title for _, title in self.headings)

    def _heading(self, line: int, changed: range) -> str:
        """Return the heading that a line is under; one that is a heading is under its section."""
        at = bisect_right(self.headings, line, key=_NUMBER)
        if at and (self.headings[at - 1][0] == line or self.headings[at - 1][0] in changed):
            if _SECTION.match(self.headings[at - 1][1]):
                return ""
            while at and not _SECTION.match(self.headings[at - 1][1]):
                at -= 1
        return self.headings[at - 1][1] if at else ""

    def _by_indentation(self, line: int, changed: range) -> str:
        """Name the headers above that are indented less and less: of Python that is broken."""
        names: list[str] = []
        margin = self._margin(line)
        for number, title in self.headings[bisect_left(self.headings, line, key=_NUMBER) :: -1]:
            match = _NAME.match(title)
            if match and number < line and self._margin(number) < margin:
                margin = self._margin(number)
                if number not in changed or names:
                    names.append(match[1])
        return ".".join(reversed(names))

    def _margin(self, line: int) -> int:
        text = self.lines[line - 1].expandtabs() if line <= len(self.lines) else b""
        return len(text) - len(text.lstrip())


_WORDS = re.compile(r"[\w$. -]*")


def reworded(one: str, other: str) -> bool:
    """Whether two headings begin with the same words: of a function, a version, a setting."""
    first, second = (_WORDS.match(title) for title in (one, other))
    return bool(first and second and first[0].strip() and first[0] == second[0])


def views(path: str, *sources: bytes) -> list[View]:
    """Look at the versions of a file; all of them by outline, or all by headings."""
    python = path.endswith((".py", ".pyi")) or any(map(_python_by_name, sources))
    outlines = [outline(source) if python else None for source in sources]
    if None in outlines:
        outlines = [None] * len(sources)
    prose = path.endswith((".rst", ".md"))
    return [
        View(source, found, python, prose) for source, found in zip(sources, outlines, strict=True)
    ]


def _python_by_name(source: bytes) -> bool:
    first = source.split(b"\n", 1)[0]
    return first.startswith(b"#!") and b"python" in first
