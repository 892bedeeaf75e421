"""``backport unreleased`` and ``backport release``: the next tag, and what asks for it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

import click

from backport.commands.frame import Frame
from backport.releasing import Asked, groups, read_state
from backport.report.console import said
from backport.report.release import state_as_json, state_lines, state_markdown
from backport.series.manifest import find_branch
from backport.session import choose_checkout, open_session

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

_UNRELEASED = """\b
Examples:
  backport unreleased --checkout ~/src/nova
        what stable/ocata holds since its last tag, by bug
  backport unreleased --checkout ~/src/nova --as-of 72ab303ef4 --list
        the list that openstack/releases shows, as it was before 15.1.4
"""


def where_options(command: Decorated) -> Decorated:
    """Add the options that say where, and up to which commit."""
    for option in (
        click.option("--as-of", metavar="REV", help="Answer for this commit, not yet tagged."),
        click.option("--checkout", metavar="PATH|URL", help="Left out: as for run."),
        click.option(
            "--branch", metavar="NAME", default="ocata", show_default=True,
            help="A folder of patches/.",
        ),
    ):  # fmt: skip
        command = option(command)
    return command


@click.command(
    "unreleased", epilog=_UNRELEASED, short_help="What a branch holds since its last tag."
)
@where_options
@click.option("--since", metavar="TAG", help="Begin here. Left out: the last version's tag.")
@click.option("--markdown", "form", flag_value="markdown", help="Print Markdown.")
@click.option("--list", "form", flag_value="list", help="Print openstack/releases' plain list.")
@click.option("--json", "form", flag_value="json", help="Print it as JSON.")
@click.pass_obj
def unreleased_command(
    frame: Frame,
    /,
    branch: str,
    checkout: str | None,
    as_of: str | None,
    since: str | None,
    form: str | None,
) -> None:
    """List the changes since the last release, with all that decides on the next one.

    They are grouped by bug: a test that recreates it stands with the fix. Each is said to be on
    the newer branches or not, and released there or not, and what the policy finds in it.
    """
    found = find_branch(branch, frame.places.patches)
    with frame.progress() as progress:
        where = choose_checkout(frame.places, found, checkout, progress)
        with open_session(frame.places, found, where, as_of, progress) as session:
            state = read_state(session, found, Asked(since, as_of), progress)
            begin = state.since_commit or state.tip
            plain = session.checkout.plain_list(begin, state.tip) if form == "list" else ""
    if form == "list":
        click.echo(f"[ Unreleased changes in {state.project} ({state.branch}) ]\n")
        click.echo(f"Changes between {state.since} and {state.tip[:10]}\n\n{plain}\n")
    elif form == "json":
        frame.documents.append(json.dumps(state_as_json(state, groups(state)), indent=2))
        click.echo(frame.documents[-1])
    elif form == "markdown":
        click.echo(state_markdown(state, groups(state)), nl=False)
    else:
        for line in state_lines(state, groups(state)):
            frame.output.print(said(line, frame.output), soft_wrap=True)
