"""Clean is not right: names that picked code uses and the branch does not have.

Told from two trees, without importing anything. A name is reported only where the tree shows that
it is not there: what is made as a module runs, or comes from a base that is not in the tree, is
taken to exist.
"""

from __future__ import annotations

import ast
import unittest
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from backport.checkout.scratch import Scratch
from backport.picking.model import Introduced, NewName
from backport.picking.references import (
    Call,
    ModuleSource,
    Reference,
    dotted_of,
    module_source,
)
from backport.series.message import change_ids, subject_without_tags

_DEPTH = 8  # imports of imports, bases of bases
# testtools.TestCase, and what Python 2's unittest has besides.
_TEST_CASE = {*dir(unittest.TestCase), "useFixture", "assertThat", "expectThat", "expectFailure",
              "assertItemsEqual", "assertRaisesRegexp", "assertRegexpMatches",
              "assertDictContainsSubset", "assertNotRegexpMatches", "assertEquals",
              "addDetail", "addDetailUniqueName", "getDetails", "getUniqueString",
              "getUniqueInteger", "patch", "onException", "addOnException", "skip",
              "assert_", "failUnless", "attachDetail", "create_tempfiles"}  # fmt: skip


def missing_names(
    scratch: Scratch, before: str, after: str, paths: Iterable[str]
) -> tuple[NewName, ...]:
    """Find names that a change uses anew and that the tree after it does not have.

    :param before: the tree that the change was applied to
    :param after: the tree that came of it
    :param paths: those at which the two differ
    """
    return tuple(
        missing
        for path in paths
        if path.endswith(".py")
        for missing in _of_file(_Tree(scratch, after), scratch.file(before, path), path)
    )


def introduced(scratch: Scratch, missing: NewName, base: str, picked: str) -> Introduced:
    """Find the commit between ``base`` and ``picked`` that brought a name."""
    last = missing.name.rpartition(".")[2].partition("(")[0]
    origin = missing.origin
    parents = scratch.commit(picked).parents
    if not parents or not origin:
        return Introduced(missing)
    found = scratch.bringing(last, origin, parents[0], base)
    if found is None:
        return Introduced(missing)
    message = scratch.commit(found).message
    change_id = next(iter(change_ids(message)), "")
    return Introduced(missing, found, subject_without_tags(message), change_id)


def _of_file(tree: _Tree, before: bytes | None, path: str) -> Iterator[NewName]:
    after = tree.read(path)
    source = module_source(after) if after is not None else None
    if source is None:
        return
    old = module_source(before) if before is not None else None
    known = old.references if old else {}
    if before is not None and old is None:
        return  # all of it would be new
    for reference, line in source.references.items():
        if reference in known:
            continue
        fault = _fault(tree, source, path, reference)
        if fault:
            yield NewName(path, line, fault.name, fault.why, fault.origin)


@dataclass(frozen=True)
class _Fault:
    name: str
    why: str
    origin: str


def _fault(tree: _Tree, source: ModuleSource, path: str, use: Reference) -> _Fault | None:
    if use.kind == "name":
        return _Fault(use.name, "nothing in the file defines or imports it", path)
    if use.kind == "option":
        return _option_fault(tree, path, use.name)
    if use.kind == "local":
        why = _call_fault(source.functions[use.name], use.call, bound=False)
        return _Fault(use.name, why, path) if why else None
    if use.kind == "self":
        return _self_fault(tree, source, path, use)
    return _dotted_fault(tree, use.name, use.call)


def _option_fault(tree: _Tree, path: str, name: str) -> _Fault | None:
    spelled = name.replace("_", "-")
    words = dict.fromkeys([f"'{name}'", f'"{name}"', f"'{spelled}'", f'"{spelled}"'])
    if name.startswith("_") or hasattr(dict, name) or any(map(tree.holds, words)):
        return None
    if name.startswith(("register", "unregister", "set_", "clear", "import_", "find_")):
        return None
    others = [other for other in tree.holding(f".{name}") if other != path]
    return None if others else _Fault(name, "no option of that name is registered", "")


