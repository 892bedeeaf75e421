"""A test module taken apart: the code of its classes, methods and functions, and the rest of it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from backport.source.logical_lines import LogicalLine, decode, logical_lines
from backport.source.outline import Outline, Scope, outline, same_code


@dataclass(frozen=True)
class Statement:
    """A statement of the module that defines no class or function.

    :param names: what it binds; () where that is not just a name
    :param idle: whether it only imports, or is a docstring
    """

    words: tuple[tuple[str, ...], ...]
    names: tuple[str, ...]
    idle: bool

    @property
    def text(self) -> bytes:
        """Its words, to look names up in."""
        return " ".join(word for line in self.words for word in line).encode("utf-8", "replace")


@dataclass(frozen=True)
class Definitions:
    """A module. The code of what has one name more than once is joined."""

    functions: Mapping[str, bytes] = field(default_factory=dict)
    classes: Mapping[str, bytes] = field(default_factory=dict)  # their code without the methods
    methods: Mapping[str, Mapping[str, bytes]] = field(default_factory=dict)  # by class, then name
    statements: tuple[Statement, ...] = ()

    def whole(self, name: str) -> bytes:
        """All code of a class."""
        return b"\n".join([self.classes[name], *self.methods[name].values()])


def definitions(source: bytes | None) -> Definitions | None:
    """Take a module apart; None where it is no Python. No source is an empty module."""
    found = outline(source) if source else Outline(())
    if found is None:
        return None
    lines = (source or b"").split(b"\n")
    functions: dict[str, list[bytes]] = defaultdict(list)
    classes: dict[str, list[bytes]] = defaultdict(list)
    methods: dict[str, dict[str, list[bytes]]] = defaultdict(lambda: defaultdict(list))
    top = [scope for scope in found.scopes if "." not in scope.name]
    for scope in top:
        if scope.kind == "function":
            functions[scope.name].append(_text(lines, scope.lines))
            continue
        own = [each for each in found.scopes if _is_method(each, scope)]
        classes[scope.name].append(_without(lines, scope.lines, own))
        for each in own:
            methods[scope.name][each.name.rpartition(".")[2]].append(_text(lines, each.lines))
    rest = _without(lines, range(1, len(lines) + 1), top)
    return Definitions(
        _joined(functions),
        _joined(classes),
        {name: _joined(methods[name]) for name in classes},
        tuple(_statements(rest)),
    )


def differing(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> list[str]:
    """Return the names whose code is not the same: changed, added and removed ones."""
    names = dict.fromkeys([*after, *before])
    return [
        name
        for name in names
        if name not in before or name not in after or not same_code(before[name], after[name])
    ]


def differing_statements(before: Definitions, after: Definitions) -> list[Statement]:
    """Return the statements of the module that were changed, added or removed."""
    old, new = Counter(before.statements), Counter(after.statements)
    return [statement for statement in [*(new - old), *(old - new)] if not statement.idle]


def _is_method(scope: Scope, of: Scope) -> bool:
    return (
        scope.kind == "function"
        and scope.name.rpartition(".")[0] == of.name
        and of.first_line <= scope.first_line <= of.last_line
    )


def _joined(texts: Mapping[str, Iterable[bytes]]) -> dict[str, bytes]:
    return {name: b"\n".join(parts) for name, parts in texts.items()}


def _text(lines: list[bytes], which: Iterable[int]) -> bytes:
    return b"\n".join(lines[line - 1] for line in which)


def _without(lines: list[bytes], which: range, scopes: Iterable[Scope]) -> bytes:
    left_out = {line for scope in scopes for line in scope.lines}
    return _text(lines, (line for line in which if line not in left_out))


_GOES_ON = ("except", "else", "finally", "elif")
_BRANCHES = ("try", "if", "pass", *_GOES_ON)
_TEXT = re.compile(r"[bBuUrR]{0,2}[\"']")


def _statements(rest: bytes) -> Iterator[Statement]:
    text = decode(rest)[0]
    logical = logical_lines(text)
    if logical is None:
        yield Statement(((text,),), (), idle=False)
        return
    group: list[LogicalLine] = []
    for line in logical:
        if line.depth == 0 and group and line.words[0] not in _GOES_ON:
            yield _statement(group)
            group = []
        group.append(line)
    if group:
        yield _statement(group)


def _statement(group: list[LogicalLine]) -> Statement:
    words = tuple(line.words for line in group)
    imports = [line for line in words if line[0] in ("import", "from")]
    branches = [line for line in words if line[0] in _BRANCHES]
    is_text = len(words) == 1 and all(_TEXT.match(word) for word in words[0])
    idle = is_text or (bool(imports) and len(imports) + len(branches) == len(words))
    return Statement(words, tuple(_bound(words[0])) if len(words) == 1 else (), idle)


def _bound(words: tuple[str, ...]) -> Iterator[str]:
    """Yield the names that ``a = 1``, ``a: int = 1`` or ``a, b = c`` bind."""
    ends = [words.index(sign) for sign in ("=", ":") if sign in words]
    target = [word for word in words[: min(ends, default=0)] if word not in ("(", ")", ",")]
    if all(word.isidentifier() for word in target):
        yield from target
