"""Where objects are made, trees laid out and tests put their files: in memory, if there is room.

A unit test of nova makes and removes a few folders. Where the disk takes 3 ms to remove one, as
some virtual machines' do, that is 7 s of the 712 tests of ``test_compute_api``, and removing a
tree of 600 folders is 2 s. A series of 100 changes makes 900 objects, which may take 1 ms each.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from backport.workspace import workspace

_MEMORY = Path("/dev/shm")
#: Bytes: four trees of nova, 70 MB each, and whatever tests write; and for objects alone.
ROOM, LITTLE_ROOM = 2 * 1024**3, 512 * 1024**2
_FLOOR = 256 * 1024**2  # bytes of disk that must stay free while tests run
_MEMORY_FLOOR = 1024**3  # bytes of memory: it fills faster, and is missed more


@contextmanager
def workplace(fallback: Path, room: int = ROOM, memory: Path = _MEMORY) -> Iterator[Path]:
    """Give a new folder in memory, or else ``fallback``, and take it away at the end.

    What a killed run left in memory is swept by the next one.

    :param fallback: an existing folder on disk
    :param room: bytes that must be free there
    :param memory: where a file system in memory is mounted, if there is one
    """
    parent = memory / f"backport-{os.getuid()}"
    if _suits(memory, room) and _is_ours(parent):
        with workspace(parent) as folder:
            yield folder
    else:
        yield fallback


def full(folder: Path) -> bool:
    """Whether the file system of a folder, or the memory that it is in, is about to be full."""
    if shutil.disk_usage(folder).free < _FLOOR:
        return True
    return folder.is_relative_to(_MEMORY) and _free_memory() < _MEMORY_FLOOR


def _suits(memory: Path, room: int) -> bool:
    """Whether there is room, and files can be executed: in containers often neither is so."""
    try:
        flags = os.statvfs(memory).f_flag
        free = shutil.disk_usage(memory).free
    except OSError:
        return False
    return not flags & (os.ST_NOEXEC | os.ST_RDONLY) and min(free, _free_memory() // 2) > room


def _free_memory() -> int:
    """Return the bytes of memory that can be had without swapping; 0 where nobody tells."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return 0
    found = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return int(found[0]) * 1024 if found else 0


def _is_ours(folder: Path) -> bool:
    """Make the folder; False where somebody else was there first, for all may write beside it."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        there = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(there.st_mode) and there.st_uid == os.getuid()
