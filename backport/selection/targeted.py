"""Targeted tests by themselves: which tests a change of test files adds or changes.

Told from the sources before and after, definition by definition, so that what was merely moved
is no change, and comments, blank lines and docstrings are none either. *Own* tests are those that
the change adds or changes itself, *touched* ones those that it reaches otherwise:

* a test method: that test, own, in each test case that has it (a mixin's in all its classes),
  unless the class has another of that name, which does not call it; a new class: all its tests;
* a helper of a class, or a function, variable or plain class of the module: the tests that name
  it, directly or through others. Where the test case stands in the changed file, what a test calls
  by name is part of it, and it is own; elsewhere it is touched. Where none names it, all tests of
  the class or module are touched, unless it is new, and not in the place of one of its bases;
* a set-up, or an attribute of a class: all tests of its test cases are touched;
* other code of the module: all its tests are touched. An import changes nothing by itself.

Classes are followed into all modules of the tests; names of the module are not. A class that has
no tests, neither itself nor from its bases, is no test case: its subclasses are.
"""

from __future__ import annotations

import re
import unittest
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from backport.selection.definitions import (
    Definitions,
    definitions,
    differing,
    differing_statements,
)
from backport.selection.test_classes import Classes, ClassRef, Sources, is_test_name, module_name
from backport.selection.test_names import chosen, shortest
from backport.source.outline import same_code

# unittest looks these up in a module.
_MODULE_HOOKS = frozenset(["load_tests", "setUpModule", "tearDownModule"])


@dataclass(frozen=True)
class ChangedFile:
    """A test file before and after a change; None: it is not there."""

    before: bytes | None
    after: bytes | None


@dataclass(frozen=True)
class Selection:
    """Ids as unittest takes them, sorted: methods, classes where all their tests are meant or
    where they are made when the class is (ddt), modules that cannot be read.
    """

    own: tuple[str, ...] = ()
    touched: tuple[str, ...] = ()  # and not own


def changed_tests(files: Mapping[str, ChangedFile], sources: Sources) -> Selection:
    """Find the tests that a change adds or changes, and those that it touches.

    :param files: the changed files under ``tests.paths``, by their paths in the tree
    :param sources: the tree after the change
    """
    classes = Classes(sources)
    found: set[tuple[str, bool]] = set()
    for path, file in sorted(files.items()):
        if path.endswith(".py") and file.after is not None and file.after != file.before:
            after = definitions(file.after)
            if after is None and path.rpartition("/")[2].startswith("test"):
                found.add((module_name(path), True))
            elif after is not None:
                before = definitions(file.before) or Definitions()
                found.update(_Change(path, before, after, classes).tests())
    own = shortest(sorted(test for test, is_own in found if is_own))
    touched = shortest(sorted(test for test, is_own in found if not is_own))
    return Selection(own, tuple(test for test in touched if not chosen(own, test)))


