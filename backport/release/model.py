"""The nouns of a release. Values only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from packaging.version import Version

from backport.policy.bugs import Effect
from backport.policy.model import Finding


class Step(IntEnum):
    """Which number of a version goes up."""

    PATCH = 2
    MINOR = 1
    MAJOR = 0


@dataclass(frozen=True)
class Impact:
    """What a change does to those who run the project; ``step``: what that makes of a version."""

    area: str  # "configuration", "database" …
    what: str  # in a few words, with the path
    step: Step = Step.PATCH


@dataclass(frozen=True)
class Elsewhere:
    """A newer branch, the commit that is the same change there, and the first tag that has it."""

    branch: str
    commit: str
    tag: str | None


@dataclass(frozen=True)
class Unreleased:
    """A commit that no release of the branch has yet."""

    commit: str
    subject: str
    date: str  # the committer's, as ``git log --format=%ci``
    author: str
    bugs: Mapping[int, Effect]
    impacts: tuple[Impact, ...] = ()
    stable_only: bool = False
    ci_only: bool = False
    tests_only: bool = False
    notes: tuple[str, ...] = ()  # files of release notes that it adds
    elsewhere: tuple[Elsewhere, ...] = ()  # the newest branch last
    missing: tuple[str, ...] = ()  # newer branches, of those that are here, without it
    findings: tuple[Finding, ...] = ()

    @property
    def step(self) -> Step:
        """What it makes of the version."""
        return min((impact.step for impact in self.impacts), default=Step.PATCH)

    @property
    def unreleased_before(self) -> Elsewhere | None:
        """The next newer branch, where that has the change and has not released it."""
        first = next(iter(self.elsewhere), None)
        return first if first and first.tag is None else None


@dataclass(frozen=True)
class Group:
    """What belongs together: the changes of a bug, test and fix; ``bug`` None: the rest."""

    title: str
    bug: int | None
    changes: tuple[Unreleased, ...]


@dataclass(frozen=True)
class State:
    """What a branch holds since its last release, the oldest first."""

    project: str
    branch: str
    series: str  # "ocata"
    since: str | None  # a tag
    since_commit: str | None
    tip: str
    tip_name: str
    changes: tuple[Unreleased, ...]
    merges: int
    tags: tuple[str, ...] = ()  # the versions below the tip
    newer: tuple[str, ...] = ()  # newer branches that the checkout has

    @property
    def previous(self) -> Version | None:
        """The last version."""
        return Version(self.since) if self.since else None

    @property
    def ci_only(self) -> bool:
        """Whether nothing that is unreleased reaches those who run the project."""
        return bool(self.changes) and all(change.ci_only for change in self.changes)


@dataclass(frozen=True)
class Reason:
    """What a change asks of the version, and why."""

    commit: str
    subject: str
    step: Step
    why: str


@dataclass(frozen=True)
class Decision:
    """The version, and how it came about."""

    version: str
    previous: str
    step: Step
    reason: str
    reasons: tuple[Reason, ...]


@dataclass(frozen=True)
class Check:
    """A check of openstack/releases, under its name there; ``ok`` None: it could not be asked."""

    name: str
    ok: bool | None
    said: str


@dataclass(frozen=True)
class Notes:
    """What reno says of the version, and drafts for bugs that are closed without a note."""

    files: tuple[str, ...] = ()
    report: str = ""  # reStructuredText
    drafts: Mapping[str, str] = field(default_factory=dict)  # path → YAML
