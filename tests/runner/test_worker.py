"""Each way a test can end is told from the others, under Python 3 and 2.7."""

from __future__ import annotations

from pathlib import Path

import pytest

from backport.runner.results import Status
from tinyproject import Project, detail, make_project, outcomes


@pytest.fixture(params=["3", "2.7"])
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Project:
    return make_project(request.param, tmp_path)


BODIES = [
    ("pass", Status.PASSED),
    ("self.assertEqual(1, 2)", Status.FAILED),
    ("assert [] == [1]", Status.FAILED),
    ("raise ValueError('in the code')", Status.ERROR),
    ("undefined_name", Status.ERROR),
    ("import missing_module", Status.ERROR),
    ("self.skipTest('not here')", Status.SKIPPED),
    ("raise SystemExit(0)", Status.ERROR),
    ("raise KeyboardInterrupt", Status.ERROR),
    ("self.setUp2 = lambda: 1 / 0\n        self.setUp2()", Status.ERROR),
    ("self.addCleanup(lambda: 1 / 0)", Status.ERROR),
    ("self.assertEqual(u'\\u00e4', u'\\u20ac')", Status.FAILED),
    ("self.fail(b'\\xff\\xfe'.decode('latin-1'))", Status.FAILED),
]


@pytest.mark.parametrize(("body", "status"), BODIES, ids=[body[:30] for body, _ in BODIES])
def test_the_body_of_a_test_decides_its_status(project: Project, body: str, status: Status) -> None:
    text = f"import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        {body}\n"
    run = project.run({"tests/test_it.py": "# coding: utf-8\n" + text})
    assert outcomes(run) == {"T.test": status}
    assert not run.problem


def test_an_assertion_in_a_cleanup_speaks_against_the_code(project: Project) -> None:
    # As mox and mock verify their expectations; unittest of 2.7 calls it an error.
    run = project.run(
        {
            "tests/test_it.py": """
            import unittest
            class T(unittest.TestCase):
                def setUp(self):
                    self.addCleanup(self.fail, 'was never called')
                def test(self):
                    pass
            """
        }
    )
    assert outcomes(run)["T.test"].red


FIXTURES = {
    "set-up that breaks": """
        def setUp(self):
            raise ValueError('no database')
    """,
    "assertion in set-up": """
        def setUp(self):
            self.fail('no database')
    """,
    "class set-up that breaks": """
        @classmethod
        def setUpClass(cls):
            raise ValueError('no database')
    """,
    "set-up deep down": """
        def setUp(self):
            self.useFixture()
        def useFixture(self):
            self.test_other()
        def test_other(self):
            raise ValueError('no database')
    """,
}


@pytest.mark.parametrize("methods", FIXTURES.values(), ids=FIXTURES)
def test_what_breaks_before_the_body_is_a_set_up_error(project: Project, methods: str) -> None:
    text = "import unittest\n\nclass T(unittest.TestCase):" + methods.replace("\n    ", "\n")
    run = project.run({"tests/test_it.py": text + "\n    def test(self):\n        pass\n"})
    assert outcomes(run)["T.test"] is Status.SETUP_ERROR
    assert "no database" in detail(run, "T.test")


def test_a_module_set_up_that_breaks_is_a_set_up_error_of_each_test(project: Project) -> None:
    run = project.run(
        {
            "tests/test_it.py": """
            import unittest
            def setUpModule():
                raise ValueError('no database')
            class A(unittest.TestCase):
                def test_1(self):
                    pass
            class B(unittest.TestCase):
                def test_2(self):
                    pass
            """
        }
    )
    assert outcomes(run) == {"A.test_1": Status.SETUP_ERROR, "B.test_2": Status.SETUP_ERROR}


def test_tear_down_speaks_about_the_code(project: Project) -> None:
    run = project.run(
        {
            "tests/test_it.py": """
            import unittest
            class T(unittest.TestCase):
                def tearDown(self):
                    raise ValueError('left open')
                def test(self):
                    pass
            """
        }
    )
    assert outcomes(run) == {"T.test": Status.ERROR}


def test_class_fixtures_run_once_and_their_tests_stay_together(project: Project) -> None:
    run = project.run(
        {
            "tests/test_it.py": """
            import os, unittest
            class T(unittest.TestCase):
                @classmethod
                def setUpClass(cls):
                    cls.pid, cls.ups = os.getpid(), getattr(cls, 'ups', 0) + 1
                @classmethod
                def tearDownClass(cls):
                    raise ValueError('cannot close')
                def check(self):
                    self.assertEqual((os.getpid(), 1), (self.pid, self.ups))
                test_1 = test_2 = test_3 = test_4 = check
            """
        }
    )
    statuses = [result.status for result in run.results if ".T.test_" in result.id]
    assert statuses == [Status.PASSED] * 4
    (closing,) = [result for result in run.results if "tearDownClass" in result.id]
    assert closing.status is Status.ERROR


