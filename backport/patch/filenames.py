"""The names of files in a patch: git's quoting, and how many leading folders are not theirs.

People write patches with ``a/`` and ``b/``, with ``i/`` and ``w/`` (diff.mnemonicPrefix), with
nothing (diff.noprefix) and from a folder further up. How deep it is, is read off the patch: the
two names of a file are the same behind their prefixes, and rename lines have none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from backport.patch.scanner import Section, fault

_QUOTED = re.compile(rb'"(?:[^"\\]|\\(?:[abtnvfr"\\]|[0-3][0-7]{2}))*"')
_ESCAPE = re.compile(rb"\\([0-3][0-7]{2}|.)")
_ESCAPES = dict(zip(b'abtnvfr"\\', b'\a\b\t\n\v\f\r"\\', strict=True))
_PREFIX = re.compile(rb"[abciow12]/")  # git-config(1), diff.mnemonicPrefix
# What GNU diff -N writes for a file that is not there; the zone may move it to the day before.
_EPOCH = re.compile(rb"\t(?:1969-12-31|1970-01-01) ")
_NOWHERE = b"/dev/null"
_DISAGREE = "the names of a file that do not agree with each other"


@dataclass(frozen=True)
class Names:
    """The two names of a file. None is ``/dev/null`` of a plain diff, where one name is all."""

    old: bytes | None
    new: bytes | None
    bare: tuple[bytes, bytes] | None = None  # of rename and copy lines, which have no prefix


def file_names(sections: list[Section], where: Path, strip: int | None) -> list[Names]:
    """Return the names of each file, without prefixes.

    :param strip: how many leading folders to take off, as ``git apply -p``; None: find out
    :raises ManifestError: for names that contradict each other
    """
    written = [_written(section, where) for section in sections]
    if strip is None:
        strip = _detect(sections, written, where)
    pairs = zip(sections, written, strict=True)
    return [_stripped(section, names, strip, where) for section, names in pairs]


def unquote(text: bytes) -> bytes | None:
    r"""Read a name that git has quoted, as ``"a/caf\303\251"``; None if it is not well-formed."""
    if not _QUOTED.fullmatch(text):
        return None
    return _ESCAPE.sub(_unescaped, text[1:-1])


def _unescaped(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code, 8) if len(code) == 3 else _ESCAPES[code[0]]])


def _written(section: Section, where: Path) -> Names:
    """Read the names as they are written, prefixes included."""
    minus, plus = (_side(text, section, where) for text in (section.minus, section.plus))
    if section.git is None:
        old, new = (None if name == _NOWHERE else name for name in (minus, plus))
        if not (old or new) or (old and new and _depth(old, new) is None):
            raise fault(where, section.line, _DISAGREE)
        return Names(old, new)
    bare = _bare(section, where)
    fitting = (
        (depth, old, new)
        for old, new in _splits(section.git)
        if minus in (None, _NOWHERE, old) and plus in (None, _NOWHERE, new)
        if (depth := _agreement(old, new, bare)) is not None
    )
    best = min(fitting, default=None)
    if best is None:
        raise fault(where, section.line, _DISAGREE)
    return Names(best[1], best[2], bare)


def _side(text: bytes | None, section: Section, where: Path) -> bytes | None:
    """Read a ``---`` or ``+++`` line: a tab ends an unquoted name, a date may follow."""
    if text is None:
        return None
    if section.git is None and _EPOCH.search(text):
        return _NOWHERE
    quoted = _QUOTED.match(text)
    return _name(quoted[0] if quoted else text.split(b"\t")[0], section, where)


def _name(text: bytes, section: Section, where: Path) -> bytes:
    name = unquote(text) if text.startswith(b'"') else text
    if name is None:
        raise fault(where, section.line, "a file name that is quoted in no way that git knows")
    return name


def _bare(section: Section, where: Path) -> tuple[bytes, bytes] | None:
    for word in (b"rename", b"copy"):
        old, new = (section.extended.get(word + end) for end in (b" from", b" to"))
        if old is not None and new is not None:
            return _name(old, section, where), _name(new, section, where)
        if old is not None or new is not None:
            raise fault(where, section.line, "half of a rename: the patch is cut off")
    return None


def _splits(text: bytes) -> Iterator[tuple[bytes, bytes]]:
    """All ways to cut a ``diff --git`` line in two, for spaces in names are not quoted."""
    for space in re.finditer(b" ", text):
        left, right = text[: space.start()], text[space.end() :]
        old = unquote(left) if left.startswith(b'"') else left
        new = unquote(right) if right.startswith(b'"') else right
        if old and new:
            yield old, new


def _agreement(old: bytes, new: bytes, bare: tuple[bytes, bytes] | None) -> int | None:
    """How deep the prefixes of two names are; None where they cannot be those of one file."""
    if bare is None:
        return _depth(old, new)
    depth = _prefix(old, bare[0])
    return depth if depth == _prefix(new, bare[1]) else None


def _prefix(name: bytes, bare: bytes) -> int | None:
    """How many folders a name has in front of its bare form."""
    if name == bare:
        return 0
    return name[: -len(bare)].count(b"/") if name.endswith(b"/" + bare) else None


def _depth(old: bytes, new: bytes) -> int | None:
    """How many leading folders to take off for two names to be the same."""
    left, right = old.split(b"/"), new.split(b"/")
    if len(left) != len(right):
        return None
    return next((n for n in range(len(left)) if left[n:] == right[n:]), None)


def _detect(sections: list[Section], written: list[Names], where: Path) -> int:
    """Find out how many leading folders are not those of the files: all must say the same."""
    votes: dict[int, int] = {}  # depth: the line where it is seen first
    for section, names in zip(sections, written, strict=True):
        if names.old and names.new:
            depth = _agreement(names.old, names.new, names.bare)
            votes.setdefault(depth or 0, section.line)
    if len(votes) > 1:
        hint = "Write it again with one git diff, or say how deep it is in series.yaml (strip: 1)."
        raise fault(where, max(votes.values()), "prefixes of another depth than above", hint)
    for depth in votes:
        return depth
    # Only files that a plain diff adds or deletes: they have one name each.
    return int(all(_PREFIX.match(names.old or names.new or b"") for names in written))


def _stripped(section: Section, names: Names, strip: int, where: Path) -> Names:
    if names.bare:
        # As git apply: rename lines have one folder less, for their names have no prefix.
        old, new = (_without(name, max(strip - 1, 0)) for name in names.bare)
    else:
        old, new = _without(names.old, strip), _without(names.new, strip)
    if b"" in (old, new):
        raise fault(where, section.line, f"a file name that has no {strip} folders to strip")
    if old and new and not names.bare and old != new:
        raise fault(where, section.line, _DISAGREE)
    return Names(old, new)


def _without(name: bytes | None, folders: int) -> bytes | None:
    return name and b"/".join(name.split(b"/")[folders:])
