"""``backport import``: a series from commits of a newer branch."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from backport.checkout.branches import find_branches
from backport.commands.frame import Frame
from backport.commands.run import checkout_options
from backport.errors import ExitCode, UsageError
from backport.picking.affected import affected
from backport.picking.explain import explain
from backport.picking.lines import Lines, as_line, newer_lines, older_lines
from backport.picking.model import Fate, Imported
from backport.picking.series_file import folder_for, series_of, write_series
from backport.picking.sources import Asked, find_sources
from backport.picking.trial import run_trials
from backport.pipeline import signing
from backport.progress import Progress
from backport.report.picking import show_affected, show_explanation, show_imported
from backport.report.text import plural
from backport.selection.targeted import ChangedFile, changed_tests
from backport.selection.test_classes import Sources
from backport.series.manifest import find_branch, find_series, list_branches
from backport.series.model import Branch
from backport.session import Session, choose_checkout, open_session

_IMPORT = """\b
Examples:
  backport import --bug 1682693 --checkout ~/src/nova
        all commits that carry the bug, from the nearest newer branch that has them
  backport import 01dd1a05a2 c4820305d2 --series bug-1682693 --checkout ~/src/nova
        commits by name; a range A..B and a Change-Id (I…) will do as well
"""

_EXPLAIN = """\b
Examples:
  backport explain ocata/bug-1784705 --checkout ~/src/nova --onto 77ece76a70
        the commits of the newer branch, missing here, whose lines each hunk leans on
"""
_AFFECTED = """\b
Examples:
  backport affected ocata/bug-1783613 --checkout ~/src/nova
        whether master and the newer branches have it, need it, or lack the code
