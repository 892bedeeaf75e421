"""A series made from commits: as a value to try, and as the folder that ``run`` reads."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path

from jinja2 import FileSystemLoader, StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from backport.checkout.objects import Commit
from backport.checkout.scratch import Scratch
from backport.errors import UsageError
from backport.picking.model import Source
from backport.resources import data_folder
from backport.series.manifest import BRANCH_FILE, SERIES_FILE, load_series
from backport.series.message import change_ids, provenance, subject_without_tags
from backport.series.model import Branch, Change, Kind, Series
from backport.workspace import writing

_BUG = re.compile(r"^([A-Za-z]+)-Bug[ \t]*:[ \t]*#?(\d+)", re.M | re.I)
_FIXES = ("closes", "resolves", "fixes", "close", "fix")
_NAME = re.compile(r"[A-Za-z0-9][\w.+-]*")


def series_of(
    scratch: Scratch, sources: Sequence[Source], branch: Branch, folder: Path, bug: int | None
) -> Series:
    """Make the series that picks these commits."""
    commits = [scratch.commit(source.commit) for source in sources]
    changes = [_change(number, commit) for number, commit in enumerate(commits, 1)]
    fixes = [change for change in changes if change.kind is Kind.FIX]
    return Series(
        name=f"{branch.name}/{folder.name}",
        folder=folder,
        title=(fixes or changes)[-1].subject,
        bug=bug or next(iter(_bugs(commits)), None),
        stable_only=None,
        branch=branch,
        changes=tuple(changes),
    )


def kind_of(message: str) -> Kind:
    """Tell what a commit is for by its bug trailers (Launchpad's integration acts on these)."""
    said = {match[1].lower() for match in _BUG.finditer(message)}
    if said & {*_FIXES}:
        return Kind.FIX
    if "partial" in said:
        return Kind.PARTIAL_FIX
    return Kind.REGRESSION_TEST if "related" in said else Kind.OTHER


def _bugs(commits: Sequence[Commit]) -> list[int]:
    """The bugs that the commits name, those that they fix first."""
    said = [match.groups() for commit in commits for match in _BUG.finditer(commit.message)]
    fixed = [int(number) for word, number in said if word.lower() in _FIXES]
    return [*fixed, *(int(number) for _, number in said)]


def _change(number: int, commit: Commit) -> Change:
    return Change(
        number=number,
        kind=kind_of(commit.message),
        subject=subject_without_tags(commit.message),
        description="",
        change_id=next(iter(change_ids(commit.message)), ""),
        commit=commit.id,
        author=commit.author.person,
        date=commit.author.date,
        provenance=tuple(one for one in provenance(commit.message) if len(one) in (40, 64)),
    )


def folder_for(name: str, branch: str, here: Path) -> Path:
    """Return the folder of a series: ``NAME`` and ``BRANCH/NAME`` go below ``here/patches``.

    :raises UsageError: it cannot be one, or is there already
    """
    above, slash, last = name.rstrip("/").rpartition("/")
    plain = not slash or above == branch
    folder = here / "patches" / branch / last if plain else here / name
    if not _NAME.fullmatch(last):
        raise UsageError(f"{name!r} cannot be the name of a series", "Such as: bug-1682693")
    if os.path.lexists(folder):
        raise UsageError(
            f"{folder} is there already; nothing is overwritten", "Choose another --series."
        )
    return folder


def write_series(
    series: Series, sources: Sequence[Source], tests: Mapping[int, Sequence[str]]
) -> tuple[str, ...]:
    """Write the folder of a series, whole or not at all; load it, to see that it is sound.

    :param tests: those that a change adds or changes, by its number
    :returns: the files of the branch that had to be put beside it
    """
    with writing(series.folder.parent):
        series.folder.parent.mkdir(parents=True, exist_ok=True)
        copied = _bring_branch(series.branch, series.folder.parent)
        half = Path(tempfile.mkdtemp(prefix=".", dir=series.folder.parent))
        try:
            (half / SERIES_FILE).write_text(_rendered(series, sources, tests), encoding="utf-8")
            load_series(half)
            half.chmod(0o755)
            os.rename(half, series.folder)
        except BaseException:
            shutil.rmtree(half, ignore_errors=True)
            raise
    return copied


def _bring_branch(branch: Branch, folder: Path) -> tuple[str, ...]:
    """Put what is known of the branch where a series of it is begun in a new place."""
    if os.path.lexists(folder / BRANCH_FILE):
        return ()
    locks = [lock.requirements for lock in branch.tests.pythons] if branch.tests else []
    rewinds = [branch.embedded.rewind] if branch.embedded and branch.embedded.rewind else []
    files = [*locks, *rewinds, branch.folder / BRANCH_FILE]  # the last makes it a branch
    for file in files:
        place = folder / file.relative_to(branch.folder)
        place.parent.mkdir(parents=True, exist_ok=True)
        if not os.path.lexists(place):
            shutil.copyfile(file, place)
    return tuple(str(file.relative_to(branch.folder)) for file in files)


def _rendered(series: Series, sources: Sequence[Source], tests: Mapping[int, Sequence[str]]) -> str:
    environment = ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(data_folder("templates")),
        undefined=StrictUndefined,
        autoescape=False,  # it is no markup; every text is quoted
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"quoted": partial(json.dumps, ensure_ascii=False), "iso": _iso}
    rows = [
        (_writable(change), source, tests.get(change.number, ()))
        for change, source in zip(series.changes, sources, strict=True)
    ]
    return environment.get_template("series.yaml.j2").render(series=series, rows=rows)


def _writable(change: Change) -> Change:
    """Leave out what a manifest cannot hold: the commit has it, and that is what counts."""
    if not change.subject.isprintable():
        change = replace(change, subject="")
    author = change.author
    sound = re.fullmatch(r"[^<>]*[^<>\s] <[^<>\s]+>", str(author))
    if not sound or not str(author).isprintable():
        change = replace(change, author=None)
    if not re.fullmatch(r"\d+ [-+]\d{4}", change.date or ""):
        change = replace(change, date=None)
    return change


def _iso(date: str) -> str:
    """Write git's date as a manifest has it: ``2018-08-06T14:32:00+00:00``."""
    seconds, zone = date.split(" ")
    return datetime.fromtimestamp(int(seconds), datetime.strptime(zone, "%z").tzinfo).isoformat()
