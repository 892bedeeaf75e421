"""Writing into a series: a resolution, or the Change-Ids that were made for it.

``series.yaml`` is a person's: only the lines of the keys change, all else stays byte for byte, and
nothing is written unless the file then reads as it did, save for these keys.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from backport.errors import UsageError
from backport.series.model import KEEP_SECTION, Change, Series
from backport.workspace import writing

_PLAIN = re.compile(r"(?!(?:null|Null|NULL)$)[A-Za-z0-9_][\w./+-]*", re.ASCII)


@dataclass(frozen=True)
class Edit:
    """What becomes of the keys of a change.

    :param put: text, or a list of texts, by key; the keys are not there yet
    :param below: the key that they are put below, one line of text
    :param drop: keys that go, if they are there
    """

    change: int  # its number, from 1
    put: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    below: str = ""
    drop: tuple[str, ...] = ()


def edit_changes(manifest: Path, edits: Sequence[Edit]) -> bool:
    """Edit ``series.yaml``; whether there was anything to do.

    :raises UsageError: it is written in a way that cannot be edited; nothing is changed
    :raises CannotTellError: it cannot be written
    """
    text = fresh = manifest.read_bytes().decode()
    wanted = yaml.load(text, yaml.BaseLoader)
    for edit in edits:
        # One at a time, for each moves what is below it.
        for key in edit.drop:
            fresh = _without(fresh, edit.change, key)
            wanted["changes"][edit.change - 1].pop(key, None)
        for key, value in reversed([*edit.put.items()]):
            fresh = _with(fresh, edit, key, value)
            wanted["changes"][edit.change - 1][key] = value if isinstance(value, str) else [*value]
    if fresh == text:
        return False
    if _read(fresh) != wanted:
        keys = ", ".join(f"{key}: {value}" for edit in edits for key, value in edit.put.items())
        raise UsageError(f"{manifest} cannot be edited line by line", f"Write it there: {keys}")
    replace_file(manifest, fresh.encode())
    return True


def write_change_ids(series: Series) -> list[str]:
    """Write the Change-Ids that were made for a series into its file, and return them."""
    made = [change for change in series.changes if change.change_id_made]
    edits = [Edit(each.number, {"change-id": each.change_id}, below="subject") for each in made]
    if made:
        edit_changes(made[0].source[0], edits)
    return [each.change_id for each in made]


def save_resolution(
    series: Series, change: Change, patch: bytes, conflicts: Sequence[str] = ()
) -> Path:
    """Write the patch that a change becomes, and return its path.

    A change that has a patch gets this one in its place. One that is picked from a commit gets
    it beside the commit: a ``patch`` key in the line below the ``commit`` key. The message of the
    next run hangs on what was in conflict, so that is written, too.
    """
    path = change.patch_file or series.folder / f"{change.number:04}-{_slug(change)}.patch"
    replace_file(path, patch)
    put: dict[str, str | Sequence[str]] = {} if change.patch_file else {"patch": path.name}
    before = change.conflicts or ()
    if before != KEEP_SECTION and (change.commit or change.conflicts_section):
        put["conflicts"] = [*dict.fromkeys((*before, *conflicts))]
    # What is saved has git's own prefixes, so it needs no strip.
    drop = ("strip", "conflicts") if "conflicts" in put else ("strip",)
    below = "commit" if change.commit else "patch"
    edit_changes(change.source[0], [Edit(change.number, put, below, drop)])
    return path


def replace_file(path: Path, data: bytes) -> None:
    """Write a file in one step; its mode stays, and a link goes on pointing to it.

    :raises CannotTellError: the system does not let us
    """
    path = path.resolve()
    beside = path.with_name(f".{path.name}.part")
    with writing(path.parent):
        beside.write_bytes(data)
        if path.exists():
            shutil.copymode(path, beside)
        os.replace(beside, path)


def _slug(change: Change) -> str:
    words = re.sub(r"[^a-z0-9]+", "-", change.subject.lower()).strip("-")
    return words[:52].rstrip("-") or "resolution"


def _read(text: str) -> Any:
    try:
        return yaml.load(text, yaml.BaseLoader)
    except yaml.YAMLError:
        return None


def _mapping(text: str, number: int) -> yaml.MappingNode:
    """Find a change, with where its keys and values begin and end."""
    root = yaml.compose(text, yaml.BaseLoader)
    assert isinstance(root, yaml.MappingNode)  # it was loaded
    changes = next(value for key, value in root.value if key.value == "changes")
    found = changes.value[number - 1]
    assert isinstance(found, yaml.MappingNode)
    return found


def _with(text: str, edit: Edit, key: str, value: str | Sequence[str]) -> str:
    mapping = _mapping(text, edit.change)
    above, at = next((k, v.end_mark) for k, v in mapping.value if k.value == edit.below)
    if mapping.flow_style:
        return f"{text[: at.index]}, {key}: {_flow(value)}{text[at.index :]}"
    # The end of a block scalar is where the next line begins.
    end = text.find("\n", at.index) + 1 if at.column else at.index
    end = end or len(text)
    newline = "\r\n" if text[:end].endswith("\r\n") else "\n"
    indent = " " * above.start_mark.column
    lines = [f"{key}: {_flow(value)}"] if isinstance(value, str) else [f"{key}:"]
    lines += [] if isinstance(value, str) else [f"  - {_flow(each)}" for each in value]
    gap = "" if text[:end].endswith("\n") else newline
    return text[:end] + gap + "".join(indent + line + newline for line in lines) + text[end:]


def _without(text: str, number: int, key: str) -> str:
    mapping = _mapping(text, number)
    places = [(k.start_mark, v.end_mark) for k, v in mapping.value]
    found = next((at for at, (k, _) in enumerate(mapping.value) if k.value == key), None)
    if found is None:
        return text
    start, end = places[found][0].index, places[found][1].index
    if found and not mapping.flow_style:
        start, end = text.rindex("\n", 0, start) + 1, text.find("\n", end) + 1 or len(text)
    elif found + 1 < len(places):
        end = places[found + 1][0].index
    elif found:
        start = places[found - 1][1].index
    return text[:start] + text[end:]


def _flow(value: str | Sequence[str]) -> str:
    if not isinstance(value, str):
        return f"[{', '.join(map(_flow, value))}]"
    return value if _PLAIN.fullmatch(value) else json.dumps(value, ensure_ascii=False)