def test_skips_and_expectations_are_told_apart(project: Project) -> None:
    run = project.run(
        {
            "tests/test_it.py": """
            import unittest
            @unittest.skip('whole class')
            class S(unittest.TestCase):
                def test(self):
                    pass
            class T(unittest.TestCase):
                @unittest.skip('one test')
                def test_skip(self):
                    pass
                @unittest.expectedFailure
                def test_expected(self):
                    self.fail()
                @unittest.expectedFailure
                def test_unexpected(self):
                    pass
            class U(unittest.TestCase):
                @classmethod
                def setUpClass(cls):
                    raise unittest.SkipTest('no such backend')
                def test(self):
                    pass
            """
        }
    )
    assert outcomes(run) == {
        "S.test": Status.SKIPPED,
        "T.test_skip": Status.SKIPPED,
        "T.test_expected": Status.EXPECTED_FAILURE,
        "T.test_unexpected": Status.UNEXPECTED_SUCCESS,
        "U.test": Status.SKIPPED,
    }
    assert detail(run, "T.test_skip") == "one test"


def test_a_failing_part_of_a_test_is_its_failure(tmp_path: Path) -> None:
    run = make_project("3", tmp_path).run(
        {
            "tests/test_it.py": """
            import unittest
            class T(unittest.TestCase):
                def test(self):
                    for number in (1, 2, 3):
                        with self.subTest(number=number):
                            self.assertNotEqual(number, 2)
                def test_fine(self):
                    with self.subTest(number=1):
                        pass
            """
        }
    )
    assert outcomes(run) == {"T.test": Status.FAILED, "T.test_fine": Status.PASSED}
    assert "number=2" in detail(run, "T.test")
    assert "number=3" not in detail(run, "T.test")


LOADS = """
import unittest
class T(unittest.TestCase):
    def test_1(self):
        pass
    def test_2(self):
        pass
class Mixin(object):
    def test_m(self):
        pass
class C(Mixin, unittest.TestCase):
    pass
def helper():
    pass
"""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tests.test_it", ["C.test_m", "T.test_1", "T.test_2"]),
        ("tests.test_it.T", ["T.test_1", "T.test_2"]),
        ("tests.test_it.T.test_2", ["T.test_2"]),
        ("tests.test_it.C.test_m", ["C.test_m"]),
        ("tests", ["C.test_m", "T.test_1", "T.test_2"]),
    ],
)
def test_names_are_packages_modules_classes_and_methods(
    project: Project, name: str, expected: list[str]
) -> None:
    run = project.run({"tests/test_it.py": LOADS}, [name])
    assert list(outcomes(run)) == expected
    assert run.green
    assert project.total == len(expected)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("tests.test_it.T.test_3", "there is no test_3 in tests.test_it.T"),
        ("tests.test_if", "there is no test_if in tests"),
        ("nowhere.test_it", "no module nowhere"),
        ("tests.test_it.Mixin", "Mixin is no test case"),
        ("tests.test_it.Mixin.test_m", "Mixin is no test case"),
        ("tests.test_none", "no tests in tests.test_none"),
    ],
)
def test_a_name_without_tests_is_not_run_and_never_green(
    project: Project, name: str, said: str
) -> None:
    run = project.run(
        {"tests/test_it.py": LOADS, "tests/test_none.py": ""}, [name, "tests.test_it"]
    )
    (result,) = [result for result in run.results if not result.status.passed]
    assert (result.id, result.status) == (name, Status.NOT_RUN)
    assert said in result.detail
    assert len(run.results) == 4
    assert not run.green


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import missing_module", "missing_module"),
        ("def broken(:", "SyntaxError"),
        ("raise SystemExit(3)", "SystemExit"),
        ("1 / 0", "ZeroDivisionError"),
        ("def load_tests(*args):\n    raise ValueError('cannot load')", "cannot load"),
    ],
)
def test_what_cannot_be_imported_is_a_set_up_error_and_the_rest_runs(
    project: Project, text: str, said: str
) -> None:
    run = project.run(
        {"tests/test_it.py": LOADS, "tests/test_broken.py": text},
        ["tests.test_broken", "tests.test_it"],
    )
    (result,) = [result for result in run.results if not result.status.passed]
    assert (result.id, result.status) == ("tests.test_broken", Status.SETUP_ERROR)
    assert said in result.detail
    assert len(run.results) == 4


