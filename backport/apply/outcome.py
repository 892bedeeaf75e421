"""What came of applying a series: values that the proof, the publisher and the report read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from backport.checkout.objects import Entry
from backport.patch.model import FilePatch
from backport.series.model import Change


class Rung(str, Enum):
    """By which way a file went in, strictest first."""

    EXACT = "exact"
    THREE_WAY = "three-way"
    RENAMED = "three-way, following a rename"
    RULE = "resolved by rule"
    RESOLVED = "resolved by hand"
    EDITED = "edited by hand, though not in conflict"


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


class Fate(str, Enum):
    """What became of a part of a change."""

    AS_WRITTEN = "applied as written"
    ADAPTED = "adapted by hand"
    LEFT_OUT = "left out"


class Word(str, Enum):
    """By what a person decided on a file in conflict; the values are what they typed or did."""

    EDIT = "an edit of the file"
    TAKE_BRANCH = "--take-branch"
    TAKE_CHANGE = "--take-change"
    LEAVE_OUT = "--leave-out"


@dataclass(frozen=True)
class HunkFate:
    """What became of one hunk, or of what a change does to a file as a whole.

    :param what: the ``@@`` line; else words, such as "adds the file"
    :param by: whose word it was, where it is not as it was written
    :param diff: from what the change makes of the place to what is there now, where adapted
    """

    path: str
    what: str
    fate: Fate = Fate.AS_WRITTEN
    by: str = ""
    diff: bytes = b""


@dataclass(frozen=True)
class Resolution:
    """What a person made of a conflict.

    :param patch: fits the tree of the change's parent, and nothing else
    :param words: by the paths that were in conflict
    """

    patch: bytes
    words: Mapping[str, Word] = field(default_factory=dict)


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
    hunks: tuple[HunkFate, ...] = ()

    @property
    def left_out(self) -> tuple[HunkFate, ...]:
        """What of the change is not in, by somebody's word."""
        return tuple(hunk for hunk in self.hunks if hunk.fate is Fate.LEFT_OUT)


@dataclass(frozen=True)
class ConflictFile:
    """A file that a person has to decide on, and why.

    :param path: where the branch has it, or would
    :param files: what the change does there
    :param base: what the change was made from; None: nothing, or it is not known
    :param branch: what the branch has
    :param change: what the change makes of ``base``; None: nothing, or it is not known
    :param known: whether ``base`` and ``change`` are
    :param written: what a person is given to decide on, by path; None: no such file
    :param blocked: something of the branch is where the file, or a folder above it, would be
    :param mergeable: the places in conflict are known, so that either side can be taken in them
    """

    path: str
    reasons: tuple[str, ...]
    files: tuple[FilePatch, ...] = ()
    base: Entry | None = None
    branch: Entry | None = None
    change: Entry | None = None
    known: bool = False
    written: Mapping[str, Entry | None] = field(default_factory=dict)
    blocked: bool = False
    mergeable: bool = False


@dataclass(frozen=True)
class Conflict:
    """The change at which it stopped.

    ``tree`` is the parent's with what went in, and with what a person is given to decide on
    where something did not; ``paths`` are all that the change's patch names.
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
