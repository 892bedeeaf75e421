"""What can go wrong, each with the exit code that the user sees.

Only :mod:`backport.cli` turns these into output and an exit status.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path


class ExitCode(IntEnum):
    """The exit codes of every command."""

    DONE = 0
    NEGATIVE = 1
    USAGE = 2
    CONFLICT = 3
    CANNOT_TELL = 4
    REFUSED = 5
    BUG = 70  # EX_SOFTWARE of sysexits.h
    INTERRUPTED = 130  # 128 + SIGINT


class BackportError(Exception):
    """An error that the user can do something about: one clear line, and a remedy.

    :param message: what is wrong, and where
    :param hint: what to do about it; may hold several lines
    """

    exit_code = ExitCode.CANNOT_TELL

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(BackportError):
    """The command, the series or the checkout cannot be meant so."""

    exit_code = ExitCode.USAGE


class ConflictError(BackportError):
    """A person has to look."""

    exit_code = ExitCode.CONFLICT


class CannotTellError(BackportError):
    """It could not be found out: no interpreter, no environment, a time-out, a broken git."""

    exit_code = ExitCode.CANNOT_TELL


class RefusedError(BackportError):
    """Publishing was refused: the branch moved, or holds something else."""

    exit_code = ExitCode.REFUSED


class InterruptedAfterError(BackportError):
    """An interrupt that came too late to stop what it was to stop."""

    exit_code = ExitCode.INTERRUPTED


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong in a file; ``line`` counts from 1, 0 is the whole file."""

    file: Path
    line: int
    message: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else str(self.file)
        return f"{place}: {self.message}"


class ManifestError(UsageError):
    """Everything that is wrong with the files of a series, at once."""

    def __init__(self, problems: list[Problem], hint: str = "") -> None:
        super().__init__("\n".join(str(problem) for problem in problems), hint)
        self.problems = tuple(problems)
