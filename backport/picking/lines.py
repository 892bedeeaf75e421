"""The newer branches of a project, and which of their commits carry a change.

Stable branches share all but a few hundred commits with master. So master's messages are read
once and kept (:mod:`backport.checkout.history`), and of the others only what is their own, in one
go: a quarter of a second for the eighteen of nova.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from backport.checkout.branches import Found, find_branches
from backport.checkout.repository import Checkout
from backport.checkout.scratch import Scratch
from backport.errors import UsageError
from backport.picking.model import Line
from backport.series.message import change_ids
from backport.series.model import Branch

_AGED = re.compile(
    "refs/(?:heads|remotes/[^/]+)/(?:stable|unmaintained)/([^/]+)|refs/tags/([^/]+)-(?:eol|eom|em)"
)
_REVERTS = re.compile(r"^This reverts commit ([0-9a-f]{7,40})", re.M)


def bug_trailer(bug: int) -> re.Pattern[str]:
    """Match a trailer that names a bug, in the spellings of nova's history (``Resolves-Bug`` …)."""
    return re.compile(rf"^[A-Za-z]+-Bug[ \t]*:[ \t]*#?{bug}\b", re.M | re.I)


@dataclass(frozen=True)
class Carrier:
    """A commit that carries what was looked for."""

    commit: str
    message: str


def newer_lines(checkout: Checkout, branch: Branch) -> tuple[Line, ...]:
    """Find the newer branches that a checkout has, the oldest first.

    :raises UsageError: it has none
    """
    found = find_branches(checkout, branch.newer_branches)
    if not found:
        raise UsageError(
            f"{checkout.folder} has none of {', '.join(branch.newer_branches) or 'no branch'}",
            f"Name a clone of {branch.project} with --checkout PATH; fetch its branches and tags.",
        )
    return tuple(as_line(name, places) for name, places in found.items())


def older_lines(
    checkout: Checkout, scratch: Scratch, home: Line, trunk: Line, known: Iterable[str]
) -> list[Line]:
    """Find the branches that were cut off the trunk before ``home`` was, the newest first.

    :param known: branches that are told of anyway
    """
    refs = checkout.refs("refs/heads/", "refs/remotes/", "refs/tags/")
    names = {f"stable/{match[1] or match[2]}" for ref in refs if (match := _AGED.fullmatch(ref))}
    places = find_branches(checkout, sorted(names - {*known}))
    dated = []
    for line in (as_line(name, found) for name, found in places.items()):
        fork = scratch.fork(line.tips[0], trunk.tips[0])
        if fork and scratch.is_ancestor(fork, home.tips[0]):
            dated.append((scratch.commit(fork).committer.date, line))
    return [line for _, line in sorted(dated, key=lambda one: (one[0], one[1].name), reverse=True)]


def as_line(branch: str, places: Sequence[Found]) -> Line:
    """Join the places of a branch: it goes by the name of the best."""
    return Line(branch, places[0].name, tuple(dict.fromkeys(place.commit for place in places)))


class Lines:
    """The newer branches, the oldest first; the last one is the trunk of the others."""

    def __init__(self, scratch: Scratch, lines: Sequence[Line]) -> None:
        self._scratch = scratch
        self.lines = tuple(lines)

    @cached_property
    def _own(self) -> dict[str, list[Carrier]]:
        """What each branch has and the trunk has not, by the branch, the newest first."""
        tips = [tip for line in self.lines[:-1] for tip in line.tips]
        commits = self._scratch.messages(tips, self.lines[-1].tips) if tips else {}
        found: dict[str, list[Carrier]] = {line.branch: [] for line in self.lines}
        for line in self.lines[:-1]:
            reached, ahead = set[str](), [*line.tips]
            while ahead:
                commit = ahead.pop()
                if commit in commits and commit not in reached:
                    reached.add(commit)
                    ahead += commits[commit][0]
            found[line.branch] = [
                Carrier(one, message)
                for one, (parents, message) in commits.items()
                if one in reached and len(parents) < 2
            ]
        return found

    def by_change_id(self, change_id: str) -> Iterator[tuple[Line, tuple[Carrier, ...]]]:
        """Yield the branches that have a Change-Id, and their commits with it, the newest first."""
        return self._carriers(change_id, lambda message: change_id in change_ids(message))

    def by_bug(self, bug: int) -> Iterator[tuple[Line, tuple[Carrier, ...]]]:
        """Yield the branches with trailers for a bug, and their commits, the newest first."""
        trailer = bug_trailer(bug)
        return self._carriers(str(bug), lambda message: trailer.search(message) is not None)

    def name_of(self, commit: str) -> str:
        """Name the oldest of the branches that has a commit; "" where none has it."""
        return next((line.name for line in self.lines if self.has(line, commit)), "")

    def has(self, line: Line, commit: str) -> bool:
        """Whether a branch has the commit itself."""
        return any(self._scratch.is_ancestor(commit, tip) for tip in line.tips)

    def _carriers(
        self, needle: str, fits: Callable[[str], bool]
    ) -> Iterator[tuple[Line, tuple[Carrier, ...]]]:
        shared = self._of_trunk(needle, fits)
        here: set[str] = set()
        for line in self.lines:
            own = self._own[line.branch]
            gone = _reverted_by(carrier.message for carrier in own)
            # What a branch has of the trunk, all that were made later have, too.
            new = (one.commit for one in shared if one.commit not in here)
            here |= {commit for commit in new if self.has(line, commit)}
            found = [one for one in own if fits(one.message)]
            found += [one for one in shared if one.commit in here]
            found = [one for one in found if not one.commit.startswith(gone)]
            if found:
                yield line, tuple(found)

    def _of_trunk(self, needle: str, fits: Callable[[str], bool]) -> list[Carrier]:
        commits: dict[str, None] = {}
        gone: tuple[str, ...] = ()
        for tip in self.lines[-1].tips if self.lines else ():
            said = self._scratch.search(tip, [needle, "This reverts commit"])
            commits |= dict.fromkeys(commit for commit, line in said if needle in line)
            gone += _reverted_by(line for _, line in said)
        carriers = (Carrier(one, self._scratch.commit(one).message) for one in commits)
        return [one for one in carriers if fits(one.message) and not one.commit.startswith(gone)]


def _reverted_by(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(commit for text in texts for commit in _REVERTS.findall(text))
