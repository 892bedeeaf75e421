"""The matrix of small series, on real trees under a real interpreter, and what it comes to."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import textwrap
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from backport.progress import Silent
from backport.proof.cells import Runs
from backport.proof.matrix import Claim, Step, plan
from backport.proof.prove import ProofOptions, prove, together
from backport.runner.results import Cell, Guard, Proof, Status, Verdict
from backport.series.model import Kind
from tinyproject import Project, living, make_project

BUGGY = '''
"""The code."""

def double(number):
    """Double it."""
    # twice
    return number + 2


def other(number):
    return number
'''
FIXED = BUGGY.replace("number + 2", "number * 2")
RECREATE = """
import unittest
from lib import code
class T(unittest.TestCase):
    def test_bug(self):
        self.assertEqual(code.double(3), 5)  # TODO: 6
    def test_other(self):
        self.assertEqual(code.other(1), 1)
"""
RIGHT = RECREATE.replace("5)  # TODO: 6", "6)")
BUG, OTHER = "tests.test_it.T.test_bug", "tests.test_it.T.test_other"
BASE = {"lib/__init__.py": "", "lib/code.py": BUGGY, "tests/__init__.py": ""}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project("3", tmp_path)


Change = tuple[Kind, dict[str, str], Sequence[str], Sequence[str]]


def claim_of(project: Project, changes: Sequence[Change], base: dict[str, str] = BASE) -> Claim:
    """Build the trees of a series: each change is its kind, files, named and changed tests."""
    tree = first = project.tree(base)
    steps = []
    for number, (kind, files, named, changed) in enumerate(changes, 1):
        tree = project.tree(files, tree)
        steps.append(Step(number, kind, tree, tuple(named), tuple(changed)))
    return Claim(first, tuple(steps), ("tests/",))


def runs_of(project: Project, fresh: bool = False) -> Runs:
    return Runs(
        project.trees,
        project.environment,
        project.settings,
        project.workshop,
        Silent(),
        fresh=fresh,
        logs=project.folder,
    )


def proof_of(
    project: Project,
    changes: Sequence[Change],
    base: dict[str, str] = BASE,
    options: ProofOptions | None = None,
) -> Proof:
    claim = claim_of(project, changes, base)
    return prove(claim, project.trees, runs_of(project), options)


def cells(proof: Proof) -> dict[str, bool]:
    return {cell.label: cell.ok for cell in proof.cells}


def cell(proof: Proof, label: str) -> Cell:
    (found,) = [cell for cell in proof.cells if cell.label == label]
    return found


GOOD: list[Change] = [
    (Kind.REGRESSION_TEST, {"tests/test_it.py": RECREATE}, ["tests.test_it"], [BUG]),
    (Kind.FIX, {"lib/code.py": FIXED, "tests/test_it.py": RIGHT}, ["tests.test_it"], [BUG]),
]


def test_red_before_and_green_after_is_proven(project: Project) -> None:
    proof = proof_of(project, GOOD)
    assert proof.verdict is Verdict.PROVEN
    assert proof.reason == (
        "without change 2 1 of 1 fails, as it must; on the last commit 2 passed"
    )
    assert cells(proof) == {
        "green 1/1": True,
        "green 2/2": True,
        "red 2/1": True,
        "flip 1/2": True,
        "whole 2/2": True,
    }
    assert cell(proof, "red 2/1").cut
    assert [result.id for result in cell(proof, "red 2/1").run.results] == [BUG]
    assert cell(proof, "whole 2/2").run.tree == cell(proof, "green 2/2").run.tree


def test_the_same_tree_is_run_once_and_nothing_is_run_twice(project: Project) -> None:
    claim = claim_of(project, GOOD)
    trees = {planned.tree for planned in plan(claim, project.trees, full_red=False)}
    first = prove(claim, project.trees, runs_of(project))
    assert len(trees) == 4
    assert len(list((project.workshop.cache / "results").glob("*.json"))) == 4
    second = prove(claim, project.trees, runs_of(project))
    assert all(cell.run.reused for cell in second.cells)
    assert not any(cell.run.reused for cell in first.cells)
    assert second.verdict is first.verdict
    fresh = prove(claim, project.trees, runs_of(project, fresh=True))
    assert not any(cell.run.reused for cell in fresh.cells)


def test_the_whole_red_cell_is_run_when_asked(project: Project) -> None:
    proof = proof_of(project, GOOD, options=ProofOptions(full_red=True))
    red = cell(proof, "red 2/1")
    assert not red.cut
    assert len(red.run.results) == 2
    assert proof.verdict is Verdict.PROVEN


def test_a_fix_alone_is_proven_by_its_own_tests(project: Project) -> None:
    proof = proof_of(project, [GOOD[1]])
    assert proof.verdict is Verdict.PROVEN
    assert cells(proof) == {"green 1/1": True, "red 1/0": True}


def test_green_without_red_is_unproven_and_names_what_would_need_to_fail(
    project: Project,
) -> None:
    useless = RIGHT.replace("code.double(3), 6", "code.double(2), 4")
    proof = proof_of(
        project, [(Kind.FIX, {"lib/code.py": FIXED, "tests/test_it.py": useless}, [], [BUG])]
    )
    assert proof.verdict is Verdict.UNPROVEN
    assert BUG in proof.reason
    assert "without it" in proof.reason
    assert cells(proof) == {"green 1/1": True, "red 1/0": False}


def test_a_recreate_test_that_passes_on_the_fixed_code_is_unproven(project: Project) -> None:
    useless = RECREATE.replace("code.double(3), 5", "code.double(2), 4")
    proof = proof_of(
        project,
        [(Kind.REGRESSION_TEST, {"tests/test_it.py": useless}, [], [BUG]), GOOD[1]],
    )
    assert proof.verdict is Verdict.UNPROVEN
    assert "on the fixed code: none of 1 fails, and one must: " + BUG in proof.reason
    assert not cells(proof)["flip 1/2"]


SET_UP = "    def setUp(self):\n        import lib.fresh\n"


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("from lib.fresh import x\n" + RIGHT, Status.SETUP_ERROR),
        (
            RIGHT.replace("    def test_bug", SET_UP + "    def test_bug"),
            Status.SETUP_ERROR,
        ),
        ("import os\n" + RIGHT.replace("self.assertEqual(code.double(3), 6)", "CRASH"), None),
    ],
    ids=["import error", "set-up error", "crash"],
)
def test_a_red_cell_that_only_breaks_cannot_tell(
    project: Project, text: str, status: Status | None
) -> None:
    crash = "code.double(3) == 6 or os._exit(1)"
    files = {
        "lib/code.py": FIXED,
        "lib/fresh.py": "x = 1",
        "tests/test_it.py": text.replace("CRASH", crash),
    }
    proof = proof_of(project, [(Kind.FIX, files, [], [BUG])])
    assert proof.verdict is Verdict.CANNOT_TELL
    assert (status or Status.CRASHED).value in proof.reason
    assert cells(proof)["green 1/1"]


def test_a_series_that_fails_its_own_tests_is_broken(project: Project) -> None:
    wrong = FIXED.replace("number * 2", "number * 3")
    proof = proof_of(
        project,
        [GOOD[0], (Kind.FIX, {"lib/code.py": wrong, "tests/test_it.py": RIGHT}, [], [BUG])],
    )
    assert proof.verdict is Verdict.BROKEN
    assert proof.reason.startswith("change 2's tests on its own commit: 1 failed")
    assert not cells(proof)["green 2/2"]


def test_a_series_that_breaks_the_import_of_a_test_is_broken(project: Project) -> None:
    base = {**BASE, "tests/test_it.py": RIGHT.replace("6)", "5)")}
    broken = FIXED + "\nimport missing_module\n"
    proof = proof_of(project, [(Kind.FIX, {"lib/code.py": broken}, ["tests.test_it"], [])], base)
    assert proof.verdict is Verdict.BROKEN
    assert proof.reason.startswith("change 1's tests on its own commit: 1 set-up error")
    assert cell(proof, "base 0/0").run.selection == ("tests.test_it",)


def test_a_set_up_that_fails_everywhere_cannot_tell(project: Project) -> None:
    text = RIGHT.replace("    def test_bug", SET_UP + "    def test_bug")
    proof = proof_of(
        project, [(Kind.FIX, {"lib/code.py": FIXED, "tests/test_it.py": text}, [], [BUG])]
    )
    assert proof.verdict is Verdict.CANNOT_TELL
    assert "1 set-up error" in proof.reason


def test_what_fails_on_the_base_too_is_named_and_not_blamed(project: Project) -> None:
    old = RECREATE.replace("test_bug", "test_old").replace("code.other(1), 1", "code.other(1), 9")
    base = {**BASE, "tests/test_old.py": old.replace("5)", "5)")}
    changes: list[Change] = [
        GOOD[0],
        (Kind.FIX, {"lib/code.py": FIXED, "tests/test_it.py": RIGHT}, ["tests.test_old.T"], [BUG]),
    ]
    base["tests/test_old.py"] = base["tests/test_old.py"].replace("double(3), 5", "other(3), 3")
    proof = proof_of(project, changes, base)
    assert proof.verdict is Verdict.PROVEN
    assert proof.failing_on_base == ("tests.test_old.T.test_other",)
    assert cell(proof, "base 0/0").run.selection == ("tests.test_old.T.test_other",)
    assert cells(proof)["green 2/2"]


def test_a_test_that_the_series_changes_is_blamed_even_if_it_failed_before(
    project: Project,
) -> None:
    base = {**BASE, "tests/test_it.py": RIGHT.replace("6)", "7)")}
    files = {"lib/code.py": FIXED, "tests/test_it.py": RIGHT.replace("6)", "8)")}
    proof = proof_of(project, [(Kind.FIX, files, [], [BUG])], base)
    assert proof.verdict is Verdict.BROKEN
    assert proof.failing_on_base == ()


def test_a_failure_that_the_fix_does_not_cure_is_no_evidence(project: Project) -> None:
    text = RIGHT.replace("code.double(3), 6", "code.other(1), 1").replace(
        "code.other(1), 1", "code.other(1), 2", 1
    )
    base = {**BASE, "tests/test_it.py": text}
    proof = proof_of(project, [(Kind.FIX, {"lib/code.py": FIXED}, ["tests.test_it"], [])], base)
    assert proof.failing_on_base == (BUG,)
    assert proof.verdict is Verdict.UNPROVEN
    assert not cells(proof)["red 1/0"]


FAR, FAR_FILE = "tests.test_far", "tests/test_far.py"
TOUCHED: dict[str, tuple[str, list[str], Verdict, tuple[str, ...]]] = {
    # the number that a touched test finds right, what is the change's own, the verdict, on the base
    "one that breaks speaks against": ("2 + 3", [BUG], Verdict.BROKEN, ()),
    "one that was broken does not": ("9", [BUG], Verdict.PROVEN, (f"{FAR}.T.test_bug",)),
    "one that the fix mends does not speak for": ("6", [], Verdict.UNPROVEN, ()),
}


@pytest.mark.parametrize(("right", "own", "verdict", "on_base"), TOUCHED.values(), ids=TOUCHED)
def test_what_is_only_touched_runs_once_and_never_speaks_for_a_series(
    project: Project, right: str, own: list[str], verdict: Verdict, on_base: tuple[str, ...]
) -> None:
    """As bug 1682693: 70 tests inherit the helper that a recreate test extends, 2 decide."""
    base = {**BASE, "tests/test_far.py": RIGHT.replace("6)", f"{right})")}
    claim = claim_of(project, [GOOD[0], (*GOOD[1][:2], own or [OTHER], own)], base)
    steps = (claim.steps[0], dataclasses.replace(claim.steps[1], touched=(FAR,)))
    proof = prove(dataclasses.replace(claim, steps=steps), project.trees, runs_of(project))
    assert proof.verdict is verdict, proof.reason
    ran = [one.label for one in proof.cells if FAR in one.run.selection]
    assert ran == ["touched 2/2"]
    assert proof.failing_on_base == on_base


ONCE = """
import os, unittest
from lib import code
print('the module is imported')
class T(unittest.TestCase):
    def test_bug(self):
        if code.double(3) == 6 and not os.path.exists({place!r}):
            open({place!r}, 'w').close()
            {fails}
