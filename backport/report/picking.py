"""What ``backport import``, ``explain`` and ``affected`` print, from the values of picking."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from backport.picking.model import (
    Affected,
    Cause,
    Explanation,
    Fate,
    Grade,
    Imported,
    Introduced,
    State,
    Trial,
)
from backport.report.console import Page, marks, said
from backport.report.document import NextStep
from backport.report.phrases import short
from backport.report.text import plural

_FATES = {
    Fate.APPLIES: ("applies", "green"),
    Fate.ADAPT: ("applies, and needs adapting", "yellow"),
    Fate.IN: ("is in already", "cyan"),
    Fate.CONFLICT: ("conflicts", "red"),
}


def show_imported(done: Imported, console: Console) -> None:
    """Print where a series was written, where its commits come from, and what a run would say."""
    page = Page(console)
    page.gap()
    page.line(Text.assemble(said(done.series, console, "bold"), "  ", said(done.folder, console)))
    if done.copied:
        words = f"with it: {', '.join(done.copied)}"
        page.line(said(words, console, "dim"))
    for source, trial in zip(done.sources, done.trials, strict=True):
        rows = [said(f"{short(source.commit)} {source.subject}", console)]
        where = f"on {source.line}" if source.line else "on no newer branch of the checkout"
        nearer = f", nearer than {short(source.asked)}, which was named" if source.asked else ""
        rows.append(said(where + nearer, console, "dim"))
        page.section(f"change {trial.number}", [*rows, *_trial(trial, done.onto, console)])
    page.steps(_after_import(done))
    page.gap()


def _trial(trial: Trial, onto: str, console: Console) -> Iterator[Text]:
    words, style = _FATES[trial.fate]
    alone = ", without those that conflict" if trial.alone else ""
    detail = f": {trial.detail}" if trial.detail else ""
    yield said(f"{words} on {onto}{alone}{detail}", console, style)
    for file in trial.files:
        yield said(f"{marks(console).bullet} {file.path}", console)
        for reason in file.reasons:
            yield said(f"    {reason}", console, "dim")
    for one in trial.missing:
        yield from _missing(one, console)
    for test in trial.tests:
        yield said(test, console, "dim")


def _missing(one: Introduced, console: Console) -> Iterator[Text]:
    found = one.missing
    yield said(f"{found.path}:{found.line}: {found.name}: {found.why}", console)
    if one.commit:
        by = f"    brought by {short(one.commit)} {one.subject} {one.change_id}".rstrip()
        yield said(by, console, "dim")


def _after_import(done: Imported) -> list[NextStep]:
    run = shlex.join(["backport", "run", done.series])
    if any(trial.fate is Fate.CONFLICT for trial in done.trials):
        explain = shlex.join(["backport", "explain", done.series])
        return [
            NextStep(command=explain, why="see which commits are missing here"),
            NextStep(command=run, why="carry it out; it stops at the conflict for you"),
        ]
    return [NextStep(command=run, why="carry it out")]


def show_explanation(done: Explanation, console: Console) -> None:
    """Print for each conflicting hunk the missing commits that it leans on, and the NOTE."""
    page = Page(console)
    page.gap()
    page.line(said(f"{done.series} onto {done.onto}", console, "bold"))
    if not done.changes:
        page.line(said("nothing conflicts", console, "green"))
    for change in done.changes:
        rows = [said(f"{short(change.commit)} {change.subject}".strip(), console)]
        rows += [said(change.remark, console, "dim")] if change.remark else []
        page.section(f"change {change.number}", rows)
        for hunk in change.hunks:
            where = f"{hunk.path}:{hunk.first}-{hunk.last}" if hunk.first else hunk.path
            page.gap()
            home = f" in {hunk.home}" if hunk.home else ""
            page.line(said(f"{where}{home}: {hunk.why}", console, "bold"), indent=3)
            for cause in hunk.causes:
                _show_cause(cause, page, console)
            if not hunk.causes:
                page.line(said("no missing commit of the newer branch touched it", console), 5)
        if change.note:
            page.section("note", [said(change.note, console)])
    page.gap()


def _show_cause(cause: Cause, page: Page, console: Console) -> None:
    style = "yellow" if cause.grade is Grade.PREREQUISITE else "dim"
    page.line(
        said(f"{cause.grade.value}: {short(cause.commit)} {cause.subject}", console, style), 5
    )
    picks = {True: "picks cleanly itself", False: "conflicts itself", None: "is a merge"}
    size = f"{plural(cause.files, 'file')}, +{cause.insertions} -{cause.deletions}"
    page.line(said(f"{cause.change_id}  {size}; {picks[cause.picks]}; {cause.why}", console), 7)
    if cause.on:
        newer = f" and {plural(len(cause.on) - 1, 'newer branch', 'newer branches')}"
        page.line(said(f"on {cause.on[0]}{newer if cause.on[1:] else ''}", console, "dim"), 7)


_STATES = {
    State.HAS: ("has it", "green"),
    State.CLEAN: ("needs it", "yellow"),
    State.CONFLICT: ("needs it", "red"),
    State.NO_CODE: ("does not have the code", "dim"),
    State.UNKNOWN: ("cannot tell", "dim"),
}


def show_affected(done: Affected, console: Console) -> None:
    """Print for each change how each branch stands to it, the newest first."""
    page = Page(console)
    page.gap()
    page.line(said(done.series, console, "bold"))
    for number, subject in enumerate(done.subjects):
        page.section(f"change {number + 1}", [said(subject, console)])
        width = max((len(one.name or one.branch) for one in done.branches), default=0)
        for branch in done.branches:
            found = branch.changes[number]
            words, style = _STATES[found.state]
            by = f" ({short(found.commit)})" if found.commit else ""
            where = f" in {', '.join(found.paths)}" if found.paths else ""
            name = f"{branch.name or branch.branch:<{width}}"
            page.line(said(f"{name}  {words}: {found.detail}{where}{by}", console, style), 3)
    page.gap()
