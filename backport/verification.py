"""What a proof needs around it: environments, trees, a place to run tests in, and its tests."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from backport.apply.outcome import Outcome
from backport.environment.environment import describe, ensure_environment
from backport.environment.interpreter import find_interpreter
from backport.errors import ExitCode, UsageError
from backport.progress import Progress
from backport.proof.cells import Ask, Runs
from backport.proof.claims import check_tests, make_claim, tests_changed
from backport.proof.prove import ProofOptions, prove, together
from backport.report.document import EnvironmentFacts
from backport.request import TestOptions
from backport.runner.cpu_tokens import Tokens
from backport.runner.results import Environment, Proof, Run, Status, Verdict
from backport.runner.runner import Workshop
from backport.runner.trees import Trees
from backport.series.model import Branch, Series, TestSettings
from backport.session import Places, Session
from backport.workspace import remove

#: The logs of so many runs are kept, for so long.
KEPT_LOGS, KEPT_SECONDS = 50, 30 * 24 * 3600


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


def exit_code_of_runs(runs: Sequence[Run]) -> ExitCode:
    """Return what runs outside of a proof mean: what could not be told weighs more than a no."""
    unclear = (Status.SETUP_ERROR, Status.TIMED_OUT, Status.CRASHED, Status.NOT_RUN, Status.FLAKY)
    if all(run.green for run in runs):
        return ExitCode.DONE
    told = all(
        not run.problem and run.results and all(one.status not in unclear for one in run.results)
        for run in runs
    )
    return ExitCode.NEGATIVE if told else ExitCode.CANNOT_TELL


def targeted_by(session: Session, branch: Branch, which: str) -> tuple[str, ...]:
    """Return the tests that a commit itself adds or changes.

    :raises UsageError: there are none
    """
    commit = session.scratch.commit(which)
    parents = commit.parents or (commit.id,)
    before = session.scratch.tree(parents[0])
    selected = tests_changed(session.scratch, test_settings(branch), before, commit.tree)
    found = selected.own or selected.touched
    if not found:
        raise UsageError(
            f"{commit.id[:10]} adds or changes no test",
            "Name tests: modules, classes, methods or ids.",
        )
    return found


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
    explicit = Path(os.path.expanduser(options.python)) if options.python else None
    pythons = test_settings(branch).pythons
    progress.step("environment", ", ".join(f"Python {lock.version}" for lock in pythons))
    refused = places.cache / "interpreters.json"
    found = [find_interpreter(lock.version, explicit, places.environ, refused) for lock in pythons]
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
    """Prove what was applied, under each interpreter of the branch.

    :raises UsageError: a named test does not exist
    :raises CannotTellError: no interpreter, or no environment
    """
    settings = test_settings(series.branch)
    claim = make_claim(session.scratch, session.places.cache, settings, outcome)
    environments = ensure_environments(session.places, series.branch, options, progress)
    progress.step("verify", "the tests of each change, on its commit and on the code before it")
    trees = Trees(session.scratch, session.checkout.git_dir, _recipes(session, outcome))
    how = ProofOptions(options.repeat, options.full_red, options.prove_hunks)
    proofs = []
    for environment in environments:
        runs = runs_in(session, environment, settings, options, trees, progress)
        proofs.append((f"Python {environment.version}", prove(claim, trees, runs, how)))
    return Verification(together(proofs), tuple(map(environment_facts, environments)))


def test_commit(
    session: Session,
    branch: Branch,
    commit: str,
    tests: Sequence[str],
    options: TestOptions,
    progress: Progress,
) -> tuple[list[Run], tuple[EnvironmentFacts, ...]]:
    """Run tests on a commit, in each environment of the branch."""
    settings = test_settings(branch)
    tree = session.scratch.tree(commit)
    check_tests(session.scratch, tree, tests)
    trees = Trees(session.scratch, session.checkout.git_dir)
    ask = Ask(f"tests {commit[:10]}", tree, tuple(tests))
    environments = ensure_environments(session.places, branch, options, progress)
    progress.step("test", commit[:10])
    runs = [
        runs_in(session, environment, settings, options, trees, progress).make(
            [ask], options.repeat
        )[0]
        for environment in environments
    ]
    return runs, tuple(map(environment_facts, environments))


def runs_in(
    session: Session,
    environment: Environment,
    settings: TestSettings,
    options: TestOptions,
    trees: Trees,
    progress: Progress,
) -> Runs:
    """Set a workshop up for runs in one environment."""
    jobs = options.jobs or os.cpu_count() or 1
    scratch = session.folder / f"tests-{environment.key}"
    scratch.mkdir()
    workshop = Workshop(scratch, session.places.cache, session.places.environ, jobs, Tokens(jobs))
    return Runs(trees, environment, settings, workshop, progress, options.fresh, logs_of(session))


def logs_of(session: Session) -> Path:
    """Return the folder for what is kept of a run when it is over."""
    logs = session.places.state / "log" / session.folder.name
    if not logs.is_dir():
        drop_old_logs(logs.parent)
        logs.mkdir(parents=True, exist_ok=True)
    return logs


def drop_old_logs(logs: Path) -> None:
    """Drop the logs of runs that nobody will ask for any more; one more is about to be made."""
    with suppress(OSError):  # another run may do so at the same time
        by_age = sorted(logs.glob("run-*"), key=lambda one: one.stat().st_mtime, reverse=True)
        for number, folder in enumerate(by_age, 1):
            if number >= KEPT_LOGS or time.time() - folder.stat().st_mtime > KEPT_SECONDS:
                remove(folder)


def _recipes(session: Session, outcome: Outcome) -> dict[str, str]:
    """Say how a person makes the trees, which may never get into the checkout: base and patches."""
    archive = f"git --git-dir={shlex.quote(str(session.checkout.git_dir))} archive"
    recipe = f"{archive} {outcome.base} | tar -x"
    recipes = {session.scratch.tree(outcome.base): recipe}
    for one in outcome.applied:
        if one.already_in:
            continue
        patch = logs_of(session) / f"change-{one.change.number}.patch"
        patch.write_bytes(session.scratch.diff(one.parent, one.commit))
        recipe += f" && git apply {shlex.quote(str(patch))}"
        recipes[one.tree] = recipe
    return recipes
