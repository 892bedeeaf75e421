"""The one model of what happened, ``backport-report/1``; every other view is made from it.

Values only, read off those of the other rooms by name; :mod:`backport.report.build` puts them
together. What a field means is its description, in the schema too.
Strings are valid Unicode, or JSON could not hold them; they are not made fit to be shown,
which is for each view to do (:func:`backport.report.text.clean`).
"""

from __future__ import annotations

from datetime import datetime
from enum import Enum
from pathlib import PurePath
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from backport.apply.outcome import Fate, Layer, Rung
from backport.policy.model import Severity
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
    model_config = ConfigDict(
        frozen=True, extra="forbid", populate_by_name=True, defer_build=True, from_attributes=True
    )


def _is(description: str, default: Any = ...) -> Any:
    return Field(default, description=description)


class Result(str, Enum):
    """What a whole run came to: a verdict, or why there is none."""

    PROVEN = "proven"
    IN_PART = "proven-in-part"  # what is in holds, and a hunk was left out
    UNPROVEN = "unproven"
    BROKEN = "broken"
    CANNOT_TELL = "could-not-tell"
    CONFLICT = "conflict"
    ALREADY_IN = "already-in"
    NOT_TESTED = "not-tested"
    REFUSED = "refused"
    NOT_DONE = "not-done"
    PASSED = "passed"
    FAILED = "failed"


class Action(str, Enum):
    """What became of the branch."""

    CREATED = "created"
    NOTHING_TO_DO = "nothing-to-do"
    REPLACED = "replaced"
    REFUSED = "refused"
    DRY_RUN = "dry-run"
    NONE = "none"


class NextStep(_Facts):
    """What a person may want to do next."""

    command: Words = _is("to be pasted into a shell as it is; empty: it is nothing to type")
    why: Words = _is("what it is for")


class ToolFacts(_Facts):
    """Which tool made the report."""

    name: Words = _is("its name", "backport")
    version: Words = _is("its version")


class SeriesFacts(_Facts):
    """What was to be carried, and where to."""

    name: Words = _is("its folder, from the branch's on")
    title: Words = _is("what it is about, in a line")
    bug: int | None = _is("of Launchpad", None)
    branch: Words = _is("the stable branch that is fixed")
    project: Words = _is("such as openstack/nova")
    stable_only: Words | None = _is("why the change is on no newer branch", None)


class CheckoutFacts(_Facts):
    """The repository that was worked on, and the commit that the series went onto."""

    path: Words = _is("its folder")
    kind: Words = _is("clone, built-in, bare, linked worktree …")
    base: Words = _is("the commit's full hash")
    described: Words = _is("the base, by its last tag", "")
    onto: Words | None = _is("the revision that was asked for, if any", None)
    gerrit: Words | None = _is("the remote that reviews are sent to, if there is one", None)
    notes: tuple[Words, ...] = _is("what a person should know of it", ())


class HunkFacts(_Facts):
    """Where a hunk landed; lines count from 1."""

    wanted_line: int = _is("in the file that the patch was made from")
    landed_line: int = _is("in the file on the base")
    offset: int = _is("lines below the wanted place; negative: above")
    home: Words = _is("the enclosing class and function; empty: the module")
    lookalikes: tuple[int, ...] = _is("lines of the same home where the same block stands", ())
    known_as: Words = _is("the name that the change knows the home by, if it is another", "")


class FileFacts(_Facts):
    """How one file of a patch went in."""

    path: Words = _is("on the base")
    rung: Rung = _is("by which way it went in, the strictest that did")
    hunks: tuple[HunkFacts, ...] = _is("in the patch's order", ())
    renamed_from: Words | None = _is("the patch's name for it, if that is another", None)
    rules: tuple[Words, ...] = _is("the rules that resolved its conflicts, if it was that", ())