"""
FAR_BUG = f"{FAR}.T.test_bug"
AGAIN: dict[str, tuple[bool, str, Verdict, Status]] = {
    # whether it is only touched, how it fails the first time, the verdict, how it counts
    "touched, fails": (True, "self.fail('no time')", Verdict.PROVEN, Status.FLAKY),
    "touched, crashes": (True, "os._exit(1)", Verdict.PROVEN, Status.FLAKY),
    "touched, fails again": (
        True,
        "os.unlink({place!r}), self.fail('wrong')",
        Verdict.BROKEN,
        Status.FAILED,
    ),
    "own, fails": (False, "self.fail('no time')", Verdict.CANNOT_TELL, Status.FLAKY),
    "own, fails again": (
        False,
        "os.unlink({place!r}), self.fail('wrong')",
        Verdict.BROKEN,
        Status.FAILED,
    ),
}


@pytest.mark.parametrize(("touched", "fails", "verdict", "status"), AGAIN.values(), ids=AGAIN)
def test_what_would_decide_against_a_series_is_run_once_more_alone(
    project: Project, touched: bool, fails: str, verdict: Verdict, status: Status
) -> None:
    """A machine that is busy fails tests, too: nova's wait for a second and give up."""
    place = str(project.folder / "place")
    text = ONCE.format(place=place, fails=fails.format(place=place))
    named = [BUG] if touched else [BUG, FAR]
    claim = claim_of(project, [GOOD[0], (*GOOD[1][:2], named, [BUG])], {**BASE, FAR_FILE: text})
    if touched:
        steps = (claim.steps[0], dataclasses.replace(claim.steps[1], touched=(FAR,)))
        claim = dataclasses.replace(claim, steps=steps)
    proof = prove(claim, project.trees, runs_of(project))
    assert proof.verdict is verdict, proof.reason
    last = cell(proof, "touched 2/2" if touched else "whole 2/2")
    (result,) = [one for one in last.run.results if one.id == FAR_BUG]
    assert result.status is status
    assert f"run once more, alone: {FAR_BUG}" in last.run.notes
    assert last.run.log is not None
    assert last.run.log.read_text().count("the module is imported") == 2
    if status is Status.FLAKY:
        assert "1 flaky" in last.reason
        assert f"flaky: {FAR_BUG}" in proof.reason
        assert result.detail.startswith("1 times ")


