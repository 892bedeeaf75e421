"""The folder that runs work in is in memory where that is safe, and never left behind."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from backport import workplace as module
from backport.workplace import full, workplace


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """Give a folder that counts as a file system in memory."""
    folder = tmp_path / "memory"
    folder.mkdir()
    return folder


def ours(memory: Path) -> Path:
    return memory / f"backport-{os.getuid()}"


def test_it_is_in_memory_and_gone_afterwards(tmp_path: Path, memory: Path) -> None:
    with workplace(tmp_path, 0, memory) as place:
        assert place.parent == ours(memory)
        (place / "tree").mkdir()
    assert list(ours(memory).glob("run-*")) == []


def test_nobody_else_can_look_into_it(tmp_path: Path, memory: Path) -> None:
    with workplace(tmp_path, 0, memory):
        assert ours(memory).stat().st_mode & 0o777 == 0o700


def test_two_at_once_do_not_meet(tmp_path: Path, memory: Path) -> None:
    with workplace(tmp_path, 0, memory) as first, workplace(tmp_path, 0, memory) as second:
        assert first != second
        assert first.is_dir()


def test_without_room_it_is_on_disk(tmp_path: Path, memory: Path) -> None:
    with workplace(tmp_path, 1 << 62, memory) as place:
        assert place == tmp_path


def test_without_such_a_file_system_it_is_on_disk(tmp_path: Path) -> None:
    with workplace(tmp_path, 0, tmp_path / "none") as place:
        assert place == tmp_path


def test_a_link_that_somebody_put_there_is_not_followed(tmp_path: Path, memory: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    ours(memory).symlink_to(tmp_path / "elsewhere")
    with workplace(tmp_path, 0, memory) as place:
        assert place == tmp_path
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_full_is_told_by_what_is_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not full(tmp_path)
    monkeypatch.setattr(module, "_FLOOR", 1 << 62)
    assert full(tmp_path)
