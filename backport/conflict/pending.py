"""A conflict that waits for a person: its work tree, its state, and the resolution made of it.

All of it lies in a folder of the tool's own, one per checkout and series. The state
file is replaced in one step, and names the work tree that belongs to it, so that a
killed run leaves either the old state or the new one.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from backport.apply.markers import leftover_markers
from backport.apply.outcome import Conflict
from backport.checkout.scratch import Scratch
from backport.errors import ConflictError, UsageError
from backport.workspace import remove, writing

_STATE = "state.json"


class PendingFile(BaseModel):
    """A file that a person has to look at, and why."""

    model_config = ConfigDict(frozen=True)

    path: str
    reasons: tuple[str, ...]


class State(BaseModel):
    """What is needed to go on: the file ``state.json``, form 1."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    form: Literal[1] = 1
    checkout: str
    series: str
    digest: str  # of the series as it was: a changed one cannot be gone on with
    base: str
    base_name: str
    change: int  # at which it stopped
    subject: str
    parent: str
    files: tuple[PendingFile, ...]
    patch_paths: tuple[str, ...]
    tree: str  # what was written to the work tree
    resolved: tuple[int, ...] = ()  # changes whose resolutions are kept beside, as patches
    request: dict[str, object]  # the options of the run, for it to go on as it began


class Pending:
    """The pending conflict in ``folder``, if there is one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def exists(self) -> bool:
        """Whether a conflict is pending."""
        return (self.folder / _STATE).is_file()

    @property
    def name(self) -> str:
        """The series' name; also where the state itself is damaged."""
        return self.folder.name.replace("%2F", "/").replace("%25", "%")

    @property
    def work_tree(self) -> Path:
        """Where the files are that a person edits."""
        return self._work(self.read().change)

    def read(self) -> State:
        """Read the state.

        :raises UsageError: it is damaged, or another version's
        """
        try:
            return State.model_validate_json((self.folder / _STATE).read_bytes())
        except (OSError, ValidationError) as error:
            raise UsageError(
                f"{self.folder / _STATE} is no state that this version can go on with",
                "Type: backport abort",
            ) from error

    def resolutions(self) -> dict[int, bytes]:
        """Return the resolutions of the changes before the pending one."""
        return {n: self._patch(n).read_bytes() for n in self.read().resolved}

    def keep(self, scratch: Scratch, state: State, resolutions: Mapping[int, bytes]) -> None:
        """Write the work tree and the resolutions so far, then the state, last."""
        with writing(self.folder):
            self._keep(scratch, state, resolutions)

    def _keep(self, scratch: Scratch, state: State, resolutions: Mapping[int, bytes]) -> None:
        work = self._work(state.change)
        remove(work)
        work.mkdir(parents=True)
        scratch.export(state.tree, work)
        for number, patch in resolutions.items():
            self._patch(number).write_bytes(patch)
        half = self.folder / f"{_STATE}.part"
        half.write_text(state.model_dump_json(indent=2))
        os.replace(half, self.folder / _STATE)
        for other in self.folder.glob("work-*"):
            if other != work:
                remove(other)

    def resolution(self, scratch: Scratch) -> bytes:
        """Read the work tree and return the patch that resolves the conflict.

        :raises ConflictError: markers are left, or nothing of the change is
        """
        state = self.read()
        base = scratch.tree(state.parent)
        tree = scratch.read_work_tree(state.tree, self.work_tree, state.patch_paths)
        left = [
            f"{path}:{line}"
            for path in scratch.changed_paths(base, tree)
            for line in leftover_markers(scratch.file(tree, path) or b"")
        ]
        if left:
            raise ConflictError(
                f"conflict markers are left: {', '.join(left[:8])}"
                + (f" and {len(left) - 8} more" if len(left) > 8 else ""),
                f"Edit the files in {self.work_tree}, then type: backport continue",
            )
        if tree == base:
            raise ConflictError(
                f"the resolution leaves nothing of change {state.change}, “{state.subject}”",
                "Edit the files; or type backport abort, and take the change out of the series.",
            )
        return scratch.diff(base, tree)

    def forget(self) -> None:
        """Remove everything of it, the state first."""
        (self.folder / _STATE).unlink(missing_ok=True)
        remove(self.folder)

    def _work(self, change: int) -> Path:
        return self.folder / f"work-{change}"

    def _patch(self, number: int) -> Path:
        return self.folder / f"{number:04}.patch"


def pending(root: Path, repository: Path, series: str) -> Pending:
    """Return the place of a pending conflict, whether there is one or not."""
    key = hashlib.sha256(os.fsencode(repository.resolve())).hexdigest()[:16]
    return Pending(root / "conflicts" / key / series.replace("%", "%25").replace("/", "%2F"))


def all_pending(root: Path) -> list[Pending]:
    """List everything that is pending, on whatever checkout."""
    states = sorted((root / "conflicts").glob(f"*/*/{_STATE}"))
    return [Pending(state.parent) for state in states]


def pending_files(conflict: Conflict) -> tuple[PendingFile, ...]:
    """Return the files of a conflict as the state keeps them."""
    return tuple(PendingFile(path=file.path, reasons=file.reasons) for file in conflict.files)
