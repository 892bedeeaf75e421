"""``backport lint``: the facts about commits, gathered in one place, and judged by the policy."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from backport.apply.delta import make_deltas
from backport.apply.outcome import Outcome
from backport.checkout.branches import find_branches
from backport.checkout.objects import NOBODY, Commit
from backport.checkout.survey import (
    Holders,
    Pick,
    Picked,
    added_lines,
    pick_all,
    read_holders,
    touched,
)
from backport.errors import UsageError
from backport.policy.content_rules import READ
from backport.policy.model import Cited, Facts, Finding, Range, Replay, Touched
from backport.policy.table import judge, severities
from backport.progress import Progress
from backport.series.message import change_ids, pick_message, write_message
from backport.series.model import Branch, Series
from backport.session import Session

# Looser than what backport.series.message reads: what is meant counts here.
_CITED = re.compile(r"^[ \t]*\(cherry[ -]?picked from (?:commit )?([0-9a-f]{7,64})\b.*$", re.I)


@dataclass(frozen=True)
class Linted:
    """What came of it."""

    commits: tuple[str, ...]
    findings: tuple[Finding, ...]
    around: Range


def lint(
    session: Session,
    branch: Branch,
    base: str,
    commits: Sequence[str],
    progress: Progress,
    unapplied: Mapping[str, Sequence[str]] | None = None,
) -> Linted:
    """Judge commits by the stable-branch policy.

    :param base: what the branch has without them
    :param commits: the oldest first; none of them a merge
    :param unapplied: of them, those that stand for changes which conflict: their paths
    """
    tips = _tips(session, branch, progress)
    read = {commit: session.scratch.commit(commit) for commit in commits}
    holders = read_holders(session.scratch, tips, base)
    cited = {commit: _cited(session, read[commit], base, holders) for commit in commits}
    elsewhere = {
        commit: holders.of_change(next(iter(change_ids(read[commit].message)), ""))
        for commit in commits
    }
    unapplied = unapplied or {}
    picked = {c: _source(cited[c], elsewhere[c]) for c in commits if c not in unapplied}
    replays = _replays(session, read, picked, progress)
    known = [each.id for one in cited.values() for each in one if each.id]
    changed = _touched(session, [*commits, *known])
    changed |= {commit: tuple(map(Touched, paths)) for commit, paths in unapplied.items()}
    around = Range(
        commits=tuple(
            Facts(
                id=commit,
                author=read[commit].author.person,
                message=read[commit].message,
                touched=changed[commit],
                cited=tuple(_with_paths(each, changed) for each in cited[commit]),
                replay=replays.get(commit),
                elsewhere=elsewhere[commit],
            )
            for commit in commits
        ),
        branch=branch.branch,
        newer=tuple(tips),
        tests=branch.tests.paths if branch.tests else (),
        is_shallow=session.scratch.is_shallow,
    )
    return Linted(tuple(commits), tuple(judge(around, severities(branch))), around)


def lint_outcome(session: Session, series: Series, outcome: Outcome, progress: Progress) -> Linted:
    """Judge the commits that a series has become; a change that conflicts, by its message."""
    commits = [one.commit for one in outcome.applied if not one.already_in]
    unapplied = dict(_unapplied(session, series, outcome))
    if unapplied:
        progress.note("some changes conflict: of these, messages and paths are judged")
    return lint(session, series.branch, outcome.base, [*commits, *unapplied], progress, unapplied)


def _unapplied(
    session: Session, series: Series, outcome: Outcome
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Make commits of the changes from a conflict on: messages as they would be, no files."""
    if not outcome.conflict:
        return
    scratch, tip = session.scratch, outcome.tip
    for delta in make_deltas(scratch, series.changes[outcome.conflict.change.number - 1 :]):
        change, picked = delta.change, delta.picked
        author = picked.author if picked else scratch.commit(outcome.base).author
        written = (
            pick_message(change, picked.message, picked.id, ())
            if picked
            else write_message(change, series)
        )
        signed = replace(author, person=change.author or author.person)
        tip = scratch.make_commit(scratch.tree(tip), (tip,), written.text, signed, NOBODY)
        yield tip, delta.paths


