"""``make bench ARGS=warm``: a second run that has nothing to do, against Python's own start."""

from __future__ import annotations

import operator
import sys
from functools import partial

from bench.stand import Stand, run
from bench.table import Section
from bench.timing import Figure, Spent, in_turns, spent

_TURNS = 9


def measure(stand: Stand) -> list[Section]:
    """Measure the second run."""
    stand.provide_environment()
    where = ("--checkout", str(stand.copy()), "--onto", stand.base)
    again = partial(stand.backport, "run", str(stand.series.folder), *where)
    stand.say("the first run, which proves the series")
    first = spent(again)
    ways = {
        "python -c pass": partial(_start, stand),
        "nothing to do": partial(spent, again),
    }
    taken = in_turns(ways, stand.turns or _TURNS, stand.say, warm_up=1)
    figure = Figure(
        "a second run", "python -c pass", taken["nothing to do"], taken["python -c pass"], 1.5,
        operator.sub,
    )  # fmt: skip
    note = f"The first run took {first.wall:.1f} s, its environment being there."
    return [Section("Nothing to do", (figure,), (note,))]


def _start(stand: Stand) -> Spent:
    return spent(partial(run, [sys.executable, "-c", "pass"], stand.own.environ))
