"""``backport show``: the plan and the messages; needs no checkout."""

from __future__ import annotations

import click

from backport.commands.frame import Frame
from backport.errors import UsageError
from backport.series.manifest import find_series, list_series
from backport.series.message import render_message

_EXAMPLES = """\b
Examples:
  backport show
        list the series that there are
  backport show ocata/bug-1783613
        what it would do, with the messages as they would be committed
"""


@click.command("show", epilog=_EXAMPLES, short_help="Show a series: its plan and its messages.")
@click.argument("series", required=False)
@click.pass_obj
def show_command(frame: Frame, /, series: str | None) -> None:
    """Show what SERIES would do; without SERIES, list all there are."""
    from backport.report.plan import show_plan

    if series is None:
        names = list_series(frame.places.patches)
        if not names:
            raise UsageError(f"there is no series below {frame.places.patches}", "See README.md.")
        click.echo("\n".join(names))
        return
    found = find_series(series, frame.places.patches)
    # What is picked brings its message along; it is in the checkout, and not asked for here.
    messages = [
        f"(the message of commit {change.commit}, with one more “cherry picked from” line)"
        if change.commit
        else render_message(change, found)
        for change in found.changes
    ]
    show_plan(found, messages, frame.output)
