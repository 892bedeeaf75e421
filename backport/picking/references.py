"""What a module refers to, as keys that can be compared: what a change adds is the difference.

Read from the syntax tree. A name that a file binds in more than one way is left out: nothing is
said of what is not certain.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal, TypeAlias

from backport.source.logical_lines import decode
from backport.source.outline import parse

_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_SCOPES = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_PYTHON_2 = {"unicode", "basestring", "long", "xrange", "raw_input", "reduce", "unichr", "cmp",
             "file", "buffer", "execfile", "intern", "coerce", "apply", "reload"}  # fmt: skip
BUILTINS = {*dir(builtins), *_PYTHON_2, "__file__", "__path__", "__builtins__", "_"}
_MAKERS = ("globals", "setattr", "__import__", "vars", "exec")  # of names
_PATCHERS = ("patch", "stub_out", "MonkeyPatch")  # take the dotted name of what they replace
_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+\Z")


@dataclass(frozen=True)
class Call:
    """How something is called; ``open`` where a * or ** makes it anything."""

    positional: int
    keywords: frozenset[str]
    open: bool


@dataclass(frozen=True)
class Reference:
    """A use of a name.

    :param kind: ``dotted``: something of a module, by its full name; ``self``: an attribute of a
        class; ``local``: something of the module itself, called; ``name``: a name that nothing
        in the module binds; ``option``: a setting of oslo.config
    """

    kind: Literal["dotted", "self", "local", "name", "option"]
    name: str
    owner: str = ""  # of "self": the class
    call: Call | None = None


class ModuleSource:
    """A module's syntax tree, and what it binds."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes of the tree."""
        return tuple(ast.walk(self.tree))

    @cached_property
    def names(self) -> frozenset[str]:
        """What the module itself binds, by whatever statement; and what functions bind in it."""
        found = set(_bound(self.tree.body))
        for node in self.nodes:
            if isinstance(node, ast.Global):
                found.update(node.names)
        return frozenset(found)

    @cached_property
    def is_open(self) -> bool:
        """Whether it may have names that nobody can see: made as it runs, or imported by ``*``."""
        for node in self.nodes:
            if isinstance(node, ast.Call) and dotted_of(node.func) in _MAKERS:
                return True
            if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                return True
            if isinstance(node, ast.Attribute) and dotted_of(node) == "sys.modules":
                return True
        return "__getattr__" in self.names

    @cached_property
    def functions(self) -> Mapping[str, _Function]:
        """The functions of the module."""
        found = (node for node in _statements(self.tree.body) if isinstance(node, _Function))
        return {node.name: node for node in found}

    @cached_property
    def classes(self) -> Mapping[str, ast.ClassDef]:
        """The classes of the module."""
        found = (node for node in _statements(self.tree.body) if isinstance(node, ast.ClassDef))
        return {node.name: node for node in found}

    @cached_property
    def imports(self) -> Mapping[str, str]:
        """The names that mean one import wherever they stand in the file: alias → full name."""
        found: dict[str, set[str]] = {}
        for alias, name in _imports(self.nodes):
            found.setdefault(alias, set()).add(name)
        other = self._stored
        return {
            alias: name for alias, (name, *more) in found.items() if not more and alias not in other
        }

    @cached_property
    def _stored(self) -> frozenset[str]:
        """What is bound anywhere by anything but an import."""
        found = set()
        for node in self.nodes:
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                found.add(node.id)
            elif isinstance(node, ast.arg):
                found.add(node.arg)
            elif isinstance(node, _SCOPES) or (isinstance(node, ast.ExceptHandler) and node.name):
                found.add(str(node.name))
        return frozenset(found)

    @cached_property
    def bound_anywhere(self) -> frozenset[str]:
        """Every name that anything in the file binds, in whatever scope."""
        return self._stored | {alias for alias, _ in _imports(self.nodes)} | self.names

    @cached_property
    def references(self) -> Mapping[Reference, int]:
        """What it refers to, and the first line where it does."""
        return _Reader(self).read()


@lru_cache(maxsize=512)
def module_source(data: bytes) -> ModuleSource | None:
    """Read a module; None where the running Python cannot."""
    tree = parse(decode(data)[0])
    return ModuleSource(tree) if tree else None


def dotted_of(node: ast.expr) -> str:
    """Return ``a.b.c`` as it is written; "" where it is anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        above = dotted_of(node.value)
        return f"{above}.{node.attr}" if above else ""
    return ""


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a block, and of the blocks within it that are no scopes."""
    for node in body:
        yield node
        if not isinstance(node, _SCOPES):
            for block in ("body", "orelse", "finalbody"):
                yield from _statements(getattr(node, block, []))
            for handler in getattr(node, "handlers", []):
                yield from _statements(handler.body)