class HunkFateFacts(_Facts):
    """What became of one hunk, or of what a change does to a file as a whole."""

    path: Words = _is("the patch's")
    what: Words = _is("the @@ line, or words such as: adds the file")
    fate: Fate = _is("what became of it")
    by: Words = _is("whose word it was, where it is not as it was written", "")
    diff: Words = _is("from what the change has to what is there now, where adapted", "")


class AlreadyInFacts(_Facts):
    """By what a change was recognised on the base."""

    layer: Layer = _is("the strongest sign that was found")
    commit: Words | None = _is("the full hash; none where only the content tells")
    detail: Words = _is("what was found, in words")


class ChangeFacts(_Facts):
    """One change and its commit."""

    number: int = _is("its place in the series, from 1")
    kind: Kind = _is("what it does about the bug")
    subject: Words = _is("as committed, with the branch's tag")
    message: Words = _is("as committed")
    commit: Words = _is("the full hash; of the tip, left as it was, where it is in already")
    tree: Words = _is("the commit's tree")
    parent: Words = _is("the commit that it went onto")
    change_id: Words = _is("Gerrit's")
    files: tuple[FileFacts, ...] = _is("how each went in", ())
    already_in: AlreadyInFacts | None = _is("if the base has it", None)
    notes: tuple[Words, ...] = _is("what was made for the message, or taken out of it", ())
    hunks: tuple[HunkFateFacts, ...] = _is("each part of it is accounted for", ())
    diff: Words = _is("a git diff against the parent", "")


class ConflictFileFacts(_Facts):
    """A file that a person has to look at."""

    path: Words = _is("on the base")
    reasons: tuple[Words, ...] = _is("why, hunk by hunk")


class ConflictFacts(_Facts):
    """The change at which it stopped."""

    change: int = _is("its number")
    subject: Words = _is("its subject")
    files: tuple[ConflictFileFacts, ...] = _is("all that a person has to look at")
    work_tree: Words | None = _is("where it can be resolved; not the checkout's", None)
    next: tuple[NextStep, ...] = _is("what to type", ())


class TestFacts(_Facts):
    """One test: how it ended, and what it said."""

    __test__ = False  # pytest: not a test class

    id: Words = _is("as the branch's test runner names it")
    status: Status = _is("how it ended; 'not run' is neither a failure nor a success")
    seconds: float = _is("how long it took")
    detail: Words = _is("traceback and output; the middle of much is left out", "")


class RunFacts(_Facts):
    """One run of tests, with all that is needed to believe it or to run it again."""

    tree: Words = _is("git's id of the tree that was run")
    selection: tuple[Words, ...] = _is("what was asked for: modules, classes, methods, ids")
    seconds: float = _is("how long it took")
    command: Words = _is("by hand, for a POSIX shell")
    interpreter: Words = _is("path and version")
    environment: Words = _is("the environment's key")
    log: Words | None = _is("what the test processes printed", None)
    problem: Words = _is("why the run as a whole cannot be believed", "")
    reused: bool = _is("kept from an earlier run of the same tree, tests and environment", False)
    notes: tuple[Words, ...] = _is("such as: the migrated schema was kept", ())
    counts: dict[Status, int] = Field(
        default_factory=dict, description="how many tests ended in which way"
    )


class TestRunFacts(RunFacts):
    """Tests of one commit, outside of a proof."""

    tests: tuple[TestFacts, ...] = _is("every result", ())

    __test__ = False  # pytest: not a test class


class CellFacts(TestRunFacts):
    """Tests of one change on the code of another; 0 is the base."""

    label: Words = _is("a short name, unique within a matrix")
    kind: CellKind = _is("what the cell means")
    tests_of: int = _is("the number of the change whose tests were run")
    code_of: int = _is("the number of the change on whose code")
    ok: bool = _is("came out as the proof wants it")
    cut: bool = _is("only the tests that the fix adds or changes", False)
    reason: Words = _is("how it came out: the one statement that every view prints", "")
    evidence: tuple[Words, ...] = _is("ids that fail here, and pass on their own commit", ())


