"""The suites and cases of ``junit.xml``: the proof for tools that know nothing of proofs.

A suite for each cell, a case for each test. Such tools hold that a test that fails is bad, so

* where a cell must be red and is, its failing tests are passed cases, with what they said in
  their ``system-out``;
* a failure that the base has too is a skipped case, since nobody is blamed for it, and so is a
  test that was not run;
* each suite has one more case, named after its cell, which fails if the cell did not come out
  as the proof wants it (a red cell that is not red), and is an error if it cannot be believed.

So the file is all green exactly if every cell is as it must be. The form is the one that
Jenkins' and GitLab's readers share: properties, then cases, then output.
"""

from __future__ import annotations

from dataclasses import dataclass

from backport.report import phrases
from backport.report.document import CellFacts, Report, Result, TestFacts, TestRunFacts
from backport.report.text import clean, exception_line, one_line, shorten
from backport.runner.results import CellKind, Status

_OUTPUT = 20_000  # characters of a test's output
_TAGS = {  # of a run without tests; one without any case would be an error to Jenkins
    Result.BROKEN: "failure",
    Result.UNPROVEN: "failure",
    Result.CONFLICT: "failure",
    Result.NOT_DONE: "failure",
    Result.CANNOT_TELL: "error",
    Result.REFUSED: "error",
    Result.ALREADY_IN: "",
}


@dataclass(frozen=True)
class Case:
    """A test. ``tag`` is ``failure``, ``error`` or ``skipped``; empty: it passed."""

    group: str
    name: str
    seconds: float
    tag: str = ""
    message: str = ""
    text: str = ""


@dataclass(frozen=True)
class Suite:
    """The tests of one run."""

    name: str
    seconds: float
    cases: list[Case]
    run: TestRunFacts | None = None


def suites(report: Report) -> list[Suite]:
    """Return all suites; there is always one."""
    found = [_of_run(run) for run in report.runs]
    if report.proof:
        known = frozenset(report.proof.failing_on_base)
        found += [_of_cell(cell, known) for cell in report.proof.cells]
    return found or [_lone(report)]


def _lone(report: Report) -> Suite:
    name = report.series.name if report.series else "no series"
    tag = _TAGS.get(report.result, "skipped")
    case = Case("backport", name, report.seconds, tag, one_line(report.sentence) if tag else "")
    return Suite("backport", report.seconds, [case])


def _of_run(run: TestRunFacts) -> Suite:
    return Suite(one_line(run.interpreter), run.seconds, [_plain(test) for test in run.tests], run)


def _of_cell(cell: CellFacts, known: frozenset[str]) -> Suite:
    cases = [_as_a_whole(cell), *(_of_test(cell, test, known) for test in cell.tests)]
    return Suite(one_line(f"{cell.label} {cell.interpreter}"), cell.seconds, cases, cell)


def _as_a_whole(cell: CellFacts) -> Case:
    tag = "error" if cell.problem else "" if cell.ok else "failure"
    said = clean(cell.reason)
    group, name = "backport.proof", f"{cell.label} is as it must be"
    return Case(group, name, 0.0, tag, one_line(said), "" if tag else said)


def _of_test(cell: CellFacts, test: TestFacts, known: frozenset[str]) -> Case:
    plain = _plain(test)
    if plain.tag not in ("failure", "error"):
        return plain
    if phrases.must_fail(cell) and test.status.red:
        return Case(plain.group, plain.name, plain.seconds, text=plain.text)
    if test.id in known or cell.kind is CellKind.BASE:
        return _skipped(plain, f"fails on the base too: {plain.message}")
    return _skipped(plain, f"not blamed: {plain.message}") if cell.ok else plain


def _skipped(case: Case, why: str) -> Case:
    return Case(case.group, case.name, case.seconds, "skipped", why)


def _plain(test: TestFacts) -> Case:
    group, name = phrases.splits(test.id)
    text = shorten(clean(test.detail), _OUTPUT)
    message = exception_line(test.detail) or test.status.value
    case = Case(group or "tests", name, test.seconds, text=text)
    if test.status.passed:
        return case
    if test.status in (Status.SKIPPED, Status.NOT_RUN):
        return _skipped(case, one_line(test.detail) or test.status.value)
    tag = "failure" if test.status is Status.FAILED else "error"
    return Case(case.group, name, test.seconds, tag, message, text)
