"""Somebody who has only just cloned the tool."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Stranger:
    """Somebody who has only just cloned the tool: an empty HOME, no identity, one folder."""

    home: Path
    folder: Path

    def run(self, *args: str) -> subprocess.CompletedProcess[str]:
        """Type a command of the tool."""
        keep = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("GIT_", "XDG_", "BACKPORT_"))
        }
        return subprocess.run(
            [sys.executable, "-m", "backport", *args],
            cwd=self.folder,
            env=keep
            | {
                "HOME": str(self.home),
                "PYTHONPATH": str(PROJECT),
                "BACKPORT_BUILD": str(self.folder / "build"),
            },
            capture_output=True,
            text=True,
            check=False,
        )

    def git(self, *args: str) -> str:
        """Ask git about the built-in checkout."""
        done = subprocess.run(
            ["git", "-C", str(self.folder / "build/nova"), *args],
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout
