"""Keeps the cache from growing for ever: what was not used for long goes."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from backport.environment.environment import forget_unused

_DAY = 86400.0  # seconds
_UNUSED = 60 * _DAY
_FOLDERS = ("trees", "results", "keepsakes", "homes")


def tidy(cache: Path) -> None:
    """Delete what lies unused in the cache of runs, at most once a day.

    A kept file's status changes each time that it is linked into a tree, and when that tree is
    deleted: so its change time is when it was used last. What was read only counts by its age.
    """
    mark = cache / "tidied"
    with suppress(OSError):
        if mark.exists() and time.time() - mark.stat().st_mtime < _DAY:
            return
        cache.mkdir(parents=True, exist_ok=True)
        mark.touch()
    forget_unused(cache, _UNUSED)
    for name in _FOLDERS:
        for entry in _files(cache / name):
            with suppress(OSError):
                if time.time() - entry.stat(follow_symlinks=False).st_ctime > _UNUSED:
                    os.unlink(entry.path)


def _files(folder: Path) -> Iterator[os.DirEntry[str]]:
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _files(Path(entry.path))
            else:
                yield entry
