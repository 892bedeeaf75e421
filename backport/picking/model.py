"""What picking finds, as values; views and ``--json`` are made from these and from nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True)
class Line:
    """A branch of the project as a checkout has it.

    :param name: what the checkout calls it now: ``pike-eol``
    :param tips: the commits of all its places; a local branch may be behind the remote's
    """

    branch: str  # stable/pike
    name: str
    tips: tuple[str, ...]

    @property
    def series(self) -> str:
        """Its name among people: ``pike``."""
        return self.branch.rpartition("/")[2]


@dataclass(frozen=True)
class Source:
    """A commit to be picked: the one on the nearest newer branch that has the change.

    :param line: that branch, as the checkout calls it; "" where no newer branch has the commit
    :param asked: the commit that was named, where it is another one
    """

    commit: str
    subject: str
    line: str
    asked: str = ""


@dataclass(frozen=True)
class NewName:
    """A name that picked code uses and the tree does not have.

    :param line: of the use, in the file after the pick; counts from 1
    :param origin: the file of the tree that would have it
    """

    path: str
    line: int
    name: str
    why: str
    origin: str = ""


@dataclass(frozen=True)
class Introduced:
    """A missing name, and the newer branch's commit that brought it; "" where none is found."""

    missing: NewName
    commit: str = ""
    subject: str = ""
    change_id: str = ""


class Fate(str, Enum):
    """What a run would come to, change by change."""

    APPLIES = "applies"
    ADAPT = "needs-adapting"
    IN = "already-in"
    CONFLICT = "conflict"


@dataclass(frozen=True)
class Trouble:
    """A file that a person has to look at, and why."""

    path: str
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Trial:
    """One change, tried. ``alone``: an earlier one conflicts, and this was tried without it."""

    number: int
    subject: str
    commit: str
    fate: Fate
    detail: str = ""
    files: tuple[Trouble, ...] = ()
    missing: tuple[Introduced, ...] = ()
    tests: tuple[str, ...] = ()
    alone: bool = False


@dataclass(frozen=True)
class Imported:
    """What ``backport import`` did: the folder that it wrote, and what a run would say."""

    series: str
    folder: str
    onto: str
    sources: tuple[Source, ...]
    trials: tuple[Trial, ...]
    copied: tuple[str, ...] = ()  # files of the branch that were put beside the series
    notes: tuple[str, ...] = ()


class Grade(str, Enum):
    """How much a pick leans on a commit that is missing here."""

    PREREQUISITE = "prerequisite"  # the pick cannot mean the same without it
    INCIDENTAL = "incidental"  # it wrote neighbouring lines only


@dataclass(frozen=True)
class Cause:
    """A commit of the newer branch, missing here, that wrote lines a conflicting hunk leans on.

    :param picks: whether it would itself pick cleanly; None where that cannot be told
    :param on: the newer branches that have it, the oldest first
    :param lines: how many of the hunk's lines are its own
    """

    commit: str
    subject: str
    change_id: str
    grade: Grade
    why: str
    lines: int
    files: int
    insertions: int
    deletions: int
    picks: bool | None = None
    on: tuple[str, ...] = ()


@dataclass(frozen=True)
class HunkExplained:
    """A hunk that conflicts; lines count from 1, in the file that the commit was made from."""

    path: str
    first: int
    last: int
    home: str
    why: str
    causes: tuple[Cause, ...]


@dataclass(frozen=True)
class Explained:
    """A change that conflicts, hunk by hunk, and the NOTE that nova's convention wants."""

    number: int
    subject: str
    commit: str
    hunks: tuple[HunkExplained, ...]
    note: str = ""
    remark: str = ""  # where there is nothing to explain by


@dataclass(frozen=True)
class Explanation:
    """What ``backport explain`` found."""

    series: str
    onto: str
    changes: tuple[Explained, ...]


class State(str, Enum):
    """How a branch stands to a change."""

    HAS = "has-it"
    CLEAN = "needs-it-applies"
    CONFLICT = "needs-it-conflicts"
    NO_CODE = "does-not-have-the-code"
    UNKNOWN = "cannot-tell"


@dataclass(frozen=True)
class Standing:
    """How a branch stands to one change, and by what that is known."""

    change: int
    state: State
    detail: str
    commit: str = ""
    paths: tuple[str, ...] = ()


@dataclass(frozen=True)
class BranchStanding:
    """How a branch stands to each change of a series."""

    branch: str
    name: str  # "" where the checkout does not have it
    changes: tuple[Standing, ...]


@dataclass(frozen=True)
class Affected:
    """What ``backport affected`` found, the newest branch first."""

    series: str
    subjects: tuple[str, ...]
    branches: tuple[BranchStanding, ...]
