"""The nouns of the policy: what is known of commits, what a rule is, what it finds. Values only."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

from backport.series.message import change_ids
from backport.series.model import Person


class Severity(str, Enum):
    """How much a finding weighs: an error makes the command exit with 1."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"
    OFF = "off"  # in branch.yaml: the rule is not asked


@dataclass(frozen=True)
class Touched:
    """A path that a commit changes; ``how`` is git's letter: A, M, D, T."""

    path: str
    how: str = "M"
    lines: tuple[tuple[int, str], ...] = ()  # added ones, where a rule reads them: number, text


@dataclass(frozen=True)
class Cited:
    """A commit that a message says it was picked from."""

    text: str  # as it is written: 7 to 64 digits
    line: int  # of the message, from 1
    form: str  # the whole line
    id: str | None = None  # None: the checkout does not have it
    message: str = ""
    author: Person | None = None
    paths: tuple[Touched, ...] = ()
    on: tuple[str, ...] = ()  # newer branches that hold it, the oldest first
    on_target: bool = False  # the branch that was picked to holds it, before this commit


@dataclass(frozen=True)
class Replay:
    """The pick done once more, by git's merge, onto the commit's real parent."""

    source: str
    conflicts: tuple[str, ...]  # paths; empty: clean
    equal: bool  # the tree is the one that was committed


@dataclass(frozen=True)
class Facts:
    """All that the rules may know of one commit."""

    id: str
    author: Person
    message: str
    touched: tuple[Touched, ...]
    cited: tuple[Cited, ...] = ()
    replay: Replay | None = None
    #: Newer branch → the commit there with the same Change-Id that it does not share with newer
    #: ones still; None: it has that one by descent.
    elsewhere: Mapping[str, str | None] = field(default_factory=dict)

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the message, without those left empty at its end."""
        return self.message.rstrip("\n").split("\n")

    @property
    def subject(self) -> str:
        """The first line."""
        return self.lines[0]

    @cached_property
    def paths(self) -> list[str]:
        """The paths that it changes."""
        return [each.path for each in self.touched]

    @property
    def change_id(self) -> str:
        """The Change-Id, "" where there is none."""
        return next(iter(change_ids(self.message)), "")

    @property
    def known(self) -> list[Cited]:
        """The cited commits that the checkout has, master's first."""
        return [each for each in self.cited if each.id]

    @property
    def original(self) -> Cited | None:
        """The last cited commit that is there: what was picked."""
        return self.known[-1] if self.known else None

    @property
    def is_squash(self) -> bool:
        """Whether commits of several changes were picked into this one."""
        return len({ids for each in self.known if (ids := change_ids(each.message))}) > 1

    @property
    def last_gap(self) -> int:
        """The line of the last empty one: below it stands the last paragraph. 0: none."""
        return max((n for n, line in enumerate(self.lines, 1) if not line.strip()), default=0)

    def at(self, pattern: str) -> int | None:
        """Return the first line of the message that a pattern is found in, from 1."""
        numbered = enumerate(self.lines, 1)
        return next((n for n, line in numbered if re.search(pattern, line)), None)


@dataclass(frozen=True)
class Range:
    """The commits that are judged, oldest first, and what is known of what lies around them."""

    commits: tuple[Facts, ...]
    branch: str  # "stable/ocata"
    newer: tuple[str, ...]  # newer branches that the checkout has, the oldest first
    tests: tuple[str, ...] = ()  # prefixes that tell tests from code; none: a folder "tests" does
    is_shallow: bool = False

    @cached_property
    def place(self) -> dict[str, int]:
        """Map ids to places in the order."""
        return {facts.id: number for number, facts in enumerate(self.commits)}

    def is_test(self, path: str) -> bool:
        """Whether a path is a test's."""
        return path.startswith(self.tests) if self.tests else "tests/" in path


@dataclass(frozen=True)
class Hit:
    """What a rule says of one commit: why, and the place, where it has one.

    :param path: a file; None is the message
    :param line: of that file, or of the message, from 1
    """

    reason: str
    path: str | None = None
    line: int | None = None
    remedy: str = ""  # "": the rule's


Check = Callable[[Facts, Range], Iterator[Hit]]


@dataclass(frozen=True)
class Rule:
    """A rule. ``source`` is where it is written down, or what was measured."""

    name: str
    severity: Severity
    title: str
    why: str
    source: str
    remedy: str
    check: Check
    spares: bool = False  # not asked of infrastructure's and reverting commits


@dataclass(frozen=True)
class Finding:
    """A hit with all that a reader needs."""

    name: str
    severity: Severity
    commit: str
    subject: str
    path: str | None
    line: int | None
    reason: str
    source: str
    remedy: str
