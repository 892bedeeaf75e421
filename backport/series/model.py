"""The nouns of a series: what a branch is, what a change is. Values only; nothing is read here."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

KEEP_SECTION = ("",)  # no path is empty


class Kind(str, Enum):
    """What a change is for; it decides the bug trailer (design, section 2)."""

    REGRESSION_TEST = "regression-test"
    FIX = "fix"
    PARTIAL_FIX = "partial-fix"
    OTHER = "other"

    @property
    def trailer(self) -> str | None:
        """The name of the bug trailer that Launchpad's scripts (jeepyb) act upon."""
        return {
            Kind.REGRESSION_TEST: "Related-Bug",
            Kind.FIX: "Closes-Bug",
            Kind.PARTIAL_FIX: "Partial-Bug",
            Kind.OTHER: None,
        }[self]


@dataclass(frozen=True)
class Person:
    """A name and a mail address, as git writes them."""

    name: str
    email: str

    def __str__(self) -> str:
        return f"{self.name} <{self.email}>"


@dataclass(frozen=True)
class Keepsake:
    """Something costly that the project's test fixtures work out and keep in a module attribute.

    It is a function of the files under ``depends_on`` and of the environment; the
    runner may hand it to the next test process (design of nova's ``fixtures.DB_SCHEMA``).
    ``note`` is what the report says of a run that it was handed to.
    """

    module: str
    attribute: str
    depends_on: tuple[str, ...]
    note: str = ""


@dataclass(frozen=True)
class PythonLock:
    """One interpreter that the branch's tests run under, and its locked dependencies."""

    version: str  # "2.7"
    requirements: Path


@dataclass(frozen=True)
class TestSettings:
    """How the branch's tests are run. ``paths`` are the prefixes that tell tests from code.

    Tests below different prefixes of ``apart`` never share a process.
    """

    pythons: tuple[PythonLock, ...]
    paths: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()
    keepsakes: tuple[Keepsake, ...] = ()
    timeout: float = 1800.0  # seconds, for one run
    test_timeout: float = 160.0  # seconds, for one test (OS_TEST_TIMEOUT of .testr.conf)
    apart: tuple[str, ...] = ()

    __test__ = False  # pytest: not a test class


@dataclass(frozen=True)
class Embedded:
    """The checkout made when none is given: a release, and what takes the fix out of it."""

    project: str  # on the package index
    version: str
    sha256: str
    rewind: Path | None


@dataclass(frozen=True)
class Branch:
    """What is true of a stable branch, whatever the fix: ``patches/NAME/branch.yaml``."""

    name: str  # the folder's: "ocata"
    folder: Path
    project: str  # "openstack/nova"
    branch: str  # "stable/ocata"
    eol_tag: str | None
    release_line: str
    stable_only_tag: str
    newer_branches: tuple[str, ...]
    tests: TestSettings | None
    embedded: Embedded | None
    #: Rules of backport.policy with the severity that the branch wants, and the line it stands on.
    lint: tuple[tuple[str, str, int], ...] = ()


@dataclass(frozen=True)
class Change:
    """One patch and its message: one commit."""

    number: int  # from 1, its place in the series
    kind: Kind
    subject: str  # without the branch's tag; "" where the picked commit's is not repeated
    description: str
    change_id: str  # "" likewise
    # As backport.patch.reader wrote it; None where ``commit`` is picked as it is, or where there is
    # neither (then ``allow_empty``). Beside ``commit`` it is the resolution of its conflicts.
    patch: bytes | None = None
    patch_file: Path | None = None
    commit: str | None = None  # on a newer branch, to be picked back
    tests: tuple[str, ...] = ()
    author: Person | None = None
    date: str | None = None  # as git takes it: "SECONDS +HHMM"
    provenance: tuple[str, ...] = ()  # hashes, master's first
    trailers: tuple[tuple[str, str], ...] = ()  # further ones, such as Co-Authored-By
    allow_empty: bool = False
    conflicts_section: bool = False  # list what was in conflict in the message
    conflicts: tuple[str, ...] | None = None  # what ``patch`` resolves; KEEP_SECTION: as picked
    left_out: tuple[str, ...] = ()  # files of which a person left a part out
    note: str = ""  # what a reviewer must know of this backport
    trailers_add: tuple[tuple[str, str], ...] = ()  # to those of the picked commit
    # The Change-Id was made here; only the report asks, for the commit is the same.
    change_id_made: bool = field(default=False, compare=False, repr=False)
    source: tuple[Path, int] = (Path("series.yaml"), 0)  # where it is written, for messages


@dataclass(frozen=True)
class Series:
    """Changes in order, for one branch and (usually) one bug: a folder under ``patches/``."""

    name: str  # "ocata/bug-1783613"
    folder: Path
    title: str
    bug: int | None
    stable_only: str | None  # the reason; None: the fix is on newer branches too
    branch: Branch
    changes: tuple[Change, ...] = field(default=())
