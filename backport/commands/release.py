"""``backport unreleased`` and ``backport release``: the next tag, and what asks for it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from backport.commands.frame import Frame
from backport.errors import ExitCode
from backport.releasing import Asked, groups, read_state
from backport.report.console import said
from backport.report.release import (
    release_as_json,
    release_lines,
    state_as_json,
    state_lines,
    state_markdown,
)
from backport.requesting import Released, ReleaseRequest, release
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


_RELEASE = """\b
Examples:
  backport release --checkout ~/src/nova
        the next version with its reason, its notes, the checks, and the entry that asks for it
  backport release --checkout ~/src/nova --releases ~/src/releases --tag
        the entry as a commit in a clone of openstack/releases, and the tag in nova's
"""


@click.command("release", epilog=_RELEASE, short_help="The next version, its notes and request.")
@where_options
@click.option("--version", metavar="V", help="Left out: the one that the changes ask for.")
@click.option(
    "--releases",
    metavar="PATH",
    type=click.Path(path_type=Path),
    help="A clone of openstack/releases: the request becomes a commit on a branch of its own.",
)
@click.option("--tag", is_flag=True, help="Make the annotated tag; it is never pushed.")
@click.option(
    "--announcement",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the mail that announces it.",
)
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@click.pass_obj
def release_command(
    frame: Frame, /, branch: str, checkout: str | None, as_json: bool, **options: Any
) -> int:
    """Work out the next release of a branch: version, notes, request, checks, tag.

    Exit code 1 means that a check of openstack/releases fails: nothing is made then. What the
    rules forbid, such as a version that does not follow, is exit code 2.
    """
    found = find_branch(branch, frame.places.patches)
    with frame.progress() as progress:
        where = choose_checkout(frame.places, found, checkout, progress)
        done = release(frame.places, found, where, ReleaseRequest(**options), progress)
    if as_json:
        frame.documents.append(json.dumps(_as_json(done), indent=2))
        click.echo(frame.documents[-1])
    else:
        for line in release_lines(*_shown(done)):
            frame.output.print(said(line, frame.output), soft_wrap=True)
    return ExitCode.DONE if done.ok else ExitCode.NEGATIVE


def _as_json(done: Released) -> dict[str, Any]:
    return release_as_json(*_shown(done))


def _shown(done: Released) -> tuple[Any, ...]:
    made = {"entry": done.entry, "request": done.request, "tag": done.tag}
    return done.state, done.decision, done.checks, done.notes, made