def range_of(session: Session, words: str) -> tuple[str, list[str]]:
    """Return the base and the commits of ``A..B``, or of a single one (a merge: what it brings).

    :raises UsageError: it is no range, or there is nothing in it
    """
    older, dots, _ = words.partition("..")
    tip = session.base.commit
    scratch = session.scratch
    if not dots:
        parents = scratch.commit(tip).parents
        if not parents:
            raise UsageError(f"{words} has no parent", "Name a range: A..B")
        commits = scratch.commits_between(parents[0], tip) if len(parents) > 1 else [tip]
        return parents[0], commits
    base = session.checkout.resolve(older or "HEAD")
    if base is None:
        raise UsageError(f"{session.checkout.folder} has no commit {older!r}", "Name a range: A..B")
    commits = scratch.commits_between(base, tip)
    if not commits:
        raise UsageError(f"there is no commit in {words}", "The older end comes first: A..B")
    return base, commits


def _tips(session: Session, branch: Branch, progress: Progress) -> dict[str, list[str]]:
    """The newer branches that there are, the oldest first, and a word on what cannot be judged."""
    found = find_branches(session.checkout, branch.newer_branches)
    if not found:
        progress.note("no newer branch is here: what comes from them is not judged")
    elif session.scratch.is_shallow:
        progress.note("history is cut off (a shallow clone): cited commits are not judged")
    if session.scratch.promisor:
        progress.note("a partial clone: picks are not done once more")
    return {name: [place.commit for place in places] for name, places in found.items()}


def _cited(session: Session, commit: Commit, base: str, holders: Holders) -> tuple[Cited, ...]:
    lines = commit.message.rstrip().split("\n")
    numbers = [number for number, line in enumerate(lines) if _CITED.match(line)]
    return tuple(_one_cited(session, lines[n].strip(), n + 1, base, holders) for n in numbers)


def _one_cited(session: Session, form: str, line: int, base: str, holders: Holders) -> Cited:
    found = _CITED.match(form)
    assert found is not None
    name = session.scratch.resolve(found[1].lower())
    if not name:
        return Cited(found[1], line, form)
    commit = session.scratch.commit(name)
    on = holders.of(name)
    return Cited(
        found[1], line, form, name, commit.message, commit.author.person, on=on,
        on_target=not on and session.scratch.is_ancestor(name, base),
    )  # fmt: skip


def _source(cited: Sequence[Cited], elsewhere: Mapping[str, str | None]) -> str | None:
    """What was picked: the last cited commit that there is.

    Where none of them ever merged, it is what did in their place on the nearest branch.
    """
    ids = {found for each in cited if each.id and (found := change_ids(each.message))}
    if not cited or len(ids) > 1:
        return None
    known = [each.id for each in reversed(cited) if each.id]
    own = [commit for commit in elsewhere.values() if commit]
    return next(iter([*known, *own]), None)


def _replays(
    session: Session,
    read: Mapping[str, Commit],
    picked: Mapping[str, str | None],
    progress: Progress,
) -> dict[str, Replay]:
    sources = {
        commit: source
        for commit, source in picked.items()
        if source and len(read[commit].parents) == len(session.scratch.commit(source).parents) == 1
    }
    if session.scratch.promisor or not sources:
        return {}
    picks = [Pick(source, read[commit].parents[0]) for commit, source in sources.items()]
    progress.update(f"picking {len(picks)} commits once more")
    done = zip(sources.items(), pick_all(session.scratch, picks), strict=True)
    return {
        commit: Replay(source, picked.conflicts, _equal(picked, read[commit]))
        for (commit, source), picked in done
    }


def _equal(picked: Picked, commit: Commit) -> bool:
    return not picked.conflicts and picked.tree == commit.tree


def _touched(session: Session, commits: Sequence[str]) -> dict[str, tuple[Touched, ...]]:
    found = touched(session.scratch, commits)
    return {
        commit: tuple(Touched(path, how, _lines(session, commit, path)) for how, path in paths)
        for commit, paths in found.items()
    }


def _lines(session: Session, commit: str, path: str) -> tuple[tuple[int, str], ...]:
    return tuple(added_lines(session.scratch, commit, path)) if READ.match(path) else ()


def _with_paths(cited: Cited, changed: Mapping[str, tuple[Touched, ...]]) -> Cited:
    return replace(cited, paths=changed[cited.id]) if cited.id else cited
