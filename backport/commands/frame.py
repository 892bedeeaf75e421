"""What the commands share: where things lie, where output goes, how a command is found."""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cached_property
from pathlib import Path
from typing import Any

import click
import platformdirs
from rich.console import Console

from backport import __version__
from backport.errors import ExitCode
from backport.pipeline import Findings
from backport.progress import Progress
from backport.report.build import Invocation, build_report
from backport.report.document import Report
from backport.resources import data_folder
from backport.session import Places


class Lazy(click.Group):
    """A group whose commands are imported when they are asked for."""

    def __init__(self, *args: Any, groups: dict[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._groups = groups

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the commands in the order in which they are needed."""
        return list(self._groups)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command."""
        module = self._groups.get(cmd_name)
        if module is None:
            return None
        found = getattr(importlib.import_module(module), f"{cmd_name}_command")
        assert isinstance(found, click.Command)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Name the nearest command for one that there is not (click does so for options only)."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            near = get_close_matches(args[0], list(self._groups), n=1)
            if near:
                error.message += f" Did you mean {near[0]!r}?"
            raise


@dataclass(frozen=True)
class Frame:
    """The process, as the commands see it."""

    argv: tuple[str, ...]
    places: Places
    started: datetime

    @classmethod
    def of_process(cls, argv: Sequence[str]) -> Frame:
        """Read the environment, once."""
        cache = platformdirs.user_cache_path("backport", appauthor=False)
        state = platformdirs.user_state_path("backport", appauthor=False)
        places = Places(
            patches=_patches(Path.cwd()),
            cache=Path(os.environ.get("BACKPORT_CACHE") or cache).absolute(),
            state=Path(os.environ.get("BACKPORT_STATE") or state).absolute(),
            build=Path("build").absolute(),
            environ=dict(os.environ),
        )
        return cls((Path(argv[0]).name, *argv[1:]), places, datetime.now(timezone.utc))

    @cached_property
    def errors(self) -> Console:
        """Standard error: progress and complaints."""
        return Console(stderr=True, highlight=False, emoji=False, markup=False)

    @cached_property
    def output(self) -> Console:
        """Standard output: results."""
        return Console(highlight=False, emoji=False, markup=False)

    @contextmanager
    def progress(self) -> Iterator[Progress]:
        """Show progress for as long as it lasts."""
        from backport.report.terminal import progress_view

        with progress_view(self.errors, time.monotonic) as view:
            yield view

    def report(self, findings: Findings, folder: Path | None, as_json: bool) -> ExitCode:
        """Write the report, print the summary (or the JSON), and give the exit code back."""
        from backport.report.document import to_json
        from backport.report.summary import summary
        from backport.report.files import report_files, write_reports

        report = self._report(findings, report_files(folder) if folder else ())
        if folder:
            write_reports(report, folder)
        if as_json:
            click.echo(to_json(report), nl=False)
        else:
            summary(report, self.output)
        return findings.exit_code

    def _report(self, findings: Findings, files: Sequence[Path]) -> Report:
        finished = datetime.now(timezone.utc)
        code = findings.exit_code
        return build_report(
            invocation=Invocation(__version__, self.argv, self.started, finished, code),
            series=findings.series,
            checkout=findings.checkout,
            outcome=findings.outcome,
            diffs=findings.diffs,
            proof=findings.proof,
            tests_skipped=findings.tests_skipped,
            problem=findings.problem,
            environments=findings.environments,
            branch=findings.branch,
            work_tree=findings.work_tree,
            files=files,
        )


def _patches(here: Path) -> Path:
    """Prefer the series where the command is typed to those that came with the tool."""
    own = here / "patches"
    return own if any(own.glob("*/branch.yaml")) else data_folder("patches")
