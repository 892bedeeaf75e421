"""A run is bounded, tells what happened to each test, and leaves nothing behind."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from backport import workplace
from backport.runner.results import Status
from backport.series.model import Keepsake
from tinyproject import Project, detail, living, make_project, outcomes


@pytest.fixture(params=["3", "2.7"])
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Project:
    return make_project(request.param, tmp_path)


@pytest.fixture
def project3(tmp_path: Path) -> Project:
    return make_project("3", tmp_path)


def case(body: str, neighbours: int = 3) -> str:
    """Return a module: one test with the body, and others that pass."""
    text = "import os, signal, subprocess, sys, time, unittest\nclass T(unittest.TestCase):\n"
    text += "    def test_bad(self):\n" + textwrap.indent(textwrap.dedent(body), " " * 8) + "\n"
    for number in range(neighbours):
        text += f"    def test_{number}(self):\n        pass\n"
    return text


CRASHES = {
    "exits": ("os._exit(3)", "exit status 3"),
    "exits with 0": ("os._exit(0)", "exit status 0"),
    "segfaults": ("os.kill(os.getpid(), signal.SIGSEGV)", "signal 11"),
    "really segfaults": ("import ctypes; ctypes.string_at(0)", "signal 11"),
    "kills itself": ("os.kill(os.getpid(), signal.SIGKILL)", "signal 9"),
    "aborts": ("os.abort()", "signal 6"),
    "closes everything": ("os.closerange(0, 4096)", "closed the pipe"),
    "reuses the pipe": (
        "for fd in range(3, 1024):\n    try:\n        os.dup2(os.open(os.devnull, 1), fd)\n"
        "    except OSError:\n        pass",
        "closed the pipe",
    ),
}


@pytest.mark.parametrize(("body", "said"), CRASHES.values(), ids=CRASHES)
def test_a_crash_is_pinned_on_its_test_and_the_others_run(
    project: Project, body: str, said: str
) -> None:
    text = case("print('last words')\nsys.stdout.flush()\n" + body)
    run = project.run({"tests/test_it.py": text})
    assert outcomes(run) == {
        "T.test_bad": Status.CRASHED,
        **{f"T.test_{number}": Status.PASSED for number in range(3)},
    }
    assert said in detail(run, "test_bad")
    assert "last words" in detail(run, "test_bad")
    assert not run.problem
    assert not run.green


def test_a_crash_among_tests_with_a_class_fixture_takes_only_one(project: Project) -> None:
    text = case("os._exit(3)") + "    @classmethod\n    def setUpClass(cls):\n        pass\n"
    statuses = outcomes(project.run({"tests/test_it.py": text}))
    assert statuses.pop("T.test_bad") is Status.CRASHED
    assert set(statuses.values()) == {Status.PASSED}
    assert len(statuses) == 3


def test_a_class_fixture_that_crashes_ends_all_its_tests(project: Project) -> None:
    text = case("pass") + "    @classmethod\n    def setUpClass(cls):\n        os._exit(3)\n"
    run = project.run({"tests/test_it.py": text})
    assert set(outcomes(run).values()) == {Status.CRASHED}
    assert len(run.results) == 4


HANGS = {
    "sleeps": "while True: time.sleep(1)",
    "spins": "while True: pass",
    "is deaf": "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: time.sleep(1)",
    "stops itself": "os.kill(os.getpid(), signal.SIGSTOP)",
    "waits for a child": "subprocess.call([sys.executable, '-c', 'import time; time.sleep(600)'])",
}


@pytest.mark.parametrize("body", HANGS.values(), ids=HANGS)
def test_a_test_that_hangs_is_ended_and_the_others_run(project: Project, body: str) -> None:
    project.settings = dataclasses.replace(project.settings, test_timeout=2.0)
    run = project.run({"tests/test_it.py": case(body)})
    assert outcomes(run) == {
        "T.test_bad": Status.TIMED_OUT,
        **{f"T.test_{number}": Status.PASSED for number in range(3)},
    }
    assert not run.problem


def test_a_test_that_hung_says_where(project: Project) -> None:
    project.settings = dataclasses.replace(project.settings, test_timeout=2.0)
    run = project.run({"tests/test_it.py": case("while True: time.sleep(0.1)  # here")})
    assert "in test_bad" in detail(run, "test_bad")


def test_the_time_for_a_whole_run_is_bounded(project3: Project) -> None:
    project3.settings = dataclasses.replace(project3.settings, timeout=5.0)
    run = project3.run({"tests/test_it.py": case("time.sleep(600)")})
    assert "time for the run was up" in run.problem
    assert outcomes(run)["T.test_bad"] is Status.TIMED_OUT


def test_an_import_that_hangs_is_named(project: Project) -> None:
    project.settings = dataclasses.replace(project.settings, timeout=2.0)
    run = project.run({"tests/test_it.py": "import time\ntime.sleep(600)"})
    assert "while it imported tests.test_it" in run.problem
    assert not run.green


def test_an_import_that_crashes_is_named(project: Project) -> None:
    text = "import os, sys\nsys.stderr.write('bad news')\nsys.stderr.flush()\nos._exit(7)"
    run = project.run({"tests/test_it.py": text})
    assert "exit status 7 while it imported tests.test_it" in run.problem
    assert "bad news" in run.problem


LEFT = """
import os, subprocess, sys, time, unittest
class T(unittest.TestCase):
    def test_child(self):
        subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)', '{mark}'])
    def test_daemon(self):
        code = '''if 1:
            import os, sys, time
            os.setsid()
            if os.fork(): os._exit(0)
            os.closerange(0, 256)
            {more}
            time.sleep(600)'''
        subprocess.call([sys.executable, '-c', code, '{mark}'])
    def test_fork(self):
        if os.fork() == 0:
            time.sleep(600)
    def test_fork_and_raise(self):
        if os.fork() == 0:
            raise ValueError('in the child')
    def test_fork_and_exit(self):
        if os.fork() == 0:
            sys.exit(0)
