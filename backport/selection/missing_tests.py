"""Do the tests exist that a series names? Told from source; each one that does not has the nearest.

What source cannot tell is taken to exist: classes that are made and not written, methods of bases
that are not in the tree, and the tests that ddt and scenarios make of one that is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from backport.selection.test_classes import (
    Classes,
    ClassRef,
    Module,
    Sources,
    has_no_tests,
    is_test_name,
    module_name,
)


@dataclass(frozen=True)
class Missing:
    """A named test that does not exist: why, and the name that may have been meant ("" is none)."""

    test: str
    reason: str
    nearest: str = ""

    def __str__(self) -> str:
        meant = f"; did you mean {self.nearest}?" if self.nearest else ""
        return f"{self.test}: {self.reason}{meant}"


def check_named(
    named: Iterable[str],
    read: Callable[[str], bytes | None],
    list_paths: Callable[[str], Iterable[str]],
) -> tuple[Missing, ...]:
    """Look for modules, classes and methods by their dotted names.

    :param read: a file of the tree by its path; None where there is none
    :param list_paths: the paths of all files below a folder, given with its "/"; "" is the top
    """
    classes = Classes(Sources(read, lambda word: ()))
    found = (_missing(test, classes, read, list_paths) for test in dict.fromkeys(named))
    return tuple(filter(None, found))


def _missing(
    test: str,
    classes: Classes,
    read: Callable[[str], bytes | None],
    list_paths: Callable[[str], Iterable[str]],
) -> Missing | None:
    parts = test.partition("(")[0].split(".")
    if not all(part.isidentifier() for part in parts):
        return Missing(test, "is no dotted name of a module, class or test")
    for end in range(len(parts), 0, -1):
        path = "/".join(parts[:end]) + ".py"
        source = read(path)
        if source is None:
            continue
        module = classes.module(path)
        if module is None:
            return Missing(test, f"{path} is no Python that can be read")
        return _missing_in(test, module, parts[end:], classes)
    if next(iter(list_paths("/".join(parts) + "/")), None):
        return Missing(test, "is a package: name the modules in it")
    return _no_module(test, parts, list_paths)


def _no_module(test: str, parts: list[str], list_paths: Callable[[str], Iterable[str]]) -> Missing:
    """Look for a name alike as deep down as there are folders of these names."""
    for depth in range(len(parts) - 1, -1, -1):
        folder = "".join(f"{part}/" for part in parts[:depth])
        names = [module_name(path) for path in list_paths(folder) if path.endswith(".py")]
        if names or not depth:
            break
    for end in (len(parts), len(parts) - 1, len(parts) - 2):
        near = _nearest(".".join(parts[:end]), (n for n in names if n.count(".") == end - 1))
        if near:
            return Missing(test, "there is no such module", _dotted(near, *parts[end:]))
    return Missing(test, "there is no such module")


def _missing_in(test: str, module: Module, rest: list[str], classes: Classes) -> Missing | None:
    if not rest:
        return None
    name, *methods = rest
    ref = classes.resolve(module, name)
    if isinstance(ref, str):
        if re.search(rf"^(?:def\s+)?{name}\b\s*[=(]", "\n".join(module.lines), re.M):
            return None  # it is made, or it is a function that makes tests
        if name in module.imports:
            return None
        near = _nearest(name, module.classes)
        meant = _dotted(module.name, near, *methods) if near else ""
        return Missing(test, f"{module.path} has no class {name}", meant)
    if not methods:
        return None
    if len(methods) > 1:
        return Missing(test, f"{name} is a class, and {methods[0]} has nothing below it")
    return _missing_method(test, _dotted(module.name, name), ref, methods[0], classes)


def _missing_method(
    test: str, owner: str, ref: ClassRef, method: str, classes: Classes
) -> Missing | None:
    lineage = classes.lineage(ref)
    methods: dict[str, ClassRef] = {}
    for base in lineage:
        module = classes.module(base.path) if isinstance(base, ClassRef) else None
        if module and isinstance(base, ClassRef):
            methods = {**dict.fromkeys(module.methods(base.name), base), **methods}
    made = (name for name, base in methods.items() if classes.is_made(base, name))
    if method in methods or any(method.startswith(f"{name}_") for name in made):
        return None
    if any(isinstance(base, str) and not has_no_tests(base) for base in lineage):
        return None
    near = _nearest(method, filter(is_test_name, methods))
    return Missing(test, f"{owner} has no {method}", _dotted(owner, near) if near else "")


def _nearest(name: str, names: Iterable[str]) -> str:
    return next(iter(get_close_matches(name, list(names), n=1, cutoff=0.6)), "")


def _dotted(*parts: str) -> str:
    return ".".join(parts)
