"""``backport submit`` and ``backport export``: a published series, to Gerrit or to other people."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

import click
from pydantic import ValidationError

from backport.commands.frame import Frame
from backport.commands.run import checkout_options
from backport.errors import ExitCode, RefusedError, UsageError
from backport.linting import lint
from backport.policy.model import Severity
from backport.progress import Progress
from backport.publish.export import Format, export, how_to_apply
from backport.publish.gerrit import Sent, problems, push, read_gitreview, review, topic
from backport.report.document import Result, from_json
from backport.report.lint import one_line_of
from backport.series.manifest import find_series
from backport.series.model import Series
from backport.session import Session, choose_checkout, open_session

_SUBMIT = """\b
Examples:
  backport submit ocata/bug-1783613 --checkout ~/src/nova --dry-run
        what would be sent, and whether Gerrit would take it
"""
_EXPORT = """\b
Examples:
  backport export ocata/bug-1783613 --format mbox
        mails, for git am with the options that it prints
"""


@click.command("export", epilog=_EXPORT, short_help="Write a series for others to apply.")
@click.argument("series")
@click.option(
    "--format", "form", type=click.Choice([each.value for each in Format]), default="mbox",
    show_default=True,
)  # fmt: skip
@click.option(
    "--output", metavar="DIR", type=click.Path(path_type=Path, file_okay=False),
    default=Path("build/export"), show_default=True,
)  # fmt: skip
@click.option("--branch-name", metavar="REV", help="Left out: backport/SERIES.")
@checkout_options
@click.pass_obj
def export_command(
    frame: Frame, /, series: str, form: str, output: Path, branch_name: str | None, **options: Any
) -> None:
    """Write the commits of SERIES, as its branch has them, into files.

    They are read back before they are written: what a format cannot carry is refused.
    """
    found = find_series(series, frame.places.patches)
    with frame.progress() as progress, _opened(frame, found, options, progress) as session:
        tip, base = _tip(session, found, branch_name), session.base.commit
        beside, kind = session.folder / "export", Format(form)
        files = export(session.scratch, beside, found.name, base, tip, kind)
    output.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (output / name).write_bytes(data)
        click.echo(str(output / name))
    click.echo(f"apply with: {how_to_apply(kind, list(files), base)}")


@click.command("submit", epilog=_SUBMIT, short_help="Send a series to Gerrit.")
@click.argument("series")
@click.option("--dry-run", is_flag=True, help="Check all, and print the push.")
@click.option("--unproven", is_flag=True, help="Send it without proof, and say so to Gerrit.")
@click.option("--ignore-lint", is_flag=True, help="Send it against the policy's errors.")
@click.option("--branch-name", metavar="REV", help="Left out: backport/SERIES.")
@click.option(
    "--report", metavar="DIR", type=click.Path(path_type=Path, file_okay=False),
    help="The report of the run that proved it. Left out: the last one's.",
)  # fmt: skip
@checkout_options
@click.pass_obj
def submit_command(
    frame: Frame,
    /,
    series: str,
    dry_run: bool,
    unproven: bool,
    ignore_lint: bool,
    branch_name: str | None,
    report: Path | None,
    **options: Any,
) -> int:
    """Send the branch of SERIES to Gerrit: refs/for/BRANCH, with the topic bug/N.

    It goes to the remote called gerrit, else to where .gitreview says. What Gerrit would refuse,
    and what was not proven, is not sent.
    """
    found = find_series(series, frame.places.patches)
    with frame.progress() as progress, _opened(frame, found, options, progress) as session:
        tip = _tip(session, found, branch_name)
        said = read_gitreview(session.scratch.file(tip, ".gitreview"))
        _refuse_what_gerrit_would(session, found, tip, said)
        _judge(session, found, tip, ignore_lint, progress)
        report = report or frame.places.state / "reports/latest"
        proven = _is_proven(report / "report.json", found, tip)
        if not proven and not unproven and not dry_run:
            raise RefusedError(
                f"{report / 'report.json'} does not say that {tip[:10]} is proven",
                f"Prove it:  backport verify {found.name} --report {report}\n"
                "or send it without, with --unproven.",
            )
        told = [] if proven else [f"m={quote('not proven by its tests')}"]
        wanted = [topic(found.bug, found.name), *told]
        asked = review(session.checkout, said, tip, found.branch.branch, wanted)
        if dry_run:
            click.echo(asked.command)
            return ExitCode.DONE
        progress.step("submit", asked.ref)
        sent, words = push(session.scratch, asked)
    click.echo("sent" if sent is Sent.SENT else "nothing new: Gerrit has these commits already")
    click.echo(words) if words else None
    return ExitCode.DONE


def _opened(frame: Frame, series: Series, options: dict[str, Any], progress: Progress) -> Any:
    where = choose_checkout(frame.places, series.branch, options["checkout"], progress)
    return open_session(frame.places, series.branch, where, options["onto"], progress)


def _tip(session: Session, series: Series, branch_name: str | None) -> str:
    name = branch_name or f"backport/{series.name}"
    tip = session.checkout.resolve(name)
    if tip is None:
        raise UsageError(
            f"{session.checkout.folder} has no branch {name}",
            f"Make it with: backport run {series.name}",
        )
    if not session.scratch.commits_between(session.base.commit, tip, merges=True):
        raise UsageError(f"{name} holds nothing that {session.base.name} does not have")
    return tip


def _refuse_what_gerrit_would(
    session: Session, series: Series, tip: str, said: dict[str, str]
) -> None:
    scratch, base = session.scratch, session.base.commit
    commits = [scratch.commit(each) for each in scratch.commits_between(base, tip, merges=True)]
    found = list(problems(commits, series.branch.branch, said))
    extra = len(commits) - len(series.changes)
    if not any(scratch.is_ancestor(parent, base) for each in commits for parent in each.parents):
        found.append(f"the branch is not based on {session.base.name}")
    elif extra > 0 and not found:
        found.append(
            f"the branch holds {len(commits)} commits above {session.base.name}, and the series "
            f"has {len(series.changes)} changes: Gerrit would take all of them"
        )
    if found:
        raise UsageError("\n".join(found), "Nothing was sent.")


def _judge(session: Session, series: Series, tip: str, ignore: bool, progress: Progress) -> None:
    base = session.base.commit
    commits = session.scratch.commits_between(base, tip)
    findings = lint(session, series.branch, base, commits, progress).findings
    errors = [one_line_of(each) for each in findings if each.severity is Severity.ERROR]
    if errors and not ignore:
        raise UsageError("\n".join(errors), "Mend it, or send it all the same: --ignore-lint")


def _is_proven(file: Path, series: Series, tip: str) -> bool:
    try:
        report = from_json(file.read_text())
    except (OSError, ValueError, ValidationError):
        return False
    named = report.series is not None and report.series.name == series.name
    return named and report.branch.tip == tip and report.result is Result.PROVEN