"""


def test_children_that_outlive_their_tests_are_ended(project: Project) -> None:
    mark = f"mark-{os.getpid()}-{project.environment.version}"
    run = project.run({"tests/test_it.py": LEFT.format(mark=mark, more="")})
    assert set(outcomes(run).values()) == {Status.PASSED}
    assert len(run.results) == 5
    assert living(mark) == []


def test_a_crash_is_seen_though_a_child_holds_the_pipes(project: Project) -> None:
    run = project.run({"tests/test_it.py": case("if os.fork(): os._exit(3)\ntime.sleep(600)")})
    assert outcomes(run)["T.test_bad"] is Status.CRASHED
    assert len(run.results) == 4


def test_a_flood_of_output_is_bounded(project: Project) -> None:
    body = "for number in range(3000): os.write(1, b'x' * 10000)\nprint('the end')\nself.fail()"
    run = project.run({"tests/test_it.py": case(body)})
    assert len(detail(run, "test_bad")) < 50_000
    assert "the end" in detail(run, "test_bad")
    assert "bytes left out" in detail(run, "test_bad")


def test_a_flood_at_import_is_bounded(project: Project) -> None:
    text = "import os\nfor number in range(3000): os.write(1, b'x' * 10000)\n" + case("pass")
    run = project.run({"tests/test_it.py": text})
    assert run.green
    assert (project.folder / "log").stat().st_size < 11_000_000


WANDERS = """
import os, shutil, tempfile, unittest
class T(unittest.TestCase):
    def setUp(self):
        self.home = os.getcwd()
        self.assertTrue(os.path.exists('tests/test_it.py'))
    def test_1(self):
        os.chdir('/')
    def test_2(self):
        os.chdir(tempfile.mkdtemp())
        shutil.rmtree(os.getcwd())
    def test_3(self):
        os.close(1), os.close(2)
    def test_4(self):
        pass
    def test_5(self):
        pass
