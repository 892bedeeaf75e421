"""``backport verify``: the proof for a branch that is there already."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from backport.apply.delta import find_picked
from backport.apply.outcome import AppliedChange, Outcome
from backport.checkout.objects import Commit
from backport.commands.frame import Frame
from backport.commands.run import checkout_options, proof_options, report_options, test_options
from backport.errors import UsageError
from backport.pipeline import Findings, checkout_facts
from backport.progress import Progress
from backport.report.document import Action, BranchFacts
from backport.request import RunRequest, TestOptions
from backport.series.manifest import find_series
from backport.series.message import change_ids, subject_without_tags
from backport.series.model import Change, Series
from backport.session import Places, Session, choose_checkout, open_session
from backport.verification import verify

_EXAMPLES = """\b
Examples:
  backport verify ocata/bug-1783613 --prove-hunks
        prove the branch that a run made, hunk by hunk
  backport verify ocata/bug-1783613 --checkout ~/src/nova --branch-name FETCH_HEAD --onto 15.1.3
        prove what somebody else has put up for review
"""


@click.command("verify", epilog=_EXAMPLES, short_help="Prove a series that is on a branch.")
@click.argument("series")
@checkout_options
@click.option("--branch-name", metavar="REV", help="Left out: backport/SERIES.")
@test_options
@proof_options
@report_options
@click.pass_obj
def verify_command(
    frame: Frame, /, report_folder: Path | None, as_json: bool, **options: Any
) -> int:
    """Prove the commits of SERIES as they are on a branch, whoever made them.

    Each change is found by its Change-Id among the commits above the base (--onto, else the
    tip of the stable branch). Nothing is applied, and nothing is published.
    """
    tests = TestOptions(**{name: options.pop(name) for name in TestOptions.model_fields})
    request = RunRequest(tests=tests, **options)
    return frame.reported(
        request.series,
        lambda findings, progress: verify_branch(frame.places, request, findings, progress),
        report_folder,
        as_json,
    )


def verify_branch(
    places: Places, request: RunRequest, findings: Findings, progress: Progress
) -> None:
    """Prove a series as it stands on a branch: see ``backport verify --help``.

    :raises UsageError: the branch is not there, or has not all changes of the series
    """
    findings.request = request
    progress.step("load", request.series)
    series = findings.series = find_series(request.series, places.patches)
    where = choose_checkout(places, series.branch, request.checkout, progress)
    with open_session(places, series.branch, where, request.onto, progress) as session:
        findings.checkout = checkout_facts(session, series.branch, request.onto)
        branch = request.branch_name or f"backport/{series.name}"
        tip = session.checkout.resolve(branch)
        if tip is None:
            raise UsageError(
                f"{session.checkout.folder} has no branch {branch}",
                f"Make it with: backport run {series.name}",
            )
        outcome = findings.outcome = read_outcome(session, series, tip)
        findings.diffs = {
            one.change.number: session.scratch.diff(one.parent, one.commit)
            for one in outcome.applied
        }
        findings.branch = BranchFacts(name=branch, action=Action.NOTHING_TO_DO, tip=tip, old=tip)
        findings.take(verify(session, series, outcome, request.tests, progress))


def read_outcome(session: Session, series: Series, tip: str) -> Outcome:
    """Find the changes of a series among the commits of a branch, by Change-Id or subject.

    :raises UsageError: one is not there, or they are not in the series' order
    """
    scratch = session.scratch
    ids = scratch.commits_between(session.base.commit, tip)
    commits = [scratch.commit(commit) for commit in ids]
    changes = [find_picked(scratch, change)[0] for change in series.changes]
    found = [(change, _commit_of(change, commits)) for change in changes]
    missing = [change for change, commit in found if commit is None]
    if missing:
        raise UsageError(
            f"the branch lacks change {missing[0].number}, “{missing[0].subject}”, "
            f"above {session.base.name}",
            "Is it the right branch? Name it with --branch-name, and its base with --onto.",
        )
    applied = tuple(_applied(change, commit) for change, commit in found if commit)
    order = [ids.index(one.commit) for one in applied]
    if order != sorted(order):
        raise UsageError(
            "the branch has the changes in another order than the series",
            "Rebase the branch, or reorder the series.",
        )
    base = applied[0].parent
    return Outcome(base, applied)


def _commit_of(change: Change, commits: list[Commit]) -> Commit | None:
    """Take the last one: a branch may hold a change, its revert, and the change again."""
    for commit in reversed(commits):
        same_id = bool(change.change_id) and change.change_id in change_ids(commit.message)
        same_subject = not change.change_id and (
            subject_without_tags(commit.message) == subject_without_tags(change.subject)
        )
        if same_id or same_subject:
            return commit
    return None


def _applied(change: Change, commit: Commit) -> AppliedChange:
    parent = commit.parents[0]
    return AppliedChange(change, commit.id, commit.tree, parent, commit.message)
