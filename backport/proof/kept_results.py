"""Results of runs, kept and reused only for the same tree, tests and environment.

An entry carries a checksum. One that is damaged, or of another version of the tool, is
thrown away and the tests are run.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backport.kept import digest, read_checked, write_checked
from backport.runner.results import Environment, Run, Status, TestResult
from backport.series.model import TestSettings

#: Goes into every key: results of a worker that tells other things are other results.
WORKER_VERSION = "2"


class Results:
    """The kept runs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def key(
        self,
        environment: Environment,
        tree: str,
        selection: Sequence[str],
        settings: TestSettings,
        *how: str,
    ) -> str:
        """Return the key of a run: everything that its results depend on.

        :param how: further things that matter, such as that it stops at the first failure
        """
        return digest(
            WORKER_VERSION,
            environment.key,
            environment.version,
            tree,
            json.dumps(sorted(selection)),
            json.dumps(sorted(settings.environment)),
            json.dumps(settings.test_timeout),
            *how,
        )

    def get(self, key: str) -> Run | None:
        """Return the kept run, marked as reused; None where there is none that can be used."""
        kept = read_checked(self._folder / f"{key}.json")
        try:
            return dataclasses.replace(_run(kept), reused=True) if kept else None
        except (KeyError, TypeError, ValueError):
            return None

    def put(self, key: str, run: Run) -> None:
        """Keep a run whose every test came to an end by itself."""
        unsure = {Status.TIMED_OUT, Status.CRASHED, Status.NOT_RUN}
        if not run.problem and not any(result.status in unsure for result in run.results):
            write_checked(self._folder / f"{key}.json", _plain(run))


def _plain(run: Run) -> dict[str, Any]:
    plain = dataclasses.asdict(dataclasses.replace(run, log=None))
    return {name: value for name, value in plain.items() if name not in ("log", "reused")}


def _run(kept: Mapping[str, Any]) -> Run:
    results = tuple(
        TestResult(result["id"], Status(result["status"]), result["seconds"], result["detail"])
        for result in kept["results"]
    )
    tuples = {name: tuple(kept[name]) for name in ("selection", "notes")}
    return Run(**{**kept, **tuples, "results": results})


class Durations:
    """How long each test took when it ran last, in seconds; long ones go first."""

    def __init__(self, folder: Path, environment: Environment) -> None:
        self._path = folder / f"durations-{environment.key}.json"
        self._known: dict[str, float] = read_checked(self._path) or {}

    def expected(self, test: str) -> float:
        """Return the seconds that a test will take; one that is not known may well be long."""
        return self._known.get(test, 1.0)

    def learn(self, results: Sequence[TestResult]) -> None:
        """Take over how long tests have taken."""
        learned = {result.id: round(result.seconds, 3) for result in results if result.seconds}
        # Another run may have written since: read again, so that little is lost.
        self._known = {**(read_checked(self._path) or {}), **learned}
        write_checked(self._path, self._known)