"""


def test_every_test_begins_in_the_tree(project: Project) -> None:
    project.workshop = dataclasses.replace(project.workshop, jobs=1)
    run = project.run({"tests/test_it.py": WANDERS})
    assert run.green, run.results


def test_nothing_is_left_in_the_scratch_folder(project: Project) -> None:
    text = case(
        """
        import tempfile
        open(os.path.expanduser('~/file'), 'w').close()
        folder = tempfile.mkdtemp()
        os.mkdir(os.path.join(folder, 'x'))
        open(os.path.join(folder, 'x', 'y'), 'w').close()
        os.chmod(os.path.join(folder, 'x'), 0)
        """
    )
    assert project.run({"tests/test_it.py": text}).green
    left = [path.name for path in project.workshop.scratch.iterdir() if path.is_dir()]
    assert left == ["tree-0"]


def test_the_environment_is_made_anew(project: Project) -> None:
    project.settings = dataclasses.replace(
        project.settings, environment=(("SETTING", "1"), ("PYTHONHASHSEED", "5"))
    )
    text = case(
        """
        names = set(os.environ)
        self.assertEqual(os.environ['SETTING'], '1')
        self.assertEqual(os.environ['PYTHONHASHSEED'], '5')
        self.assertEqual(os.environ['PYTHONPATH'].split(':')[0], os.getcwd())
        self.assertNotIn('nonexistent', os.environ['PYTHONPATH'])
        self.assertFalse([n for n in names if n.startswith('PYTEST')])
        self.assertNotIn('PYTHONDONTWRITEBYTECODE', names)
        self.assertEqual(os.listdir(os.environ['HOME']), ['tmp'])
        """
    )
    run = project.run({"tests/test_it.py": text})
    assert run.green, run.results


def test_ten_thousand_tests_are_all_told(project: Project) -> None:
    text = "import unittest\nclass T(unittest.TestCase):\n    pass\n"
    text += "for n in range(10000): setattr(T, 'test_%d' % n, lambda self: None)\n"
    run = project.run({"tests/test_it.py": text})
    assert len(run.results) == 10_000
    assert run.green
    assert len(project.heard) == 10_000


def test_it_stops_at_the_first_failure_when_asked(project: Project) -> None:
    project.workshop = dataclasses.replace(project.workshop, jobs=1)
    text = case("self.fail()", neighbours=0) + "    def test_a(self): pass\n"
    text += "".join(f"    def test_c{n}(self): time.sleep(0.1)\n" for n in range(50))
    run = project.run({"tests/test_it.py": text}, fail_fast=True)
    assert outcomes(run) == {"T.test_a": Status.PASSED, "T.test_bad": Status.FAILED}
    assert "stopped at the first test that did not pass" in run.notes


def test_the_command_runs_the_same_by_hand(project: Project) -> None:
    body = "self.assertEqual((os.environ['WORD'], sys.path[1]), ('it is', os.getcwd()))"
    text = case(body.replace("sys.path[1]", "os.environ['PYTHONPATH']"))
    project.settings = dataclasses.replace(project.settings, environment=(("WORD", "it is"),))
    run = project.run({"tests/test_it.py": text})
    assert run.green, run.results
    done = subprocess.run(["sh", "-c", run.command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Ran 4 tests" in done.stderr


def test_unicode_survives(project: Project) -> None:
    text = "# coding: utf-8\n" + case("self.fail(u'gr\u00fc\u00df dich \u2026 \U0001f600')")
    run = project.run({"tests/test_it.py": text})
    said = detail(run, "test_bad")
    assert "gr\u00fc\u00df dich" in said or "gr\\xfc\\xdf dich" in said
    said.encode("utf-8")


def test_lone_surrogates_can_be_written_to_a_report(project3: Project) -> None:
    run = project3.run({"tests/test_it.py": case("self.fail('a \\udc80 b')")})
    assert b"udc80" in detail(run, "test_bad").encode("utf-8")


KEEPS = """
import os, unittest
KEPT = {'main': ''}
class T(unittest.TestCase):
    def test(self):
        if not KEPT['main']:
            KEPT['main'] = u'worked out by %d \u2026' % os.getpid()
            self.assertFalse(os.path.exists('other'), 'it was not handed on')
