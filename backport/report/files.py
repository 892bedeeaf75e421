"""Writes a report's views into a folder."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import MappingProxyType

from backport.errors import CannotTellError
from backport.report.document import Report, to_json
from backport.report.html import render_html
from backport.report.junit import render_junit
from backport.report.markdown import render_markdown

VIEWS: Mapping[str, Callable[[Report], str]] = MappingProxyType(
    {
        "report.html": render_html,
        "report.md": render_markdown,
        "report.json": to_json,
        "junit.xml": render_junit,
    }
)


def report_files(folder: Path) -> list[Path]:
    """Return the files that :func:`write_reports` is going to write, the page first."""
    return [folder / name for name in VIEWS]


def write_reports(report: Report, folder: Path, compiled: Path | None = None) -> list[Path]:
    """Write all views, and return their paths, the page first.

    Each appears whole or not at all: it is written beside its name, then renamed. All are
    made before the first is written. Logs of runs stay where they are.

    :param compiled: see :func:`~backport.report.html.render_html`
    :raises CannotTellError: the folder cannot be written to
    """
    views: dict[str, Callable[[Report], str]] = {
        **VIEWS,
        "report.html": partial(render_html, compiled=compiled),
    }
    texts = {folder / name: render(report) for name, render in views.items()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in texts.items():
            _replace(path, text)
    except OSError as error:
        raise CannotTellError(
            f"the report cannot be written to {folder}: {error.strerror or error}",
            "Name another folder with --report DIR.",
        ) from error
    return list(texts)


def _replace(path: Path, text: str) -> None:
    handle, beside = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            # mkstemp makes it for its owner only; a report is made to be handed on.
            os.chmod(beside, 0o644)
        os.replace(beside, path)
    except BaseException:
        with suppress(FileNotFoundError):  # it came after the renaming
            os.unlink(beside)
        raise
