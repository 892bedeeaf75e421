"""Writing a resolution into the series, so that the next run is clean."""

from __future__ import annotations

import os
import re
from pathlib import Path

from backport.series.model import Change, Series


def save_resolution(series: Series, change: Change, patch: bytes) -> Path:
    """Write the patch that a change becomes, and return its path.

    A change that has a patch gets this one in its place. One that is picked from a commit
    gets it beside the commit: a ``patch`` key in the line below the ``commit`` key.
    """
    path = change.patch_file or series.folder / f"{change.number:04}-{_slug(change)}.patch"
    _replace(path, patch)
    manifest = change.source[0]
    text = manifest.read_text(encoding="utf-8")
    fresh = _without_strip(text, change)
    if change.patch_file is None:
        fresh = _with_patch(fresh, change, path.name)
    if fresh != text:
        _replace(manifest, fresh.encode())
    return path


def _slug(change: Change) -> str:
    words = re.sub(r"[^a-z0-9]+", "-", change.subject.lower()).strip("-")
    return words[:52].rstrip("-") or "resolution"


def _with_patch(text: str, change: Change, name: str) -> str:
    """Insert the key by line, not by dumping YAML, so that comments and order stay."""
    lines = text.splitlines(keepends=True)
    for index in range(max(change.source[1] - 1, 0), len(lines)):
        found = re.match(r"(\s*)(- )?commit\s*:", lines[index])
        if found:
            indent = found[1] + (" " * len(found[2]) if found[2] else "")
            lines.insert(index + 1, f"{indent}patch: {name}\n")
            break
    return "".join(lines)


def _without_strip(text: str, change: Change) -> str:
    """Take out the change's ``strip`` key: what is saved has git's own prefixes."""
    lines = text.splitlines(keepends=True)
    start = max(change.source[1] - 1, 0)
    for index in range(start, len(lines)):
        if index > start and re.match(r"\s*- ", lines[index]):
            break
        if re.match(r"\s+strip\s*:", lines[index]):
            del lines[index]
            break
    return "".join(lines)


def _replace(path: Path, data: bytes) -> None:
    beside = path.with_name(f".{path.name}.part")
    beside.write_bytes(data)
    os.replace(beside, path)