TRACES = """
import os, unittest
LEFT = []
class T(unittest.TestCase):
    def test_1(self):
        open({place!r}, 'a').write('x')
        LEFT.append(1)
        {fails}
    def test_2(self):
        self.assertEqual([], LEFT)
"""


@pytest.mark.parametrize(
    ("fails", "statuses", "ran"),
    [
        ("self.assertEqual('xx', open({place!r}).read())", [Status.FLAKY] * 2, 2),
        ("self.fail('always')", [Status.FAILED] * 2, 2),
    ],
    ids=["each in a process of its own", "one that fails again is enough"],
)
def test_of_several_that_fail_none_sees_the_traces_of_another(
    project: Project, fails: str, statuses: list[Status], ran: int
) -> None:
    project.workshop = dataclasses.replace(project.workshop, jobs=1)
    place = str(project.folder / "place")
    text = TRACES.format(place=place, fails=fails.format(place=place))
    proof = proof_of(project, [(Kind.OTHER, {"tests/test_it.py": text}, ["tests.test_it"], [])])
    assert [one.status for one in cell(proof, "green 1/1").run.results] == statuses
    assert len(Path(place).read_text()) == ran


def test_a_class_that_nobody_named_may_be_a_mere_base(project: Project) -> None:
    text = RIGHT.replace("class T(", "class Base(unittest.TestCase): pass\nclass T(")
    files = {"lib/code.py": FIXED, "tests/test_it.py": text}
    there = [BUG, "tests.test_it.Base"]
    assert proof_of(project, [(Kind.FIX, files, [], there)]).verdict is Verdict.PROVEN
    named = proof_of(project, [(Kind.FIX, files, there, there)])
    assert named.verdict is Verdict.CANNOT_TELL
    assert "1 not run" in named.reason


