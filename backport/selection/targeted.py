"""Targeted tests by themselves: which tests a change of test files adds or changes.

Told from the sources before and after, definition by definition, so that what was merely moved
is no change, and comments, blank lines and docstrings are none either:

* a test method: that test, in each test case that has it (a mixin's in all its classes), unless
  the class has another of that name, which does not call it;
* a set-up, a helper or an attribute of a class: all tests of its test cases. A helper that is new
  to a class and its bases changes nothing for the tests that were there;
* a function, a variable or a plain class of the module: the tests that name it, directly or
  through others of the module; where none does, all tests of the module, unless it is new;
* other code of the module: all its tests. An import changes nothing by itself.

Classes are followed into all modules of the tests; names of the module are not.
"""

from __future__ import annotations

import re
import unittest
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from backport.selection.definitions import (
    Definitions,
    definitions,
    differing,
    differing_statements,
)
from backport.selection.test_classes import Classes, ClassRef, Sources, is_test_name, module_name
from backport.selection.test_names import shortest
from backport.source.outline import same_code

# unittest looks these up in a module.
_MODULE_HOOKS = frozenset(["load_tests", "setUpModule", "tearDownModule"])


@dataclass(frozen=True)
class ChangedFile:
    """A test file before and after a change; None: it is not there."""

    before: bytes | None
    after: bytes | None


def targeted_tests(named: Iterable[str], changed: Iterable[str]) -> tuple[str, ...]:
    """Join the tests that a series names and those that it changes; without what others cover."""
    return shortest((*named, *changed))


def changed_tests(files: Mapping[str, ChangedFile], sources: Sources) -> tuple[str, ...]:
    """Find the tests that a change adds or changes.

    :param files: the changed files under ``tests.paths``, by their paths in the tree
    :param sources: the tree after the change
    :returns: ids as unittest takes them, sorted: methods, classes where all their tests are
        meant or where they are made when the class is (ddt), modules that cannot be read
    """
    classes = Classes(sources)
    found: list[str] = []
    for path, file in sorted(files.items()):
        if path.endswith(".py") and file.after is not None and file.after != file.before:
            after = definitions(file.after)
            if after is None and path.rpartition("/")[2].startswith("test"):
                found.append(module_name(path))
            elif after is not None:
                before = definitions(file.before) or Definitions()
                found += _Change(path, before, after, classes).tests()
    return shortest(sorted(set(found)))


@dataclass(frozen=True)
class _Change:
    """The change of one file, definition by definition."""

    path: str
    before: Definitions
    after: Definitions
    classes: Classes

    def tests(self) -> Iterator[str]:
        """Yield the ids of the tests that are added or changed."""
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
            tests = set(self._naming(name))
            yield from tests
            if name in _MODULE_HOOKS or (name in known and not tests):
                yield from self._everything()

    @cached_property
    def _test_classes(self) -> list[str]:
        """The classes that are test cases or that test cases are derived from."""
        refs = (ClassRef(self.path, name) for name in self.after.classes)
        return [
            ref.name for ref in refs if any(map(self.classes.is_test, self.classes.family(ref)))
        ]

    @property
    def _plain_classes(self) -> list[str]:
        names = dict.fromkeys([*self.after.classes, *self.before.classes])
        return [name for name in names if name not in self._test_classes]

    def _differs(self, name: str) -> bool:
        if name not in self.before.classes or name not in self.after.classes:
            return True
        return not same_code(self.before.whole(name), self.after.whole(name))

    def _of_class(self, name: str) -> Iterator[str]:
        if name not in self.before.classes or not same_code(
            self.before.classes[name], self.after.classes[name]
        ):
            yield from self._all_of(name)
            return
        old, new = self.before.methods[name], self.after.methods[name]
        for method in differing(old, new):
            if is_test_name(method):
                yield from self._test(name, method)
            elif method in old or self._overrides(name, method):
                yield from self._all_of(name)

    def _overrides(self, name: str, method: str) -> bool:
        """Whether a method that is new to a class takes the place of one that its bases have."""
        bases = self.classes.lineage(ClassRef(self.path, name))[1:]
        inherited = (
            isinstance(base, ClassRef) and self.classes.defines(base, method) for base in bases
        )
        return hasattr(unittest.TestCase, method) or any(inherited)

    def _everything(self) -> Iterator[str]:
        for name in self._test_classes:
            ref = ClassRef(self.path, name)
            if self.classes.is_test(ref):
                yield ref.id

    def _all_of(self, name: str) -> Iterator[str]:
        """Yield the test cases that a class is, or is a base of."""
        for ref in self.classes.family(ClassRef(self.path, name)):
            if self.classes.is_test(ref):
                yield ref.id

    def _test(self, name: str, method: str) -> Iterator[str]:
        """Yield what a test method is, in each test case that looks it up in this class."""
        if method not in self.after.methods[name]:
            return
        own = ClassRef(self.path, name)
        for ref in self.classes.family(own):
            if self.classes.is_test(ref) and self.classes.reaches(ref, method, own):
                made = self.classes.is_made(own, method)
                yield ref.id if made else f"{ref.id}.{method}"

    def _naming(self, name: str) -> Iterator[str]:
        """Yield the tests that name something of the module, or what is made with it."""
        wanted = self._users(name)
        for each in self._test_classes:
            if wanted.search(self.after.classes[each]):
                yield from self._all_of(each)
            for method, text in self.after.methods[each].items():
                if wanted.search(text):
                    yield from (
                        self._test(each, method) if is_test_name(method) else self._all_of(each)
                    )

    def _users(self, name: str) -> re.Pattern[bytes]:
        """Return what finds a name, and the names of the module that are defined with it."""
        texts = {
            **self.after.functions,
            **{c: self.after.whole(c) for c in self._plain_classes if c in self.after.classes},
        }
        for statement in self.after.statements:
            texts.update(dict.fromkeys(statement.names, statement.text))
        names = [name]
        for each in names:
            pattern = _word(each)
            names += [
                user for user, text in texts.items() if user not in names and pattern.search(text)
            ]
        return _word(*names)


def _names_bound(module: Definitions) -> Iterator[str]:
    for statement in module.statements:
        yield from statement.names


def _word(*names: str) -> re.Pattern[bytes]:
    return re.compile(rb"\b(?:" + b"|".join(re.escape(name.encode()) for name in names) + rb")\b")
