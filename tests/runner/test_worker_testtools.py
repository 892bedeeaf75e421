"""testtools hands out texts, never the exception; which part of a test broke is told anyway."""

from __future__ import annotations

from pathlib import Path

import pytest

from backport.process import Command, run
from backport.runner.results import Status
from tinyproject import Project, detail, make_project, outcomes


@pytest.fixture(params=["3", "2.7"])
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Project:
    project = make_project(request.param, tmp_path)
    command = Command((str(project.environment.python), "-c", "import testtools"), tmp_path, {})
    if not run(command, timeout=60).ok:
        pytest.skip(f"Python {request.param} has no testtools")
    return project


METHODS = {
    "passes": ("pass", Status.PASSED),
    "assertion": ("self.assertEqual(1, 2)", Status.FAILED),
    "mismatch": ("self.assertThat(1, testtools.matchers.Equals(2))", Status.FAILED),
    "expectation": ("self.expectThat(1, testtools.matchers.Equals(2))", Status.FAILED),
    "error": ("raise ValueError('in the code')", Status.ERROR),
    "skip": ("self.skipTest('not here')", Status.SKIPPED),
    "expected": ("self.expectFailure('known', self.assertEqual, 1, 2)", Status.EXPECTED_FAILURE),
    "unexpected": (
        "self.expectFailure('known', self.assertEqual, 1, 1)",
        Status.UNEXPECTED_SUCCESS,
    ),
    "cleanup": ("self.addCleanup(self.assertEqual, 1, 2)", Status.FAILED),
    "both": ("self.addCleanup(lambda: 1 / 0)\n        self.fail()", Status.ERROR),
    "own setUp": ("self.other()", Status.ERROR),
}


@pytest.mark.parametrize(("body", "status"), METHODS.values(), ids=METHODS)
def test_the_body_of_a_test_decides_its_status(project: Project, body: str, status: Status) -> None:
    text = "import testtools\nclass T(testtools.TestCase):\n    def test(self):\n"
    text += f"        {body}\n    def other(self):\n        self.setUp()\n"
    found = outcomes(project.run({"tests/test_it.py": text}))["T.test"]
    assert found is status or (body.startswith("self.addCleanup(lambda") and found.red)


@pytest.mark.parametrize("body", ["1 / 0", "self.fail('no database')", "self.useFixture(Broken())"])
def test_what_breaks_in_set_up_is_a_set_up_error(project: Project, body: str) -> None:
    text = f"""
    import testtools
    class Broken(object):
        def setUp(self):
            raise ValueError('no database')
        def cleanUp(self):
            pass
        def getDetails(self):
            return {{}}
    class T(testtools.TestCase):
        def setUp(self):
            super(T, self).setUp()
            self.addCleanup(lambda: None)
            {body}
        def test(self):
            pass
    """
    run = project.run({"tests/test_it.py": text})
    assert outcomes(run) == {"T.test": Status.SETUP_ERROR}
    assert "Traceback" in detail(run, "T.test")


def test_details_come_with_the_result_and_are_bounded(project: Project) -> None:
    text = """
    import testtools
    from testtools import content, content_type
    class T(testtools.TestCase):
        def test(self):
            self.addDetail('log', content.text_content(u'gr\\u00fc\\u00df dich'))
            self.addDetail('long', content.text_content(u'x' * 3000000))
            binary = content_type.ContentType('application', 'x-core')
            self.addDetail('core', content.Content(binary, lambda: [b'\\x00\\xff']))
            self.fail('here')
    """
    said = detail(project.run({"tests/test_it.py": text}), "T.test")
    assert said.startswith("traceback:\nTraceback")
    assert "gr\u00fc\u00df dich" in said
    assert "(application/x-core, 2 bytes)" in said
    assert len(said) < 40_000


def test_the_command_names_testtools_own_runner(project: Project) -> None:
    text = "import testtools\nclass T(testtools.TestCase):\n    def test(self):\n        pass\n"
    assert "-m testtools.run tests.test_it" in project.run({"tests/test_it.py": text}).command


def test_a_time_out_of_the_projects_own_fixture_speaks_neither_for_nor_against_the_code(
    project: Project,
) -> None:
    # nova's base class sets OS_TEST_TIMEOUT up with fixtures.Timeout(gentle=True).
    fixtures = "class TimeoutException(Exception):\n    pass\n"
    text = """
    import fixtures, testtools
    class T(testtools.TestCase):
        def test(self):
            raise fixtures.TimeoutException()
        def test_cleanup(self):
            self.addCleanup(self.test)
            self.fail()
    """
    run = project.run({"fixtures.py": fixtures, "tests/test_it.py": text})
    assert set(outcomes(run).values()) == {Status.TIMED_OUT}
    assert "TimeoutException" in detail(run, "T.test")
