"""The phrases that every view uses for the same fact."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from backport.errors import ExitCode
from backport.report.document import (
    Action,
    CellFacts,
    ChangeFacts,
    FileFacts,
    GuardFacts,
    Report,
    Result,
    TestFacts,
    TestRunFacts,
)
from backport.report.text import exception_line, joined, one_line, plural
from backport.runner.results import CellKind, Guard, Status

TITLES: Mapping[Result, str] = {
    Result.PROVEN: "Proven",
    Result.IN_PART: "Proven in part",
    Result.UNPROVEN: "Unproven",
    Result.BROKEN: "Broken",
    Result.CANNOT_TELL: "Could not tell",
    Result.CONFLICT: "Conflict",
    Result.ALREADY_IN: "Already in",
    Result.NOT_TESTED: "Not tested",
    Result.REFUSED: "Refused",
    Result.NOT_DONE: "Not done",
    Result.PASSED: "Passed",
    Result.FAILED: "Failed",
}
# What a reader should feel: "good", "bad", "warn" (a person has to look) or "plain".
TONES: Mapping[Result, str] = {
    Result.PROVEN: "good",
    Result.IN_PART: "warn",
    Result.UNPROVEN: "warn",
    Result.BROKEN: "bad",
    Result.CANNOT_TELL: "warn",
    Result.CONFLICT: "warn",
    Result.ALREADY_IN: "good",
    Result.NOT_TESTED: "plain",
    Result.REFUSED: "warn",
    Result.NOT_DONE: "bad",
    Result.PASSED: "good",
    Result.FAILED: "bad",
}
CELL_RULES: Mapping[CellKind, str] = {
    CellKind.GREEN: "a change's tests on its own code: all must pass",
    CellKind.RED: "the fix's tests on the code before it: at least one must fail",
    CellKind.FLIP: "the test that showed the bug, as it was, on the fixed code: it must fail",
    CellKind.WHOLE: "all targeted tests on the last commit: all must pass",
    CellKind.TOUCHED: "what is only reached through a helper, on the last commit: it must pass",
    CellKind.BASE: "the same tests on the base: what fails there already is not blamed",
}
KIND_TONES: Mapping[CellKind, str] = {
    CellKind.GREEN: "good",
    CellKind.RED: "good",
    CellKind.FLIP: "good",
    CellKind.WHOLE: "good",
    CellKind.TOUCHED: "plain",
    CellKind.BASE: "plain",
}
GUARD_TONES: Mapping[Guard, str] = {
    Guard.GUARDED: "good",
    Guard.UNGUARDED: "bad",
    Guard.NO_CODE: "plain",
    Guard.CANNOT_TELL: "warn",
}
EXIT_WORDS: Mapping[int, str] = {
    ExitCode.DONE: "done",
    ExitCode.NEGATIVE: "the verdict is negative",
    ExitCode.USAGE: "usage, manifest or policy error",
    ExitCode.CONFLICT: "conflict: a person has to look",
    ExitCode.CANNOT_TELL: "could not find out",
    ExitCode.REFUSED: "publishing refused",
    ExitCode.BUG: "a bug in this tool",
    ExitCode.INTERRUPTED: "interrupted",
}
_BRANCH_WORDS: Mapping[Action, str] = {
    Action.CREATED: "created",
    Action.NOTHING_TO_DO: "there already, with the same commits",
    Action.REPLACED: "replaced",
    Action.REFUSED: "left as it was",
    Action.DRY_RUN: "not created: a dry run",
    Action.NONE: "not created",
}
_ENDED: Mapping[Status, str] = {
    Status.ERROR: "ended in an error",
    Status.SETUP_ERROR: "ended in a set-up error",
    Status.EXPECTED_FAILURE: "failed as expected",
    Status.UNEXPECTED_SUCCESS: "passed unexpectedly",
    Status.FLAKY: "failed and passed",
}
SHORT = 10  # characters of a hash, as git abbreviates in a repository of nova's size


def short(commit: str | None) -> str:
    """Return the first ten characters of a hash."""
    return (commit or "")[:SHORT]


def must_fail(cell: CellFacts) -> bool:
    """Whether the proof wants tests of this cell to fail."""
    return cell.kind in (CellKind.RED, CellKind.FLIP)


def ended(tests: Sequence[TestFacts], status: Status) -> str:
    """Return such as ``2 tests failed``; the status is that of all of them."""
    return f"{plural(len(tests), 'test')} {_ENDED.get(status, status.value)}"


def failing(run: TestRunFacts) -> list[TestFacts]:
    """Return the tests that do not speak for the code, save for those that say nothing of it."""
    return [one for one in run.tests if not (one.status.passed or one.status is Status.SKIPPED)]


def blamed(report: Report) -> dict[str, list[TestFacts]]:
    """Return, by a cell's label, what did not pass where it must, each test named once.

    The cells of a tree share a run, and a test often fails alike on several trees.
    """
    said: set[tuple[str, str]] = set()
    found: dict[str, list[TestFacts]] = {}
    for cell in report.proof.cells if report.proof else ():
        tests = [] if cell.ok else failing(cell)
        new = [test for test in tests if (test.id, exception_line(test.detail)) not in said]
        said.update((test.id, exception_line(test.detail)) for test in new)
        found[cell.label] = new
    return found


def nickname(test: str) -> str:
    """Return a test's class and method, without the module."""
    group, name = splits(test)
    return ".".join([*group.split(".")[-1:], name]).removeprefix(".")


