"""Run a command again and again with a folder on a disk that has more and more room.

A program for a mount namespace of its own (unshare --mount): nothing that it mounts is
seen outside, or stays. Prints for each size, as JSON, how the command ended.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from backport.cli import main
from gitrepo import snapshot
from plainrun import BRANCH

#: Kilobytes that are free; a page is the least.
ROOM = [0, 4, 12, 24, 32, 48, 64, 96, 1024]


def attempt(folder: Path, command: list[str], room: int) -> dict[str, object]:
    """Run the command with ``room`` kilobytes free in ``folder``, which keeps what it holds."""
    beside = folder.with_name("beside")
    shutil.copytree(folder, beside, symlinks=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", folder], check=True)
    try:
        shutil.copytree(beside, folder, symlinks=True, dirs_exist_ok=True)
        fill(folder / "filler", room)
        checkout = Path("checkout")
        before = snapshot(checkout).without(BRANCH)
        code, said = run(command)
        after = snapshot(checkout)
        (folder / "filler").unlink()  # among the refs it would be a broken one
        whole = BRANCH not in after.refs or fsck(checkout)
        subprocess.run(["git", "update-ref", "-d", BRANCH], cwd=checkout, check=True)
        return {
            "room": room,
            "code": code,
            "said": " ".join(said.split()),
            "unharmed": after.without(BRANCH) == before and whole,
        }
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)
        shutil.rmtree(beside)


def fill(file: Path, room: int) -> None:
    """Leave ``room`` kilobytes: fill all, then give back."""
    with file.open("wb", buffering=0) as filler, contextlib.suppress(OSError):
        while True:
            filler.write(bytes(4096))
    os.truncate(file, max(file.stat().st_size - room * 1024, 0))


def run(command: list[str]) -> tuple[int, str]:
    """Run the command in this process."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = main(command)
    return int(code), said.getvalue()


def fsck(checkout: Path) -> bool:
    """Whether git finds the repository whole."""
    return not subprocess.run(["git", "fsck", "--strict"], cwd=checkout, check=False).returncode


if __name__ == "__main__":
    os.chdir(sys.argv[2])
    # Too little for the scratch repository, so that it is in the cache, on disk.
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", "/dev/shm"], check=False)
    print(json.dumps([attempt(Path(sys.argv[1]), sys.argv[3:], room) for room in ROOM]))
