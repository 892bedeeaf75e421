"""The command line: the only place that prints, reads the environment, or exits."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from backport import __version__
from backport.checkout.git import scrub
from backport.commands import GROUPS
from backport.commands.frame import Frame, Lazy, stop_writing
from backport.errors import BackportError, ExitCode
from backport.interrupts import interrupts
from backport.report.console import said

_EPILOG = """
Exit codes: 0 done, or nothing to do; 1 the tests speak against it; 2 usage or manifest;
3 conflict, a person has to look; 4 could not find out; 5 publishing refused; 70 a bug in
this tool; 130 interrupted. Progress goes to standard error, results to standard output.
"""


@click.group(
    cls=Lazy,
    invoke_without_command=True,
    groups=GROUPS,
    epilog=_EPILOG,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
        "show_default": True,
    },
)
@click.version_option(__version__, "-V", "--version", message="%(prog)s %(version)s")
@click.pass_context
def cli(context: click.Context, /) -> None:
    """Carry a fix to a stable branch: apply it, prove it, make the branch.

    Begin with:  backport show ocata/bug-1783613
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; nothing but this turns errors into output."""
    scrub(os.environ)
    try:
        frame = Frame.of_process(sys.argv if argv is None else ["backport", *argv])
    except FileNotFoundError:  # of the current folder
        _complain(Console(stderr=True), "the folder that you are in is not there any more", "")
        return ExitCode.USAGE
    try:
        with interrupts():
            done = cli.main(
                args=list(sys.argv[1:] if argv is None else argv),
                prog_name="backport",
                standalone_mode=False,
                obj=frame,
            )
        return int(done) if isinstance(done, int) else ExitCode.DONE
    except BackportError as error:
        return _end(frame, error.exit_code, error.message, error.hint)
    except click.ClickException as error:
        return _end(frame, ExitCode.USAGE, error.format_message(), _usage(error))
    except (KeyboardInterrupt, click.Abort):
        return _end(frame, ExitCode.INTERRUPTED, "interrupted; your checkout is as it was", "")
    except BrokenPipeError:
        stop_writing()  # whoever reads the output has seen enough
        return ExitCode.DONE
    except OSError as error:
        where = error.filename or "a file, which the system does not name"
        return _end(frame, ExitCode.CANNOT_TELL, f"{error.strerror}: {where}", "")
    except Exception as error:  # a bug: the user gets a line, we get the traceback
        return _end(frame, ExitCode.BUG, f"a bug in this tool: {error!r}", _keep_traceback(frame))


def _usage(error: click.ClickException) -> str:
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"Type: {context.command_path} --help" if context else ""


def _end(frame: Frame, code: ExitCode, message: str, hint: str) -> int:
    _complain(frame.errors, message, hint)
    told = BackportError(message, hint)
    told.exit_code = code
    frame.tell(told)
    return code


def _complain(console: Console, message: str, hint: str) -> None:
    for index, line in enumerate(message.splitlines() or [""]):
        start = Text("error: ", "bold red") if index == 0 else Text("       ")
        console.print(start + said(line, console), soft_wrap=True)
    for line in hint.splitlines():
        console.print(Text("       ") + said(line, console, "dim"), soft_wrap=True)


def _keep_traceback(frame: Frame) -> str:
    stamp = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%S")
    log = Path(frame.places.state) / "log" / f"bug-{stamp}-{os.getpid()}.txt"
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(f"backport {__version__}\n{frame.argv}\n\n{traceback.format_exc()}")
    except OSError as error:
        return f"and its log could not be written: {error.strerror}"
    return f"The traceback is in {log}; please send it along with a report."
