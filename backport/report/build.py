"""Makes the one model out of the values of the other rooms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import MappingProxyType

from backport.apply.outcome import AppliedChange, Conflict, FileOutcome, Outcome
from backport.errors import BackportError, ExitCode
from backport.report import advice
from backport.report.document import (
    AlreadyInFacts,
    BranchFacts,
    CellFacts,
    ChangeFacts,
    CheckoutFacts,
    ConflictFacts,
    ConflictFileFacts,
    EnvironmentFacts,
    FileFacts,
    GuardFacts,
    HunkFacts,
    NextStep,
    ProblemFacts,
    ProofFacts,
    Report,
    Result,
    RunFacts,
    SeriesFacts,
    TestFacts,
    ToolFacts,
)
from backport.report.text import joined, one_line, plural, shorten, unicode_only
from backport.report.wording import counted
from backport.runner.results import Cell, HunkProof, Proof, Run
from backport.series.model import Series

_RESULTS_OF_ERRORS = {
    ExitCode.USAGE: Result.NOT_DONE,
    ExitCode.CONFLICT: Result.CONFLICT,
    ExitCode.REFUSED: Result.REFUSED,
    ExitCode.INTERRUPTED: Result.NOT_DONE,
}
_NO_BRANCH = BranchFacts()
DETAIL_LIMIT = 200_000  # characters of one test's output that the document keeps; the log has all


@dataclass(frozen=True)
class Invocation:
    """How the tool was called, by when and with what exit code; there is no clock in this room."""

    tool_version: str
    command_line: tuple[str, ...]  # as it was typed, the program's name first
    started: datetime  # with a time zone, as is finished
    finished: datetime
    exit_code: int


def build_report(
    *,
    invocation: Invocation,
    series: Series | None,
    checkout: CheckoutFacts | None = None,
    outcome: Outcome | None = None,
    diffs: Mapping[int, bytes | str] = MappingProxyType({}),
    proof: Proof | None = None,
    tests_skipped: str = "",
    problem: BackportError | None = None,
    environments: Sequence[EnvironmentFacts] = (),
    branch: BranchFacts = _NO_BRANCH,
    work_tree: Path | None = None,
    next_steps: Sequence[NextStep] | None = None,
    files: Sequence[Path] = (),
) -> Report:
    """Return the report of one run.

    :param diffs: each change's git diff, by the change's number
    :param tests_skipped: why there is no proof, where that was somebody's choice
    :param problem: the error that ended the run before its verdict
    :param work_tree: where a conflict waits for its resolution
    :param next_steps: what to type next; None: worked out from the rest
    """
    result, sentence = conclude(outcome, proof, tests_skipped, problem)
    if next_steps is None and series:
        next_steps = advice.next_steps(result, series, checkout, branch, outcome, proof)
    return Report(
        tool=ToolFacts(version=invocation.tool_version),
        command_line=invocation.command_line,
        started=invocation.started,
        finished=invocation.finished,
        exit_code=invocation.exit_code,
        result=result,
        sentence=sentence,
        series=_series(series) if series else None,
        checkout=checkout,
        changes=_changes(outcome, diffs),
        conflict=_conflict(outcome, work_tree),
        proof=_proof(proof) if proof else None,
        tests_skipped=tests_skipped,
        problem=ProblemFacts(message=problem.message, hint=problem.hint) if problem else None,
        environments=tuple(environments),
        branch=branch,
        next_steps=tuple(next_steps or ()),
        files=tuple(str(file) for file in files),
    )


def conclude(
    outcome: Outcome | None,
    proof: Proof | None,
    tests_skipped: str = "",
    problem: BackportError | None = None,
) -> tuple[Result, str]:
    """Return what it all came to, and one sentence that says why."""
    if outcome and outcome.conflict:
        return Result.CONFLICT, _conflict_sentence(outcome, outcome.conflict)
    if proof:
        return Result(proof.verdict.value), one_line(proof.reason)
    if problem:
        result = _RESULTS_OF_ERRORS.get(problem.exit_code, Result.CANNOT_TELL)
        return result, one_line(problem.message)
    if outcome and outcome.nothing_to_do:
        return Result.ALREADY_IN, _already_in_sentence(outcome)
    made = [change for change in outcome.applied if not change.already_in] if outcome else []
    because = f": {one_line(tests_skipped)}" if tests_skipped else ""
    return Result.NOT_TESTED, f"{plural(len(made), 'change')} applied, but no test ran{because}."


def _conflict_sentence(outcome: Outcome, conflict: Conflict) -> str:
    place = f"change {conflict.change.number - 1}" if outcome.applied else "the base"
    files = plural(len(conflict.files), "file")
    verb = "needs" if len(conflict.files) == 1 else "need"
    return (
        f"Change {conflict.change.number} does not apply on top of {place}:"
        f" {files} {verb} a person to look."
    )


def _already_in_sentence(outcome: Outcome) -> str:
    layers = [change.already_in.layer.value for change in outcome.applied if change.already_in]
    by = joined(list(dict.fromkeys(layers)))
    count = len(layers)
    which = {1: "The change is", 2: "Both changes are"}.get(count, f"All {count} changes are")
    return f"{which} on the base already, recognised by {by}."


def _series(series: Series) -> SeriesFacts:
    return SeriesFacts(
        name=series.name,
        title=series.title,
        bug=series.bug,
        branch=series.branch.branch,
        project=series.branch.project,
        stable_only=series.stable_only,
    )


def _changes(outcome: Outcome | None, diffs: Mapping[int, bytes | str]) -> tuple[ChangeFacts, ...]:
    return tuple(_change(applied, diffs) for applied in outcome.applied) if outcome else ()


def _change(applied: AppliedChange, diffs: Mapping[int, bytes | str]) -> ChangeFacts:
    found = applied.already_in
    return ChangeFacts.model_validate(
        {
            "number": applied.change.number,
            "kind": applied.change.kind,
            "subject": applied.message.partition("\n")[0],
            "message": applied.message,
            "commit": applied.commit,
            "tree": applied.tree,
            "parent": applied.parent,
            "change_id": applied.change.change_id,
            "files": tuple(_file(file) for file in applied.files),
            "already_in": found
            and AlreadyInFacts(layer=found.layer, commit=found.commit, detail=found.detail),
            "notes": applied.notes,
            "diff": diffs.get(applied.change.number, ""),
        }
    )


def _file(file: FileOutcome) -> FileFacts:
    hunks = tuple(
        HunkFacts(
            wanted_line=hunk.wanted_line,
            landed_line=hunk.landed_line,
            offset=hunk.offset,
            home=hunk.home,
            lookalikes=hunk.lookalikes,
            known_as=hunk.known_as,
        )
        for hunk in file.hunks
    )
    return FileFacts(
        path=file.path,
        rung=file.rung,
        hunks=hunks,
        renamed_from=file.renamed_from,
        rules=file.rules,
    )


def _conflict(outcome: Outcome | None, work_tree: Path | None) -> ConflictFacts | None:
    if outcome is None or outcome.conflict is None:
        return None
    conflict = outcome.conflict
    return ConflictFacts(
        change=conflict.change.number,
        subject=conflict.change.subject,
        files=tuple(
            ConflictFileFacts(path=file.path, reasons=file.reasons) for file in conflict.files
        ),
        work_tree=str(work_tree) if work_tree else None,
        next=advice.after_conflict(),
    )


def _proof(proof: Proof) -> ProofFacts:
    return ProofFacts(
        verdict=proof.verdict,
        reason=proof.reason,
        cells=tuple(_cell(cell) for cell in proof.cells),
        hunks=tuple(_guard(hunk) for hunk in proof.hunks),
        failing_on_base=proof.failing_on_base,
    )


def run_facts(run: Run) -> RunFacts:
    """Return what a run is known by."""
    return RunFacts(
        tree=run.tree,
        selection=run.selection,
        seconds=run.seconds,
        command=run.command,
        interpreter=run.interpreter,
        environment=run.environment,
        log=str(run.log) if run.log else None,
        problem=run.problem,
        reused=run.reused,
        notes=run.notes,
        counts=counted(result.status for result in run.results),
    )


def test_facts(run: Run) -> tuple[TestFacts, ...]:
    """Return the tests of a run, their output bounded."""
    return tuple(
        TestFacts(
            id=result.id,
            status=result.status,
            seconds=result.seconds,
            detail=shorten(unicode_only(result.detail), DETAIL_LIMIT),
        )
        for result in run.results
    )


def _cell(cell: Cell) -> CellFacts:
    return CellFacts(
        **dict(run_facts(cell.run)),
        label=cell.label,
        kind=cell.kind,
        tests_of=cell.tests_of,
        code_of=cell.code_of,
        ok=cell.ok,
        cut=cell.cut,
        reason=cell.reason,
        tests=test_facts(cell.run),
    )


def _guard(hunk: HunkProof) -> GuardFacts:
    return GuardFacts(
        change=hunk.change,
        path=hunk.path,
        header=hunk.header,
        guard=hunk.guard,
        guarded_by=hunk.guarded_by,
        reason=hunk.reason,
        run=run_facts(hunk.run) if hunk.run else None,
    )
