"""``backport run``: the main job."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from backport.commands.frame import Frame
from backport.pipeline import run
from backport.request import RunRequest, TestOptions

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

_EXAMPLES = """\b
Examples:
  backport run ocata/bug-1783613
        on the built-in checkout, made from the release on the package index
  backport run ocata/bug-1783613 --checkout ~/src/nova
        on a clone; HEAD, index and work tree stay as they are
  backport run ocata/bug-1783613 --checkout ~/src/nova --onto 15.1.3
        on another commit than the tip of stable/ocata
  backport run ocata/bug-1783613 --dry-run --skip-tests
        only see whether it applies
"""


def checkout_options(command: Decorated) -> Decorated:
    """Add the options that say where."""
    for option in (
        click.option("--onto", metavar="REV", help="Go onto this commit, not the branch's tip."),
        click.option(
            "--checkout",
            metavar="PATH|URL",
            help="The project's repository. Left out: the clone that you are in, else the"
            " configuration's, else the built-in one (say built-in to have that).",
        ),
    ):
        command = option(command)
    return command


def test_options(command: Decorated) -> Decorated:
    """Add the options that say how tests are run."""
    for option in (
        click.option("--fresh", is_flag=True, help="Reuse no results of earlier runs."),
        click.option(
            "--repeat",
            metavar="N",
            type=click.IntRange(1, 100),
            default=1,
            help="Run each test N times, to tell flaky from failing.",
        ),
        click.option(
            "--jobs", metavar="N", type=click.IntRange(1, 256), help="Test processes side by side."
        ),
        click.option("--python", metavar="PATH", help="The branch's Python, such as python2.7."),
    ):
        command = option(command)
    return command


def proof_options(command: Decorated) -> Decorated:
    """Add the options that say how thorough the proof is."""
    for option in (
        click.option(
            "--full-red",
            is_flag=True,
            help="Run all targeted tests on the code before the fix, not only those it changes.",
        ),
        click.option(
            "--prove-hunks",
            is_flag=True,
            help="Leave each hunk of the fix out in turn: does a test notice?",
        ),
    ):
        command = option(command)
    return command


def report_options(command: Decorated) -> Decorated:
    """Add the options that say what comes out."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print the report as JSON."),
        click.option(
            "--report",
            "report_folder",
            metavar="DIR",
            type=click.Path(path_type=Path, file_okay=False),
            help="Where report.html, .md, .json and junit.xml go. Left out: a folder of the run's"
            " own, reports/latest below ~/.local/state/backport (BACKPORT_STATE).",
        ),
    ):
        command = option(command)
    return command


class Moved(click.ParamType[tuple[str, int]]):
    """``FILE:LINE``, the place of a hunk that may land in another home."""

    name = "FILE:LINE"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, int]:
        """Take it apart."""
        path, _, line = str(value).rpartition(":")
        if not path or not line.isdigit():
            self.fail(f"{value!r} is not FILE:LINE, such as nova/compute/api.py:1752", param, ctx)
        return path, int(line)


@click.command("run", epilog=_EXAMPLES, short_help="Apply a series, prove it, make the branch.")
@click.argument("series")
@checkout_options
@click.option("--branch-name", metavar="NAME", help="Left out: backport/SERIES.")
@click.option("--replace", is_flag=True, help="Replace the branch; what it held is kept.")
@click.option("--dry-run", is_flag=True, help="Do all but make the branch.")
@click.option("--skip-tests", is_flag=True, help="Make the branch without proof.")
@click.option(
    "--accept-moved",
    multiple=True,
    type=Moved(),
    metavar="FILE:LINE",
    help="Let the hunk that landed there stay, in another class or function than it came from.",
)
@test_options
@proof_options
@report_options
@click.pass_obj
def run_command(frame: Frame, /, report_folder: Path | None, as_json: bool, **options: Any) -> int:
    """Apply SERIES to a checkout, prove it, and make a branch that can be sent to review.

    SERIES is a folder below patches/, such as ocata/bug-1783613, or the path of one. The
    checkout's HEAD, index, work tree, configuration and refs stay as they are, save for the
    new branch, which appears only if the proof holds.
    """
    tests = TestOptions(**{name: options.pop(name) for name in TestOptions.model_fields})
    request = RunRequest(tests=tests, **options)
    return frame.reported(
        request.series,
        lambda findings, progress: run(frame.places, request, findings, progress),
        report_folder,
        as_json,
    )
