"""``backport run``, as its table of contents: load, locate, apply, verify, publish."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from backport.apply.engine import Options, Signing, apply_series
from backport.apply.outcome import Conflict, Outcome, Resolution
from backport.checkout.branches import upstream_first
from backport.checkout.remote import without_password
from backport.conflict.pending import Pending, pending
from backport.conflict.state import State, pending_files
from backport.errors import BackportError, ConflictError, ExitCode, RefusedError, UsageError
from backport.interrupts import deferred
from backport.linting import lint_outcome
from backport.picking.missing_names import missing_names
from backport.placement.tree_placement import name_homes
from backport.policy.model import Finding
from backport.progress import Progress
from backport.publish.branch import Action as PlannedAction
from backport.publish.branch import Plan, plan_branch, publish
from backport.report.document import Action, BranchFacts, CheckoutFacts, EnvironmentFacts
from backport.report.lint import one_line_of
from backport.report.text import plural
from backport.request import RunRequest
from backport.runner.results import Proof, Run
from backport.series.manifest import find_series
from backport.series.model import Branch, Series
from backport.session import Places, Session, choose_checkout, open_session
from backport.verification import Verification, exit_code_of, verify


@dataclass
class Findings:
    """What a run has found out so far, however it ends; the report is made from it."""

    request: RunRequest | None = None
    series: Series | None = None
    checkout: CheckoutFacts | None = None
    outcome: Outcome | None = None
    diffs: dict[int, bytes] = field(default_factory=dict)
    proof: Proof | None = None
    runs: tuple[Run, ...] = ()
    environments: tuple[EnvironmentFacts, ...] = ()
    tests_skipped: str = ""
    lint: tuple[Finding, ...] = ()
    branch: BranchFacts = field(default_factory=BranchFacts)
    work_tree: Path | None = None
    saved: tuple[str, ...] = ()  # what became of the files of the series
    problem: BackportError | None = None
    exit_code: ExitCode = ExitCode.DONE

    def take(self, verification: Verification) -> None:
        """Add what the tests said."""
        self.proof = verification.proof
        self.environments = verification.environments
        self.exit_code = exit_code_of(verification.proof.verdict)


def run(places: Places, request: RunRequest, findings: Findings, progress: Progress) -> None:
    """Do the main job: see ``backport run --help``.

    :param findings: is filled in; what was found out before an error is worth a report, too
    :raises BackportError: what ended it
    """
    findings.request = request
    progress.step("load", request.series)
    series = findings.series = find_series(request.series, places.patches)
    where = choose_checkout(places, series.branch, request.checkout, progress)
    request = request.model_copy(update={"checkout": where})
    with open_session(places, series.branch, request.checkout, request.onto, progress) as session:
        waiting = pending(places.state, session.checkout.common_dir, series.name)
        if waiting.exists and not request.dry_run:
            raise ConflictError(
                f"a conflict of an earlier run of {series.name} on this checkout is pending, "
                f"at change {waiting.read().change}",
                "Type one of:  backport status   backport continue   backport abort",
            )
        carry_out(session, series, request, {}, waiting, findings, progress)


def carry_out(
    session: Session,
    series: Series,
    request: RunRequest,
    resolutions: dict[int, Resolution],
    waiting: Pending,
    findings: Findings,
    progress: Progress,
) -> None:
    findings.checkout = checkout_facts(session, series.branch, request.onto)
    progress.step("apply", f"{plural(len(series.changes), 'change')} onto {session.base.name}")
    outcome = apply(session, series, request, resolutions, progress)
    findings.outcome = name_homes(session.scratch, outcome, session.places.cache / "homes")
    for path, line in _accepted_in_vain(findings.outcome, request):
        progress.note(f"--accept-moved {path}:{line}: no hunk has landed there")
    findings.diffs = {
        one.change.number: session.scratch.diff(one.parent, one.commit)
        for one in outcome.applied
        if not one.already_in
    }
    if outcome.conflict:
        _keep(session, series, request, resolutions, outcome.conflict, waiting, findings)
    elif not outcome.nothing_to_do:
        progress.step("lint")
        findings.lint = lint_outcome(session, series, outcome, progress).findings
        for finding in findings.lint:
            progress.note(one_line_of(finding))
        _verify_and_publish(session, series, request, outcome, findings, progress)


def _accepted_in_vain(outcome: Outcome, request: RunRequest) -> list[tuple[str, int]]:
    """List what a person has accepted and did not come; where there is a conflict, it still may."""
    files = [file for change in outcome.applied for file in change.files]
    landed = {(file.path, hunk.landed_line) for file in files for hunk in file.hunks}
    return [] if outcome.conflict else sorted(set(request.accept_moved) - landed)


def _verify_and_publish(
    session: Session,
    series: Series,
    request: RunRequest,
    outcome: Outcome,
    findings: Findings,
    progress: Progress,
) -> None:
    branch = request.branch_name or f"backport/{series.name}"
    # Refused before the tests, which take long, and not after.
    plan = _plan(session, branch, outcome.tip, request, findings)
    if request.skip_tests:
        findings.tests_skipped = "--skip-tests was given"
    else:
        findings.take(verify(session, series, outcome, request.tests, progress))
    if plan and findings.exit_code is ExitCode.DONE:
        there = plan.action is PlannedAction.NOTHING_TO_DO
        progress.step("publish", branch + ": nothing to do, it is there already" * there)
        who = session.scratch.commit(outcome.tip).committer
        with deferred():  # it happens, and is known to have happened, or does not
            publish(session.checkout, session.note, session.scratch, plan, outcome.base, who)
            findings.branch = branch_facts(plan)


def _plan(
    session: Session, branch: str, tip: str, request: RunRequest, findings: Findings
) -> Plan | None:
    """Plan the branch; None where it would be refused, and is not to be made anyway."""
    try:
        return plan_branch(session.checkout, branch, tip, request.replace, request.dry_run)
    except RefusedError as error:
        ref = f"refs/heads/{branch}"
        old = session.checkout.refs(ref).get(ref)
        findings.branch = BranchFacts(
            name=branch,
            action=Action.DRY_RUN if request.dry_run else Action.REFUSED,
            old=old,
            reason=error.message,
        )
        if request.dry_run:
            return None
        raise


def apply(
    session: Session,
    series: Series,
    request: RunRequest,
    resolutions: dict[int, Resolution],
    progress: Progress,
) -> Outcome:
    options = Options(frozenset(request.accept_moved), resolutions, missing_names)
    base = session.base.commit
    signs = signing(session, request.dry_run)
    return apply_series(session.scratch, series, base, signs, options, progress)


def signing(session: Session, dry_run: bool = False) -> Signing:
    """Return who signs what is made, and when: as the base, so that a second run makes the same.

    Where nobody told git who it is, a dry run takes the base's: nothing of it stays.
    """
    last = session.scratch.commit(session.base.commit).committer
    try:
        who = session.checkout.identities()
    except UsageError:
        if not dry_run:
            raise
        return Signing(last.person, last.person, last.date)
    return Signing(who.author, who.committer, last.date)


def _keep(
    session: Session,
    series: Series,
    request: RunRequest,
    resolutions: dict[int, Resolution],
    conflict: Conflict,
    waiting: Pending,
    findings: Findings,
) -> None:
    """Keep a conflict for a person; a dry run only tells of it."""
    findings.exit_code = ExitCode.CONFLICT
    if request.dry_run:
        return
    where = without_password(request.checkout) if request.checkout else None
    # It is gone on with from anywhere.
    asked = {"checkout": where, "series": str(series.folder.resolve())}
    state = State(
        checkout=str(session.checkout.folder.resolve()),
        series=series.name,
        digest=series_digest(series),
        built_in=session.kind == "built-in",
        base=session.base.commit,
        base_name=session.base.name,
        change=conflict.change.number,
        subject=conflict.change.subject,
        parent=conflict.parent,
        files=pending_files(conflict),
        patch_paths=conflict.paths,
        tree=conflict.tree,
        words={number: dict(one.words) for number, one in resolutions.items()},
        save=waiting.save,
        request=request.model_copy(update=asked).model_dump(mode="json"),
    )
    waiting.keep(session.scratch, state, conflict.files, resolutions)
    findings.work_tree = waiting.work_tree


def series_digest(series: Series) -> str:
    """Return a digest of all that decides which commits a series makes: no path, no line."""
    changes = [replace(one, source=(Path(), 0), patch_file=None) for one in series.changes]
    return hashlib.sha256(repr((series.stable_only, series.bug, changes)).encode()).hexdigest()


def checkout_facts(session: Session, branch: Branch, onto: str | None) -> CheckoutFacts:
    """Say where the work is done."""
    base = session.base
    gerrit = "gerrit" if session.checkout.has_remote("gerrit") else None
    return CheckoutFacts(
        path=str(session.checkout.folder),
        kind=session.kind,
        base=base.commit,
        described=session.checkout.describe(base.commit) or base.name,
        onto=onto,
        gerrit=gerrit,
        notes=tuple(_other_tips(session, branch)) if onto is None else (),
    )


def _other_tips(session: Session, branch: Branch) -> Iterator[str]:
    """Tell of remotes whose branch is not where the base is: a local one is easily forgotten."""
    remotes = session.checkout.refs(f"refs/remotes/*/{branch.branch}")
    for name in upstream_first(remotes):
        if session.base.name == branch.branch and remotes[name] != session.base.commit:
            short = name.removeprefix("refs/remotes/")
            yield (
                f"{short} is at {remotes[name][:10]}, and {branch.branch} at "
                f"{session.base.commit[:10]}, which was taken; to take the other: --onto {short}"
            )


def branch_facts(plan: Plan) -> BranchFacts:
    """Say what became of the branch."""
    return BranchFacts(
        name=plan.branch, action=Action(plan.action.value), tip=plan.new, old=plan.old
    )
