"""What is kept of runs for the next one: results, times, and what fixtures have worked out.

Results are reused only for the same tree, tests and environment. An entry carries a checksum. One
that is damaged, or of another version of the tool, is thrown away and the tests are run.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backport.checkout.objects import Entry
from backport.kept import digest, read_checked, write_checked
from backport.runner.results import Environment, Run, Status, TestResult
from backport.series.model import Keepsake, TestSettings

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


class Keepsakes:
    """What the project's test fixtures work out once a process, for one tree in one environment.

    nova migrates a database through all its versions in the first database test of each process
    and keeps the outcome in ``nova.tests.fixtures.DB_SCHEMA``. It depends on nothing but the
    files that ``branch.yaml`` names beside it, the environment, and SQLite's version (which the
    worker checks, for the library may change under an environment). Where all of them are the
    same, the value is handed to the next run, and the run says so.
    """

    def __init__(
        self,
        folder: Path,
        wanted: Sequence[Keepsake],
        files: Mapping[str, Entry],
        environment: Environment,
    ) -> None:
        self._places = {
            f"{kept.module}.{kept.attribute}": (kept, folder / f"{_key(kept, files, environment)}")
            for kept in wanted
        }

        # What a pattern compiles to depends on the interpreter alone; see worker_patterns.
        self._patterns = folder / digest("patterns", environment.key)
        self._two = environment.version.startswith("2.")

    @property
    def patterns(self) -> str | None:
        """The file of compiled regular expressions, which Python 2 keeps; it may be missing."""
        return str(self._patterns) if self._two else None

    def specs(self) -> list[dict[str, Any]]:
        """Return what the worker needs: module, attribute and value, which may be None."""
        return [
            {
                "name": name,
                "module": kept.module,
                "attribute": kept.attribute,
                "value": read_checked(place),
            }
            for name, (kept, place) in self._places.items()
        ]

    def said_of(self, name: str) -> str:
        """Return what is to be said of a run that was given the value: what it left out."""
        note = self._places[name][0].note
        return f"{note} ({name})" if note else f"{name} was kept from an earlier run"

    def keep(self, name: str, value: Any) -> None:
        """Keep a value that a worker reports, unless a fuller one is kept already."""
        place = self._places[name][1] if name in self._places else self._patterns
        before = read_checked(place)
        if before is None or len(json.dumps(before)) < len(json.dumps(value)):
            write_checked(place, value)


def _key(kept: Keepsake, files: Mapping[str, Entry], environment: Environment) -> str:
    below = tuple(path.rstrip("/") for path in kept.depends_on)
    blobs = [
        f"{path} {entry.mode} {entry.blob}"
        for path, entry in sorted(files.items())
        if any(path == prefix or path.startswith(prefix + "/") for prefix in below)
    ]
    return digest("keepsake", kept.module, kept.attribute, environment.key, *blobs)
