"""The request: an entry at the end of a deliverable file of openstack/releases."""

from __future__ import annotations

import copy
import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from backport.errors import UsageError

EXTRA = "Install what a release needs:  pip install 'backport[release]'"
#: Indents that deliverable files are written with: mapping, sequence, offset of the dash.
_INDENTS = ((2, 4, 2), (2, 2, 0))
_STATUS_FILES = ("data/series_status.yaml", "deliverables/series_status.yaml")


@dataclass(frozen=True)
class Listed:
    """What a deliverable file lists: version and commits by repository, in order."""

    releases: tuple[tuple[str, Mapping[str, str]], ...]


def deliverable_path(project: str, series: str) -> str:
    """Return the path of a project's file (releases README)."""
    return f"deliverables/{series}/{project.rpartition('/')[2]}.yaml"


def read_listed(data: bytes, path: str) -> Listed:
    """Read a deliverable file.

    :raises UsageError: it is none
    """
    try:
        found: Any = yaml.safe_load(data)
        rows = [
            (str(row["version"]), {str(p["repo"]): str(p["hash"]) for p in row["projects"]})
            for row in found["releases"]
        ]
    except (yaml.YAMLError, KeyError, TypeError) as error:
        raise UsageError(
            f"{path} is no list of releases: {' '.join(str(error).split())}",
            "Give a checkout of openstack/releases.",
        ) from error
    return Listed(tuple(rows))


def status_files() -> tuple[str, ...]:
    """Where the states of all series stand, the newer place first."""
    return _STATUS_FILES


def series_status(data: bytes, series: str) -> str | None:
    """Return the state of a series, such as ``maintained``; None: it is not listed."""
    rows: Any = yaml.safe_load(data)
    found = [row for row in rows or () if isinstance(row, dict) and row.get("name") == series]
    return str(found[0].get("status")) if found else None


def with_release(data: bytes, path: str, version: str, repo: str, commit: str) -> bytes:
    """Append a release to a file; keys come in the order of the last entry, all else stays.

    :raises UsageError: the file cannot be written back as it is, or ruamel.yaml is missing
    """
    text = data.decode()
    for indent in _INDENTS:
        library = _library(indent, text)
        found = library.load(text)
        if _dumped(library, found) == text:
            found["releases"].append(_like(found["releases"][-1], version, repo, commit))
            return _dumped(library, found).encode()
    raise UsageError(
        f"{path} has a form that would not stay as it is", "Append the entry by hand; it is above."
    )


def entry_text(version: str, repo: str, commit: str) -> str:
    """Return the entry by itself, in the order of openstack/releases' own dumper (new-release)."""
    lines = ["  - projects:", f"      - hash: {commit}", f"        repo: {repo}"]
    return "\n".join([*lines, f"    version: {version}"]) + "\n"


def _like(last: Any, version: str, repo: str, commit: str) -> Any:
    entry = copy.deepcopy(last)
    for key in [key for key in entry if key not in ("version", "projects")]:
        del entry[key]  # diff-start, flags: the other release's own
    entry["version"] = version
    project = entry["projects"][0]
    del entry["projects"][1:]
    for key in [key for key in project if key not in ("repo", "hash")]:
        del project[key]
    project["repo"], project["hash"] = repo, commit
    return entry


def _library(indent: tuple[int, int, int], text: str) -> Any:
    try:
        from ruamel.yaml import YAML
    except ImportError as error:
        raise UsageError("ruamel.yaml is missing", EXTRA) from error
    library = YAML()
    library.preserve_quotes = True
    library.width = 4096
    library.explicit_start = text.startswith("---")
    library.indent(mapping=indent[0], sequence=indent[1], offset=indent[2])
    return library


def _dumped(library: Any, found: Any) -> str:
    out = io.StringIO()
    library.dump(found, out)
    return out.getvalue()