class GuardFacts(_Facts):
    """One hunk of the fix, left out: which tests noticed."""

    change: int = _is("the number of the fix")
    path: Words = _is("the file")
    header: Words = _is("the line that starts with @@")
    guard: Guard = _is("whether a test notices that it is missing")
    guarded_by: tuple[Words, ...] = _is("ids of the tests that do", ())
    reason: Words = _is("why none does, or why it could not be told", "")
    run: RunFacts | None = _is("of the targeted tests without the hunk", None)


class ProofFacts(_Facts):
    """The matrix, and the verdict drawn from it."""

    verdict: Verdict = _is("the worst that a cell speaks for")
    reason: Words = _is("the statement of the cell that decided it")
    cells: tuple[CellFacts, ...] = _is("in the order in which a person reads them", ())
    hunks: tuple[GuardFacts, ...] = _is("where hunks were left out one by one", ())
    failing_on_base: tuple[Words, ...] = _is("ids that fail there too, and are not blamed", ())


class EnvironmentFacts(_Facts):
    """What the tests ran in: an interpreter and its locked packages."""

    interpreter: Words = _is("its path")
    version: Words = _is("its version")
    lock: Words = _is("the lock file's name")
    lock_sha256: Words = _is("the lock file's digest")
    key: Words = _is("equal keys, equal environments")
    packages: int = _is("how many are locked")


class BranchFacts(_Facts):
    """The branch that holds the result."""

    name: Words | None = _is("without refs/heads/", None)
    action: Action = _is("what became of it", Action.NONE)
    tip: Words | None = _is("the commit that it holds", None)
    old: Words | None = _is("what the branch held before", None)
    reason: Words = _is("why it was refused or left alone", "")


class FindingFacts(_Facts):
    """What the stable-branch policy has against a commit; the rules: ``backport lint --list``."""

    name: Words = _is("of the rule")
    severity: Severity = _is("as the branch sets it")
    commit: str = _is("the whole hash")
    subject: Words = _is("of the commit")
    path: Words | None = _is("the file, if it is about one", None)
    line: int | None = _is("of the file or, without one, of the message; from 1", None)
    reason: Words = _is("what is wrong")
    source: Words = _is("where the rule stands")
    remedy: Words = _is("what to do about it")


class ProblemFacts(_Facts):
    """Why it ended before there was a verdict."""

    message: Words = _is("what is wrong, and where")
    hint: Words = _is("what to do about it", "")


class Report(_Facts):
    """Everything that a run did, found out and made."""

    schema_id: Literal["backport-report/1"] = Field(
        default="backport-report/1", alias="schema", description="the name of this schema"
    )
    tool: ToolFacts = _is("which tool made the report")
    command_line: tuple[Words, ...] = _is("as it was typed, without passwords")
    started: datetime = _is("with a time zone")
    finished: datetime = _is("with a time zone")
    result: Result = _is("what it came to")
    sentence: Words = _is("the result in one sentence")
    exit_code: int = _is("of the process")
    series: SeriesFacts | None = _is("none where there is none, or it could not be read", None)
    checkout: CheckoutFacts | None = _is("none where it was not found", None)
    changes: tuple[ChangeFacts, ...] = _is("those that were applied, in order", ())
    conflict: ConflictFacts | None = _is("where it stopped, if it did", None)
    proof: ProofFacts | None = _is("none where no test ran for one", None)
    runs: tuple[TestRunFacts, ...] = _is("of backport test: one an environment", ())
    tests_skipped: Words = _is("why there is no proof", "")
    problem: ProblemFacts | None = _is("the error that ended it, if one did", None)
    environments: tuple[EnvironmentFacts, ...] = _is("what the tests ran in", ())
    findings: tuple[FindingFacts, ...] = _is("of the policy, on what was applied", ())
    branch: BranchFacts = _is("the branch that holds the result", BranchFacts())
    next_steps: tuple[NextStep, ...] = _is("the likeliest first", ())
    saved: tuple[Words, ...] = _is("what became of the series' files, if that was asked for", ())
    files: tuple[Words, ...] = _is("the report's own, the page first", ())

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
