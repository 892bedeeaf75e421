"""Named tests that do not exist are errors, with the nearest name."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

import pytest

from backport.selection.missing_tests import check_named

FILES = {
    "nova/__init__.py": "",
    "nova/test.py": """
        import testtools

        class TestCase(testtools.TestCase):
            pass
        """,
    "nova/tests/unit/__init__.py": "",
    "nova/tests/unit/test_api.py": """
        import ddt

        from nova import test
        from nova.tests.unit.test_base import BaseTestCase
        from elsewhere import FarTestCase

        Made = type('Made', (test.TestCase,), {})

        def MadeToo():
            pass

        @ddt.ddt
        class APITestCase(BaseTestCase):
            def test_delete(self):
                print 'Python 2'

            @ddt.data(1, 2)
            def test_many(self, value):
                pass

        class ForeignTestCase(FarTestCase):
            pass
        """,
    "nova/tests/unit/test_base.py": """
        from nova import test

        class BaseTestCase(test.TestCase):
            def test_inherited(self):
                pass
        """,
    "nova/tests/unit/test_broken.py": "def (",
    "nova/tests/functional/regressions/test_bug_1783613.py": "",
}
UNIT = "nova.tests.unit"
API = f"{UNIT}.test_api.APITestCase"


def read(path: str) -> bytes | None:
    text = FILES.get(path)
    return None if text is None else textwrap.dedent(text).encode()


def list_paths(prefix: str) -> Iterable[str]:
    return [path for path in FILES if path.startswith(prefix)]


@pytest.mark.parametrize(
    "test",
    [
        f"{UNIT}.test_api",
        API,
        f"{API}.test_delete",
        f"{API}.test_inherited",
        f"{API}.test_delete(v2_1)",  # of testscenarios
        f"{API}.test_many_1_a",  # of ddt
        f"{UNIT}.test_api.BaseTestCase.test_inherited",  # imported
        f"{UNIT}.test_api.Made.test_any",
        f"{UNIT}.test_api.MadeToo",
        f"{UNIT}.test_api.FarTestCase.test_any",
        f"{UNIT}.test_api.ForeignTestCase.test_any",  # of a base that is not in the tree
    ],
)
def test_what_exists_or_may_exist_is_no_problem(test: str) -> None:
    assert check_named([test], read, list_paths) == ()


@pytest.mark.parametrize(
    ("test", "message"),
    [
        (f"{UNIT}.test_apis", f"there is no such module; did you mean {UNIT}.test_api?"),
        (f"{UNIT}.test_apis.APITestCase.test_delete",
         f"there is no such module; did you mean {API}.test_delete?"),
        ("nova.tests.functional.regression.test_bug_1783613",
         "there is no such module; did you mean "
         "nova.tests.functional.regressions.test_bug_1783613?"),
        ("qqq", "there is no such module"),
        (f"{UNIT}.test_api.ApiTestCase",
         f"nova/tests/unit/test_api.py has no class ApiTestCase; did you mean {API}?"),
        (f"{UNIT}.test_api.ApiTestCase.test_delete",
         "nova/tests/unit/test_api.py has no class ApiTestCase; did you mean "
         f"{API}.test_delete?"),
        (f"{UNIT}.test_api.Q", "nova/tests/unit/test_api.py has no class Q"),
        (f"{API}.test_deleted", f"{API} has no test_deleted; did you mean {API}.test_delete?"),
        (f"{API}.test_inherit", f"{API} has no test_inherit; did you mean {API}.test_inherited?"),
        (f"{API}.test_delete.more",
         "APITestCase is a class, and test_delete has nothing below it"),
        (UNIT, "is a package: name the modules in it"),
        (f"{UNIT}.test_broken.X",
         "nova/tests/unit/test_broken.py is no Python that can be read"),
        ("nova/tests/unit/test_api.py", "is no dotted name of a module, class or test"),
        ("-x", "is no dotted name of a module, class or test"),
        ("", "is no dotted name of a module, class or test"),
    ],
)  # fmt: skip
def test_what_does_not_exist_is_named_with_the_nearest(test: str, message: str) -> None:
    (missing,) = check_named([test], read, list_paths)
    assert str(missing) == f"{test}: {message}"


def test_all_problems_come_at_once_and_each_once() -> None:
    named = [f"{API}.test_x", f"{UNIT}.test_api", f"{API}.test_x", "nova.nowhere"]
    found = check_named(named, read, list_paths)
    assert [missing.test for missing in found] == [f"{API}.test_x", "nova.nowhere"]
