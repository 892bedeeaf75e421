"""Which commits to pick: what a person names, found on the nearest newer branch that has it.

The nearer the branch, the fewer conflicts: of ocata's backports, 48 of 88 pick cleanly from the
last branch that they came through, and 37 from master.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from backport.checkout.objects import Commit
from backport.checkout.scratch import Scratch
from backport.errors import UsageError
from backport.picking.lines import Carrier, Lines
from backport.picking.model import Line, Source
from backport.series.message import change_ids, subject_without_tags

_CHANGE_ID = re.compile("I[0-9a-f]{40}")
_SHOWN = 8  # commits of a merge


@dataclass(frozen=True)
class Asked:
    """What was asked for.

    :param named: commits, ranges (``A..B``) and Change-Ids
    :param as_named: take the commits that are named, and do not look for nearer ones
    """

    named: tuple[str, ...]
    bug: int | None = None
    as_named: bool = False


def find_sources(
    scratch: Scratch, lines: Lines, resolve: Callable[[str], str | None], asked: Asked
) -> tuple[Source, ...]:
    """Find the commits to pick, ancestors first.

    :param resolve: gives the commit that a name of the checkout means
    :raises UsageError: one is not there, is a merge, or is on no newer branch
    """
    found: list[Source] = []
    if asked.bug is not None:
        found += _by_bug(lines, asked.bug)
    for name in asked.named:
        if _CHANGE_ID.fullmatch(name):
            found.append(_by_change_id(lines, name))
            continue
        for commit in _commits(scratch, resolve, name):
            found.append(_nearest(lines, commit, asked.as_named))
    sources = {source.commit: source for source in found}
    return tuple(sources[commit] for commit in scratch.in_order([*sources]))


def _by_bug(lines: Lines, bug: int) -> list[Source]:
    for line, carriers in lines.by_bug(bug):
        return [_source(carrier, line.name) for carrier in carriers]
    raise UsageError(
        f"no commit of {_looked_at(lines)} has a trailer for bug {bug}",
        "Name the commits instead. Is the checkout up to date? Try git fetch --all --tags.",
    )


def _by_change_id(lines: Lines, change_id: str) -> Source:
    source = _first(lines.by_change_id(change_id))
    if source is None:
        raise UsageError(
            f"no commit of {_looked_at(lines)} has the Change-Id {change_id}",
            "Is the checkout up to date? Try git fetch --all --tags.",
        )
    return source


def _first(found: Iterable[tuple[Line, Sequence[Carrier]]], subject: str = "") -> Source | None:
    """Take the oldest branch's newest; with a subject, the newest that has it."""
    for line, carriers in found:
        for one in carriers:
            if subject in ("", subject_without_tags(one.message)):
                return _source(one, line.name)
    return None


def _nearest(lines: Lines, commit: Commit, as_named: bool) -> Source:
    subject = subject_without_tags(commit.message)
    if not as_named:
        for change_id in change_ids(commit.message)[:1]:
            near = _first(lines.by_change_id(change_id), subject)
            if near:
                asked = commit.id if near.commit != commit.id else ""
                return Source(near.commit, near.subject, near.line, asked)
    return Source(commit.id, subject, lines.name_of(commit.id))


def _commits(scratch: Scratch, resolve: Callable[[str], str | None], name: str) -> list[Commit]:
    first, dots, last = name.partition("..")
    if dots:
        ends = [_resolved(resolve, end or "HEAD") for end in (first, last.lstrip("."))]
        between = scratch.commits_between(*ends)
        if not between:
            raise UsageError(f"the range {name} holds no commit", "Its older end comes first.")
        return [scratch.commit(one) for one in between]
    commit = scratch.commit(_resolved(resolve, name))
    if len(commit.parents) > 1:
        raise _merge(scratch, name, commit)
    return [commit]


def _resolved(resolve: Callable[[str], str | None], name: str) -> str:
    found = resolve(name)
    if found is None:
        raise UsageError(
            f"the checkout has no commit {name!r}",
            "Name a hash, a branch, a tag, a range A..B, a Change-Id (I…), or --bug NUMBER.",
        )
    return found


def _merge(scratch: Scratch, name: str, commit: Commit) -> UsageError:
    """Say what a merge brought in: that is what a person means who names one."""
    first, second = commit.parents[:2]
    brought = scratch.commits_between(first, second)
    rows = [f"  {one[:12]} {subject_without_tags(scratch.commit(one).message)}" for one in brought]
    more = [f"  and {len(rows) - _SHOWN} more"] if len(rows) > _SHOWN else []
    return UsageError(
        f"{name} is a merge, of {first[:12]} and {second[:12]}; a merge cannot be picked",
        "\n".join(
            [
                f"Import what its second parent brought: {first[:12]}..{second[:12]}, which is",
                *rows[:_SHOWN],
                *more,
            ]
        ),
    )


def _source(carrier: Carrier, line: str) -> Source:
    return Source(carrier.commit, subject_without_tags(carrier.message), line)


def _looked_at(lines: Lines) -> str:
    return ", ".join(line.name for line in lines.lines)
