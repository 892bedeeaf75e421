"""What the commands share: where things lie, where output goes, how a command is found."""

from __future__ import annotations

import importlib
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from functools import cached_property
from pathlib import Path
from typing import Any

import click
import platformdirs
from rich.console import Console

from backport import __version__
from backport.checkout.remote import without_password
from backport.commands.config import read_config
from backport.commands.reports import run_folder
from backport.errors import BackportError, ExitCode, InterruptedAfterError
from backport.pipeline import Findings
from backport.progress import Progress, Silent
from backport.report.build import Invocation, build_report
from backport.report.document import Action, Report
from backport.resources import data_folder, source_folder
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
        from backport.commands.shared import with_shared_options

        return with_shared_options(found)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Name the nearest command for one that there is not (click does so for options only)."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            near = get_close_matches(args[0], list(self._groups), n=1)
            if not near:
                raise
            words = f"{error.message} Did you mean {near[0]!r}?"
            raise click.UsageError(words, error.ctx) from error


class _WithoutPasswords(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return " ".join(map(without_password, super().format(record).split(" ")))


class _Errors(Console):
    """A console that goes silent when its reader has gone; rich would exit with 1, a verdict."""

    def on_broken_pipe(self) -> None:
        """Go on without."""
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), self.file.fileno())


class _Output(Console):
    """A console that says so when its reader has gone; rich would exit with 1."""

    def on_broken_pipe(self) -> None:
        """Leave it to the command line."""
        raise BrokenPipeError