def _self_fault(tree: _Tree, source: ModuleSource, path: str, use: Reference) -> _Fault | None:
    found = _lookup(tree, source, path, use.owner, use.name)
    if found is False and not _is_mixin(source, use) and not _defined_in(source, use.name):
        return _Fault(f"{use.owner}.{use.name}", "neither the class nor a base has it", path)
    if isinstance(found, ast.FunctionDef) and use.call:
        plain = not found.decorator_list
        why = _call_fault(found, use.call, bound=True) if plain else ""
        return _Fault(f"{use.owner}.{use.name}", why, path) if why else None
    return None


def _is_mixin(source: ModuleSource, use: Reference) -> bool:
    """Whether a class may be made to be mixed with another, which has what it uses."""
    bases = {dotted_of(base) for one in source.classes.values() for base in one.bases}
    return use.owner in bases or "mixin" in use.owner.lower() or use.name in _TEST_CASE


def _defined_in(source: ModuleSource, name: str) -> bool:
    """Whether any class of the file has an attribute so called: a mixin may be made for it."""
    return any(name in _attributes(one) for one in source.classes.values())


def _dotted_fault(tree: _Tree, name: str, call: Call | None, depth: int = _DEPTH) -> _Fault | None:
    """Follow a full name through modules, what they import, and classes."""
    parts = name.split(".")
    if not depth or not parts[0] or not tree.module_path(parts[0]):
        return None
    ends = (end for end in range(len(parts), 0, -1) if tree.module_path(".".join(parts[:end])))
    end = next(ends)
    if end == len(parts):
        return None
    path = tree.module_path(".".join(parts[:end])) or ""
    module = tree.module(path)
    wanted, rest = parts[end], parts[end + 1 :]
    if module is None or wanted.startswith("__"):
        return None
    if wanted not in module.names:
        return _not_in(tree, module, path, ".".join(parts[: end + 1]))
    if wanted in module.imports:
        through = ".".join([module.imports[wanted], *rest])
        return _dotted_fault(tree, through, call, depth - 1)
    return _found_fault(tree, module, path, (wanted, *rest[:1]), call if not rest else None)


def _not_in(tree: _Tree, module: ModuleSource, path: str, name: str) -> _Fault | None:
    last = name.rpartition(".")[2]
    package = path.endswith("/__init__.py")
    if module.is_open:
        # Of nova.objects: a class of any module in it, registered when that is imported.
        inside = path.removesuffix("__init__.py")
        if not package or not last[0].isupper() or tree.holding(f"class {last}(", inside):
            return None
        return _Fault(name, "no module of the package has that class", inside.rstrip("/"))
    if package and last.islower():
        file = f"{path.removesuffix('__init__.py')}{last}.py"
        return _Fault(name, "there is no such module", file)
    return _Fault(name, f"{path} has no {last}", path)


def _found_fault(
    tree: _Tree, module: ModuleSource, path: str, name: tuple[str, ...], call: Call | None
) -> _Fault | None:
    wanted, *attribute = name
    if wanted in module.classes and attribute:
        found = _lookup(tree, module, path, wanted, attribute[0])
        if found is False and not attribute[0].startswith("__"):
            why = "neither the class nor a base has it"
            return _Fault(f"{wanted}.{attribute[0]}", why, path)
    elif wanted in module.classes and call:
        made = _lookup(tree, module, path, wanted, "__init__")
        why = _call_fault(made, call, bound=True) if isinstance(made, ast.FunctionDef) else ""
        return _Fault(wanted, why, path) if why else None
    elif wanted in module.functions and call and not attribute:
        function = module.functions[wanted]
        plain = not function.decorator_list
        why = _call_fault(function, call, bound=False) if plain else ""
        return _Fault(wanted, why, path) if why else None
    return None


