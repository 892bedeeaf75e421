"""The end of a run on the terminal: verdict, commits, counts, what to type next."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from backport.apply.outcome import Fate, Rung
from backport.report import phrases
from backport.report.console import STYLES, Page, marks, quoted, said
from backport.report.document import (
    ChangeFacts,
    FileFacts,
    Report,
    Result,
    TestFacts,
    TestRunFacts,
)
from backport.report.matrix import Placed
from backport.report.render import took
from backport.report.text import exception_line, plural, seconds, shorten
from backport.runner.results import Guard, in_words

_MOST_FILES = 6  # of a change
_MOST_TESTS = 5  # of a cell
_DETAIL = 4000  # characters of one test's output; the report has all


def summary(report: Report, console: Console) -> None:
    """Print how it ended. All text of other people's comes out as it is, never as markup."""
    page = Page(console)
    page.gap()
    page.line(_headline(report, console))
    if report.problem and report.proof:
        page.line(said(report.problem.message, console, "bold red"))
    if report.problem and report.problem.hint:
        page.line(quoted(report.problem.hint, console, "dim"))
    for run in report.runs:
        _run(run, page, console)
    for label, rows in _sections(report, console):
        page.section(label, rows)
    page.steps(report.next_steps)
    page.gap()


def _headline(report: Report, console: Console) -> Text:
    style = STYLES[phrases.TONES[report.result]]
    signs = marks(console)
    sign = {"good": signs.tick, "bad": signs.cross, "warn": signs.caution}.get(
        phrases.TONES[report.result], signs.bullet
    )
    return Text.assemble(
        (f"{sign} {phrases.TITLES[report.result]}", f"bold {style}"),
        "  ",
        said(report.sentence, console),
    )


def _sections(report: Report, console: Console) -> Iterator[tuple[str, list[Text]]]:
    notes = report.checkout.notes if report.checkout else ()
    yield "onto", [said(note, console, "yellow") for note in notes]
    yield "commits", [row for change in report.changes for row in _change(change, console)]
    if report.conflict:
        yield "conflict", _conflict(report, console)
    yield "proof", _proof(report, console)
    yield "hunks", _hunks(report, console)
    yield "branch", _branch(report, console)
    yield "saved", [said(line, console) for line in report.saved]
    yield "report", [said(file, console) for file in report.files[:1]]


def _change(change: ChangeFacts, console: Console) -> Iterator[Text]:
    commit = change.already_in.commit if change.already_in else change.commit
    yield Text.assemble(
        (phrases.short(commit) or "-", "yellow"), "  ", said(change.subject, console)
    )
    if change.already_in:
        yield said(phrases.how_applied(change), console, "green")
        return
    for note in change.notes:
        yield said(note, console, "yellow")
    for hunk in change.hunks:
        if hunk.fate is Fate.LEFT_OUT:
            yield said(
                f"left out of {hunk.path}, by {hunk.by}: {hunk.what}", console, "bold yellow"
            )
    # What went in exactly where it was written for is as everybody expects; the report has it.
    files = [
        f
        for f in change.files
        if f.rung is not Rung.EXACT or any(h.offset or h.known_as for h in f.hunks)
    ]
    for file in files[:_MOST_FILES]:
        yield _file(file, console)
    if len(files) > _MOST_FILES:
        yield Text(f"and {plural(len(files) - _MOST_FILES, 'more file')}", "dim")


def _file(file: FileFacts, console: Console) -> Text:
    by_hand = file.rung in (Rung.RESOLVED, Rung.EDITED)
    way = f"{file.path}: {phrases.way_in(file)}"
    way += "" if by_hand else f", {phrases.moves(file)}"
    return said(way, console, "dim")


def _conflict(report: Report, console: Console) -> list[Text]:
    found = report.conflict
    if found is None:
        return []
    rows = [said(f"change {found.change}: {found.subject}", console)]
    for file in found.files:
        rows.append(said(file.path, console, "bold"))
        rows.extend(said(f"  {reason}", console) for reason in file.reasons)
    if found.work_tree:
        rows.append(said(f"to be resolved in {found.work_tree}", console))
    return rows


def _proof(report: Report, console: Console) -> list[Text]:
    if report.proof is None:
        silent = report.result is Result.ALREADY_IN or report.problem or report.runs
        return [] if silent else [said(phrases.why_no_proof(report), console, "yellow")]
    rows: list[Text] = []
    blamed = phrases.blamed(report)
    for index, cell in enumerate(report.proof.cells):
        rows.append(_cell(Placed(index, cell), console))
        if blamed[cell.label]:
            rows.extend(_failing(blamed[cell.label], cell, console))
    known = len(report.proof.failing_on_base)
    if known:
        rows.append(Text(f"{plural(known, 'test')} failing on the base too, and not blamed", "dim"))
    return rows


def _cell(placed: Placed, console: Console) -> Text:
    cell = placed.cell
    return Text.assemble(
        (f"{marks(console).verdict(cell.ok)} ", STYLES[placed.tone]),
        (f"{cell.label:<9}  ", "bold"),
        said(cell.reason, console),
        (f"  {took(cell)}", "dim"),
    )


def _failing(tests: list[TestFacts], run: TestRunFacts, console: Console) -> Iterator[Text]:
    for test in tests[:_MOST_TESTS]:
        because = exception_line(test.detail) or test.status.value
        yield said(f"  {phrases.nickname(test.id)}: {because}", console, "red")
    if len(tests) > _MOST_TESTS:
        yield Text(f"  and {plural(len(tests) - _MOST_TESTS, 'more', 'more')}", "red")
    if run.log:
        yield said(f"  log: {run.log}", console, "dim")


def _run(run: TestRunFacts, page: Page, console: Console) -> None:
    for test in phrases.failing(run):
        page.gap()
        page.line(said(f"{test.status.value}: {test.id}", console, "bold"))
        page.line(quoted(shorten(test.detail, _DETAIL), console, "dim"), indent=3)
    rows = [said(f"{run.problem or in_words(run.counts)}, {seconds(run.seconds)}", console)]
    rows += [said(f"log: {run.log}", console, "dim")] if run.log else []
    page.section("tests", rows)


def _hunks(report: Report, console: Console) -> list[Text]:
    hunks = report.proof.hunks if report.proof else ()
    if not hunks:
        return []
    guarded, of = phrases.guarded(hunks)
    rows = [said(f"{guarded} of {of} guarded by a test", console, "" if guarded == of else "red")]
    loose = [hunk for hunk in hunks if hunk.guard in (Guard.UNGUARDED, Guard.CANNOT_TELL)]
    rows.extend(said(f"{hunk.guard.value}: {hunk.path} {hunk.header}", console) for hunk in loose)
    return rows


def _branch(report: Report, console: Console) -> list[Text]:
    branch = report.branch
    if branch.name is None:
        return []
    where = f", in {report.checkout.path}" if report.checkout else ""
    row = Text.assemble(
        said(branch.name, console, "bold"),
        said(f"  {phrases.branch_words(report)}{where}", console),
    )
    return [row]
