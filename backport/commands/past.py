"""How long the cells of a series took when they ran last: from it comes the time that is left."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from backport.kept import digest, read_checked, write_checked
from backport.runner.results import Proof


def read_past(cache: Path, series: str) -> dict[str, float]:
    """Return seconds by cell label; empty where nothing is known."""
    said: Any = read_checked(_file(cache, series))
    return dict(said) if isinstance(said, Mapping) else {}


def keep_past(cache: Path, series: str, proof: Proof) -> None:
    """Remember what the cells took that were run now, and were not results of earlier runs.

    A cache that cannot be written is no reason to fail.
    """
    took = {cell.label: cell.run.seconds for cell in proof.cells if not cell.run.reused}
    if took:
        write_checked(_file(cache, series), {**read_past(cache, series), **took})


def _file(cache: Path, series: str) -> Path:
    name = "/".join(series.rstrip("/").split("/")[-2:])  # it may be given as a path
    return cache / "results" / f"past-{digest(name)}.json"