def _call_fault(
    function: ast.FunctionDef | ast.AsyncFunctionDef, call: Call | None, bound: bool
) -> str:
    """Say why a function cannot be called so; "" where it can, or where nobody knows."""
    if call is None:
        return ""
    arguments = function.args
    names = [one.arg for one in (*arguments.posonlyargs, *arguments.args)][bound:]
    known = {*names, *(one.arg for one in arguments.kwonlyargs)}
    odd = sorted(call.keywords - known) if not arguments.kwarg else []
    if odd:
        return f"{function.name}() takes no argument {odd[0]!r} here"
    if call.open:
        return ""
    if call.positional > len(names) and not arguments.vararg:
        return f"{function.name}() takes {len(names)} arguments here, not {call.positional}"
    needed = names[call.positional : len(names) - len(arguments.defaults)]
    lacking = [name for name in needed if name not in call.keywords]
    return f"{function.name}() needs an argument {lacking[0]!r} here" if lacking else ""


def _lookup(
    tree: _Tree, module: ModuleSource, path: str, name: str, wanted: str, depth: int = _DEPTH
) -> ast.AST | bool | None:
    """Find an attribute of a class.

    :returns: the function that it is, True: it is something else, False: it is not there,
        None: nobody can tell
    """
    node = module.classes.get(name)
    if node is None or not depth:
        return None
    own = _attributes(node)
    if wanted in own:
        return own[wanted] or True
    if "__getattr__" in own or any(map(_is_odd, node.decorator_list)):
        return None
    answers = [_in_base(tree, module, path, base, wanted, depth) for base in node.bases]
    hits = [one for one in answers if one]
    return hits[0] if hits else None if None in answers or node.keywords else False


def _is_odd(decorator: ast.expr) -> bool:
    """Whether a decorator may give a class attributes."""
    how = dotted_of(decorator.func if isinstance(decorator, ast.Call) else decorator)
    return how.rpartition(".")[2] not in ("add_metaclass", "ddt", "skipIf", "skipUnless")


def _in_base(
    tree: _Tree, module: ModuleSource, path: str, base: ast.expr, wanted: str, depth: int
) -> ast.AST | bool | None:
    written = dotted_of(base)
    if written == "object":
        return hasattr(object, wanted)
    if written in module.classes:
        return _lookup(tree, module, path, written, wanted, depth - 1)
    first, dot, rest = written.partition(".")
    full = module.imports[first] + dot + rest if first in module.imports else ""
    above, _, last = full.rpartition(".")
    where = tree.module_path(above) if above else None
    there = tree.module(where) if where else None
    if where and there:
        return _lookup(tree, there, where, last, wanted, depth - 1)
    if last == "TestCase" and above.split(".")[0] in ("testtools", "unittest", "unittest2"):
        return wanted in _TEST_CASE
    return None


def _attributes(node: ast.ClassDef) -> dict[str, ast.AST | None]:
    """What a class itself has: its names, and what its methods set."""
    found: dict[str, ast.AST | None] = {}
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and not isinstance(part.ctx, ast.Load):
            found.setdefault(part.attr, None)
        elif isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            found.setdefault(part.id, None)
        elif isinstance(part, ast.Call) and dotted_of(part.func) == "setattr":
            found.setdefault("__getattr__", None)
    for part in node.body:
        if isinstance(part, (ast.FunctionDef, ast.ClassDef)):
            found[part.name] = part
        elif isinstance(part, (ast.If, ast.Try, ast.With)):
            inner = (one for one in ast.walk(part) if isinstance(one, ast.FunctionDef))
            found |= dict.fromkeys((one.name for one in inner), None)
    return found


class _Tree:
    """A tree of the project, as modules."""

    def __init__(self, scratch: Scratch, tree: str) -> None:
        self._scratch = scratch
        self._tree = tree

    def read(self, path: str) -> bytes | None:
        return self._scratch.file(self._tree, path)

    def module(self, path: str) -> ModuleSource | None:
        data = self.read(path)
        return module_source(data) if data is not None else None

    def module_path(self, dotted: str) -> str | None:
        place = dotted.replace(".", "/")
        here = self._scratch.entries(self._tree, [f"{place}/__init__.py", f"{place}.py"])
        return next(iter(here), None)

    def holding(self, text: str, folder: str = "") -> list[str]:
        return self._scratch.holding(self._tree, text, [folder] if folder else [])

    def holds(self, text: str) -> bool:
        return bool(self.holding(text))