def _bound(body: list[ast.stmt]) -> Iterator[str]:
    for node in _statements(body):
        if isinstance(node, _SCOPES):
            yield node.name
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
                yield part.id


def _imports(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                yield (alias.asname, alias.name) if alias.asname else (top, top)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                # A relative one is nothing that nova has; "" is never found to be the project's.
                above = node.module if node.module and not node.level else ""
                yield alias.asname or alias.name, f"{above}.{alias.name}"


class _Reader:
    """Walks a module once, and knows which class it is in, and what is called."""

    def __init__(self, source: ModuleSource) -> None:
        self._source = source
        self._calls: dict[ast.expr, Call] = {}
        self._found: dict[Reference, int] = {}

    def read(self) -> dict[Reference, int]:
        """Return what the module refers to, and the first line where it does."""
        self._imported()
        self._walk(self._source.tree, "", "")
        return self._found

    def _add(self, reference: Reference, node: ast.expr | ast.stmt) -> None:
        self._found.setdefault(reference, node.lineno)

    def _imported(self) -> None:
        """Add what is imported; where a failure is caught, it may be missing."""
        caught = {
            id(node)
            for block in self._source.nodes
            if isinstance(block, ast.Try)
            for statement in block.body
            for node in ast.walk(statement)
        }
        for node in self._source.nodes:
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [f"{node.module}.{alias.name}".removesuffix(".*") for alias in node.names]
            if isinstance(node, ast.stmt) and id(node) not in caught:
                for name in names:
                    self._add(Reference("dotted", name), node)

    def _walk(self, node: ast.AST, owner: str, me: str) -> None:
        """Read a node and what is below it; in methods of the class ``owner``, ``me`` is self."""
        if isinstance(node, ast.Call):
            self._calls[node.func] = _call(node)
            self._replaced(node)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            chain = dotted_of(node)
            if chain:
                self._chain(node, chain, owner, me)
                return
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            self._name(node)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                self._walk(child, "" if owner or me else child.name, "")
            elif isinstance(child, _Function) and owner and not me:
                self._walk(child, owner, _first_argument(child))
            else:
                self._walk(child, owner, me)

    def _chain(self, node: ast.Attribute, chain: str, owner: str, me: str) -> None:
        first, _, rest = chain.partition(".")
        call = self._calls.get(node)
        if first in self._source.imports:
            self._add(Reference("dotted", f"{self._source.imports[first]}.{rest}", call=call), node)
        elif me and first == me:
            name, dot, _ = rest.partition(".")
            self._add(Reference("self", name, owner, None if dot else call), node)
        elif first == "CONF":
            self._add(Reference("option", rest.split(".")[1 if "." in rest else 0]), node)
        else:
            self._unbound(first, node)

    def _name(self, node: ast.Name) -> None:
        call = self._calls.get(node)
        if call and node.id in self._source.imports:
            self._add(Reference("dotted", self._source.imports[node.id], call=call), node)
        elif call and node.id in self._source.functions:
            self._add(Reference("local", node.id, call=call), node)
        else:
            self._unbound(node.id, node)

    def _unbound(self, name: str, node: ast.expr) -> None:
        if name not in self._source.bound_anywhere and name not in BUILTINS:
            self._add(Reference("name", name), node)

    def _replaced(self, node: ast.Call) -> None:
        """Add what mock.patch and the like are to replace: it has to be there."""
        how = dotted_of(node.func)
        first = node.args[0] if node.args else None
        if any(keyword.arg == "create" for keyword in node.keywords) or first is None:
            return
        told = first.value if isinstance(first, ast.Constant) else None
        if how.rpartition(".")[2] in _PATCHERS and isinstance(told, str) and _DOTTED.match(told):
            self._add(Reference("dotted", told), node)
        second = node.args[1] if len(node.args) > 1 else None
        if how.endswith("patch.object") and isinstance(second, ast.Constant):
            top, dot, rest = dotted_of(first).partition(".")
            if top in self._source.imports:
                above = f"{self._source.imports[top]}{dot}{rest}"
                self._add(Reference("dotted", f"{above}.{second.value!s}"), node)


def _call(node: ast.Call) -> Call:
    stars = any(isinstance(one, ast.Starred) for one in node.args)
    names = frozenset(one.arg for one in node.keywords if one.arg)
    return Call(len(node.args), names, stars or any(one.arg is None for one in node.keywords))


def _first_argument(node: _Function) -> str:
    if any(dotted_of(one) == "staticmethod" for one in node.decorator_list):
        return " "  # nothing is called so
    arguments = [*node.args.posonlyargs, *node.args.args]
    return arguments[0].arg if arguments else " "
