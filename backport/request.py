"""What a person asked for, as values; the command line makes them, the pipeline reads them."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class TestOptions(BaseModel):
    """How tests are run.

    :param python: an interpreter to take; None is to look for one
    :param jobs: test processes side by side; None is as many as there are cores
    :param repeat: how often each test runs, to tell a flaky one from a failing one
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    python: str | None = None
    jobs: int | None = None
    repeat: int = 1
    fresh: bool = False
    full_red: bool = False
    prove_hunks: bool = False

    __test__ = False  # pytest: not a test class


class RunRequest(BaseModel):
    """The options of ``backport run``. What they mean stands in its help."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    series: str
    checkout: str | None = None
    onto: str | None = None
    branch_name: str | None = None
    dry_run: bool = False
    skip_tests: bool = False
    replace: bool = False
    accept_moved: tuple[tuple[str, int], ...] = ()
    tests: TestOptions = TestOptions()


class TestRequest(BaseModel):
    """The arguments and options of ``backport test``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rev: str
    tests: tuple[str, ...] = ()
    checkout: str | None = None
    series: str | None = None
    change: int | None = None
    how: TestOptions = TestOptions()

    __test__ = False  # pytest: not a test class
