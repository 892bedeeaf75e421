"""The units of tests that still have to be run, in an order in which upstream's runner has them.

Tests leave things behind in their process: nova's ``CellsComputeAPITestCase`` leaves a stub that
makes 14 tests of ``test_compute`` and ``test_compute_api`` fail after it. testtools sorts the tests
of a process by their ids, however they were shared out, and so nobody notices. So here too no
worker goes back, and what upstream has in test runs of its own is kept apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from backport.selection.test_names import covers


@dataclass(frozen=True)
class Next:
    """A unit that is to be run: its number, its place in the order, what of it is left."""

    unit: int
    place: int
    tests: tuple[str, ...]
    group: int


class Line:
    """The units, the first one first.

    :param units: the ids of each unit's tests
    :param expected: seconds that a test will take
    :param apart: folders, such as ``nova/tests/unit/``, or names: no worker runs tests of two
    """

    def __init__(
        self,
        units: Sequence[Sequence[str]],
        expected: Callable[[str], float],
        apart: Iterable[str] = (),
    ) -> None:
        self._expected = expected
        self._apart = [prefix.rstrip("/").replace("/", ".") for prefix in apart]
        numbers = sorted(range(len(units)), key=lambda number: list(units[number]))
        found = [
            Next(number, place, tuple(units[number]), self._group(units[number]))
            for place, number in enumerate(numbers)
        ]
        self._waiting = found[::-1]  # the next one last
        self._longest: list[float] = []
        self._weigh()

    def _group(self, tests: Sequence[str]) -> int:
        fits = (n for n, prefix in enumerate(self._apart) if covers(prefix, tests[0]))
        return next(fits, -1)

    def _weigh(self) -> None:
        longest = 0.0
        self._longest = []
        for one in self._waiting:
            longest = max(longest, sum(map(self._expected, one.tests)))
            self._longest.append(longest)

    def __len__(self) -> int:
        return len(self._waiting)

    def weight(self, ahead: int = 0) -> float:
        """Return the seconds of the longest unit from the one on that is so far ahead.

        What is long has to begin early, and to come to it what is before it has to be done.
        """
        return self._longest[-1 - ahead]

    def group(self) -> int:
        """Return the group of the next one."""
        return self._waiting[-1].group

    def take(self) -> Next:
        """Take the next one."""
        self._longest.pop()
        return self._waiting.pop()

    def put_back(self, unit: Next, tests: Iterable[str]) -> None:
        """Let what is left of a unit come next."""
        self._waiting.append(Next(unit.unit, unit.place, tuple(tests), unit.group))
        self._weigh()

    def rest(self) -> list[str]:
        """Return all tests that are left."""
        return [test for one in self._waiting for test in one.tests]
