"""``backport release``: the version, its checks, the request and the tag, made as a series is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from backport.checkout.branches import find_branches
from backport.checkout.locate import locate_base
from backport.checkout.objects import Entry, Signed
from backport.checkout.repository import Checkout
from backport.checkout.scratch import Scratch
from backport.checkout.transaction import RefUpdate, hand_over
from backport.errors import RefusedError, UsageError
from backport.interrupts import deferred
from backport.progress import Progress
from backport.publish.branch import plan_branch, publish
from backport.release.checks import Known, checks
from backport.release.model import Check, Decision, Notes, State
from backport.release.notes import read_notes
from backport.release.request import (
    Listed,
    deliverable_path,
    entry_text,
    read_listed,
    series_status,
    status_files,
    with_release,
)
from backport.release.texts import announcement, tag_message
from backport.release.version import decide
from backport.releasing import Asked, read_state
from backport.series.message import made_change_id
from backport.series.model import Branch
from backport.session import Places, Session, open_repository, open_session


@dataclass(frozen=True)
class ReleaseRequest:
    """What was asked for; see ``backport release --help``."""

    as_of: str | None = None
    version: str | None = None
    releases: Path | None = None
    tag: bool = False
    announcement: Path | None = None


@dataclass(frozen=True)
class Released:
    """What it came to: all that is shown."""

    state: State
    decision: Decision
    checks: tuple[Check, ...]
    notes: Notes
    entry: str
    request: str = ""  # branch of the checkout of openstack/releases, and its commit
    tag: str = ""

    @property
    def ok(self) -> bool:
        """Whether no check fails."""
        return all(check.ok is not False for check in self.checks)


@dataclass(frozen=True)
class _Draft:
    """The request in a checkout of openstack/releases, before it is made."""

    base: str
    path: str
    data: bytes  # of the file, with the release in it
    listed: Listed
    after: Listed
    status: str | None


def release(
    places: Places, branch: Branch, where: str | None, asked: ReleaseRequest, progress: Progress
) -> Released:
    """Work a release out, and make what was asked for, if no check fails.

    :raises UsageError: the rules forbid it, or there is nothing to release
    """
    with open_session(places, branch, where, asked.as_of, progress) as session:
        state = read_state(session, branch, Asked(as_of=asked.as_of), progress)
        decision = decide(state, asked.version)
        progress.step("release", f"{state.project} {decision.version}")
        notes = _notes(session, state, decision.version)
        entry = entry_text(decision.version, state.project, state.tip)
        if asked.releases is None:
            found = checks(state, _known(session, branch, state, decision))
            done = Released(state, decision, tuple(found), notes, entry)
            meta: tuple[tuple[str, str], ...] = ()
        else:
            done, meta = _request(
                places, session, branch, (state, decision, notes), asked.releases, progress
            )
        if asked.announcement and done.ok:
            _announce(session, done, asked.announcement)
        tag = _tag(session, done, meta) if asked.tag and done.ok else ""
    return Released(state, decision, done.checks, notes, done.entry, request=done.request, tag=tag)


def _notes(session: Session, state: State, version: str) -> Notes:
    return read_notes(session.checkout, session.folder / "notes.git", state, version)


def _known(
    session: Session, branch: Branch, state: State, decision: Decision, draft: _Draft | None = None
) -> Known:
    tip = state.tip
    refs = session.checkout.refs("refs/tags/")
    home = locate_base(session.checkout, branch)
    return Known(
        version=decision.version,
        commit=tip,
        exists=session.checkout.resolve(tip) == tip,
        on_branch=session.scratch.is_ancestor(tip, home.commit),
        previous_below=session.scratch.is_ancestor(state.since_commit or tip, tip),
        tags={name.removeprefix("refs/tags/"): commit for name, commit in refs.items()},
        listed=draft.listed if draft else None,
        after=draft.after if draft else None,
        status=draft.status if draft else None,
    )


# -- the request ---------------------------------------------------------------------------


def _request(
    places: Places,
    session: Session,
    branch: Branch,
    worked_out: tuple[State, Decision, Notes],
    releases: Path,
    progress: Progress,
) -> tuple[Released, tuple[tuple[str, str], ...]]:
    state, decision, notes = worked_out
    with open_repository(places, releases, progress) as (checkout, scratch, note):
        draft = _draft(checkout, scratch, state, decision)
        found = tuple(checks(state, _known(session, branch, state, decision, draft)))
        entry = entry_text(decision.version, state.project, state.tip)
        done = Released(state, decision, found, notes, entry)
        if not done.ok:
            return done, ()
        who = checkout.identities()
        date = scratch.commit(draft.base).committer.date
        words, change = _request_message(state, decision)
        blob = scratch.write_blob(draft.data)
        tree = scratch.update(scratch.tree(draft.base), {draft.path: Entry("100644", blob)})
        commit = scratch.make_commit(
            tree, (draft.base,), words, Signed(who.author, date), Signed(who.committer, date)
        )
        name = f"release/{words.partition(': ')[0]}-{state.series}-{decision.version}"
        plan = plan_branch(checkout, name, commit, replace=False, dry_run=False)
        with deferred():
            publish(checkout, note, scratch, plan, draft.base, Signed(who.committer, date))
    meta = (("Author", str(who.author)), ("Commit", str(who.committer)), ("Change-Id", change))
    return Released(state, decision, found, notes, entry, f"{name} {commit}"), meta


def _request_message(state: State, decision: Decision) -> tuple[str, str]:
    """Return the message, with the conventional subject, and its Change-Id."""
    name = state.project.rpartition("/")[2]
    change = made_change_id(f"release {name} {decision.version}", 1)
    return f"{name}: release {state.series} {decision.version}\n\nChange-Id: {change}\n", change


def _draft(checkout: Checkout, scratch: Scratch, state: State, decision: Decision) -> _Draft:
    base = _home_of_requests(checkout)
    tree = scratch.tree(base)
    path = deliverable_path(state.project, state.series)
    data = scratch.file(tree, path)
    if data is None:
        raise UsageError(
            f"{checkout.folder} has no file {path}", "Give a checkout of openstack/releases."
        )
    listed = read_listed(data, path)
    texts = [scratch.file(tree, name) for name in status_files()]
    status = next((series_status(text, state.series) for text in texts if text), None)
    after = with_release(data, path, decision.version, state.project, state.tip)
    return _Draft(base, path, after, listed, read_listed(after, path), status)


def _home_of_requests(checkout: Checkout) -> str:
    places = find_branches(checkout, ["master"]).get("master", ())
    base = places[0].commit if places else checkout.resolve("HEAD")
    if base is None:
        raise UsageError(
            f"{checkout.folder} has no master", "Give a checkout of openstack/releases."
        )
    return base


# -- announcement and tag ------------------------------------------------------------------


def _announce(session: Session, done: Released, file: Path) -> None:
    state = done.state
    begin = state.since_commit or state.tip
    changes = "\n".join(f"{one.commit[:10]} {one.subject}" for one in reversed(state.changes))
    diffstat = session.checkout.diffstat(begin, state.tip)
    text = announcement(state, done.decision, done.notes.report, changes, diffstat)
    file.write_text(text, encoding="utf-8", errors="backslashreplace")


def _tag(session: Session, done: Released, meta: tuple[tuple[str, str], ...]) -> str:
    """Make the annotated tag, dated as its commit, so that a second run makes the same.

    :raises RefusedError: there is another tag of that name
    """
    version, tip = done.decision.version, done.state.tip
    ref = f"refs/tags/{version}"
    there = _object_of(session.checkout, ref)
    commit = session.scratch.commit(tip)
    who = Signed(session.checkout.identities().committer, commit.committer.date)
    tag = session.scratch.make_tag(version, tip, tag_message(done.state, version, meta), who)
    if there and there != tag:
        raise RefusedError(
            f"there is a tag {version} already", "Remove it if it is yours, and run it again."
        )
    if not there:
        with deferred():
            pack = session.scratch.pack([tag], tip)
            update = RefUpdate(ref, tag, None)
            hand_over(session.checkout, session.note, pack, [update], who, "backport: release")
    return tag


def _object_of(checkout: Checkout, ref: str) -> str | None:
    found: Mapping[str, str] = checkout.direct_refs(ref)
    return found.get(ref)
