"""``backport status``, ``continue`` and ``abort``: after a conflict."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from backport.apply.outcome import Word
from backport.checkout.remote import without_password
from backport.checkout.repository import open_checkout
from backport.commands.frame import Frame
from backport.commands.run import Decorated, report_options
from backport.conflict.pending import Pending, all_pending, checkout_key
from backport.errors import BackportError, ExitCode, UsageError
from backport.report.document import NextStep
from backport.report.pending import (
    PendingFacts,
    PendingFileFacts,
    PlaceFacts,
    StatusFacts,
    show_pending,
)
from backport.resuming import resume

_EXAMPLES = """\b
Examples:
  backport status                      what is left to do, file by file
  backport continue                    go on with what the files hold now
  backport continue --leave-out a.py   and leave out what the change does in a.py
  backport continue --save             and keep the resolution in the series' folder
  backport abort                       give up; what you have edited is kept
"""

_series = click.argument("series", required=False)
_checkout = click.option(
    "--checkout", metavar="PATH|URL", help="The one on this checkout. Left out: where one is."
)


def _word(word: Word, text: str) -> Callable[[Decorated], Decorated]:
    """Make an option that names files in conflict; it may be given for several."""
    name = word.name.lower()
    return click.option(word.value, name, metavar="FILE", multiple=True, help=text)


@click.command("status", epilog=_EXAMPLES, short_help="Show a pending conflict.")
@_series
@_checkout
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@click.pass_obj
def status_command(
    frame: Frame, /, series: str | None, checkout: str | None, as_json: bool
) -> ExitCode:
    """Show what is left to decide, file by file, with all three sides, and what to type.

    The exit code is 3 while something is undecided, and 0 when continue would go on.
    """
    waiting = [view(one) for one in _those_meant(frame, series, checkout)]
    if as_json:
        frame.documents.append(StatusFacts(pending=tuple(waiting)).model_dump_json(indent=2))
        click.echo(frame.documents[-1])
    elif not waiting:
        click.echo("no conflict is pending")
    else:
        for one in waiting:
            show_pending(one, frame.output)
    undecided = any(one.undecided for one in waiting)
    return ExitCode.CONFLICT if undecided else ExitCode.DONE


@click.command("continue", epilog=_EXAMPLES, short_help="Go on after a conflict.")
@_series
@_checkout
@click.option("--save", is_flag=True, help="Write the resolution into the series' folder.")
@_word(Word.TAKE_BRANCH, "Where the two clash in FILE, have it as the branch does.")
@_word(Word.TAKE_CHANGE, "Where the two clash in FILE, have it as the change does.")
@_word(Word.LEAVE_OUT, "Leave out what the change does in FILE. The report will say so.")
@report_options
@click.pass_obj
def continue_command(
    frame: Frame,
    /,
    series: str | None,
    checkout: str | None,
    save: bool,
    report_folder: Path | None,
    as_json: bool,
    **named: tuple[str, ...],
) -> int:
    """Take the files as they are now for the resolution, and go on with the run.

    It goes on with the options that the run was begun with. The message comes out as it
    would have without a conflict.
    """
    waiting = _one(frame, series, checkout, "continue")
    said = [(Word[name.upper()], path) for name, paths in named.items() for path in paths]
    return frame.reported(
        waiting.name,
        lambda findings, progress: resume(frame.places, waiting, said, save, findings, progress),
        report_folder,
        as_json,
    )


@click.command("abort", epilog=_EXAMPLES, short_help="Give up after a conflict.")
@_series
@_checkout
@click.pass_obj
def abort_command(frame: Frame, /, series: str | None, checkout: str | None) -> None:
    """Remove the work tree and the state of a pending conflict. The checkout is as it was."""
    waiting = _one(frame, series, checkout, "abort")
    kept = waiting.give_up(frame.places.state)
    if kept:
        click.echo(f"what you had done so far is kept in {kept}")
    click.echo("nothing is pending any more; the checkout is as it was")


def _those_meant(frame: Frame, series: str | None, where: str | None) -> list[Pending]:
    """List the conflicts that are meant: of a series, on a checkout, or on that which one is in."""
    found = [one for one in all_pending(frame.places.state) if _is(one, series)]
    if where is not None:
        key = _key_of(frame, where)
        return [one for one in found if one.key == key or _is_asked_so(one, where)]
    here = Path.cwd().resolve()
    inside = [one for one in found if here.is_relative_to(one.folder.resolve())]
    if not inside:
        key = _key_of(frame, str(here))
        inside = [one for one in found if one.key == key]
    return inside or found


def _key_of(frame: Frame, where: str) -> str:
    try:
        return checkout_key(open_checkout(Path(where).expanduser()).common_dir)
    except BackportError:
        return ""


def _is_asked_so(waiting: Pending, where: str) -> bool:
    """Whether a run was given its checkout in these words: a URL is in the cache."""
    try:
        return waiting.read().request.get("checkout") == without_password(where)
    except UsageError:
        return False


def _is(waiting: Pending, series: str | None) -> bool:
    if series is None:
        return True
    name = waiting.name
    return name in (series, series.rstrip("/")) or name.endswith(f"/{Path(series).name}")


def _one(frame: Frame, series: str | None, where: str | None, verb: str) -> Pending:
    found = _those_meant(frame, series, where)
    if not found:
        what = f"of {series} " if series else ""
        on = f"on {where} " if where else ""
        others = [one.call(verb) for one in all_pending(frame.places.state)]
        pending = ["Pending are:", *others] if others else ["Begin with: backport run SERIES"]
        raise UsageError(f"no conflict {what}{on}is pending", "\n".join(pending))
    if len(found) > 1:
        raise UsageError(
            f"{len(found)} conflicts are pending: which one?",
            "\n".join(["Type one of:", *(f"  {one.call(verb)}" for one in found)]),
        )
    return found[0]


def view(waiting: Pending) -> PendingFacts:
    """Look at a pending conflict, for it to be shown."""
    state = waiting.read()
    files = {file.path: file for file in state.files}
    shown = [
        PendingFileFacts(
            path=one.path,
            decided=one.decided,
            deed=one.deed,
            reasons=files[one.path].reasons,
            markers=one.markers,
            places=tuple(
                PlaceFacts(line=place.line, branch=place.ours, base=place.base, change=place.theirs)
                for place in one.places
            ),
            does=files[one.path].patch,
            ways=tuple(NextStep(command=c, why=w) for c, w in waiting.ways(files[one.path])),
        )
        for one in waiting.looked()
    ]
    return PendingFacts(
        series=state.series,
        change=state.change,
        subject=state.subject,
        checkout=state.checkout,
        base=state.base_name,
        work_tree=str(waiting.work_tree),
        files=tuple(sorted(shown, key=lambda file: file.decided)),
        next=(
            NextStep(command=waiting.call("continue"), why="go on, once all files are decided"),
            NextStep(command=waiting.call("abort"), why="give up; what you edited is kept"),
        ),
    )