"""


def test_a_keepsake_is_handed_to_the_next_run_and_said(project: Project) -> None:
    kept = Keepsake("tests.test_it", "KEPT", ("lib",))
    project.settings = dataclasses.replace(project.settings, keepsakes=(kept,))
    text = "# coding: utf-8\n" + KEEPS
    first = project.run({"tests/test_it.py": text, "lib/a.py": "1"})
    second = project.run({"tests/test_it.py": text, "lib/a.py": "1", "other": ""})
    assert (first.green, first.notes) == (True, ())
    assert second.green, second.results
    assert second.notes == ("tests.test_it.KEPT was kept from an earlier run",)


def test_a_keepsake_is_noted_in_the_words_of_the_branch(project3: Project) -> None:
    kept = Keepsake("tests.test_it", "KEPT", ("lib",), "nothing was worked out")
    project3.settings = dataclasses.replace(project3.settings, keepsakes=(kept,))
    project3.run({"tests/test_it.py": KEEPS})
    second = project3.run({"tests/test_it.py": KEEPS, "other": ""})
    assert second.notes == ("nothing was worked out (tests.test_it.KEPT)",)


def test_a_keepsake_is_not_handed_on_when_what_it_depends_on_differs(project3: Project) -> None:
    kept = Keepsake("tests.test_it", "KEPT", ("lib",))
    project3.settings = dataclasses.replace(project3.settings, keepsakes=(kept,))
    project3.run({"tests/test_it.py": KEEPS, "lib/a.py": "1"})
    second = project3.run({"tests/test_it.py": KEEPS, "lib/a.py": "2"})
    assert second.notes == ()


@pytest.mark.parametrize("module", ["KEPT = {'other': ''}", "KEPT = ''", "KEPT = None", "x = 1"])
def test_a_keepsake_of_another_shape_is_left_alone(project: Project, module: str) -> None:
    kept = Keepsake("tests.test_it", "KEPT", ("lib",))
    project.settings = dataclasses.replace(project.settings, keepsakes=(kept,))
    project.run({"tests/test_it.py": KEEPS.replace("\u2026", ""), "lib/a.py": "1"})
    second = project.run({"tests/test_it.py": module + "\n" + case("pass"), "lib/a.py": "1"})
    assert second.green
    assert second.notes == ()


def test_entry_points_are_found_without_an_installation(project: Project) -> None:
    setup = """
    [metadata]
    name = tiny
    version = 3.1
    [entry_points]
    tiny.drivers =
        fast = lib.fast:Driver
    """
    body = """
        import glob
        (folder,) = [p for p in sys.path if glob.glob(p + '/tiny.egg-info')]
        text = open(folder + '/tiny.egg-info/entry_points.txt').read()
        self.assertEqual(text.split(), ['[tiny.drivers]', 'fast', '=', 'lib.fast:Driver'])
        self.assertIn('Version: 3.1', open(folder + '/tiny.egg-info/PKG-INFO').read())
        self.assertEqual(os.environ['PBR_VERSION'], '3.1')
    """
    run = project.run({"tests/test_it.py": case(body), "setup.cfg": setup})
    assert run.green, run.results


def test_runs_side_by_side_share_the_tokens(project3: Project) -> None:
    text = """
    import os, time, unittest
    class T(unittest.TestCase):
        def check(self):
            place = os.path.join('{folder}', str(os.getpid()))
            open(place, 'w').close()
            time.sleep(0.05)
            found = len(os.listdir('{folder}'))
            os.unlink(place)
            self.assertLessEqual(found, 2)
    for n in range(12): setattr(T, 'test_%d' % n, T.check)
    """
    (project3.folder / "marks").mkdir()
    files = {"tests/__init__.py": ""}
    files["tests/test_it.py"] = text.format(folder=project3.folder / "marks")
    tree = project3.tree(files)
    greens: list[bool] = []

    def go() -> None:
        greens.append(project3.run_tree(tree, ["tests.test_it"]).green)

    threads = [threading.Thread(target=go) for _ in range(3)]
    for thread in threads:
        thread.start()
        time.sleep(0.2)  # folders are numbered by what is there
    for thread in threads:
        thread.join()
    assert greens == [True] * 3


def test_a_run_is_ended_when_the_workshop_is_stopped(project3: Project) -> None:
    timer = threading.Timer(1.0, project3.workshop.stop.set)
    timer.start()
    run = project3.run({"tests/test_it.py": case("time.sleep(600)")})
    assert run.problem == "interrupted"


def test_a_run_is_ended_when_there_is_no_more_room(
    project3: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workplace, "_FLOOR", 1 << 62)
    run = project3.run({"tests/test_it.py": case("time.sleep(600)")})
    assert "no more room" in run.problem
    assert not run.green


def test_everything_ends_when_the_tool_is_killed(tmp_path: Path) -> None:
    mark = f"kill-mark-{os.getpid()}"
    text = LEFT.format(mark=mark, more="") + "    def test_hang(self):\n        time.sleep(600)\n"
    script = f"""
import sys
sys.path[:0] = {[str(Path(__file__).parent)]!r}
from pathlib import Path
from tinyproject import make_project
make_project("3", Path({str(tmp_path)!r})).run({{"tests/test_it.py": {text!r}}})
"""
    tool = subprocess.Popen([sys.executable, "-c", script, "the-tool"])
    deadline = time.monotonic() + 60
    while len(living(mark)) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(living(mark)) >= 2
    tool.send_signal(signal.SIGKILL)
    tool.wait()
    while (living(mark) or living(str(tmp_path))) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert living(mark) == []
    assert living(str(tmp_path)) == []
