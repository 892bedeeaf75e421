"""Everything around the proof: the environments, the workshop, the trees; and what the verdict means."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from backport.apply.outcome import Outcome
from backport.errors import ExitCode, UsageError
from backport.progress import Progress
from backport.report.document import EnvironmentFacts
from backport.request import TestOptions
from backport.series.model import Branch, Series, TestSettings
from backport.session import Places, Session
from backport.verify.environment import describe, ensure_environment
from backport.verify.interpreter import find_interpreter
from backport.verify.results import Environment, Proof, Run, Verdict


@dataclass(frozen=True)
class Verification:
    """What the tests said, and in which environments."""

    proof: Proof
    environments: tuple[EnvironmentFacts, ...]


def exit_code_of(verdict: Verdict) -> ExitCode:
    """Return what a verdict means for whoever waits for the command."""
    return {
        Verdict.PROVEN: ExitCode.DONE,
        Verdict.UNPROVEN: ExitCode.NEGATIVE,
        Verdict.BROKEN: ExitCode.NEGATIVE,
        Verdict.CANNOT_TELL: ExitCode.CANNOT_TELL,
    }[verdict]


def test_settings(branch: Branch) -> TestSettings:
    """Return how the branch's tests are run.

    :raises UsageError: its branch.yaml does not say
    """
    if branch.tests is None:
        raise UsageError(
            f"{branch.folder / 'branch.yaml'} does not say how tests are run",
            "Add a section tests:, or go on without proof: --skip-tests",
        )
    return branch.tests


def ensure_environments(
    places: Places, branch: Branch, options: TestOptions, progress: Progress
) -> list[Environment]:
    """Find the branch's interpreters, and build the environments that are not there yet."""
    explicit = Path(options.python).expanduser() if options.python else None
    pythons = test_settings(branch).pythons
    found = [find_interpreter(lock.version, explicit, places.environ) for lock in pythons]
    return [
        ensure_environment(lock.requirements, interpreter, places.cache, places.environ, progress)
        for lock, interpreter in zip(pythons, found, strict=True)
    ]


def environment_facts(environment: Environment) -> EnvironmentFacts:
    """Say what an environment is."""
    known = describe(environment)
    return EnvironmentFacts(
        interpreter=known.interpreter,
        version=environment.version,
        lock=known.lock,
        lock_sha256=known.lock_sha256,
        key=environment.key,
        packages=known.packages,
    )


def verify(
    session: Session,
    series: Series,
    outcome: Outcome,
    options: TestOptions,
    progress: Progress,
) -> Verification:
    """Prove what was applied."""
    raise NotImplementedError
