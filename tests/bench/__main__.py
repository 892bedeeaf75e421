"""``make bench``: figures with their aims beside them. It measures; it never fails for a figure.

NOVA=PATH is a clone to measure on (left out: the built-in checkout), ONTO=REV a commit of it,
CONSTRAINTS=FILE upstream's constraints, which the section ``environment`` needs. Two sections have
to be named: ``equality`` compares outcomes with upstream's, test by test; ``pairs`` proves what
history has of recreate tests and their fixes (``make bench-pairs``).
"""

from __future__ import annotations

import argparse
import importlib
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType

from rich.console import Console

from backport.errors import BackportError
from bench.stand import BenchError, Stand, open_stand
from bench.table import Section, show

_SECTIONS = ("engine", "proof", "environment", "warm")
_ASKED_FOR = ("equality", "pairs")  # sections that are not measured unless they are named
_WIDTH = 132  # of the table where standard output is no terminal


def main(argv: Sequence[str]) -> int:
    """Measure what is asked for; 1: some of it could not be measured."""
    parser = argparse.ArgumentParser(prog="make bench ARGS=…", description=__doc__)
    parser.add_argument(
        "sections", nargs="*", metavar="SECTION", help=" ".join(_SECTIONS + _ASKED_FOR)
    )
    parser.add_argument("--turns", type=int, metavar="N", help="how often each way is gone")
    asked = parser.parse_args(argv)
    if unknown := set(asked.sections) - {*_SECTIONS, *_ASKED_FOR}:
        parser.error(f"there is no section {', '.join(sorted(unknown))}")
    if asked.turns is not None and asked.turns < 1:
        parser.error("--turns: at least 1")
    before = os.getloadavg()[0]
    try:
        with open_stand(asked.turns, _say) as stand:
            found = [_measured(name, stand) for name in asked.sections or _SECTIONS]
    except BackportError as error:
        _say(f"{error.message}\n{error.hint}")
        return 1
    output = Console(width=None if sys.stdout.isatty() else _WIDTH, highlight=False)
    show([section for part in found if part for section in part], output)
    output.print(f"\n{_conditions(before)}", soft_wrap=True)
    return 0 if all(part is not None for part in found) else 1


def _measured(name: str, stand: Stand) -> list[Section] | None:
    """Measure one section; None where that was not possible, which is told."""
    try:
        sections: list[Section] = importlib.import_module(f"bench.{name}").measure(stand)
    except (BenchError, BackportError) as error:
        _say(f"{name} could not be measured: {error}")
        return None
    return sections


def _conditions(before: float) -> str:
    cores = len(os.sched_getaffinity(0))
    return (
        f"Medians; “median” is that of the turns' ratios. {cores} cores; load {before:.1f} before, "
        f"{os.getloadavg()[0]:.1f} after: well above {cores} from others, the figures mean little."
    )


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _terminated(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _terminated)  # its folder goes away all the same
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
