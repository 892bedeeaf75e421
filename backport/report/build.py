"""Makes the one document out of the values of the other rooms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import MappingProxyType

from pydantic import BaseModel

from backport.apply.outcome import AppliedChange, Conflict, Outcome
from backport.errors import BackportError, ExitCode
from backport.policy.model import Finding
from backport.report.document import (
    BranchFacts,
    CellFacts,
    ChangeFacts,
    CheckoutFacts,
    ConflictFacts,
    EnvironmentFacts,
    GuardFacts,
    NextStep,
    ProofFacts,
    Report,
    Result,
    SeriesFacts,
    TestFacts,
    TestRunFacts,
    ToolFacts,
)
from backport.report.next_steps import Situation, next_steps
from backport.report.text import joined, one_line, plural, shorten, unicode_only
from backport.request import RunRequest
from backport.runner.results import Cell, HunkProof, Proof, Run, TestResult, in_words
from backport.series.model import Series

_RESULTS_OF_ERRORS = {
    ExitCode.USAGE: Result.NOT_DONE,
    ExitCode.CONFLICT: Result.CONFLICT,
    ExitCode.REFUSED: Result.REFUSED,
    ExitCode.INTERRUPTED: Result.NOT_DONE,
}
_RESULTS_OF_RUNS: Mapping[int, Result] = {
    ExitCode.DONE: Result.PASSED,
    ExitCode.NEGATIVE: Result.FAILED,
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
    request: RunRequest | None = None,
    checkout: CheckoutFacts | None = None,
    outcome: Outcome | None = None,
    diffs: Mapping[int, bytes | str] = MappingProxyType({}),
    proof: Proof | None = None,
    runs: Sequence[Run] = (),
    tests_skipped: str = "",
    problem: BackportError | None = None,
    environments: Sequence[EnvironmentFacts] = (),
    lint: Sequence[Finding] = (),
    branch: BranchFacts = _NO_BRANCH,
    work_tree: Path | None = None,
    saved: Sequence[str] = (),
    files: Sequence[Path] = (),
) -> Report:
    """Return the report of one run.

    :param diffs: each change's git diff, by the change's number
    :param tests_skipped: why there is no proof, where that was somebody's choice
    :param work_tree: where a conflict waits for its resolution
    """
    result, sentence = conclude(outcome, proof, tests_skipped, problem, runs, invocation.exit_code)
    asked = invocation.command_line, series, request
    steps = next_steps(Situation(result, *asked, checkout, branch, outcome, proof))
    return Report.model_validate(
        {
            **_named(invocation, Report, {}),
            "tool": ToolFacts(version=invocation.tool_version),
            "result": result,
            "sentence": sentence,
            "series": _series(series) if series else None,
            "checkout": checkout,
            "changes": [_change(one, diffs) for one in outcome.applied] if outcome else (),
            "conflict": _conflict(outcome, work_tree, steps),
            "proof": _proof(proof) if proof else None,
            "runs": [_run(run) for run in runs],
            "tests_skipped": tests_skipped,
            "problem": problem,
            "environments": tuple(environments),
            "findings": tuple(lint),
            "branch": branch,
            "next_steps": steps,
            "saved": tuple(saved),
            "files": tuple(files),
        }
    )


def conclude(
    outcome: Outcome | None,
    proof: Proof | None,
    tests_skipped: str = "",
    problem: BackportError | None = None,
    runs: Sequence[Run] = (),
    code: int = ExitCode.DONE,
) -> tuple[Result, str]:
    """Return what it all came to, and one sentence that says why."""
    result, sentence = _conclude(outcome, proof, tests_skipped, problem, runs, code)
    if lost := _left_out(outcome):
        # What was proven is not the whole of the fix.
        result = Result.IN_PART if result is Result.PROVEN else result
        sentence = f"{lost} {sentence}"
    return result, sentence


def _conclude(
    outcome: Outcome | None,
    proof: Proof | None,
    tests_skipped: str,
    problem: BackportError | None,
    runs: Sequence[Run],
    code: int,
) -> tuple[Result, str]:
    if outcome and outcome.conflict:
        return Result.CONFLICT, _conflict_sentence(outcome, outcome.conflict)
    if proof:
        return Result(proof.verdict.value), one_line(proof.reason)
    if problem:
        result = _RESULTS_OF_ERRORS.get(problem.exit_code, Result.CANNOT_TELL)
        return result, one_line(problem.message)
    if runs:
        return _RESULTS_OF_RUNS.get(code, Result.CANNOT_TELL), joined([_sentence(r) for r in runs])
    if outcome and outcome.nothing_to_do:
        return Result.ALREADY_IN, _already_in_sentence(outcome)
    made = [change for change in outcome.applied if not change.already_in] if outcome else []
    because = f": {one_line(tests_skipped)}" if tests_skipped else ""
    return Result.NOT_TESTED, f"{plural(len(made), 'change')} applied, but no test ran{because}."


def _sentence(run: Run) -> str:
    under = f"under {run.interpreter}"
    return f"{one_line(run.problem) or in_words(run.counts)} {under}"


def _left_out(outcome: Outcome | None) -> str:
    """Say what of the changes is not in, by somebody's word; "" where all is."""
    parts = [hunk for change in outcome.applied for hunk in change.left_out] if outcome else []
    if not parts:
        return ""
    paths = joined(list(dict.fromkeys(part.path for part in parts)))
    return (
        f"{plural(len(parts), 'hunk')} of {paths} {'was' if len(parts) == 1 else 'were'} left out."
    )


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
    branch = {"branch": series.branch.branch, "project": series.branch.project}
    return SeriesFacts.model_validate(_named(series, SeriesFacts, branch))


