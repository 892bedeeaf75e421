"""What ``backport status`` prints: a conflict that waits for a person, what is left to do first."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Literal

from pydantic import BaseModel, ConfigDict
from rich.console import Console
from rich.text import Text

from backport.report.console import Page, marks, quoted, said
from backport.report.document import NextStep, Words
from backport.report.phrases import short
from backport.report.text import plural

_MOST_LINES = 14  # of each side of a conflict


class _Facts(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class PlaceFacts(_Facts):
    """A place with conflict markers, and what it is on each side."""

    line: int
    branch: Words
    base: Words | None = None
    change: Words


class PendingFileFacts(_Facts):
    """A file in conflict: why, what a person did to it, what can be said of it."""

    path: Words
    decided: bool
    deed: Words = ""
    reasons: tuple[Words, ...] = ()
    markers: tuple[int, ...] = ()
    places: tuple[PlaceFacts, ...] = ()
    does: Words = ""
    ways: tuple[NextStep, ...] = ()


class PendingFacts(_Facts):
    """A pending conflict, as ``backport status`` shows it; the undecided files come first."""

    series: Words
    change: int
    subject: Words
    checkout: Words
    base: Words
    work_tree: Words
    files: tuple[PendingFileFacts, ...]
    next: tuple[NextStep, ...]

    @property
    def undecided(self) -> int:
        """How many files somebody has to decide on."""
        return sum(not file.decided for file in self.files)


class StatusFacts(_Facts):
    """The document that ``backport status --json`` prints."""

    form: Literal["backport-status/1"] = "backport-status/1"
    pending: tuple[PendingFacts, ...]


def show_pending(pending: PendingFacts, console: Console) -> None:
    """Print a pending conflict: what is left to do, file by file, and what to type."""
    page = Page(console)
    page.gap()
    left, signs = pending.undecided, marks(console)
    if left:
        head = (f"{signs.caution} Conflict pending", "bold yellow")
        what = f"{plural(left, 'file')} of {len(pending.files)} undecided"
    else:
        head = (f"{signs.tick} Conflict resolved", "bold green")
        what = "all files are decided"
    page.line(Text.assemble(head, f"  in change {pending.change}: {what}"))
    page.line(said(pending.subject, console))
    for file in pending.files:
        _show_file(file, page, console)
    page.section("series", [said(pending.series, console)])
    page.section("onto", [said(f"{_named(pending.base)} in {pending.checkout}", console)])
    there = NextStep(command=shlex.join(("cd", pending.work_tree)), why="edit; git diff works, too")
    page.steps([there, *pending.next] if left else pending.next)
    page.gap()


def _named(base: str) -> str:
    is_hash = len(base) in (40, 64) and not base.strip("0123456789abcdef")
    return short(base) if is_hash else base


def _show_file(file: PendingFileFacts, page: Page, console: Console) -> None:
    signs = marks(console)
    page.gap()
    if file.decided:
        line = f"{signs.tick} {file.path}: {file.deed}"
        page.line(said(line, console, "green"))
        return
    state = "undecided"
    if file.markers:
        state = f"undecided: markers at {', '.join(map(str, file.markers))}"
    page.line(said(f"{signs.caution} {file.path}: {state}", console, "bold"))
    for reason in file.reasons:
        page.line(said(reason, console), indent=3)
    for place in file.places:
        page.line(said(f"line {place.line}", console, "dim"), indent=3)
        _show_side("the branch has", place.branch, "red", page, console)
        if place.base is not None:
            _show_side("the change was made from", place.base, "dim", page, console)
        _show_side("the change has", place.change, "green", page, console)
    if not file.places:
        _show_side("the change does", file.does, "green", page, console)
    page.steps(file.ways, "or say")


def _show_side(title: str, text: str, style: str, page: Page, console: Console) -> None:
    lines = list(_lines(text))
    page.line(Text(f"{title}{':' if lines else ' nothing here'}", "dim"), indent=5)
    if lines:
        page.line(quoted("\n".join(lines[:_MOST_LINES]), console, style), indent=7)
    if len(lines) > _MOST_LINES:
        left = plural(len(lines) - _MOST_LINES, "more line")
        page.line(said(f"and {left}", console, "dim"), indent=7)


def _lines(text: str) -> Iterator[str]:
    if text:
        yield from text.rstrip("\n").split("\n")
