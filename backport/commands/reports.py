"""Where reports go when nobody says where: a folder per run, in the tool's own."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

from backport.workspace import remove, writing

_MOST, _OLDEST = 50, timedelta(days=30)  # what goes beyond both, goes


def run_folder(state: Path, started: datetime) -> Path:
    """Make the folder of a run, and let the link ``latest`` point to it; old ones go.

    :raises CannotTellError: the state folder cannot be written
    """
    root = state / "reports"
    name = f"{started:%Y%m%dT%H%M%S}-{os.getpid()}"
    with writing(root):
        (root / name).mkdir(parents=True, exist_ok=True)
        link = root / f".latest-{os.getpid()}"
        link.unlink(missing_ok=True)
        link.symlink_to(name)
        os.replace(link, root / "latest")
    runs = sorted((path for path in root.glob("[0-9]*T*") if path.is_dir()), reverse=True)
    for run in runs[_MOST:]:
        with suppress(OSError):  # another run may sweep, too
            if datetime.fromtimestamp(run.stat().st_mtime, started.tzinfo) < started - _OLDEST:
                remove(run)
    return root / name