@dataclass(frozen=True)
class _Change:
    """The change of one file, definition by definition."""

    path: str
    before: Definitions
    after: Definitions
    classes: Classes

    def tests(self) -> Iterator[tuple[str, bool]]:
        """Yield the ids of the tests, and whether they are the change's own."""
        for name in self._test_classes:
            yield from self._of_class(name)
        statements = differing_statements(self.before, self.after)
        names = [*differing(self.before.functions, self.after.functions)]
        names += [name for name in self._plain_classes if self._differs(name)]
        names += [name for statement in statements for name in statement.names]
        known = {*self.before.functions, *self.before.classes, *_names_bound(self.before)}
        if not all(statement.names for statement in statements):
            yield from self._everything()
        for name in dict.fromkeys(names):
            users = self._users(name)
            tests = {test for each in self._test_classes for test in self._reached(each, users)}
            yield from tests
            if name in _MODULE_HOOKS or (name in known and not tests):
                yield from self._everything()

    @cached_property
    def _test_classes(self) -> list[str]:
        """The classes that are test cases or that test cases are derived from."""
        refs = (ClassRef(self.path, name) for name in self.after.classes)
        return [ref.name for ref in refs if any(map(self.classes.is_test, self._family(ref.name)))]

    @property
    def _plain_classes(self) -> list[str]:
        names = dict.fromkeys([*self.after.classes, *self.before.classes])
        return [name for name in names if name not in self._test_classes]

    def _family(self, name: str) -> list[ClassRef]:
        return self.classes.family(ClassRef(self.path, name))

    def _differs(self, name: str) -> bool:
        if name not in self.before.classes or name not in self.after.classes:
            return True
        return not same_code(self.before.whole(name), self.after.whole(name))

    def _of_class(self, name: str) -> Iterator[tuple[str, bool]]:
        old_code, new_code = self.before.classes.get(name), self.after.classes[name]
        if old_code is None or not same_code(old_code, new_code):
            yield from self._all_of(name, own=old_code is None)
            return
        old, new = self.before.methods[name], self.after.methods[name]
        for method in differing(old, new):
            if is_test_name(method):
                yield from self._test(name, method)
                continue
            tests = set(() if _is_hook(method) else self._reached(name, [method]))
            yield from tests
            if not tests and (method in old or self._overrides(name, method)):
                yield from self._all_of(name)

    def _overrides(self, name: str, method: str) -> bool:
        """Whether a method that is new to a class takes the place of one that its bases have."""
        bases = self.classes.lineage(ClassRef(self.path, name))[1:]
        return _is_hook(method) or any(
            isinstance(base, ClassRef) and self.classes.defines(base, method) for base in bases
        )

    def _everything(self) -> Iterator[tuple[str, bool]]:
        for name in self._test_classes:
            ref = ClassRef(self.path, name)
            if self.classes.is_test(ref):
                yield ref.id, False

    def _all_of(self, name: str, own: bool = False) -> Iterator[tuple[str, bool]]:
        """Yield the test cases that a class is, or is a base of."""
        for ref in self._family(name):
            if self.classes.is_test(ref):
                yield ref.id, own and ref.path == self.path

    def _test(self, name: str, method: str) -> Iterator[tuple[str, bool]]:
        """Yield what a test method is, in each test case that looks it up in this class."""
        if method not in self.after.methods[name]:
            return
        own = ClassRef(self.path, name)
        for ref in self._family(name):
            if self.classes.is_test(ref) and self.classes.reaches(ref, method, own):
                yield self._id(ref, method), True

    def _id(self, ref: ClassRef, method: str) -> str:
        return ref.id if self.classes.is_made(ref, method) else f"{ref.id}.{method}"

    def _reached(self, name: str, users: list[str]) -> Iterator[tuple[str, bool]]:
        """Yield the tests of a class, and of those derived from it, that name one of the users."""
        for ref in filter(self.classes.is_test, self._family(name)):
            methods, whole = self.classes.naming(ref, users)
            if whole or any(map(_is_hook, methods)):
                yield ref.id, False
            for method in filter(is_test_name, methods):
                yield self._id(ref, method), ref.path == self.path

    def _users(self, name: str) -> list[str]:
        """Return a name, and the names of the module that are defined with it."""
        texts = {
            **self.after.functions,
            **{c: self.after.whole(c) for c in self._plain_classes if c in self.after.classes},
        }
        for statement in self.after.statements:
            texts.update(dict.fromkeys(statement.names, statement.text))
        names = [name]
        for each in names:
            pattern = re.compile(rb"\b" + re.escape(each.encode()) + rb"\b")
            names += [
                user for user, text in texts.items() if user not in names and pattern.search(text)
            ]
        return names


def _is_hook(method: str) -> bool:
    """Whether unittest calls a method of this name by itself."""
    return hasattr(unittest.TestCase, method)


def _names_bound(module: Definitions) -> Iterator[str]:
    for statement in module.statements:
        yield from statement.names