def test_a_series_without_a_fix_is_proven_by_its_tests(project: Project) -> None:
    files = {"tests/test_it.py": RECREATE}
    proof = proof_of(project, [(Kind.OTHER, files, ["tests.test_it"], [])])
    assert proof.verdict is Verdict.PROVEN
    assert "no fix" in proof.reason
    assert cells(proof) == {"green 1/1": True}


@pytest.mark.parametrize("kind", [Kind.FIX, Kind.OTHER])
def test_a_series_without_tests_is_unproven(project: Project, kind: Kind) -> None:
    proof = proof_of(project, [(kind, {"lib/code.py": FIXED}, [], [])])
    assert proof.verdict is Verdict.UNPROVEN
    assert "names no tests" in proof.reason
    assert proof.cells == ()


def test_a_fix_without_tests_among_others_is_unproven(project: Project) -> None:
    other = {"lib/code.py": FIXED.replace("return number\n", "return number + 0\n")}
    proof = proof_of(project, [*GOOD, (Kind.PARTIAL_FIX, other, [], [])])
    assert proof.verdict is Verdict.UNPROVEN
    assert "change 3 has no test" in proof.reason


def test_a_test_that_does_not_exist_cannot_tell(project: Project) -> None:
    changes = [GOOD[0], (*GOOD[1][:2], ["tests.test_it.T.test_bog"], [BUG])]
    proof = proof_of(project, changes)
    assert proof.verdict is Verdict.CANNOT_TELL
    assert "1 not run" in proof.reason


