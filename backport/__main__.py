"""The way in, for ``backport`` and ``python -m backport``: an interrupt is heard from here on.

Loading the rest takes half a second, in which Python would answer Ctrl-C with a traceback.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from types import FrameType


def entry_point() -> None:
    """Be the command ``backport``."""
    hear()
    from backport.cli import main

    sys.exit(main())


def hear() -> None:
    """Take Ctrl-C and SIGTERM for interrupts, where they are not to be ignored (nohup)."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _end)


def _end(_number: int, _frame: FrameType | None) -> None:
    """End at once: before and after :func:`backport.interrupts.interrupts` nothing is half done."""
    with suppress(Exception):  # a second flush within one
        sys.stdout.flush()
    os.write(2, b"error: interrupted\n")
    os._exit(130)


if __name__ == "__main__":
    entry_point()