"""


@click.command("import", epilog=_IMPORT, short_help="Make a series from a newer branch's commits.")
@click.argument("commits", nargs=-1)
@click.option("--bug", metavar="N", type=click.IntRange(1), help="All commits that carry this bug.")
@click.option("--series", metavar="NAME", help="Its name, or BRANCH/NAME. With --bug: bug-N.")
@click.option("--branch", metavar="NAME", help="A folder of patches/; left out, the only one.")
@click.option("--as-named", is_flag=True, help="Take these commits; look for no nearer ones.")
@checkout_options
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
@click.pass_obj
def import_command(
    frame: Frame,
    /,
    commits: tuple[str, ...],
    bug: int | None,
    series: str | None,
    branch: str | None,
    as_named: bool,
    checkout: str | None,
    onto: str | None,
    as_json: bool,
) -> int:
    """Write the folder of a series that picks COMMITS, and say what a run of it would.

    Each commit is taken from the nearest newer branch that has the change. The folder goes to
    patches/BRANCH/NAME where you are; nothing is overwritten. Exit code 3: something conflicts,
    or needs adapting.
    """
    asked = Asked(commits, bug, as_named)
    if not commits and bug is None:
        raise UsageError("nothing is named to import", "Name commits, or --bug NUMBER.")
    if series is None and bug is None:
        raise UsageError("the series needs a name", "Say --series NAME, such as bug-1682693.")
    found = _branch(frame, branch)
    folder = folder_for(series or f"bug-{bug}", found.name, frame.places.here)
    with frame.progress() as progress:
        where = choose_checkout(frame.places, found, checkout, progress)
        with open_session(frame.places, found, where, onto, progress) as session:
            done = _import(session, found, asked, folder, progress)
    _tell(frame, "backport-import/1", done) if as_json else show_imported(done, frame.output)
    clear = {Fate.APPLIES, Fate.IN}
    return ExitCode.DONE if {one.fate for one in done.trials} <= clear else ExitCode.CONFLICT


@click.command(
    "explain", epilog=_EXPLAIN, short_help="Say which missing commits a series conflicts for."
)
@click.argument("series")
@checkout_options
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
@click.pass_obj
def explain_command(
    frame: Frame, /, series: str, checkout: str | None, onto: str | None, as_json: bool
) -> int:
    """Name, for each hunk of SERIES that conflicts, the newer branch's commits that it leans on.

    Those are missing here. The NOTE that goes below the list of conflicts is offered, too.
    """
    found = find_series(series, frame.places.patches)
    with frame.progress() as progress:
        where = choose_checkout(frame.places, found.branch, checkout, progress)
        with open_session(frame.places, found.branch, where, onto, progress) as session:
            progress.step("explain", found.name)
            lines = Lines(session.scratch, newer_lines(session.checkout, found.branch))
            base = session.base
            done = explain(session.scratch, lines, found, base.commit, base.name, signing(session))
    if as_json:
        _tell(frame, "backport-explanation/1", done)
    else:
        show_explanation(done, frame.output)
    return ExitCode.DONE


@click.command(
    "affected", epilog=_AFFECTED, short_help="Say which branches have a series, and which need it."
)
@click.argument("series")
@click.option("--checkout", metavar="PATH|URL", help="The project's repository.")
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
@click.pass_obj
def affected_command(frame: Frame, /, series: str, checkout: str | None, as_json: bool) -> int:
    """Tell of each branch whether it has SERIES, needs it, or does not have the code."""
    found = find_series(series, frame.places.patches)
    with frame.progress() as progress:
        where = choose_checkout(frame.places, found.branch, checkout, progress)
        with open_session(frame.places, found.branch, where, None, progress) as session:
            wanted = (found.branch.branch, *found.branch.newer_branches)
            places = find_branches(session.checkout, wanted)
            lines = [as_line(name, places[name]) for name in reversed(wanted) if name in places]
            if len(lines) > 1 and lines[-1].branch == found.branch.branch:
                lines += older_lines(session.checkout, session.scratch, lines[-1], lines[0], wanted)
            progress.step(
                "compare", f"{found.name} with {plural(len(lines), 'branch', 'branches')}"
            )
            absent = [name for name in wanted if name not in places]
            done = affected(session.scratch, lines, found, absent)
    if as_json:
        _tell(frame, "backport-affected/1", done)
    else:
        show_affected(done, frame.output)
    return ExitCode.DONE


def _branch(frame: Frame, name: str | None) -> Branch:
    known = [*list_branches(frame.places.patches)]
    if name is None and len(known) != 1:
        raise UsageError("whose series is it? Name the branch", f"--branch {' or '.join(known)}")
    return find_branch(name or known[0], frame.places.patches)


def _import(
    session: Session, branch: Branch, asked: Asked, folder: Path, progress: Progress
) -> Imported:
    scratch, base = session.scratch, session.base.commit
    lines = Lines(scratch, newer_lines(session.checkout, branch))
    progress.step("look", ", ".join(line.name for line in lines.lines))
    sources = find_sources(scratch, lines, session.checkout.resolve, asked)
    series = series_of(scratch, sources, branch, folder, asked.bug)
    progress.step("try", f"{plural(len(sources), 'change')} onto {session.base.name}")
    trials = run_trials(scratch, series, base, signing(session), _differing_tests(session, branch))
    copied = write_series(series, sources, {one.number: one.tests for one in trials})
    return Imported(
        series=series.name,
        folder=str(folder),
        onto=session.base.name,
        sources=sources,
        trials=trials,
        copied=copied,
    )


def _differing_tests(session: Session, branch: Branch) -> Callable[[str, str], Sequence[str]]:
    """Tell the tests that a change makes; those that it touches a run finds by itself."""

    def differing(before: str, after: str) -> Sequence[str]:
        scratch, prefixes = session.scratch, branch.tests.paths if branch.tests else ()
        paths = [path for path in scratch.changed_paths(before, after) if path.startswith(prefixes)]
        files = {p: ChangedFile(scratch.file(before, p), scratch.file(after, p)) for p in paths}
        sources = Sources(lambda path: scratch.file(after, path), lambda _: paths)
        return changed_tests(files, sources).own

    return differing


def _tell(frame: Frame, schema: str, found: Any) -> None:
    """Print a value as JSON, with the name of its form."""
    said = json.dumps({"schema": schema, **asdict(found)}, indent=2)
    frame.documents.append(said)
    click.echo(said)