def test_tests_that_are_all_skipped_say_nothing(project: Project) -> None:
    text = "import unittest\nraise unittest.SkipTest('not here')"
    changes: list[Change] = [(Kind.OTHER, {"tests/test_it.py": text}, ["tests.test_it"], [])]
    assert proof_of(project, changes).verdict is Verdict.CANNOT_TELL


def test_a_test_that_a_later_change_renames_is_not_missed_at_the_end(project: Project) -> None:
    renamed = RIGHT.replace("test_bug", "test_mended")
    changes: list[Change] = [
        (Kind.REGRESSION_TEST, {"tests/test_it.py": RECREATE}, [], [BUG]),
        (
            Kind.FIX,
            {"lib/code.py": FIXED, "tests/test_it.py": renamed},
            ["tests.test_it"],
            ["tests.test_it.T.test_mended"],
        ),
    ]
    proof = proof_of(project, changes)
    assert proof.verdict is Verdict.PROVEN, proof.reason


def test_a_change_that_is_in_already_has_no_cells(project: Project) -> None:
    base = {**BASE, "tests/test_it.py": RECREATE}
    proof = proof_of(project, GOOD, base)
    assert cells(proof) == {"green 2/2": True, "red 2/1": True, "whole 2/2": True}
    assert proof.verdict is Verdict.PROVEN


SOMETIMES = """
import os, unittest
from lib import code
class T(unittest.TestCase):
    def test_bug(self):
        place = {place!r}
        if code.double(3) != {right}:
            seen = os.path.exists(place)
            open(place, 'w').close()
            self.assertTrue({seen})
"""


@pytest.mark.parametrize("seen", ["seen", "not seen"])
def test_a_red_cell_that_is_red_only_sometimes_cannot_tell(project: Project, seen: str) -> None:
    place = str(project.folder / "place")
    text = SOMETIMES.format(place=place, right=6, seen=seen)
    changes: list[Change] = [
        (Kind.FIX, {"lib/code.py": FIXED, "tests/test_it.py": text}, [], [BUG])
    ]
    proof = proof_of(project, changes, options=ProofOptions(repeat=2))
    assert proof.verdict is Verdict.CANNOT_TELL
    assert "none of 1 fails for certain, and one must; 1 flaky" in proof.reason
    assert cell(proof, "red 1/0").run.results[0].status is Status.FLAKY


def test_a_flaky_test_on_a_fixed_commit_cannot_tell(project: Project) -> None:
    place = str(project.folder / "place")
    text = SOMETIMES.format(place=place, right=5, seen="seen")
    changes: list[Change] = [
        (Kind.FIX, {"lib/code.py": FIXED, "tests/test_it.py": text}, [], [BUG])
    ]
    proof = proof_of(project, changes, options=ProofOptions(repeat=2))
    assert proof.verdict is Verdict.CANNOT_TELL
    assert "flaky" in proof.reason


