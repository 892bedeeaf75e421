"""``backport status``, ``continue`` and ``abort``: after a conflict."""

from __future__ import annotations

from pathlib import Path

import click

from backport.apply.markers import find_marked
from backport.commands.frame import Frame
from backport.commands.run import report_options
from backport.conflict.pending import Pending, all_pending
from backport.errors import UsageError
from backport.pipeline import resume
from backport.report.plan import PendingFileView, PendingView, show_pending

_EXAMPLES = """\b
Examples:
  backport status                      what is left to do, file by file
  backport continue                    go on with what the files hold now
  backport continue --save             and keep the resolution in the series' folder
  backport abort                       give up; nothing is left behind
"""

_series = click.argument("series", required=False)


@click.command("status", epilog=_EXAMPLES, short_help="Show a pending conflict.")
@_series
@click.pass_obj
def status_command(frame: Frame, /, series: str | None) -> None:
    """Show each file of a pending conflict, each hunk, both sides, and what to type."""
    waiting = [one for one in all_pending(frame.places.state) if _is(one, series)]
    if not waiting:
        click.echo("no conflict is pending")
    for one in waiting:
        show_pending(_view(one), frame.output)


@click.command("continue", epilog=_EXAMPLES, short_help="Go on after a conflict.")
@_series
@click.option("--save", is_flag=True, help="Write the resolution into the series' folder.")
@report_options
@click.pass_obj
def continue_command(
    frame: Frame, /, series: str | None, save: bool, report_folder: Path | None, as_json: bool
) -> int:
    """Take the files as they are now for the resolution, and go on with the run.

    It goes on with the options that the run was begun with. The message comes out as it
    would have without a conflict.
    """
    waiting = _one(frame, series)
    return frame.reported(
        waiting.name,
        lambda findings, progress: resume(frame.places, waiting, save, findings, progress),
        report_folder,
        as_json,
    )


@click.command("abort", epilog=_EXAMPLES, short_help="Give up after a conflict.")
@_series
@click.pass_obj
def abort_command(frame: Frame, /, series: str | None) -> None:
    """Remove the work tree and the state of a pending conflict. The checkout is as it was."""
    waiting = _one(frame, series)
    waiting.forget()
    click.echo("nothing is pending any more; the checkout is as it was")


def _is(waiting: Pending, series: str | None) -> bool:
    if series is None:
        return True
    name = waiting.name
    return name in (series, series.rstrip("/")) or name.endswith(f"/{Path(series).name}")


def _one(frame: Frame, series: str | None) -> Pending:
    found = [one for one in all_pending(frame.places.state) if _is(one, series)]
    if not found:
        what = f"of {series} " if series else ""
        raise UsageError(f"no conflict {what}is pending", "Begin with: backport run SERIES")
    if len(found) > 1:
        names = ", ".join(one.name for one in found)
        raise UsageError(f"several conflicts are pending: {names}", "Name the series.")
    return found[0]


def _view(waiting: Pending) -> PendingView:
    state = waiting.read()
    return PendingView(
        series=state.series,
        change=state.change,
        subject=state.subject,
        checkout=state.checkout,
        base=state.base_name,
        work_tree=str(waiting.work_tree),
        files=tuple(_file(waiting, file.path, file.reasons) for file in state.files),
    )


def _file(waiting: Pending, path: str, reasons: tuple[str, ...]) -> PendingFileView:
    file = waiting.work_tree / path
    # A link of the tree is data: what it points to is not read, nor what is below it.
    own = file.parent.resolve().is_relative_to(waiting.work_tree.resolve())
    data = file.read_bytes() if own and file.is_file() and not file.is_symlink() else b""
    return PendingFileView(path, reasons, tuple(find_marked(data)))
