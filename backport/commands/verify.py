"""``backport verify``: the proof for a branch that is there already."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from backport.commands.frame import Frame
from backport.commands.run import checkout_options, proof_options, report_options, test_options
from backport.published import verify_branch
from backport.request import RunRequest, TestOptions

_EXAMPLES = """\b
Examples:
  backport verify ocata/bug-1783613 --prove-hunks
        prove the branch that a run made, hunk by hunk
  backport verify ocata/bug-1783613 --checkout ~/src/nova --branch-name FETCH_HEAD --onto 15.1.3
        prove what somebody else has put up for review
"""


@click.command("verify", epilog=_EXAMPLES, short_help="Prove a series that is on a branch.")
@click.argument("series")
@checkout_options
@click.option("--branch-name", metavar="REV", help="Left out: backport/SERIES.")
@test_options
@proof_options
@report_options
@click.pass_obj
def verify_command(frame: Frame, /, report_folder: Path, as_json: bool, **options: Any) -> int:
    """Prove the commits of SERIES as they are on a branch, whoever made them.

    Each change is found by its Change-Id among the commits above the base (--onto, else the
    tip of the stable branch). Nothing is applied, and nothing is published.
    """
    tests = TestOptions(**{name: options.pop(name) for name in TestOptions.model_fields})
    request = RunRequest(tests=tests, **options)
    return frame.reported(
        request.series,
        lambda findings, progress: verify_branch(frame.places, request, findings, progress),
        report_folder,
        as_json,
    )
