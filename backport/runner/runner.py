"""Runs the tests of one tree: starts :mod:`backport.runner.worker` in it, and sets its bounds."""

from __future__ import annotations

import json
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from backport.process import BoundedFile, Command, Running
from backport.runner.cpu_tokens import Tokens
from backport.runner.exported_tree import TreeFolder
from backport.runner.kept_results import Durations, Keepsakes
from backport.runner.messages import Terms, Told
from backport.runner.protocol import Dialogue
from backport.runner.results import WORST_FIRST, Environment, Run, TestResult
from backport.runner.test_environ import entry_points_folder, surroundings
from backport.series.model import TestSettings
from backport.workplace import full
from backport.workspace import remove

_WORKER = Path(__file__).with_name("worker") / "worker.py"
_LOG_LIMIT = 10_000_000  # bytes


@dataclass(frozen=True)
class Workshop:
    """What all runs of a command share.

    :param scratch: an existing folder for whatever a run needs; best on the file system of
        ``cache``, so that trees can be linked
    :param cache: what may be used again: files, bytecode, results, durations
    :param environ: the environment that the command was started in; little of it is taken over
    :param jobs: workers that one run may have
    :param tokens: as many as there are cores, shared by runs side by side
    :param stop: set it to end all runs
    """

    scratch: Path
    cache: Path
    environ: Mapping[str, str]
    jobs: int
    tokens: Tokens
    stop: threading.Event = field(default_factory=threading.Event)


def _unheard(_said: object) -> None:
    """Nobody listens."""


@dataclass(frozen=True)
class Manner:
    """How a run is made, beyond which tests.

    :param fail_fast: stop at the first test that does not pass
    :param prelude: shell commands that put the tree into the current folder, for the command that
        a person can run; without them the command names the folder that the tree was in
    :param log: what the test process itself prints, such as warnings at import, is added to it
    :param loaded: is told how many tests there are
    :param heard: is told of each test when it ends
    """

    fail_fast: bool = False
    prelude: str = ""
    log: Path | None = None
    loaded: Callable[[int], object] = _unheard
    heard: Callable[[TestResult], object] = _unheard


def run_tests(
    environment: Environment,
    tree: TreeFolder,
    selection: Sequence[str],
    settings: TestSettings,
    workshop: Workshop,
    manner: Manner = Manner(),
) -> Run:
    """Run tests of a tree that is laid out in a folder.

    Never raises for anything that the tests do: what kept a run from being believed is its
    ``problem``, what kept a test from running is its status.

    :param selection: modules, packages, classes, methods, or ids
    :raises StartError: the environment's interpreter cannot be started
    :raises OSError: the scratch folder cannot be written to
    """
    began = time.monotonic()
    home = Path(tempfile.mkdtemp(prefix="home-", dir=workshop.scratch))
    try:
        points = entry_points_folder(tree.folder, workshop.cache / "entry-points")
        around = surroundings(workshop.environ, environment, tree.folder, points, home, settings)
        kept_in = workshop.cache / "keepsakes"
        keepsakes = Keepsakes(kept_in, settings.keepsakes, tree.files, environment)
        durations = Durations(workshop.cache, environment)
        spec = home.with_name(home.name + ".json")
        named = {"root": str(tree.folder), "names": list(selection)}
        kept = {"keepsakes": keepsakes.specs(), "patterns": keepsakes.patterns}
        spec.write_text(json.dumps(named | kept))
        terms = _terms(workshop, settings, manner, durations, keepsakes)
        command = (str(environment.python), str(_WORKER), str(spec))
        start = Command(command, tree.folder, around.variables)
        told = _talk(start, manner.log or spec.with_suffix(".log"), workshop.tokens, terms)
    finally:
        remove(home)
    durations.learn(told.results)
    runner = told.facts.get("runner", "unittest")
    return Run(
        tree=tree.tree,
        selection=tuple(selection),
        results=folded(told.results),
        seconds=time.monotonic() - began,
        command=around.by_hand(manner.prelude, tree.folder, runner, selection),
        interpreter=f"{environment.python} ({told.facts.get('python', environment.version)})",
        environment=environment.key,
        log=manner.log,
        problem=told.problem,
        notes=tuple(_notes(told, keepsakes)),
    )


def _notes(told: Told, keepsakes: Keepsakes) -> Iterator[str]:
    yield from map(keepsakes.said_of, told.facts.get("given", ()))
    if told.stopped:
        yield "stopped at the first test that did not pass"


def _talk(start: Command, log_file: Path, tokens: Tokens, terms: Terms) -> Told:
    orders_out, control = os.pipe()
    events, records_in = os.pipe()
    theirs = [orders_out, records_in]
    log = BoundedFile(log_file, _LOG_LIMIT, "ab")

    def started() -> Running:
        process = Running(replace(start, argv=(*start.argv, *map(str, theirs))), tuple(theirs))
        while theirs:
            os.close(theirs.pop())
        return process

    dialogue = Dialogue(control, events, tokens, terms)
    try:
        told = dialogue.hold(started, log.add)
    finally:
        log.close()
        for fd in theirs:
            os.close(fd)
    if told.problem:
        said = dialogue.output.value().decode("utf-8", "replace").strip()
        told.problem += f"; it said:\n{said}" if said else ""
    return told


def _terms(
    workshop: Workshop,
    settings: TestSettings,
    manner: Manner,
    durations: Durations,
    keepsakes: Keepsakes,
) -> Terms:
    def broken_off() -> str:
        if workshop.stop.is_set():
            return "interrupted"
        full_up = full(workshop.scratch)
        return f"there is no more room in {workshop.scratch}" if full_up else ""

    return Terms(
        jobs=workshop.jobs,
        deadline=time.monotonic() + settings.timeout,
        test_timeout=settings.test_timeout,
        expected=durations.expected,
        fail_fast=manner.fail_fast,
        apart=settings.apart,
        broken_off=broken_off,
        kept=keepsakes.keep,
        loaded=manner.loaded,
        heard=manner.heard,
    )


def folded(results: Iterable[TestResult]) -> tuple[TestResult, ...]:
    """Return one result per id, the worst, in the order of ids."""
    by_id: dict[str, TestResult] = {}
    for result in results:
        before = by_id.get(result.id)
        if before is None:
            by_id[result.id] = result
        else:
            worst = min(before, result, key=lambda one: WORST_FIRST.index(one.status))
            by_id[result.id] = replace(worst, seconds=before.seconds + result.seconds)
    return tuple(by_id[test] for test in sorted(by_id))
