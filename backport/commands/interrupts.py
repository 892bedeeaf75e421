"""Being ended: by Ctrl-C, or asked by the system; neither is lost, wherever Python is at it."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_SOON = 0.01  # seconds


@contextmanager
def interrupts() -> Iterator[None]:
    """Let SIGTERM end a run as Ctrl-C does, by a :class:`KeyboardInterrupt` within.

    One that comes while an object is being cleaned up (in a ``__del__``) is printed and
    forgotten by Python (:func:`sys.unraisablehook`): it comes again, a moment later.
    """
    numbers = (signal.SIGTERM, signal.SIGALRM)
    before = [signal.signal(number, _interrupt) for number in numbers]
    hook, sys.unraisablehook = sys.unraisablehook, _again
    try:
        yield
    finally:
        sys.unraisablehook = hook
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _again(lost: Any) -> None:
    if lost.exc_type is KeyboardInterrupt:
        signal.setitimer(signal.ITIMER_REAL, _SOON)
    else:
        sys.__unraisablehook__(lost)
