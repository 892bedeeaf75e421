"""What is kept of a conflict until it is resolved: the file ``state.json``, as values."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from backport.apply.outcome import Conflict, Word
from backport.checkout.objects import Entry
from backport.conflict.decisions import may_take_change
from backport.patch.writer import render_patch


class PendingFile(BaseModel):
    """A file that a person has to look at: why, what the change does there, and what was given.

    :param staged: the index of the work tree has the sides of it
    :param takes: the change's side of it can be taken
    """

    model_config = ConfigDict(frozen=True)

    path: str
    reasons: tuple[str, ...]
    written: dict[str, tuple[str, str] | None]  # mode and blob
    staged: bool
    takes: bool
    patch: str

    @property
    def entries(self) -> dict[str, Entry | None]:
        """What was given, by path."""
        return {path: Entry(*one) if one else None for path, one in self.written.items()}


class State(BaseModel):
    """What is needed to go on: the file ``state.json``, form 2."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    form: Literal[2] = 2
    checkout: str
    built_in: bool  # the checkout is the tool's own
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
    words: dict[int, dict[str, Word]] = {}  # by change: its resolution is kept beside, as a patch
    said: dict[str, Word] = {}  # of files of the pending change; an edit since then goes before it
    save: bool = False  # somebody wanted the resolutions so far to be saved at the end
    saved: dict[int, str] = {}  # the patches, by change, that the series is about to name
    request: dict[str, object]  # the options of the run, for it to go on as it began


def pending_files(conflict: Conflict) -> tuple[PendingFile, ...]:
    """Return the files of a conflict as the state keeps them."""
    return tuple(
        PendingFile(
            path=file.path,
            reasons=file.reasons,
            written={p: (e.mode, e.blob) if e else None for p, e in file.written.items()},
            staged=bool(file.base or file.branch or file.change),
            takes=may_take_change(file),
            patch=render_patch(file.files).decode("utf-8", "replace"),
        )
        for file in conflict.files
    )
