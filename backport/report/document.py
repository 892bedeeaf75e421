"""The one model of what happened, ``backport-report/1``; every other view is made from it.

Values only, and none of them is worked out here: :mod:`backport.report.build` fills it in.
Strings are valid Unicode, or JSON could not hold them; they are not made fit to be shown,
which is for each view to do (:func:`backport.report.text.clean`).
"""

from __future__ import annotations

import json
from datetime import datetime
from enum import Enum
from pathlib import PurePath
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from backport.apply.outcome import Layer, Rung
from backport.report.text import decoded
from backport.runner.results import CellKind, Guard, Status, Verdict
from backport.series.model import Kind

SCHEMA = "backport-report/1"


def _as_text(value: object) -> object:
    text = str(value) if isinstance(value, PurePath) else value
    return decoded(text) if isinstance(text, str | bytes) else text


Words = Annotated[str, BeforeValidator(_as_text)]


class _Facts(BaseModel):
    # Built when first needed: twenty models take a quarter of a second.
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, defer_build=True)


class Result(str, Enum):
    """What a whole run came to: a verdict, or why there is none."""

    PROVEN = "proven"
    UNPROVEN = "unproven"
    BROKEN = "broken"
    CANNOT_TELL = "could-not-tell"
    CONFLICT = "conflict"
    ALREADY_IN = "already-in"
    NOT_TESTED = "not-tested"
    REFUSED = "refused"
    NOT_DONE = "not-done"


class Action(str, Enum):
    """What became of the branch."""

    CREATED = "created"
    NOTHING_TO_DO = "nothing-to-do"
    REPLACED = "replaced"
    REFUSED = "refused"
    DRY_RUN = "dry-run"
    NONE = "none"


class NextStep(_Facts):
    """A command that a person may want to type next, and what it is for."""

    command: Words
    why: Words


class ToolFacts(_Facts):
    """Which tool made the report."""

    name: Words = "backport"
    version: Words


class SeriesFacts(_Facts):
    """What was to be carried, and where to."""

    name: Words
    title: Words
    bug: int | None = None
    branch: Words
    project: Words
    stable_only: Words | None = Field(
        default=None, description="why the change is on no newer branch"
    )


class CheckoutFacts(_Facts):
    """The repository that was worked on, and the commit that the series went onto."""

    path: Words = Field(description="as it was given")
    kind: Words = Field(description="clone, built-in, bare, linked worktree …")
    base: Words = Field(description="the commit's full hash")
    described: Words = Field(default="", description="the base, by its last tag")
    onto: Words | None = Field(default=None, description="the revision that was asked for, if any")


class HunkFacts(_Facts):
    """Where a hunk landed; lines count from 1."""

    wanted_line: int
    landed_line: int
    offset: int = Field(description="lines below the wanted place; negative: above")
    home: Words = Field(description="the enclosing class and function; empty: the module")
    lookalikes: tuple[int, ...] = ()
    known_as: Words = Field(
        default="", description="the name that the change knows the home by, if it is another"
    )


class FileFacts(_Facts):
    """How one file of a patch went in."""

    path: Words
    rung: Rung
    hunks: tuple[HunkFacts, ...] = ()
    renamed_from: Words | None = None
    rules: tuple[Words, ...] = Field(
        default=(), description="the rules that resolved its conflicts, if it was that"
    )


class AlreadyInFacts(_Facts):
    """By what a change was recognised on the base."""

    layer: Layer
    commit: Words | None
    detail: Words


class ChangeFacts(_Facts):
    """One change and its commit; with ``already_in``, ``commit`` is the tip, left as it was."""

    number: int
    kind: Kind
    subject: Words = Field(description="as committed, with the branch's tag")
    message: Words
    commit: Words
    tree: Words
    parent: Words
    change_id: Words
    files: tuple[FileFacts, ...] = ()
    already_in: AlreadyInFacts | None = None
    notes: tuple[Words, ...] = Field(
        default=(), description="what was made for the message, or taken out of it"
    )
    diff: Words = Field(default="", description="a git diff against the parent")


class ConflictFileFacts(_Facts):
    """A file that a person has to look at."""

    path: Words
    reasons: tuple[Words, ...]