def test_tests_that_write_into_their_tree_do_not_reach_other_trees(project: Project) -> None:
    text = RIGHT.replace(
        "        self.assertEqual(code.double(3)",
        "        open('lib/code.py', 'a').write('# seen')\n"
        "        self.assertEqual(open('lib/code.py').read().count('seen'), 1)\n"
        "        self.assertEqual(code.double(3)",
    )
    changes: list[Change] = [
        (Kind.FIX, {"lib/code.py": FIXED, "tests/test_it.py": text}, [], [BUG])
    ]
    for fresh in (False, True):
        claim = claim_of(project, changes)
        proof = prove(claim, project.trees, runs_of(project, fresh=fresh))
        assert proof.verdict is Verdict.PROVEN, proof.reason


def test_nothing_of_a_proof_is_left_in_the_scratch_folder(project: Project) -> None:
    proof_of(project, GOOD)
    assert [path for path in project.workshop.scratch.iterdir() if path.is_dir()] == []


def test_everything_ends_when_a_person_interrupts(project: Project) -> None:
    mark = f"interrupt-mark-{os.getpid()}"
    text = "import subprocess, sys, unittest\nclass T(unittest.TestCase):\n    def test(self):\n"
    text += (
        f"        subprocess.call([sys.executable, '-c', 'import time; time.sleep(600)', {mark!r}])"
    )
    claim = claim_of(project, [(Kind.OTHER, {"tests/test_it.py": text}, ["tests.test_it"], [])])

    def interrupt() -> None:
        while not living(mark):
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        prove(claim, project.trees, runs_of(project))
    assert living(mark) == []
    assert [path for path in project.workshop.scratch.iterdir() if path.is_dir()] == []


def test_of_several_interpreters_the_worst_verdict_counts(project: Project) -> None:
    good = proof_of(project, GOOD)
    bad = Proof(Verdict.UNPROVEN, "nothing fails")
    both = together([("Python 2.7", good), ("Python 3.5", bad)])
    assert (both.verdict, both.reason) == (Verdict.UNPROVEN, "under Python 3.5: nothing fails")
    assert both.cells == good.cells
    assert together([("Python 2.7", good)]) is good


def test_a_matrix_holds_under_two_interpreters(tmp_path: Path) -> None:
    proofs = []
    for python in ("3", "2.7"):
        project = make_project(python, tmp_path / python)
        proofs.append((python, proof_of(project, GOOD)))
    both = together(proofs)
    assert both.verdict is Verdict.PROVEN
    assert both.reason.startswith("under 3, 2.7: ")


FILLER = "".join(f"FILLER_{number} = {number}\n" for number in range(10))
PIECES = {  # what is changed, into what, and who is to notice
    "LIMIT = 100": "LIMIT = 10",
    "def double(number):\n    return number + 2": "def double(number):\n    return number * 2",
    "def unused(a, b):\n    return a + b": "def unused(a, b):\n    return b + a",
    "def triple(number):\n    return number * 3  # thrice": (
        "def triple(number):\n    return number * 3  # three times"
    ),
}
MANY = FILLER.join(piece + "\n" for piece in PIECES)
MENDED = FILLER.join(piece + "\n" for piece in PIECES.values())


def test_hunks_are_told_by_who_guards_them(project: Project) -> None:
    text = RIGHT.replace("code.other(1), 1", "code.LIMIT, 10")
    text += "        from lib import fresh\n        self.assertEqual(fresh.x, 1)\n"
    files = {
        "lib/code.py": MENDED,
        "lib/empty.py": "# nothing\n",
        "lib/fresh.py": "x = 1\n",
        "lib/notes.rst": "prose\n",
        "tests/test_it.py": text,
    }
    changes: list[Change] = [(Kind.FIX, files, ["tests.test_it"], [BUG, OTHER])]
    proof = proof_of(project, changes, {**BASE, "lib/code.py": MANY}, ProofOptions(hunks=True))
    assert proof.verdict is Verdict.PROVEN, proof.reason
    assert [(hunk.path, hunk.guard, hunk.guarded_by) for hunk in proof.hunks] == [
        ("lib/code.py", Guard.GUARDED, (OTHER,)),
        ("lib/code.py", Guard.GUARDED, (BUG,)),
        ("lib/code.py", Guard.UNGUARDED, ()),
        ("lib/code.py", Guard.NO_CODE, ()),
        ("lib/empty.py", Guard.NO_CODE, ()),
        ("lib/fresh.py", Guard.GUARDED, (OTHER,)),
        ("lib/notes.rst", Guard.NO_CODE, ()),
    ]
    unguarded = proof.hunks[2]
    assert unguarded.run is not None
    assert len(unguarded.run.results) == 2
    assert unguarded.run.green


