"""What the cells took is remembered, and nothing depends on it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import report_samples as samples
from backport.commands.past import keep_past, read_past


def test_what_the_cells_took_is_there_the_next_time(tmp_path: Path) -> None:
    proof = samples.proof()
    keep_past(tmp_path, "ocata/bug-1", proof)
    past = read_past(tmp_path, "ocata/bug-1")
    assert past == {cell.label: cell.run.seconds for cell in proof.cells if not cell.run.reused}
    assert past
    assert read_past(tmp_path, "patches/ocata/bug-1/") == past
    assert read_past(tmp_path, "ocata/bug-2") == {}


def test_results_of_earlier_runs_say_nothing_new(tmp_path: Path) -> None:
    proof = samples.proof()
    keep_past(tmp_path, "ocata/bug-1", proof)
    before = read_past(tmp_path, "ocata/bug-1")
    cells = tuple(replace(c, run=replace(c.run, reused=True, seconds=9e9)) for c in proof.cells)
    keep_past(tmp_path, "ocata/bug-1", replace(proof, cells=cells))
    assert read_past(tmp_path, "ocata/bug-1") == before


def test_a_damaged_memory_and_one_that_cannot_be_kept_are_no_failures(tmp_path: Path) -> None:
    keep_past(tmp_path, "ocata/bug-1", samples.proof())
    (kept,) = (tmp_path / "results").iterdir()
    kept.write_text("{")
    assert read_past(tmp_path, "ocata/bug-1") == {}
    (tmp_path / "file").touch()
    keep_past(tmp_path / "file", "ocata/bug-1", samples.proof())
