"""``backport test``: tests on any commit of a checkout, in the branch's environment."""

from __future__ import annotations

import json
from typing import Any

import click

from backport.commands.frame import Frame
from backport.commands.run import test_options
from backport.report.tests import runs_as_json, show_runs
from backport.request import TestOptions
from backport.series.manifest import load_branch
from backport.session import located, open_session
from backport.verification import exit_code_of_runs, targeted_by, test_commit

_EXAMPLES = """\b
Examples:
  backport test backport/ocata/bug-1783613
        the targeted tests: those that the commit itself adds or changes
  backport test HEAD~1 nova.tests.unit.compute.test_compute_api --checkout ~/src/nova
        a module; a class, a method or a test's id will do as well
  backport test 15.1.3 nova.tests.unit.compute --repeat 3 --checkout ~/src/nova
        all tests of a package, three times each
"""


@click.command("test", epilog=_EXAMPLES, short_help="Run tests on any commit of a checkout.")
@click.argument("rev")
@click.argument("tests", nargs=-1)
@click.option(
    "--branch", metavar="NAME", default="ocata", show_default=True, help="A folder of patches/."
)
@click.option("--checkout", metavar="PATH|URL", help="Left out: the built-in one, in build/.")
@click.option("--json", "as_json", is_flag=True, help="Print every result as JSON.")
@test_options
@click.pass_obj
def test_command(
    frame: Frame,
    /,
    rev: str,
    tests: tuple[str, ...],
    branch: str,
    checkout: str | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Run TESTS on the commit REV, in the environment of the branch.

    TESTS are modules, packages, classes, methods or ids; left out, they are those that REV
    itself adds or changes. Exit code 0: all passed; 1: some failed; 4: it could not be told.
    """
    found = load_branch(frame.branch_folder(branch))
    with frame.progress() as progress:
        progress.step("locate", located(checkout))
        with open_session(frame.places, found, checkout, rev, progress) as session:
            names = tests or targeted_by(session, found)
            runs = test_commit(session, found, names, TestOptions(**options), progress)
    if as_json:
        frame.documents.append(json.dumps(runs_as_json(runs), indent=2))
        click.echo(frame.documents[-1])
    else:
        show_runs(runs, frame.output)
    return exit_code_of_runs(runs)