HUNK_CASES: dict[str, tuple[dict[str, str], dict[str, str | None], str, Guard]] = {
    "a deleted file": (
        {"lib/gone.py": "x = 1"},
        {"lib/gone.py": None},
        "        self.assertRaises(ImportError, __import__, 'lib.gone')",
        Guard.GUARDED,
    ),
    "only set-up notices": (
        {"lib/used.py": "x = 1\n", "lib/code.py": BUGGY},
        {"lib/used.py": "x = 1\ny = 2\n"},
        "        pass\nfrom lib.used import y",
        Guard.GUARDED,
    ),
    "the process dies": (
        {"lib/used.py": "import os\nquit = os._exit\n"},
        {"lib/used.py": "import os\nquit = str\n"},
        "        from lib import used; used.quit(3)",
        Guard.CANNOT_TELL,
    ),
    "carriage returns": (
        {"lib/used.py": "x = '\\r'\r\ny = 1\r\n"},
        {"lib/used.py": "x = '\\r'\r\ny = 2\r\n"},
        "        from lib import used; self.assertEqual(used.y, 2)",
        Guard.GUARDED,
    ),
    "no newline at the end": (
        {"lib/used.py": "y = 1"},
        {"lib/used.py": "y = 2"},
        "        from lib import used; self.assertEqual(used.y, 2)",
        Guard.GUARDED,
    ),
}


@pytest.mark.parametrize(("before", "after", "body", "guard"), HUNK_CASES.values(), ids=HUNK_CASES)
def test_hunks_of_all_kinds_are_left_out(
    project: Project,
    before: dict[str, str],
    after: dict[str, str | None],
    body: str,
    guard: Guard,
) -> None:
    head = "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n"
    first = project.tree({**BASE, **before})
    gone = {path: None for path, text in after.items() if text is None}
    files = {path: text for path, text in after.items() if text is not None}
    tree = project.tree({**files, "tests/test_it.py": head + body}, first)
    tree = project.scratch.update(tree, gone)
    claim = Claim(first, (Step(1, Kind.FIX, tree, ("tests.test_it",)),), ("tests/",))
    proof = prove(claim, project.trees, runs_of(project), ProofOptions(hunks=True))
    assert [hunk.guard for hunk in proof.hunks] == [guard]
    assert proof.hunks[0].run is not None


def test_a_hunk_is_not_guarded_by_tests_that_fail_in_another_order(project: Project) -> None:
    """What a quick test leaves behind makes a long one fail, if it comes after it."""
    project.workshop = dataclasses.replace(project.workshop, jobs=1)
    text = """
    import time, unittest
    LEFT = []
    class T(unittest.TestCase):
        def test_1(self):
            time.sleep(0.2)
            self.assertEqual([], LEFT)
        def test_2(self):
            LEFT.append(1)
    """
    text = textwrap.dedent(text)
    changed = ["tests.test_it.T.test_1", "tests.test_it.T.test_2"]
    files = {"lib/code.py": FIXED, "tests/test_it.py": text}
    claim = claim_of(project, [(Kind.FIX, files, ["tests.test_it"], changed)])
    proof = prove(claim, project.trees, runs_of(project), ProofOptions(hunks=True))
    assert [hunk.guard for hunk in proof.hunks] == [Guard.UNGUARDED]


def test_the_command_of_each_cell_and_hunk_runs_it_again_by_hand(project: Project) -> None:
    proof = proof_of(project, GOOD, options=ProofOptions(hunks=True))
    wanted = {"red 2/1": 1, "flip 1/2": 1, "green 1/1": 0, "green 2/2": 0}
    for label, status in wanted.items():
        assert by_hand(cell(proof, label).run.command) == status, label
    (hunk,) = proof.hunks
    assert hunk.run is not None
    assert by_hand(hunk.run.command) == 1


def by_hand(command: str) -> int:
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert "Ran 1 test" in done.stderr or "Ran 2 tests" in done.stderr, done.stderr
    return done.returncode