def side(number: int) -> str:
    """Return what a number of a cell's label stands for: ``the base`` or ``change 2``."""
    return f"change {number}" if number else "the base"


def cell_title(cell: CellFacts) -> str:
    """Return what was run on what, in words."""
    all_of = {CellKind.WHOLE: "All targeted tests", CellKind.TOUCHED: "Tests that are only touched"}
    tests = all_of.get(cell.kind, f"Tests of {side(cell.tests_of)}")
    return f"{tests} on {'the code of ' if cell.code_of else ''}{side(cell.code_of)}"


def splits(test_id: str) -> tuple[str, str]:
    """Return a test's class and its method; a scenario's parentheses stay with the method."""
    path, bracket, scenario = one_line(test_id).partition("(")
    group, _, name = path.rpartition(".")
    return group, name + bracket + scenario


def by_class(tests: Iterable[TestFacts]) -> list[tuple[str, list[str]]]:
    """Return the tests' methods, in order, grouped by their class."""
    groups: dict[str, list[str]] = {}
    for test in tests:
        group, name = splits(test.id)
        groups.setdefault(group, []).append(name)
    return list(groups.items())


def way_in(file: FileFacts) -> str:
    """Return by which way a file went in, and where the branch knows its place otherwise.

    Such as ``resolved by rule (words of a line); in A.f, which the change knows as A.g``.
    """
    rules = f" ({', '.join(dict.fromkeys(file.rules))})" if file.rules else ""
    renamed = dict.fromkeys((hunk.home, hunk.known_as) for hunk in file.hunks if hunk.known_as)
    homes = (f"; in {here}, which the change knows as {there}" for here, there in renamed)
    return file.rung.value + rules + "".join(homes)


def moves(file: FileFacts) -> str:
    """Return how the hunks of a file landed, such as ``2 hunks moved by −1 to +12 lines``."""
    offsets = [hunk.offset for hunk in file.hunks if hunk.offset]
    if not offsets:
        return "where it was written for"
    ends = dict.fromkeys((min(offsets), max(offsets)))
    span = " to ".join(f"{'+' if end > 0 else '−'}{abs(end)}" for end in ends)
    lines = "line" if set(map(abs, offsets)) == {1} else "lines"
    return f"{plural(len(offsets), 'hunk')} moved by {span} {lines}"


def how_applied(change: ChangeFacts) -> str:
    """Return by which ways a change's files went in: ``2 files exact and 1 file three-way``."""
    if change.already_in:
        seen = change.already_in
        where = f" as {short(seen.commit)}" if seen.commit else ""
        return f"already in{where}, known by its {seen.layer.value}"
    rungs = Counter(file.rung for file in change.files)
    words = [f"{plural(number, 'file')} {rung.value}" for rung, number in rungs.items()]
    moved = sum(1 for file in change.files for hunk in file.hunks if hunk.offset)
    if moved:
        words.append(f"{plural(moved, 'hunk')} moved")
    return joined(words) or "no files"


def guarded(hunks: Sequence[GuardFacts]) -> tuple[int, int]:
    """Return how many of the hunks that change code are guarded by a test, and of how many."""
    code = [hunk for hunk in hunks if hunk.guard is not Guard.NO_CODE]
    return sum(hunk.guard is Guard.GUARDED for hunk in code), len(code)


def branch_words(report: Report) -> str:
    """Return what became of the branch; why it was refused is said once, as the problem."""
    branch, problem = report.branch, report.problem
    reason = "" if problem and problem.message == branch.reason else one_line(branch.reason)
    return _BRANCH_WORDS[branch.action] + (f": {reason}" if reason else "")


def why_no_proof(report: Report) -> str:
    """Return the reason for which there is no matrix."""
    if report.tests_skipped:
        return f"The tests did not run: {one_line(report.tests_skipped)}."
    if report.problem:
        return "No test ran, for the reason above."
    if report.result is Result.CONFLICT:
        return "No test ran: the series is not applied yet."
    if report.result is Result.ALREADY_IN:
        return "No test ran: there was nothing to prove."
    return "No test ran."
