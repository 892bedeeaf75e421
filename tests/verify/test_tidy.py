"""The cache of runs does not grow for ever."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from backport.verify import tidy as module
from backport.verify.tidy import tidy


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


def test_a_cache_that_is_not_there_yet_is_no_failure(tmp_path: Path) -> None:
    tidy(tmp_path / "cache")
    assert (tmp_path / "cache").is_dir()