def test_a_broken_module_in_a_package_is_a_set_up_error(project: Project) -> None:
    run = project.run(
        {"tests/test_it.py": LOADS, "tests/test_broken.py": "import missing_module"}, ["tests"]
    )
    (result,) = [result for result in run.results if not result.status.passed]
    assert (result.id, result.status) == ("tests.test_broken", Status.SETUP_ERROR)
    assert len(run.results) == 4


def test_load_tests_is_honoured(project: Project) -> None:
    run = project.run(
        {
            "tests/test_it.py": """
            import unittest
            class T(unittest.TestCase):
                def __init__(self, word='none'):
                    super(T, self).__init__('check')
                    self.word = word
                def id(self):
                    return 'tests.test_it.T.check.' + self.word
                def check(self):
                    self.assertIn(self.word, ('one', 'two'))
            class Own(unittest.TestSuite):
                def run(self, result, debug=False):
                    for test in self:
                        test.word = 'two'
                        test(result)
                    return result
            def load_tests(loader, tests, pattern):
                own = Own([T('in own suite')])
                return unittest.TestSuite([T('one'), T('three'), own])
            """
        }
    )
    assert outcomes(run) == {
        "check.one": Status.PASSED,
        "check.three": Status.FAILED,
        "check.in own suite": Status.NOT_RUN,  # it ran under another name, and that one is told
        "check.two": Status.PASSED,
    }


def test_a_test_that_is_there_twice_counts_by_its_worst(project: Project) -> None:
    run = project.run(
        {
            "tests/test_it.py": """
            import unittest
            class T(unittest.TestCase):
                runs = []
                def test(self):
                    open('seen', 'a').write('x')
                    self.assertEqual(len(open('seen').read()), 1)
            def load_tests(loader, tests, pattern):
                return unittest.TestSuite([T('test'), T('test')])
            """
        }
    )
    assert outcomes(run) == {"T.test": Status.FAILED}


def test_names_that_overlap_run_each_test_once(project: Project) -> None:
    run = project.run(
        {
            "tests/test_it.py": """
            import unittest
            class T(unittest.TestCase):
                def test(self):
                    open('seen', 'a').write('x')
                    self.assertEqual(len(open('seen').read()), 1)
            """
        },
        ["tests.test_it.T", "tests.test_it", "tests.test_it.T.test"],
    )
    assert outcomes(run) == {"T.test": Status.PASSED}


def test_output_comes_with_the_test_that_made_it(project: Project) -> None:
    run = project.run(
        {
            "tests/test_it.py": """
            import os, subprocess, sys, unittest
            class T(unittest.TestCase):
                def test_1(self):
                    print('printed by one')
                    os.write(2, b'{"event": "result", "id": "x", "status": "passed"}\\n')
                    subprocess.call([sys.executable, '-c', 'print("a child of one")'])
                    self.fail()
                def test_2(self):
                    print('printed by two')
                def test_3(self):
                    os.write(1, b'\\xb3)\\x01\\x7f\\x05\\xff' * 3 + b'three')
                    self.fail()
            """
        }
    )
    one = detail(run, "test_1")
    assert "printed by one" in one
    assert '"event": "result"' in one
    assert "a child of one" in one
    assert "two" not in one
    assert detail(run, "test_2") == ""
    assert "three" in detail(run, "test_3")
    assert len(run.results) == 3


def test_a_long_message_keeps_its_beginning_and_its_end(project: Project) -> None:
    run = project.run(
        {
            "tests/test_it.py": """
            import unittest
            class T(unittest.TestCase):
                def test(self):
                    print('begin' + 'y' * 3000000 + 'end')
                    raise ValueError('first' + 'x' * 3000000 + 'last')
            """
        }
    )
    said = detail(run, "T.test")
    assert len(said) < 80_000
    for word in ("Traceback", "last", "begin", "end", "left out"):
        assert word in said


def test_the_path_begins_with_the_tree_and_has_nothing_of_the_tool(project: Project) -> None:
    run = project.run(
        {
            "tests/test_it.py": """
            import os, sys, unittest
            class T(unittest.TestCase):
                def test(self):
                    self.assertEqual(sys.path[0], os.getcwd())
                    self.assertFalse([p for p in sys.path if p.endswith('verify')])
                    self.assertFalse([n for n in sys.modules if n.startswith('backport')])
            """,
            "results.py": "1 / 0",
            "cache.py": "1 / 0",
        }
    )
    assert run.green, run.results
