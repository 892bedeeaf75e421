"""The logs of old runs go, and those of the last ones stay."""

from __future__ import annotations

import os
import time
from pathlib import Path

from backport.verification import KEPT_LOGS, KEPT_SECONDS, drop_old_logs


def make(logs: Path, name: str, age: float) -> None:
    folder = logs / name
    folder.mkdir(parents=True)
    (folder / "cell.log").write_text("said")
    os.utime(folder, (time.time() - age,) * 2)


def test_logs_older_than_a_month_go(tmp_path: Path) -> None:
    make(tmp_path, "run-old", KEPT_SECONDS + 60)
    make(tmp_path, "run-new", 60)
    (tmp_path / "bug-1.txt").write_text("a traceback that is to be sent along")
    drop_old_logs(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bug-1.txt", "run-new"]


def test_only_the_last_runs_keep_their_logs(tmp_path: Path) -> None:
    for number in range(KEPT_LOGS + 10):
        make(tmp_path, f"run-{number}", 60 * number)
    drop_old_logs(tmp_path)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {f"run-{number}" for number in range(KEPT_LOGS - 1)}


def test_where_no_run_was_there_is_nothing_to_drop(tmp_path: Path) -> None:
    drop_old_logs(tmp_path / "log")
    assert not (tmp_path / "log").exists()