def stop_writing() -> None:
    """Send what is still to be written to nowhere, or Python fails again when it closes it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@dataclass
class Frame:
    """The process, as the commands see it."""

    argv: tuple[str, ...]  # without passwords: it stands in reports
    places: Places
    started: datetime
    documents: list[str] = field(default_factory=list)  # what was printed as JSON
    quiet: bool = False

    @classmethod
    def of_process(cls, argv: Sequence[str]) -> Frame:
        """Read the environment, once."""
        cache = platformdirs.user_cache_path("backport", appauthor=False)
        state = platformdirs.user_state_path("backport", appauthor=False)
        here = Path.cwd()
        cache = Path(os.environ.get("BACKPORT_CACHE") or cache).absolute()
        build = os.environ.get("BACKPORT_BUILD") or source_folder("build") or cache / "checkouts"
        places = Places(
            patches=(data_folder("patches"),),
            cache=cache,
            state=Path(os.environ.get("BACKPORT_STATE") or state).absolute(),
            build=Path(build).absolute(),
            here=here,
            environ=dict(os.environ),
        )
        shown = tuple(without_password(word) for word in argv[1:])
        return cls((Path(argv[0]).name, *shown), places, datetime.now(timezone.utc))

    def configure(self, patches: Path | None, context: click.Context) -> None:
        """Read the configuration, and find where the series are.

        :param patches: as the command line has it
        :raises ManifestError: a configuration file is not sound
        """
        home = platformdirs.user_config_path("backport", appauthor=False)
        beside = patches.parent if patches else self.places.here
        config = read_config([beside / "backport.yaml", home / "config.yaml"])
        named = os.environ.get("BACKPORT_PATCHES", "").split(os.pathsep)
        own = [*filter(None, [patches]), *map(Path, filter(None, named)), *config.patches]
        folders = [*own, self.places.here / "patches", *self.places.patches]
        self.places = replace(
            self.places, patches=tuple(dict.fromkeys(folders)), checkout=config.checkout
        )
        context.default_map = {"jobs": config.jobs} if config.jobs else None

    def say_places(self) -> None:
        """Tell where things lie, and from now on each command that is run."""
        for name in ("patches", "checkout", "build", "cache", "state"):
            found = getattr(self.places, name)
            words = ", ".join(map(str, found)) if isinstance(found, tuple) else found
            self.errors.print(f"{name}: {words}", soft_wrap=True)
        handler = logging.StreamHandler()
        handler.setFormatter(_WithoutPasswords("%(name)s: %(message)s"))
        log = logging.getLogger("backport")  # checkout/git.py and process.py write there
        log.addHandler(handler)
        log.setLevel(logging.DEBUG)

    @cached_property
    def errors(self) -> Console:
        """Standard error: progress and complaints."""
        return _Errors(stderr=True, highlight=False, emoji=False, markup=False)

    @cached_property
    def output(self) -> Console:
        """Standard output: results."""
        return _Output(highlight=False, emoji=False, markup=False)

    @contextmanager
    def progress(self, series: str = "") -> Iterator[Progress]:
        """Show progress for as long as it lasts.

        :param series: whose tests are run, if any; how long they took before is remembered
        """
        from backport.commands.past import read_past
        from backport.report.terminal import progress_view

        past = read_past(self.places.cache, series) if series else {}
        if self.quiet:
            yield Silent()
            return
        with progress_view(self.errors, time.monotonic, past) as view:
            yield view

    def reported(
        self,
        series: str,
        work: Callable[[Findings, Progress], None],
        folder: Path | None,
        as_json: bool,
    ) -> ExitCode:
        """Do the work with progress shown, then write the report and print what came of it.

        An error that comes after something was found out is part of the report.
        """
        findings = Findings()
        try:
            return self._reported(series, findings, work, folder, as_json)
        except KeyboardInterrupt:
            made = findings.branch
            if made.action not in (Action.CREATED, Action.REPLACED):
                raise
            raise InterruptedAfterError(
                f"interrupted, when the branch {made.name} had been {made.action.value}",
                "It is whole; no report was written. The next run says what it holds.",
            ) from None

    def _reported(
        self,
        series: str,
        findings: Findings,
        work: Callable[[Findings, Progress], None],
        folder: Path | None,
        as_json: bool,
    ) -> ExitCode:
        try:
            with self.progress(series) as progress:
                work(findings, progress)
                self._remember(findings)
        except BackportError as error:
            findings.problem, findings.exit_code = error, ExitCode(error.exit_code)
            if findings.outcome is None and not findings.runs:  # nothing to report but it
                if as_json:
                    self._print(self._report(findings, ()))
                raise
        try:
            self._show(findings, folder or run_folder(self.places.state, self.started), as_json)
        except BrokenPipeError:
            stop_writing()  # what the run came to does not hang on who reads of it
        if findings.problem and as_json:  # people read standard error; the document went elsewhere
            raise findings.problem
        return findings.exit_code

    def _remember(self, findings: Findings) -> None:
        from backport.commands.past import keep_past

        if findings.series and findings.proof:
            keep_past(self.places.cache, findings.series.name, findings.proof)

    def tell(self, error: BackportError) -> None:
        """Print an error as a document, where ``--json`` was given and none was printed yet."""
        if "--json" in self.argv and not self.documents:
            findings = Findings(problem=error, exit_code=ExitCode(error.exit_code))
            with suppress(BrokenPipeError):
                self._print(self._report(findings, ()))

    def _print(self, report: Report) -> None:
        from backport.report.document import to_json

        self.documents.append(to_json(report))
        click.echo(self.documents[-1], nl=False)

    def _show(self, findings: Findings, folder: Path, as_json: bool) -> None:
        from backport.report.render import report_files, write_reports
        from backport.report.summary import summary

        report = self._report(findings, report_files(folder))
        unwritten = None
        try:
            write_reports(report, folder, self._compiled(), os.path.expanduser("~"))
        except BackportError as error:
            # What was done must be told all the same: a branch may be there now.
            unwritten = error
            if as_json:  # whose reader looks for the exit code in there
                findings.problem, findings.exit_code = error, ExitCode(error.exit_code)
            report = self._report(findings, ())
        if as_json:
            self._print(report)
        else:
            summary(report, self.output)
        if unwritten:
            raise unwritten

    def _compiled(self) -> Path | None:
        folder = self.places.cache / "templates"
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            return None
        return folder

    def _report(self, findings: Findings, files: Sequence[Path]) -> Report:
        finished = datetime.now(timezone.utc)
        code = findings.exit_code
        return build_report(
            invocation=Invocation(__version__, self.argv, self.started, finished, code),
            series=findings.series,
            request=findings.request,
            checkout=findings.checkout,
            outcome=findings.outcome,
            diffs=findings.diffs,
            proof=findings.proof,
            runs=findings.runs,
            tests_skipped=findings.tests_skipped,
            problem=findings.problem,
            environments=findings.environments,
            lint=findings.lint,
            branch=findings.branch,
            work_tree=findings.work_tree,
            saved=findings.saved,
            files=files,
        )
