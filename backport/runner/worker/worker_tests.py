"""From names to tests, in units that are handed out one at a time. For Python 2.7 and 3.

Part of :mod:`backport.runner.worker`. A unit is a list of tests that one process runs in one go:
one test, or all those of a class or module that share fixtures (``setUpClass``, ``setUpModule``).
"""
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import absolute_import

import os
import sys
import unittest

from worker_result import as_text, exception_text  # type: ignore[import-not-found]

_FRAMEWORKS = ("unittest", "unittest2", "testtools")
_FAILED_TO_LOAD = ("ModuleImportFailure", "LoadTestsFailure", "_FailedTest")


class CannotLoad(Exception):
    """A name that gives no tests: the status that it is reported with, and why."""

    def __init__(self, status, detail):
        Exception.__init__(self, detail)
        self.status = status
        self.detail = detail


def framework():
    """Return the module whose loader and suites are used: unittest2 where testtools brought it."""
    return sys.modules.get("unittest2", unittest)


def load(names, root, importing):
    """Return ``(units, problems)`` for the names: modules, packages, classes, methods, ids.

    :param root: the folder that the names are looked up in; it is on ``sys.path``
    :param importing: is called with each name before it is imported
    """
    cases, problems, seen = [], [], set()  # type: ignore[var-annotated]
    for name in names:
        importing(name)
        try:
            found = _cases(_native(name), root)
        except CannotLoad as problem:
            problems.append({"id": name, "status": problem.status, "detail": problem.detail})
            continue
        problems.extend(_failed(case) for case in found if _is_stand_in(case))
        found = [case for case in found if not _is_stand_in(case) and _id(case) not in seen]
        seen.update(_id(case) for case in found)
        cases.extend(found)
    return _units(cases), problems


def ids(unit):
    """Return the ids of a unit's tests."""
    found = []  # type: ignore[var-annotated]
    for test in unit:
        found.extend(ids(test) if hasattr(test, "__iter__") else [as_text(test.id())])
    return found


def _native(name):
    return name if isinstance(name, str) else name.encode("utf-8")  # Python 2: JSON is unicode


def _id(case):
    return case.id() if hasattr(case, "id") else id(case)


def _is_stand_in(case):
    return type(case).__name__ in _FAILED_TO_LOAD


def _cases(name, root):
    plain = name.partition("(")[0]  # testscenarios: module.Class.test(scenario)
    module, rest = _import(plain)
    owner = _attribute(module, rest)
    loader = framework().TestLoader()
    try:
        if not rest and hasattr(module, "__path__") and not hasattr(module, "load_tests"):
            start = os.path.dirname(os.path.abspath(module.__file__))
            found = loader.discover(start, top_level_dir=_top(module, root))
        else:
            _check(name, owner, rest)
            found = loader.loadTestsFromName(plain)
    except CannotLoad:
        raise
    except BaseException:
        raise CannotLoad("set-up error", exception_text(_below(sys.exc_info())))
    cases = list(_flat([found]))
    if plain != name and any(case.id() == name for case in cases):
        cases = [case for case in cases if case.id() == name]
    if not cases:
        raise CannotLoad("not run", "there are no tests in %s" % as_text(name))
    return cases


def _import(name):
    """Return the innermost module that the name leads to, and the rest of the name."""
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        module = ".".join(parts[:cut])
        try:
            __import__(module)
        except ImportError:
            # Without a frame below this one nothing was executed: there is no such module.
            if _below(sys.exc_info())[2] is None:
                continue
            raise CannotLoad("set-up error", exception_text(_below(sys.exc_info())))
        except unittest.SkipTest:
            raise CannotLoad("skipped", as_text(str(sys.exc_info()[1])))
        except BaseException:
            raise CannotLoad("set-up error", exception_text(_below(sys.exc_info())))
        return sys.modules[module], parts[cut:]
    raise CannotLoad("not run", "there is no module %s" % as_text(parts[0]))


def _below(error):
    """Return the exception without the frame that is this module's own."""
    return error[0], error[1], error[2].tb_next


def _attribute(module, rest):
    thing, place = module, module.__name__
    for part in rest:
        if not hasattr(thing, part):
            raise CannotLoad("not run", "there is no %s in %s" % (as_text(part), as_text(place)))
        thing, place = getattr(thing, part), place + "." + part
    return thing


def _check(name, thing, rest):
    """Refuse a class, or the method of one, that is no test case: unittest would call it."""
    owner = thing
    if rest and not isinstance(thing, type):
        owner = _attribute(_import(name.partition("(")[0])[0], rest[:-1])
    if isinstance(owner, type) and not issubclass(owner, unittest.TestCase):
        raise CannotLoad("not run", "%s is no test case" % as_text(owner.__name__))


def _top(module, root):
    """Return the folder that the package's full name starts from."""
    folder = os.path.abspath(module.__file__)
    for _ in module.__name__.split("."):
        folder = os.path.dirname(folder)
    folder = os.path.dirname(folder)
    return root if os.path.realpath(folder) == os.path.realpath(root) else folder


def _failed(case):
    """Return the problem behind a stand-in that unittest makes for what it could not load."""
    name = case._testMethodName
    try:
        getattr(case, name)()
    except BaseException:
        return {"id": name, "status": "set-up error", "detail": exception_text(sys.exc_info())}
    return {"id": name, "status": "set-up error", "detail": "could not be loaded"}


def _flat(tests):
    """Yield the cases of suites; a suite that runs its tests in its own way stays whole."""
    for test in tests:
        own_way = not hasattr(test, "__iter__") or _comes_from_project(type(test).run)
        for case in [test] if own_way else _flat(test):
            yield case


def _comes_from_project(function):
    module = getattr(getattr(function, "__func__", function), "__module__", None) or ""
    return module.partition(".")[0] not in _FRAMEWORKS or module == "testtools.testsuite"


def _units(cases):
    """Put tests that share fixtures together; every other test is a unit of its own."""
    units, place = [], {}  # type: ignore[var-annotated]
    for case in cases:
        shared = _shared_fixtures(case)
        if shared is not None and shared in place:
            units[place[shared]].append(case)
            continue
        place[shared] = len(units)
        units.append([case])
    return units


def _shared_fixtures(case):
    """Return the module or class whose fixtures the case needs, or None."""
    kind = type(case)
    module = sys.modules.get(kind.__module__)
    if hasattr(module, "setUpModule") or hasattr(module, "tearDownModule"):
        return module
    for name in ("setUpClass", "tearDownClass"):
        if hasattr(kind, name) and _comes_from_project(getattr(kind, name)):
            return kind
    return None
