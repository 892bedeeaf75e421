"""What the project's test fixtures work out once a process, handed from one run to the next.

nova migrates a database through all its versions in the first database test of each process
and keeps the outcome in ``nova.tests.fixtures.DB_SCHEMA``. It depends on nothing but the
files that ``branch.yaml`` names beside it, the environment, and SQLite's version (which the
worker checks, for the library may change under an environment). Where all of them are the
same, the value is handed to the next run, and the run says so.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backport.checkout.objects import Entry
from backport.kept import digest, read_checked, write_checked
from backport.runner.results import Environment
from backport.series.model import Keepsake


class Keepsakes:
    """The kept values for one tree in one environment."""

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
