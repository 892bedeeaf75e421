"""``backport test``: tests on any commit of a checkout, in the branch's environment."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from backport.commands.frame import Frame
from backport.commands.run import report_options, test_options
from backport.errors import ConflictError, UsageError
from backport.pipeline import Findings, apply, checkout_facts
from backport.progress import Progress
from backport.report.text import plural
from backport.request import RunRequest, TestOptions, TestRequest
from backport.series.manifest import find_branch, find_series
from backport.series.model import Branch, Series
from backport.session import Places, Session, choose_checkout, open_session
from backport.verification import exit_code_of_runs, targeted_by, test_commit

_EXAMPLES = """\b
Examples:
  backport test backport/ocata/bug-1783613
        the targeted tests: those that the commit itself adds or changes
  backport test HEAD~1 nova.tests.unit.compute.test_compute_api --checkout ~/src/nova
        a module; a class, a method or a test's id will do as well
  backport test 15.1.3 nova.tests.unit.compute --repeat 3 --checkout ~/src/nova
        all tests of a package, three times each
  backport test stable/ocata nova.tests.unit.compute --series ocata/bug-1783613 --change 1
        on the commit that a change of a series would make, without making a branch
"""


@click.command("test", epilog=_EXAMPLES, short_help="Run tests on any commit of a checkout.")
@click.argument("rev")
@click.argument("tests", nargs=-1)
@click.option(
    "--branch", metavar="NAME", default="ocata", show_default=True, help="A folder of patches/."
)
@click.option("--checkout", metavar="PATH|URL", help="Left out: as for run.")
@click.option("--series", metavar="NAME", help="Apply this series onto REV first.")
@click.option("--change", metavar="N", type=click.IntRange(0), help="Of it, only changes 1 to N.")
@test_options
@report_options
@click.pass_obj
def test_command(
    frame: Frame, /, branch: str, report_folder: Path | None, as_json: bool, **options: Any
) -> int:
    """Run TESTS on the commit REV, in the environment of the branch.

    TESTS are modules, packages, classes, methods or ids; left out, they are those that the
    commit itself adds or changes. Exit code 0: all passed; 1: some failed; 4: it could not
    be told.
    """
    how = TestOptions(
        **{name: options.pop(name) for name in TestOptions.model_fields if name in options}
    )
    request = TestRequest(how=how, **options)
    found = find_branch(branch, frame.places.patches)
    return frame.reported(
        "",
        lambda findings, progress: test_on(frame.places, found, request, findings, progress),
        report_folder,
        as_json,
    )


def test_on(
    places: Places, branch: Branch, request: TestRequest, findings: Findings, progress: Progress
) -> None:
    """Run tests on a commit: see ``backport test --help``.

    :raises UsageError: the series has no such change, or there are no tests
    :raises ConflictError: the series does not apply
    """
    series = find_series(request.series, places.patches) if request.series else None
    where = choose_checkout(places, branch, request.checkout, progress)
    with open_session(places, branch, where, request.rev, progress) as session:
        findings.checkout = checkout_facts(session, branch, request.rev)
        commit = session.base.commit
        if series:
            commit = _commit_of_change(session, series, request.change, progress)
        tests = request.tests or targeted_by(session, branch, commit)
        runs, environments = test_commit(session, branch, commit, tests, request.how, progress)
        findings.runs, findings.environments = tuple(runs), environments
        findings.exit_code = exit_code_of_runs(runs)


def _commit_of_change(
    session: Session, series: Series, change: int | None, progress: Progress
) -> str:
    last = len(series.changes) if change is None else change
    if last > len(series.changes):
        there = plural(len(series.changes), "change")
        raise UsageError(
            f"{series.name} has {there}", f"--change takes 0 to {len(series.changes)}."
        )
    changes = series.changes[:last]
    progress.step("apply", f"{plural(last, 'change')} onto {session.base.name}")
    request = RunRequest(series=series.name, dry_run=True)
    outcome = apply(session, replace(series, changes=changes), request, {}, progress)
    if outcome.conflict:
        raise ConflictError(
            f"change {outcome.conflict.change.number} does not apply onto {session.base.name}",
            f"To resolve it: backport run {series.name}",
        )
    return outcome.tip
