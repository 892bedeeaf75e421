"""``backport unreleased`` and ``release``: the facts gathered, for ``release/`` to judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from packaging.version import Version

from backport.checkout.locate import locate_base
from backport.errors import UsageError
from backport.linting import Linted, lint
from backport.policy.bugs import Effect, effects
from backport.policy.exempt import is_infra, is_tagged
from backport.policy.model import Facts
from backport.progress import Progress
from backport.release.impacts import impacts
from backport.release.model import Elsewhere, Group, State, Unreleased
from backport.release.version import is_canonical
from backport.series.model import Branch
from backport.session import Session


@dataclass(frozen=True)
class Asked:
    """What was asked for; see ``backport unreleased --help``."""

    since: str | None = None
    as_of: str | None = None


def read_state(session: Session, branch: Branch, asked: Asked, progress: Progress) -> State:
    """Find out what the branch holds since its last release.

    :raises UsageError: the tag to begin at, or the commit to end at, is not on the branch
    """
    tip = session.base.commit
    _check_on_branch(session, branch, asked)
    tags = _versions_below(session, branch, tip, before=asked.as_of is not None)
    since = asked.since or (str(tags[-1]) if tags else None)
    begin = _begin(session, since, tip) if since else None
    commits = session.scratch.commits_between(begin, tip) if begin else []
    dates = session.checkout.dates(begin, tip) if begin else {}
    progress.step("read", f"{len(commits)} commits since {since or 'ever'}")
    linted = lint(session, branch, begin or tip, commits, progress)
    return State(
        project=branch.project,
        branch=branch.branch,
        series=branch.name,
        since=since,
        since_commit=begin,
        tip=tip,
        tip_name=session.base.name,
        changes=tuple(_changes(session, linted, dates)),
        merges=len(dates) - len(commits),
        tags=tuple(map(str, tags)),
        newer=linted.around.newer,
    )


def groups(state: State) -> tuple[Group, ...]:
    """Put together what belongs together: by the bug that is closed, else by one that is named.

    A test that recreates a bug (Related-Bug) goes to the fix (Closes-Bug) this way.
    """
    own: dict[int | None, list[Unreleased]] = {}
    for change in state.changes:
        if change.ci_only:
            continue
        own.setdefault(_bug_of(change, state.changes), []).append(change)
    ci = tuple(change for change in state.changes if change.ci_only)
    rest = own.pop(None, [])
    found = [Group(f"bug {bug}", bug, tuple(changes)) for bug, changes in own.items()]
    found += [Group("no bug", None, tuple(rest))] if rest else []
    found += [Group("CI only", None, ci)] if ci else []
    return tuple(found)


def _bug_of(change: Unreleased, changes: Sequence[Unreleased]) -> int | None:
    """Prefer a bug that this change closes, then one that another of these closes."""
    closed = {
        bug for each in changes for bug, effect in each.bugs.items() if effect is Effect.CLOSES
    }
    ranked = sorted(
        change.bugs, key=lambda bug: (change.bugs[bug] is not Effect.CLOSES, bug not in closed)
    )
    return next(iter(ranked), None)


def _check_on_branch(session: Session, branch: Branch, asked: Asked) -> None:
    if asked.as_of is None:
        return
    home = locate_base(session.checkout, branch)
    if not session.scratch.is_ancestor(session.base.commit, home.commit):
        raise UsageError(
            f"{asked.as_of} is not on {branch.branch} ({home.name} here)",
            "Releases are made of commits that have merged to the branch.",
        )


def _versions_below(session: Session, branch: Branch, tip: str, before: bool) -> list[Version]:
    """List the branch's versions that are tagged up to ``tip``, the last one last.

    Those of its major number: nova had 2015.1.0 before 12.0.0.

    :param before: leave out those of ``tip`` itself: as it was before it was tagged
    """
    tags = session.checkout.tags_below(tip)
    names = [tag for tag, at in tags.items() if is_canonical(tag) and not (before and at == tip)]
    major = Version(branch.release_line).major
    return sorted(version for version in map(Version, names) if version.major == major)


def _begin(session: Session, since: str, tip: str) -> str:
    begin = session.checkout.resolve(since)
    if begin is None or not session.scratch.is_ancestor(begin, tip):
        what = "is not below" if begin else "is not in this checkout: nothing can be told below"
        raise UsageError(f"{since} {what} {session.base.name}", "git tag --merged lists the tags.")
    return begin


def _changes(session: Session, linted: Linted, dates: Mapping[str, str]) -> Iterator[Unreleased]:
    around = linted.around
    twins = [_twins(facts, around.newer) for facts in around.commits]
    tags = session.checkout.first_tags({commit for one in twins for commit in one.values()})
    for facts, found in zip(around.commits, twins, strict=True):
        tests = bool(facts.paths) and all(map(around.is_test, facts.paths))
        yield Unreleased(
            commit=facts.id,
            subject=facts.subject,
            date=dates[facts.id],
            author=str(facts.author),
            bugs={bug: said.effect for bug, said in effects(facts.message).items()},
            impacts=impacts(facts, _Reader(session, facts.id), around.is_test),
            stable_only=is_tagged(facts),
            ci_only=is_infra(facts),
            tests_only=tests,
            notes=tuple(path for path in facts.paths if path.startswith("releasenotes/notes/")),
            elsewhere=tuple(Elsewhere(name, at, tags.get(at)) for name, at in found.items()),
            missing=tuple(name for name in around.newer if name not in found),
            findings=tuple(each for each in linted.findings if each.commit == facts.id),
        )


def _twins(facts: Facts, newer: Sequence[str]) -> dict[str, str]:
    """Map each newer branch that has the change to its commit there, by descent or of its own."""
    found: dict[str, str] = {}
    last = None
    for name in reversed(newer):  # what a branch has by descent, a newer one has as its own
        if name in facts.elsewhere:
            last = facts.elsewhere[name] or last
            found.update({name: last} if last else {})
    return {name: found[name] for name in newer if name in found}


@dataclass(frozen=True)
class _Reader:
    """Reads files before and after a commit."""

    session: Session
    commit: str

    def __call__(self, path: str, after: bool) -> bytes | None:
        scratch = self.session.scratch
        parents = scratch.commit(self.commit).parents
        at = self.commit if after else next(iter(parents), None)
        return scratch.file(at, path) if at else None