def _change(applied: AppliedChange, diffs: Mapping[int, bytes | str]) -> ChangeFacts:
    others = {
        "subject": applied.message.partition("\n")[0],
        "diff": diffs.get(applied.change.number, ""),
    }
    known = _named(applied.change, ChangeFacts, _named(applied, ChangeFacts, others))
    return ChangeFacts.model_validate(known)


def _conflict(
    outcome: Outcome | None, work_tree: Path | None, steps: tuple[NextStep, ...]
) -> ConflictFacts | None:
    if outcome is None or outcome.conflict is None:
        return None
    change = outcome.conflict.change
    return ConflictFacts.model_validate(
        {
            "change": change.number,
            "subject": change.subject,
            "files": outcome.conflict.files,
            "work_tree": work_tree,
            "next": steps,
        }
    )


def _proof(proof: Proof) -> ProofFacts:
    others = {"cells": [_cell(one) for one in proof.cells], "hunks": list(map(_guard, proof.hunks))}
    return ProofFacts.model_validate(_named(proof, ProofFacts, others))


def _run(run: Run) -> TestRunFacts:
    return TestRunFacts.model_validate(_of_run(run))


def _of_run(run: Run) -> dict[str, object]:
    return _named(run, TestRunFacts, {"tests": [_test(result) for result in run.results]})


def _test(result: TestResult) -> TestFacts:
    detail = shorten(unicode_only(result.detail), DETAIL_LIMIT)
    return TestFacts.model_validate(_named(result, TestFacts, {"detail": detail}))


def _cell(cell: Cell) -> CellFacts:
    return CellFacts.model_validate(_named(cell, CellFacts, _of_run(cell.run)))


def _guard(hunk: HunkProof) -> GuardFacts:
    return GuardFacts.model_validate(hunk)


def _named(
    value: object, facts: type[BaseModel], others: Mapping[str, object]
) -> dict[str, object]:
    """Return what a value has under the names that the document has; ``others`` come first."""
    names = [name for name in facts.model_fields if name not in others and hasattr(value, name)]
    return {**others} | {name: getattr(value, name) for name in names}
