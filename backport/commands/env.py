"""``backport env``: the environment that a branch's tests run in."""

from __future__ import annotations

import click

from backport.commands.frame import Frame
from backport.request import TestOptions
from backport.series.manifest import find_branch
from backport.verification import ensure_environments

_EXAMPLES = """\b
Examples:
  backport env
        build ocata's environment if need be, and print its interpreter
  $(backport env) -c "import oslo_db; print(oslo_db.__file__)"
        use it by hand
"""


@click.command(
    "env", epilog=_EXAMPLES, short_help="Build the tests' environment; print its Python."
)
@click.option(
    "--branch", metavar="NAME", default="ocata", show_default=True, help="A folder of patches/."
)
@click.option("--python", metavar="PATH", help="The branch's Python, such as python2.7.")
@click.pass_obj
def env_command(frame: Frame, /, branch: str, python: str | None) -> None:
    """Print the path of the interpreter, one line for each that the branch is tested with."""
    found = find_branch(branch, frame.places.patches)
    with frame.progress() as progress:
        options = TestOptions(python=python)
        environments = ensure_environments(frame.places, found, options, progress)
    for environment in environments:
        click.echo(str(environment.python))
