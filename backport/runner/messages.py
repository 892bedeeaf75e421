"""What a run is told, and what it tells: see :mod:`backport.runner.protocol`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from backport.runner.results import TestResult


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
    loaded: Callable[[int], object]  # so many tests are known
    heard: Callable[[TestResult], object]  # a test has ended


@dataclass
class Told:
    """What came of it."""

    results: list[TestResult] = field(default_factory=list)
    problem: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    stopped: bool = False  # at the first failure, as asked
