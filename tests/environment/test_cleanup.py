"""The cache of runs does not grow for ever."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from filelock import FileLock

from backport.environment import cleanup as module
from backport.environment.cleanup import tidy


def fill(cache: Path) -> list[Path]:
    files = [cache / "trees" / "files" / "ab" / "abc", cache / "results" / "1.json"]
    for file in files:
        file.parent.mkdir(parents=True)
        file.write_text("kept")
        os.utime(file, (0, 0))  # times are made up here; only the time of the last change counts
    return files


def test_what_is_in_use_stays(tmp_path: Path) -> None:
    files = fill(tmp_path)
    tidy(tmp_path)
    assert all(file.exists() for file in files)


def test_what_was_not_used_for_long_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = fill(tmp_path)
    monkeypatch.setattr(module, "_UNUSED", -1.0)
    tidy(tmp_path)
    assert not any(file.exists() for file in files)


def test_it_is_done_once_a_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tidy(tmp_path)
    files = fill(tmp_path)
    monkeypatch.setattr(module, "_UNUSED", -1.0)
    tidy(tmp_path)
    assert all(file.exists() for file in files)
    yesterday = time.time() - 100_000
    os.utime(tmp_path / "tidied", (yesterday, yesterday))
    tidy(tmp_path)
    assert not any(file.exists() for file in files)


def environment(cache: Path, name: str, age: float) -> Path:
    record = cache / "environments" / name / "backport-environment.json"
    record.parent.mkdir(parents=True)
    record.write_text("{}")
    (record.parent / "bin").mkdir()
    os.utime(record, (time.time() - age, time.time() - age))
    return record.parent


def test_environments_that_no_run_has_asked_for_go(tmp_path: Path) -> None:
    old, new = environment(tmp_path, "old", 61 * 86400), environment(tmp_path, "new", 59 * 86400)
    tidy(tmp_path)
    assert (old.exists(), new.exists()) == (False, True)


def test_one_that_a_killed_run_left_half_built_goes(tmp_path: Path) -> None:
    half = environment(tmp_path, "half", 0)
    (half / "backport-environment.json").unlink()
    os.utime(half, (time.time() - 61 * 86400,) * 2)
    tidy(tmp_path)
    assert not half.exists()


def test_an_environment_that_is_held_stays(tmp_path: Path) -> None:
    old = environment(tmp_path, "old", 61 * 86400)
    with FileLock(f"{old}.lock"):
        tidy(tmp_path)
    assert old.exists()


def test_a_cache_that_is_not_there_yet_is_no_failure(tmp_path: Path) -> None:
    tidy(tmp_path / "cache")
    assert (tmp_path / "cache").is_dir()
