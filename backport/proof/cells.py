"""Several runs side by side: from a tree's id to its run, kept, or made and then kept."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from backport.environment.cleanup import tidy
from backport.progress import Progress
from backport.runner.exported_tree import Store, TreeFolder
from backport.runner.kept_results import Results
from backport.runner.results import (
    WORST_FIRST,
    Environment,
    Run,
    Status,
    TestResult,
    in_words,
)
from backport.runner.runner import Manner, Workshop, run_tests
from backport.runner.trees import Trees
from backport.series.model import TestSettings
from backport.workplace import workplace
from backport.workspace import remove

#: Runs that go on at once. More than there are cores, for one may be importing while another is
#: at its last long test; not many more, for each holds the imported project in memory.
_AT_ONCE = 4


@dataclass(frozen=True)
class Ask:
    """Which tests of which tree are to be run; ``label`` is what they are called while they run."""

    label: str
    tree: str
    selection: tuple[str, ...]
    fail_fast: bool = False
    wants_red: bool = False  # it comes out well if a test fails
    again: Run | None = None  # each of these tests alone, after this run of the same tree


class Runs:
    """Makes runs in one environment.

    :param fresh: whether what is kept of earlier runs is left aside
    :param logs: the folder for what test processes print; None: in the scratch folder
    """

    def __init__(
        self,
        trees: Trees,
        environment: Environment,
        settings: TestSettings,
        workshop: Workshop,
        progress: Progress,
        fresh: bool = False,
        logs: Path | None = None,
    ) -> None:
        self._trees, self._environment, self._settings = trees, environment, settings
        self._workshop, self.progress, self._fresh = workshop, progress, fresh
        self._logs = logs or workshop.scratch
        self._store = Store(workshop.cache / "trees")
        self._results = Results(workshop.cache / "results")
        self._numbers = itertools.count(1)
        self._place = workshop.scratch
        tidy(workshop.cache)

    def make(self, asks: Sequence[Ask], repeat: int = 1) -> list[Run]:
        """Return a run for each ask, in their order; they go on side by side.

        :param repeat: how often each is made; tests that do not always end the same are flaky
        :raises KeyboardInterrupt: after all that was running is ended
        """
        with workplace(self._workshop.scratch) as place, ThreadPoolExecutor(_AT_ONCE) as pool:
            self._place = place
            try:
                # Trees are laid out here, one after the other, while the first are running.
                waiting = [
                    [self._begin(pool, ask, number) for number in range(repeat)] for ask in asks
                ]
                return [repeated([self._end(pool, one) for one in runs]) for runs in waiting]
            except BaseException:
                self._workshop.stop.set()
                raise

    def _begin(self, pool: ThreadPoolExecutor, ask: Ask, number: int) -> _Waiting:
        key = self._results.key(
            self._environment,
            ask.tree,
            ask.selection,
            self._settings,
            *(["fail fast"] if ask.fail_fast else []),
            *(["alone"] if ask.again else []),
            *([f"repeat {number}"] if number else []),
        )
        kept = None if self._fresh else self._results.get(key)
        if kept:
            self.progress.cell_started(ask.label, len(kept.results))
            self.progress.cell_finished(ask.label, _summary(kept) + ", kept", _well(ask, kept))
            done: Future[Run | None] = Future()
            done.set_result(kept)
            return _Waiting(ask, key, done)
        return _Waiting(ask, key, pool.submit(self._run, ask, key, self._lay_out(ask.tree)))

    def _end(self, pool: ThreadPoolExecutor, waiting: _Waiting) -> Run:
        run = waiting.run.result()
        if run is None:
            laid = self._lay_out(waiting.ask.tree, private=True)
            run = pool.submit(self._run, waiting.ask, waiting.key, laid).result()
        assert run is not None
        return run

    def _lay_out(self, tree: str, private: bool = False) -> TreeFolder:
        folder = self._place / f"tree-{next(self._numbers)}"
        return self._store.lay_out(self._trees, tree, folder, self._environment, private)

    def _run(self, ask: Ask, key: str, laid: TreeFolder) -> Run | None:
        """Make a run, and keep it; None where it has to be made again in a folder of its own.

        On disk a laid out tree shares its files with others. What a test writes into one may be
        seen by another run, and the other way round; both notice, by the times of the files.
        """
        name = f"{laid.folder.name}-{ask.label.replace(' ', '-').replace('/', '-')}.log"
        settings, jobs = self._settings, self._workshop.jobs
        if ask.again:
            settings, jobs = replace(settings, apart=ask.selection), 1
        manner = Manner(
            ask.fail_fast,
            self._trees.recipe(ask.tree),
            (ask.again.log if ask.again else None) or self._logs / name,
            loaded=partial(self.progress.cell_started, ask.label),
            heard=lambda one: self.progress.cell_test(ask.label, one.id, not _failed(one.status)),
        )
        try:
            run = run_tests(
                self._environment,
                laid,
                ask.selection,
                settings,
                replace(self._workshop, scratch=self._place, jobs=jobs),
                manner,
            )
            if laid.shared and laid.changed():
                return None
            self._store.keep_bytecode(laid, self._environment)
        finally:
            remove(laid.folder)
        self._results.put(key, run)
        self.progress.cell_finished(ask.label, _summary(run), _well(ask, run))
        return run


@dataclass(frozen=True)
class _Waiting:
    """A run that was begun: None will come out if it has to be made again."""

    ask: Ask
    key: str
    run: Future[Run | None]


def _failed(status: Status) -> bool:
    return not status.passed and status not in (Status.SKIPPED, Status.NOT_RUN)


def _well(ask: Ask, run: Run) -> bool | None:
    """Whether a run is green; what must fail is judged later, beside what passes."""
    return None if ask.wants_red and not run.problem else run.green


def _summary(run: Run) -> str:
    problem = run.problem.partition("\n")[0]
    return "; ".join(filter(None, [problem, in_words(run.counts)]))


def repeated(runs: Sequence[Run]) -> Run:
    """Return several runs of the same as one: a test that passed and did not is flaky."""
    if len(runs) == 1:
        return runs[0]
    by_id: dict[str, list[TestResult]] = {}
    for result in itertools.chain.from_iterable(run.results for run in runs):
        by_id.setdefault(result.id, []).append(result)
    problem = next((run.problem for run in runs if run.problem), "")
    return replace(
        runs[0],
        results=tuple(_together(results, len(runs)) for results in by_id.values()),
        seconds=sum(run.seconds for run in runs),
        problem=problem,
        reused=all(run.reused for run in runs),
        notes=(*dict.fromkeys(note for run in runs for note in run.notes), _times(len(runs))),
    )


def once_more(run: Run, again: Run) -> Run:
    """Return a run with what came of those of its tests that were run again, alone."""
    ids = {one.id for one in again.results if one.status is not Status.NOT_RUN}
    first = replace(run, results=tuple(one for one in run.results if one.id in ids))
    second = replace(again, results=tuple(one for one in again.results if one.id in ids))
    told = {one.id: one for one in (*run.results, *repeated([first, second]).results)}
    note = f"run once more, alone: {', '.join(sorted(ids))}"
    return replace(
        run,
        results=tuple(told.values()),
        seconds=run.seconds + again.seconds,
        notes=(*run.notes, note),
    )


def _times(number: int) -> str:
    return f"run {number} times"


def _together(results: Sequence[TestResult], times: int) -> TestResult:
    worst = min(results, key=lambda one: WORST_FIRST.index(one.status))
    counts = _counts(result.status.value for result in results)
    passed = [result.status.passed for result in results]
    if any(passed) and not (all(passed) and len(results) == times):
        worst = replace(worst, status=Status.FLAKY, detail=f"{counts}\n\n{worst.detail}")
    return replace(worst, seconds=sum(result.seconds for result in results))


def _counts(words: Iterable[str]) -> str:
    said = sorted(words)
    return ", ".join(f"{said.count(word)} times {word}" for word in dict.fromkeys(said))
