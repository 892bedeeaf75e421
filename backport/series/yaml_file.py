"""A YAML file as plain data with line numbers: text, lists and mappings, and nothing else.

Every scalar stays the text that stands in the file; the schema says what is a number. So ``15.1``
and ``15.10`` differ, and a hash of digits is no number. What YAML can do beyond that is refused:
tags (``!!python/…`` makes objects), anchors and aliases (a "bomb" of them grows without end).
"""

from __future__ import annotations

import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from yaml import AliasEvent, MappingNode, MarkedYAMLError, Node, SafeLoader, SequenceNode, YAMLError
from yaml.reader import ReaderError

from backport.errors import ManifestError, Problem

MAX_BYTES = 1_000_000
_MAX_DEPTH = 20
_MAX_VALUES = 20_000  # a series of 100 changes has some 2,000; PyYAML takes 0.1 ms for each
# Escapes in double quotes can write these; git takes no NUL, and no terminal the rest.
_CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f\ud800-\udfff]")

Loc: TypeAlias = "tuple[str | int, ...]"  # the keys and indexes that lead to a value


@dataclass
class Document:
    """What a file holds, where, and what is wrong with it so far."""

    path: Path
    data: dict[str, Any] = field(default_factory=dict)
    lines: dict[Loc, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    hint: str = ""  # what to do, where a problem's line has no room for it

    def line(self, loc: Loc) -> int:
        """Return the line of a value, or else of what it would be in."""
        while loc and loc not in self.lines:
            loc = loc[:-1]
        return self.lines.get(loc, 1)

    def report(self, loc: Loc, message: str) -> None:
        """Note a problem at a value."""
        self.problems.append(Problem(self.path, self.line(loc), message))


def read_document(path: Path) -> Document:
    """Read a file; what is wrong with it is in :attr:`Document.problems`, never raised."""
    document = Document(path)
    try:
        node = _compose(_read(path))
    except ManifestError as error:
        document.problems += error.problems
    except _FileFault as fault:
        document.problems.append(Problem(path, fault.line, fault.message))
    else:
        document.lines[()] = node.start_mark.line + 1
        found = _plain(node, (), document)
        if isinstance(found, dict):
            document.data = found
        else:
            document.report((), "must hold keys and values, such as 'title: …'")
    return document


class _FileFault(Exception):
    """Why a file cannot be read; line 0 is all of it."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.message = message


def _read(path: Path) -> str:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise _FileFault(0, "is no file")
        if status.st_size > MAX_BYTES:
            raise _FileFault(0, f"is larger than {MAX_BYTES} bytes, which no manifest is")
        data = path.read_bytes()[: MAX_BYTES + 1]
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "its name cannot be meant"
        raise _FileFault(0, f"cannot be read: {reason}") from error
    return _decoded(data)


def _decoded(data: bytes) -> str:
    if b"\0" in data:
        raise _FileFault(_line_of(data, data.index(b"\0")), "has a NUL byte in it")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _FileFault(_line_of(data, error.start), "is not UTF-8 text") from error


def _line_of(data: bytes, position: int) -> int:
    return data.count(b"\n", 0, position) + 1


class _RefusedError(MarkedYAMLError):
    """YAML that is sound, and not wanted here."""


class _Loader(SafeLoader):
    """Composes nodes, and constructs nothing."""

    depth = 0
    values = 0

    def compose_node(self, parent: Node | None, index: Any) -> Node | None:
        """Refuse what a manifest has no use for before it can do harm."""
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        reason = ""
        if isinstance(event, AliasEvent) or event.anchor:
            reason = "anchors (&) and aliases (*) are not taken: write it out"
        elif event.tag not in (None, "!"):
            reason = f"tags such as {event.tag!r} are not taken"
        elif self.depth == _MAX_DEPTH:
            reason = "is nested too deeply"
        elif self.values == _MAX_VALUES:
            reason = f"has more than {_MAX_VALUES} values, which no manifest has"
        if reason:
            raise _RefusedError(problem=reason, problem_mark=event.start_mark)
        self.depth += 1
        self.values += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self.depth -= 1


def _compose(text: str) -> Node:
    try:
        node: Node | None = _Loader(text).get_single_node()
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        raise _FileFault(line, _in_one_line(error)) from error
    except ReaderError as error:
        line = text.count("\n", 0, int(error.position)) + 1
        raise _FileFault(line, "has a character that is not allowed in YAML") from error
    except (YAMLError, ValueError, OverflowError) as error:
        # PyYAML 6 lets chr() complain about escapes such as "\U99999999".
        raise _FileFault(0, "is not YAML: " + str(error).split("\n")[0]) from error
    if node is None:
        raise _FileFault(0, "is empty")
    return node


def _in_one_line(error: MarkedYAMLError) -> str:
    words = " ".join(f"{error.context or ''} {error.problem or ''}".split())
    return words if isinstance(error, _RefusedError) else f"is not YAML: {words}"


def _plain(node: Node, loc: Loc, document: Document) -> Any:
    """Turn a node into data. A value that is left empty, or ``null``, is none."""
    if isinstance(node, MappingNode):
        return _mapping(node, loc, document)
    if isinstance(node, SequenceNode):
        return [_item(item, (*loc, number), document) for number, item in enumerate(node.value)]
    if node.tag == "tag:yaml.org,2002:null":
        return None
    text = str(node.value)
    if _CONTROL.search(text):
        document.report(loc, "has a control character in it")
    return text


def _item(node: Node, loc: Loc, document: Document) -> Any:
    document.lines[loc] = node.start_mark.line + 1
    return _plain(node, loc, document)


def _mapping(node: MappingNode, loc: Loc, document: Document) -> Mapping[str, Any]:
    data: dict[str, Any] = {}
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1
        key = str(key_node.value)
        here = (*loc, key)
        if not isinstance(key_node.value, str):
            document.problems.append(Problem(document.path, line, "a key must be text"))
        elif key in data:
            message = f"{key!r} for a second time; the first is on line {document.lines[here]}"
            document.problems.append(Problem(document.path, line, message))
        else:
            document.lines[here] = line
            data[key] = _plain(value_node, here, document)
    return {key: value for key, value in data.items() if value is not None}
