"""What a run is told, and what it tells: see :mod:`backport.runner.protocol`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from backport.runner.results import TestResult


class Listener(Protocol):
    """Who hears of tests while they run."""

    def loaded(self, total: int) -> None:
        """The tests are known: so many."""

    def test(self, result: TestResult) -> None:
        """A test has ended."""


@dataclass(frozen=True)
class Terms:
    """How a run is to be made."""

    jobs: int
    deadline: float  # of the monotonic clock
    test_timeout: float  # seconds
    expected: Callable[[str], float]  # seconds that a test will take
    fail_fast: bool
    apart: tuple[str, ...]  # what no two tests of one process are of: see Line
    broken_off: Callable[[], str]  # why the run has to end now, or ""
    kept: Callable[[str, Any], None]  # what the project's fixtures have worked out


@dataclass
class Told:
    """What came of it."""

    results: list[TestResult] = field(default_factory=list)
    problem: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    stopped: bool = False  # at the first failure, as asked
