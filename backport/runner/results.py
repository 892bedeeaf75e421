"""What running tests gave: values, one per test, per run, per cell of the proof."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path


class Status(str, Enum):
    """How one test ended."""

    PASSED = "passed"
    FAILED = "failed"  # an assertion of the test did not hold
    ERROR = "error"  # an exception out of the test's body or the code under test
    SETUP_ERROR = (
        "set-up error"  # import, collection, setUp or a fixture: says nothing about the code
    )
    SKIPPED = "skipped"
    EXPECTED_FAILURE = "expected failure"
    UNEXPECTED_SUCCESS = "unexpected success"
    TIMED_OUT = "timed out"
    CRASHED = "crashed"  # its process died
    NOT_RUN = "not run"  # named, but nothing ran under that name
    FLAKY = "flaky"  # it was run several times, and passed and failed

    @property
    def passed(self) -> bool:
        """Whether the test speaks for the code."""
        return self in (Status.PASSED, Status.EXPECTED_FAILURE)

    @property
    def red(self) -> bool:
        """Whether the test speaks against the code (and not merely against the set-up)."""
        return self in (Status.FAILED, Status.ERROR, Status.UNEXPECTED_SUCCESS)


#: Which outcome counts where a test has several: the one that needs looking at most.
WORST_FIRST = (
    Status.TIMED_OUT,
    Status.CRASHED,
    Status.SETUP_ERROR,
    Status.NOT_RUN,
    Status.ERROR,
    Status.FAILED,
    Status.UNEXPECTED_SUCCESS,
    Status.FLAKY,
    Status.SKIPPED,
    Status.EXPECTED_FAILURE,
    Status.PASSED,
)
_PLURALS = {
    Status.SETUP_ERROR: "set-up errors",
    Status.ERROR: "errors",
    Status.UNEXPECTED_SUCCESS: "unexpected successes",
    Status.EXPECTED_FAILURE: "expected failures",
}


@dataclass(frozen=True)
class Environment:
    """One interpreter with its locked dependencies, built and ready to run tests in."""

    python: Path  # the interpreter
    key: str  # a digest of the lock and the interpreter: equal keys, equal environments
    version: str  # the interpreter's, "2.7.18"
    folder: Path


@dataclass(frozen=True)
class TestResult:
    """One test: its id, how it ended, and what it said (traceback and captured output)."""

    id: str
    status: Status
    seconds: float
    detail: str = ""

    __test__ = False  # pytest: not a test class


@dataclass(frozen=True)
class Run:
    """One run of the tests of one tree, with all that is needed to believe it (must 6)."""

    tree: str  # git's id of the tree that was run
    selection: tuple[str, ...]  # what was asked for: modules, classes, methods, ids
    results: tuple[TestResult, ...]
    seconds: float
    command: str  # by hand, as a shell takes it
    interpreter: str  # path and version
    environment: str  # the environment's key
    log: Path | None = None
    problem: str = ""  # why the run as a whole cannot be believed: crash, time-out, import error …
    reused: bool = False  # from the cache of results: same tree, tests and environment
    notes: tuple[str, ...] = ()  # such as: the migrated schema was kept

    @property
    def counts(self) -> dict[Status, int]:
        """How many tests ended in which way, what is worst first, and last what was skipped."""
        found = Counter(result.status for result in self.results)
        order = sorted(WORST_FIRST, key=lambda status: status is Status.SKIPPED)
        return {status: found[status] for status in order if found[status]}

    @property
    def green(self) -> bool:
        """Whether everything that was asked for ran, and nothing speaks against the code."""
        return (
            not self.problem
            and bool(self.results)
            and all(
                result.status.passed or result.status is Status.SKIPPED for result in self.results
            )
        )


class Verdict(str, Enum):
    """The verdict of a proof (design, section 2)."""

    PROVEN = "proven"
    UNPROVEN = "unproven"
    BROKEN = "broken"
    CANNOT_TELL = "could-not-tell"


def in_words(counts: Mapping[Status, int]) -> str:
    """Return counts in words, in their order: "2 failed, 712 passed"."""
    said = [
        f"{number:,} {_PLURALS.get(status, status.value) if number > 1 else status.value}"
        for status, number in counts.items()
    ]
    return ", ".join(said) or "no test ran"


class CellKind(str, Enum):
    """What a cell of the matrix means."""

    GREEN = "green"  # a change's tests on its own commit
    RED = "red"  # the fix's tests on the code before it: must fail
    FLIP = "flip"  # the recreate test as it was, on the fixed code: must fail
    WHOLE = "whole"  # all targeted tests on the last commit
    TOUCHED = "touched"  # what is reached through a helper alone: speaks against, never for
    BASE = "base"  # what fails on the base already is not blamed


@dataclass(frozen=True)
class Cell:
    """Tests of one commit on the code of another, by the changes' numbers; 0 is the base."""

    kind: CellKind
    tests_of: int
    code_of: int
    run: Run
    ok: bool  # came out as the proof wants it
    cut: bool = False  # red cell: only the tests that the fix adds or changes
    reason: str = ""  # how it came out: the one statement of it that is printed anywhere
    evidence: tuple[str, ...] = ()  # of a red cell: ids that fail here, and pass on their commit
    verdict: Verdict = Verdict.CANNOT_TELL  # what it speaks for

    @property
    def label(self) -> str:
        """A short name, unique within a matrix."""
        return f"{self.kind.value} {self.tests_of}/{self.code_of}"


class Guard(str, Enum):
    """Whether a hunk of the fix earns its place."""

    GUARDED = "guarded"  # without it, a targeted test fails
    UNGUARDED = "unguarded"  # without it, all targeted tests still pass
    NO_CODE = "no code"  # comments, docstrings, blank lines: not run
    CANNOT_TELL = "could-not-tell"


@dataclass(frozen=True)
class HunkProof:
    """One hunk of the fix, left out: who noticed."""

    change: int
    path: str
    header: str  # the @@ line
    guard: Guard
    guarded_by: tuple[str, ...] = ()  # test ids
    run: Run | None = None
    reason: str = ""


@dataclass(frozen=True)
class Proof:
    """The matrix, and the verdict drawn from it, in one sentence."""

    verdict: Verdict
    reason: str
    cells: tuple[Cell, ...] = ()
    hunks: tuple[HunkProof, ...] = ()
    failing_on_base: tuple[str, ...] = ()  # test ids that fail there already
