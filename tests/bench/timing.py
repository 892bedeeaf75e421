"""Two ways in turns, A B A B …: machines drift, so what counts is the ratio within one turn."""

from __future__ import annotations

import operator
import os
import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Spent:
    """What some work took, in seconds; ``cpu`` counts all processes that it waited for."""

    wall: float
    cpu: float

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.wall + other.wall, self.cpu + other.cpu)


Way = Callable[[], Spent]


def spent(work: Callable[[], object]) -> Spent:
    """Do the work and return what it took."""
    os.sync()  # what was written before it is not its own doing
    began, before = time.perf_counter(), _cpu()
    work()
    return Spent(time.perf_counter() - began, _cpu() - before)


def _cpu() -> float:
    return sum(os.times()[:4])


def in_turns(
    ways: Mapping[str, Way], turns: int, say: Callable[[str], None], warm_up: int = 0
) -> dict[str, tuple[Spent, ...]]:
    """Go each way once a turn, in their order, and return what each took, turn by turn.

    :param warm_up: how many turns are made before, and not counted
    """
    taken: dict[str, list[Spent]] = {name: [] for name in ways}
    for turn in range(1 - warm_up, turns + 1):
        for name, way in ways.items():
            one = way()
            which = f"turn {turn} of {turns}" if turn > 0 else "warm-up"
            say(f"{which}: {name}: {one.wall:.2f} s, {one.cpu:.2f} s of processor time")
            if turn > 0:
                taken[name].append(one)
    return {name: tuple(all_turns) for name, all_turns in taken.items()}


def added(parts: Iterable[tuple[Spent, ...]]) -> tuple[Spent, ...]:
    """Return ways that are gone one after the other as one, turn by turn."""
    return tuple(sum(one[1:], one[0]) for one in zip(*parts, strict=True))


@dataclass(frozen=True)
class Figure:
    """One line of the table: what ours takes of what theirs takes.

    :param what: what is measured
    :param against: what with
    :param aim: at most so much of it is wanted; None: it is told for what it is
    :param how: a ratio, or ``operator.sub`` for seconds more
    """

    what: str
    against: str
    ours: tuple[Spent, ...]
    theirs: tuple[Spent, ...]
    aim: float | None
    how: Callable[[float, float], float] = field(default=operator.truediv)

    @property
    def turns(self) -> list[float]:
        """The figure of each turn."""
        pairs = zip(self.ours, self.theirs, strict=True)
        return [self.how(ours.wall, theirs.wall) for ours, theirs in pairs]

    @property
    def value(self) -> float:
        """The median of the turns."""
        return statistics.median(self.turns)

    @property
    def cpu(self) -> float:
        """The same of processor time, which other work on the machine disturbs less."""
        pairs = [
            (ours.cpu, theirs.cpu) for ours, theirs in zip(self.ours, self.theirs, strict=True)
        ]
        if self.how is operator.truediv and not all(theirs for _, theirs in pairs):
            return float("nan")  # shorter than the clock's tick, 10 ms
        return statistics.median(self.how(ours, theirs) for ours, theirs in pairs)

    @property
    def met(self) -> bool:
        """Whether the aim is reached; one that there is not is."""
        return self.aim is None or self.value <= self.aim


def wall(turns: Iterable[Spent]) -> float:
    """Return the median of what the turns took, in seconds."""
    return statistics.median(one.wall for one in turns)
