"""``backport show``: the plan and the messages; needs no checkout."""

from __future__ import annotations

import click

from backport.commands.frame import Frame
from backport.errors import UsageError
from backport.series.manifest import find_series, list_series
from backport.series.message import Written, write_message
from backport.series.model import Change, Series
from backport.series.save import write_change_ids

_EXAMPLES = """\b
Examples:
  backport show
        list the series that there are
  backport show ocata/bug-1783613
        what it would do, with the messages as they would be committed
  backport show ocata/bug-1783613 --write-ids
        and write the Change-Ids that were made into its series.yaml
"""
_NONE_MADE = "nothing to write: all changes have their Change-Ids"


@click.command("show", epilog=_EXAMPLES, short_help="Show a series: its plan and its messages.")
@click.argument("series", required=False)
@click.option("--write-ids", is_flag=True, help="Write Change-Ids that were made into the series.")
@click.pass_obj
def show_command(frame: Frame, /, series: str | None, write_ids: bool) -> None:
    """Show what SERIES would do; without SERIES, list all there are."""
    from backport.report.plan import show_plan

    if series is None:
        names = list_series(frame.places.patches)
        if not names:
            places = ", ".join(map(str, frame.places.patches))
            raise UsageError(f"there is no series below {places}", "See README.md.")
        width = max(map(len, names))
        click.echo("\n".join(f"{name:{width}}  {root}" for name, root in names.items()))
        return
    found = find_series(series, frame.places.patches)
    written = [_message(change, found) for change in found.changes]
    show_plan(found, written, frame.output)
    if write_ids:
        made = write_change_ids(found)
        where = found.changes[0].source[0]
        click.echo("\n".join(f"written into {where}: {each}" for each in made) or _NONE_MADE)


def _message(change: Change, series: Series) -> Written:
    """What is picked brings its message along; it is in the checkout, and not asked for here."""
    if change.commit:
        return Written(f"(the message of commit {change.commit}, and one line of provenance more)")
    return write_message(change, series)
