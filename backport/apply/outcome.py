"""What came of applying a series: values that the proof, the publisher and the report read."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from backport.patch.model import FilePatch
from backport.series.model import Change


class Rung(str, Enum):
    """By which way a file went in, strictest first."""

    EXACT = "exact"
    THREE_WAY = "three-way"
    RENAMED = "three-way, following a rename"
    RULE = "resolved by rule"
    RESOLVED = "resolved by hand"


class Layer(str, Enum):
    """By what a change that is in already was recognised."""

    CHANGE_ID = "Change-Id"
    PROVENANCE = "provenance"
    PATCH_ID = "patch-id"
    CONTENT = "content"


@dataclass(frozen=True)
class HunkPlacement:
    """Where one hunk landed. Lines count from 1; ``home`` is a qualified name, "" the module.

    :param known_as: the name that the change knows the home by, where the branch has another
    """

    wanted_line: int  # in the pre-image, as the patch says
    landed_line: int  # in the file before the change, on the base
    home: str
    lookalikes: tuple[int, ...] = ()  # lines of the same home where the same block stands too
    known_as: str = ""

    @property
    def offset(self) -> int:
        """How many lines below the wanted place (negative: above)."""
        return self.landed_line - self.wanted_line


@dataclass(frozen=True)
class FileOutcome:
    """How one file of a patch went in.

    :param renamed_from: the patch's name for it, where the base has it elsewhere
    :param rules: those of :mod:`backport.apply.rules` that resolved its conflicts
    :param as_made: what the patch does, where the base has the very file that it was made from:
        no hunk can have moved, and whoever wants to read where they are asks for their
        placements by :func:`backport.placement.tree_placement.name_homes`
    """

    path: str
    rung: Rung
    hunks: tuple[HunkPlacement, ...] = ()
    renamed_from: str | None = None
    as_made: FilePatch | None = None
    rules: tuple[str, ...] = ()

    @property
    def was_in_conflict(self) -> bool:
        """Whether git could not merge it; the ``Conflicts:`` section lists these files."""
        return self.rung in (Rung.RULE, Rung.RESOLVED)


@dataclass(frozen=True)
class AlreadyIn:
    """A change that the base has already. ``commit`` is None where only the content tells."""

    layer: Layer
    commit: str | None
    detail: str


@dataclass(frozen=True)
class AppliedChange:
    """A change and its commit; where it is in already, the tip that was left as it is."""

    change: Change
    commit: str
    tree: str
    parent: str
    message: str
    files: tuple[FileOutcome, ...] = ()
    already_in: AlreadyIn | None = None
    notes: tuple[str, ...] = ()  # on the message: what was made or taken out


@dataclass(frozen=True)
class ConflictFile:
    """A file that a person has to look at, and why, hunk by hunk."""

    path: str
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Conflict:
    """The change at which it stopped.

    ``tree`` is the parent's with what went in, and with conflict markers where something
    did not; ``paths`` are all that the change's patch names.
    """

    change: Change
    parent: str
    files: tuple[ConflictFile, ...]
    tree: str
    paths: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """All that applying a series gave: the commits, and the conflict that ended it, if any."""

    base: str
    applied: tuple[AppliedChange, ...]
    conflict: Conflict | None = None

    @property
    def tip(self) -> str:
        """The last commit; the base where nothing was applied."""
        return self.applied[-1].commit if self.applied else self.base

    @property
    def nothing_to_do(self) -> bool:
        """Whether every change is in the base already."""
        return self.conflict is None and all(change.already_in for change in self.applied)
