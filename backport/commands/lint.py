"""``backport lint``: the stable-branch policy, on commits or on a series."""

from __future__ import annotations

import json

import click

from backport.apply.engine import apply_series
from backport.commands.frame import Frame
from backport.errors import ExitCode, UsageError
from backport.linting import Linted, lint, lint_outcome, range_of
from backport.pipeline import signing
from backport.policy.model import Severity
from backport.policy.table import RULES
from backport.progress import Progress
from backport.report.lint import findings_as_json, rules_as_json, show_findings, show_rules
from backport.series.manifest import find_branch, find_series, list_branches, list_series
from backport.series.model import Branch, Series
from backport.session import Session, choose_checkout, open_session

_EXAMPLES = """\b
Examples:
  backport lint 15.1.3..15.1.5 --checkout ~/src/nova
        every commit of a range
  backport lint HEAD --checkout ~/src/nova
        one commit; of a merge, what it brings
  backport lint ocata/bug-1783613
        a series, before it goes anywhere
  backport lint --list
        the rules, with their reasons
"""


@click.command("lint", epilog=_EXAMPLES, short_help="Judge commits by the stable-branch policy.")
@click.argument("what", metavar="[RANGE|SERIES]", required=False)
@click.option("--branch", metavar="NAME", help="A folder of patches/; left out, the only one.")
@click.option("--checkout", metavar="PATH|URL", help="Left out: the built-in one, in build/.")
@click.option("--onto", metavar="REV", help="Where a series goes; left out, the branch's tip.")
@click.option("--list", "list_rules", is_flag=True, help="Explain the rules.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.pass_obj
def lint_command(
    frame: Frame,
    /,
    what: str | None,
    branch: str | None,
    checkout: str | None,
    onto: str | None,
    list_rules: bool,
    as_json: bool,
) -> int:
    """Judge commits, or a series before it is applied, by the policy of stable branches.

    RANGE is A..B, or a commit; left out, it is HEAD. Exit code 1 means that there is an error.
    """
    if list_rules:
        click.echo(rules_as_json(RULES) if as_json else show_rules(RULES), nl=False)
        return ExitCode.DONE
    words = what or "HEAD"
    with frame.progress() as progress:
        if _is_series(frame, words):
            series = find_series(words, frame.places.patches)
            where = choose_checkout(frame.places, series.branch, checkout, progress)
            with open_session(frame.places, series.branch, where, onto, progress) as session:
                done = _lint_series(session, series, progress)
        else:
            if onto:
                raise UsageError("--onto is for a series", "A range says it itself: A..B")
            found = _branch(frame, branch)
            tip = words.rpartition("..")[2] or "HEAD"
            where = choose_checkout(frame.places, found, checkout, progress)
            with open_session(frame.places, found, where, tip, progress) as session:
                base, commits = range_of(session, words)
                progress.step("lint", f"{len(commits)} commits of {words}")
                done = lint(session, found, base, commits, progress)
    if as_json:
        frame.documents.append(json.dumps(findings_as_json(done.commits, done.findings), indent=2))
        click.echo(frame.documents[-1])
    else:
        show_findings(done.commits, done.findings, frame.output)
    errors = any(finding.severity is Severity.ERROR for finding in done.findings)
    return ExitCode.NEGATIVE if errors else ExitCode.DONE


def _is_series(frame: Frame, words: str) -> bool:
    name = words.rstrip("/")
    if name in list_series(frame.places.patches):
        return True
    there = any((folder / name).is_dir() for folder in frame.places.patches)
    return there or name.startswith(("./", "/"))


def _branch(frame: Frame, name: str | None) -> Branch:
    known = [*list_branches(frame.places.patches)]
    if name is None and len(known) != 1:
        raise UsageError("whose policy? Name the branch", f"--branch {' or '.join(known)}")
    return find_branch(name or known[0], frame.places.patches)


def _lint_series(session: Session, series: Series, progress: Progress) -> Linted:
    base = session.base.commit
    outcome = apply_series(session.scratch, series, base, signing(session))
    progress.step("lint", series.name)
    return lint_outcome(session, series, outcome, progress)
