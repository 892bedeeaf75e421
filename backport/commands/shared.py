"""The options that every command has, and how shells complete names of series and branches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from backport.commands.frame import Frame
from backport.series.manifest import list_branches, list_series


def with_shared_options(command: click.Command) -> click.Command:
    """Add the options that every command has to a command, before its own; once."""
    if not any(option.name == "patches" for option in command.params):
        command.params[:0] = [
            click.Option(
                ["--patches"],
                metavar="DIR",
                type=click.Path(exists=True, file_okay=False, path_type=Path),
                is_eager=True,  # it says where defaults of other options are
                expose_value=False,
                callback=_configure,
                help="Look for series here first.",
            ),
            click.Option(
                ["-q", "--quiet"],
                is_flag=True,
                expose_value=False,
                callback=_be_quiet,
                help="Show no progress.",
            ),
            click.Option(
                ["-v", "--verbose"],
                is_flag=True,
                expose_value=False,
                callback=_be_verbose,
                help="Say where things are looked for, and each command that is run.",
            ),
        ]
        for option in command.params:
            if names := _NAMES.get(option.name or ""):
                option.type = Name(names)
    return command


class Name(click.ParamType[str]):
    """The name of a series or a branch, of those that there are; others are for the command."""

    name = "NAME"

    def __init__(self, known: Callable[[Sequence[Path]], Mapping[str, Path]]) -> None:
        self._known = known

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Take it as it is."""
        return value

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Offer those that begin so."""
        frame = ctx.find_root().obj
        assert isinstance(frame, Frame)
        frame.configure(None, ctx)
        known = self._known(frame.places.patches)
        return [CompletionItem(name) for name in known if name.startswith(incomplete)]


_NAMES = {"series": list_series, "branch": list_branches}


def _configure(context: click.Context, _: click.Parameter, patches: Path | None) -> None:
    if isinstance(context.obj, Frame) and not context.resilient_parsing:
        context.obj.configure(patches, context)


def _be_quiet(context: click.Context, _: click.Parameter, quiet: bool) -> None:
    if isinstance(context.obj, Frame):
        context.obj.quiet = quiet


def _be_verbose(context: click.Context, _: click.Parameter, verbose: bool) -> None:
    if verbose and isinstance(context.obj, Frame):
        context.obj.say_places()
