"""Conflicts that can be resolved with a reason that can be stated, by named rules.

git refuses wherever two sides changed lines that touch. Where the changes themselves do not touch,
both can be had. A rule that is not sure says nothing; what a rule resolves is never called clean:
its files are listed under ``Conflicts:``, and the tests decide. How often each is right on the
history of nova's stable branches is measured by ``make bench-replay``.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import product

from backport.apply.markers import Marked, find_marked

#: Lines of OpenStack's Python sources are no longer (pycodestyle, E501).
_WIDTH = 79
#: A conflict of more lines is not taken apart word by word.
_FEW = 40
#: The number in the name of a schema migration is its place in the branch's own order.
_NUMBERED = re.compile(r"migrat|/versions/")
_WORD = re.compile(rb"\w+|[ \t]*\n[ \t]*|[ \t]+|[^\w \t\n]")  # every byte is in one
_IMPORT = re.compile(rb"(?:import|from)\s|\s*$")
_OPENING = (b":", b"(", b"[", b"{", b",", b"\\")

#: The rule of a file that git merge-file merges without a conflict, and git merge-tree does not.
ALIGNED = "lines aligned otherwise"

Lines = Sequence[bytes]


@dataclass(frozen=True)
class Resolved:
    """A file without its conflicts, and the rules that resolved them, in their order."""

    data: bytes
    rules: tuple[str, ...]


@dataclass(frozen=True)
class _Place:
    """A place in conflict: the lines of either side, and of the base."""

    base: Lines
    ours: Lines
    theirs: Lines
    python: bool


@dataclass(frozen=True)
class _Edit:
    """What one side puts in place of a range of the base's lines, or words."""

    start: int
    stop: int
    new: Lines

    @property
    def grows(self) -> bool:
        """Whether there is more of it than there was."""
        return len(self.new) > self.stop - self.start


def resolve(
    path: str, merged: bytes, ours: bytes, theirs: bytes, clean: bool = False
) -> Resolved | None:
    """Resolve all conflicts of a file, or none.

    :param merged: the file as git merged it, with markers that show the base as well (diff3)
    :param ours: the file as the branch has it
    :param theirs: the file as the change leaves it
    :param clean: whether ``merged`` may be without a conflict: it was merged once more
    """
    found = find_marked(merged)
    if _NUMBERED.search(path) or not (found or clean):
        return None
    python = path.endswith(".py")
    lines, rules = merged.splitlines(keepends=True), []
    for marked in reversed(found):
        rule, resolution = next(_resolutions(marked, python), ("", None))
        if resolution is None:
            return None
        lines[marked.line - 1 : marked.last] = resolution
        rules.append(rule)
    data = b"".join(lines)
    if python and not _is_sound(data, ours, theirs):
        return None
    return Resolved(data, tuple(reversed(rules)) or (ALIGNED,))


def _resolutions(marked: Marked, python: bool) -> Iterator[tuple[str, Lines]]:
    if marked.base is None:
        return
    sides = (marked.base, marked.ours, marked.theirs)
    base, ours, theirs = (side.splitlines(keepends=True) for side in sides)
    place = _Place(base, ours, theirs, python)
    for name, rule in RULES.items():
        resolution = rule(place)
        if resolution is not None:
            yield name, resolution


def _neighbouring_lines(place: _Place) -> Lines | None:
    """Both sides changed lines that touch, and none that the other changed."""
    mine, other = _edits(place.base, place.ours), _edits(place.base, place.theirs)
    if any(_in_doubt(*pair) for pair in product(mine, other)):
        return None
    return _woven(place.base, [*mine, *other])


def _in_doubt(ours: _Edit, theirs: _Edit) -> bool:
    """Whether two edits touch the same lines, or it is not told which of them comes first."""
    if _overlap(ours, theirs):
        return True
    if ours.start == theirs.stop and ours.start == ours.stop:
        # The branch put lines behind those that the change replaces (or where it puts its own).
        return len(theirs.new) != theirs.stop - theirs.start or theirs.start == theirs.stop
    if theirs.start == theirs.stop:
        if ours.start < theirs.start < ours.stop:
            return True
        if theirs.start == ours.stop and ours.new:
            return ours.grows or _does_not_follow(ours.new, theirs.new)
    return ours.start == ours.stop and theirs.start < ours.start < theirs.stop


def _overlap(one: _Edit, other: _Edit) -> bool:
    return max(one.start, other.start) < min(one.stop, other.stop)


def _does_not_follow(above: Lines, new: Lines) -> bool:
    """Whether lines cannot come behind others: imports have an order, and blocks a header."""
    deeper = _margin(new[0]) > _margin(above[-1])
    opened = above[-1].rstrip().endswith(_OPENING)
    return all(map(_IMPORT.match, new)) or (deeper and not opened)


def _margin(line: bytes) -> int:
    return len(line) - len(line.lstrip())


def _words_of_a_line(place: _Place) -> Lines | None:
    """Both sides changed the same few lines, in words that do not touch."""
    sides = (place.base, place.ours, place.theirs)
    if not all(0 < len(side) <= _FEW for side in sides):
        return None
    lines = product(_edits(place.base, place.ours), _edits(place.base, place.theirs))
    if any(_in_doubt(*pair) and not _overlap(*pair) for pair in lines):
        return None
    words, mine, other = (_WORD.findall(b"".join(side)) for side in sides)
    ours, theirs = _edits(words, mine), _edits(words, other)
    if any(_meet(words, *pair) for pair in product(ours, theirs)):
        return None
    # Lines that are put in are laid out by those around them: these must be as they were.
    laid_out = any(b"\n" in word for e in ours for word in (*words[e.start : e.stop], *e.new))
    if len(place.theirs) > len(place.base) and (laid_out or not place.python):
        return None
    return b"".join(_woven(words, [*ours, *theirs])).splitlines(keepends=True)


def _meet(words: Lines, one: _Edit, other: _Edit) -> bool:
    """Whether no word stands between two edits; blanks are none."""
    between = words[min(one.stop, other.stop) : max(one.start, other.start)]
    return not any(word.strip() for word in between)


#: By name, in the order in which they are tried.
RULES: Mapping[str, Callable[[_Place], Lines | None]] = {
    "neighbouring lines": _neighbouring_lines,
    "words of a line": _words_of_a_line,
}


def _edits(old: Lines, new: Lines) -> list[_Edit]:
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return [_Edit(a, b, new[c:d]) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal"]


def _woven(base: Lines, edits: Sequence[_Edit]) -> list[bytes]:
    """Make edits that do not touch the same lines; what is put in comes before what is replaced."""
    lines, at = list[bytes](), 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.stop)):
        lines += [*base[at : edit.start], *edit.new]
        at = edit.stop
    return [*lines, *base[at:]]


def _is_sound(data: bytes, ours: bytes, theirs: bytes) -> bool:
    """Whether Python that could be parsed still can, and no line has got too long."""
    known = {*ours.splitlines(), *theirs.splitlines()}
    long = (line for line in data.splitlines() if len(line.decode("utf-8", "replace")) > _WIDTH)
    return known.issuperset(long) and (_parses(data) or not _parses(ours))


def _parses(source: bytes) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of invalid escapes, which are not ours
            ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return True