class ConflictFacts(_Facts):
    """The change at which it stopped."""

    change: int
    subject: Words
    files: tuple[ConflictFileFacts, ...]
    work_tree: Words | None = Field(
        default=None, description="where the conflict can be resolved; not the checkout's"
    )
    next: tuple[NextStep, ...] = ()


class TestFacts(_Facts):
    """One test: how it ended, and what it said."""

    __test__ = False  # pytest: not a test class

    id: Words
    status: Status
    seconds: float
    detail: Words = ""


class RunFacts(_Facts):
    """One run of tests, with all that is needed to believe it or to run it again."""

    tree: Words
    selection: tuple[Words, ...]
    seconds: float
    command: Words
    interpreter: Words
    environment: Words = Field(description="the environment's key")
    log: Words | None = None
    problem: Words = Field(default="", description="why the run as a whole cannot be believed")
    reused: bool = False
    notes: tuple[Words, ...] = ()
    counts: dict[Status, int] = Field(default_factory=dict)


class CellFacts(RunFacts):
    """Tests of one change on the code of another; 0 is the base."""

    label: Words
    kind: CellKind
    tests_of: int
    code_of: int
    ok: bool = Field(description="came out as the proof wants it")
    cut: bool = Field(default=False, description="only the tests that the fix adds or changes")
    reason: Words = ""
    tests: tuple[TestFacts, ...] = ()


class GuardFacts(_Facts):
    """One hunk of the fix, left out: which tests noticed."""

    change: int
    path: Words
    header: Words
    guard: Guard
    guarded_by: tuple[Words, ...] = ()
    reason: Words = ""
    run: RunFacts | None = None


class ProofFacts(_Facts):
    """The matrix, and the verdict drawn from it."""

    verdict: Verdict
    reason: Words
    cells: tuple[CellFacts, ...] = ()
    hunks: tuple[GuardFacts, ...] = ()
    failing_on_base: tuple[Words, ...] = ()


class EnvironmentFacts(_Facts):
    """What the tests ran in: an interpreter and its locked packages."""

    interpreter: Words = Field(description="its path")
    version: Words
    lock: Words = Field(description="the lock file's name")
    lock_sha256: Words
    key: Words
    packages: int


class BranchFacts(_Facts):
    """The branch that holds the result."""

    name: Words | None = None
    action: Action = Action.NONE
    tip: Words | None = None
    old: Words | None = Field(default=None, description="what the branch held before")
    reason: Words = Field(default="", description="why it was refused or left alone")


class ProblemFacts(_Facts):
    """Why it ended before there was a verdict."""

    message: Words
    hint: Words = ""


class Report(_Facts):
    """Everything that a run did, found out and made."""

    schema_id: Literal["backport-report/1"] = Field(default="backport-report/1", alias="schema")
    tool: ToolFacts
    command_line: tuple[Words, ...]
    started: datetime
    finished: datetime
    result: Result
    sentence: Words = Field(description="the result in one sentence")
    exit_code: int
    series: SeriesFacts | None = Field(
        default=None, description="none where the run ended before it was read"
    )
    checkout: CheckoutFacts | None = None
    changes: tuple[ChangeFacts, ...] = ()
    conflict: ConflictFacts | None = None
    proof: ProofFacts | None = None
    tests_skipped: Words = Field(default="", description="why there is no proof")
    problem: ProblemFacts | None = None
    environments: tuple[EnvironmentFacts, ...] = ()
    branch: BranchFacts = BranchFacts()
    next_steps: tuple[NextStep, ...] = ()
    files: tuple[Words, ...] = ()

    @property
    def seconds(self) -> float:
        """How long it took."""
        return (self.finished - self.started).total_seconds()


def to_json(report: Report) -> str:
    """Return the report as JSON: two blanks of indent, UTF-8, a newline at its end."""
    return report.model_dump_json(by_alias=True, indent=2) + "\n"


def from_json(text: str) -> Report:
    """Read what :func:`to_json` wrote.

    :raises pydantic.ValidationError: if it is none
    """
    return Report.model_validate_json(text)


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of what :func:`to_json` writes."""
    schema = Report.model_json_schema(by_alias=True, mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": SCHEMA, **schema}


def json_schema_text() -> str:
    """Return :func:`json_schema` as text, for ``backport schema``."""
    return json.dumps(json_schema(), indent=2) + "\n"
