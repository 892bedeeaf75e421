"""Being ended: by Ctrl-C, or asked by the system; neither is lost, wherever Python is at it."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from backport.errors import InterruptedAfterError

_SOON = 0.01  # seconds
_NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)


@contextmanager
def interrupts() -> Iterator[None]:
    """Let SIGTERM end a run as Ctrl-C does, by a :class:`KeyboardInterrupt` within.

    One that comes while an object is being cleaned up (in a ``__del__``) is printed and
    forgotten by Python (:func:`sys.unraisablehook`): it comes again, a moment later. One that
    a library has made another error of (pydantic's SchemaError) is taken for what it was.

    :raises KeyboardInterrupt: also in place of an error that comes after one
    """
    asked = False

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        nonlocal asked
        asked = True
        raise KeyboardInterrupt

    before = [signal.signal(number, interrupt) for number in _NUMBERS]
    hook, sys.unraisablehook = sys.unraisablehook, _again
    try:
        yield
    except Exception as error:
        if asked and not isinstance(error, InterruptedAfterError):
            raise KeyboardInterrupt from error
        raise
    finally:
        sys.unraisablehook = hook
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in zip(_NUMBERS, before, strict=True):
            signal.signal(number, handler)


@contextmanager
def deferred() -> Iterator[None]:
    """Let what takes a moment, and must not be done by half, be done; an interrupt comes after it.

    A second one does not wait: it may take longer than a moment, on a disk that does not answer.
    Only the main thread gets interrupts (:mod:`signal`); in others this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    asking = (signal.SIGINT, signal.SIGTERM)

    def wait(number: int, _frame: FrameType | None) -> None:
        came.append(number)
        if len(came) > 1:
            raise KeyboardInterrupt

    before = [signal.signal(number, wait) for number in asking]
    try:
        yield
    finally:
        for number, handler in zip(asking, before, strict=True):
            signal.signal(number, handler)
        for asked in came[:1]:
            signal.raise_signal(asked)


def _again(lost: Any) -> None:
    if lost.exc_type is KeyboardInterrupt:
        signal.setitimer(signal.ITIMER_REAL, _SOON)
    else:
        sys.__unraisablehook__(lost)
