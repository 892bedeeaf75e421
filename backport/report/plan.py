"""What ``backport show`` and ``backport status`` print: the plan, and the pending conflict."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from backport.apply.markers import Marked
from backport.report.console import Page, marks, quoted, said
from backport.report.document import NextStep
from backport.report.next_steps import after_conflict
from backport.report.phrases import short
from backport.report.text import decoded, plural
from backport.series.message import Written
from backport.series.model import Change, Series

_MOST_LINES = 14  # of each side of a conflict


@dataclass(frozen=True)
class PendingFileView:
    """A file of a pending conflict; ``marked`` are the places that still have markers."""

    path: str
    reasons: tuple[str, ...]
    marked: tuple[Marked, ...] = ()


@dataclass(frozen=True)
class PendingView:
    """A pending conflict, as ``backport status`` shows it."""

    series: str
    change: int
    subject: str
    checkout: str
    base: str  # as it was named, or its hash
    work_tree: str
    files: tuple[PendingFileView, ...]


def show_plan(series: Series, messages: Sequence[Written], console: Console) -> None:
    """Print what a series would do, with the messages as they would be committed, in order."""
    page = Page(console)
    page.gap()
    title = (said(series.name, console, "bold"), "  ", said(series.title, console))
    page.line(Text.assemble(*title))
    page.section("onto", _target(series, console))
    if series.bug is not None:
        page.section("bug", [said(f"https://bugs.launchpad.net/bugs/{series.bug}", console)])
    for change, message in zip(series.changes, messages, strict=True):
        page.section(f"change {change.number}", _origin(change, console))
        page.gap()
        indent = 14 if console.width >= 90 else 2
        page.line(quoted(message.text.rstrip("\n"), console), indent=indent)
        page.section("note", [said(note, console, "yellow") for note in message.notes])
        page.section("tests", [said(test, console, "dim") for test in change.tests])
    page.steps([NextStep(command=shlex.join(["backport", "run", series.name]), why="carry it out")])
    page.gap()


def _target(series: Series, console: Console) -> list[Text]:
    rows = [said(f"{series.branch.branch} of {series.branch.project}", console)]
    if series.stable_only is not None:
        rows.append(said(f"stable only: {series.stable_only}", console, "dim"))
    return rows


def _origin(change: Change, console: Console) -> list[Text]:
    rows = [said(change.kind.value, console, "cyan")]
    if change.commit:
        rows.append(said(f"picked from {change.commit}", console, "dim"))
    if change.patch_file:
        rows.append(said(change.patch_file.name, console, "dim"))
    return rows


def show_pending(pending: PendingView, console: Console) -> None:
    """Print a pending conflict: each file, each hunk, both sides, and what to type."""
    page = Page(console)
    page.gap()
    head = (f"{marks(console).caution} Conflict pending", "bold yellow")
    page.line(Text.assemble(head, "  ", said(f"in change {pending.change}", console)))
    page.line(said(pending.subject, console))
    page.section("series", [said(pending.series, console)])
    page.section("onto", [said(f"{_named(pending.base)} in {pending.checkout}", console)])
    page.section("edit in", [said(pending.work_tree, console, "bold")])
    for file in pending.files:
        _show_file(file, page, console)
    page.steps(after_conflict()[1:])
    page.gap()


def _named(base: str) -> str:
    is_hash = len(base) in (40, 64) and not base.strip("0123456789abcdef")
    return short(base) if is_hash else base


def _show_file(file: PendingFileView, page: Page, console: Console) -> None:
    page.gap()
    page.line(said(file.path, console, "bold"))
    for reason in file.reasons:
        page.line(said(reason, console), indent=3)
    for place in file.marked:
        page.line(said(f"line {place.line}", console, "dim"), indent=3)
        _show_side("the branch has", place.ours, "red", page, console)
        _show_side("the change has", place.theirs, "green", page, console)
    if not file.marked:
        tick = marks(console).tick
        page.line(said(f"{tick} no markers are left in it", console, "green"), indent=3)


def _show_side(title: str, data: bytes, style: str, page: Page, console: Console) -> None:
    lines = decoded(data).rstrip("\n").split("\n") if data else []
    page.line(Text(f"{title}{':' if lines else ' nothing here'}", "dim"), indent=5)
    shown = "\n".join(lines[:_MOST_LINES])
    if lines:
        page.line(quoted(shown, console, style), indent=7)
    if len(lines) > _MOST_LINES:
        left = plural(len(lines) - _MOST_LINES, "more line")
        page.line(said(f"and {left}", console, "dim"), indent=7)
