"""Writing into a series: a resolution, or the Change-Ids that were made for it.

``series.yaml`` is a person's: only the lines of the keys change, all else stays byte for byte, and
nothing is written unless the file then reads as it did, save for these keys.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
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
    :param to: other values, one line of text each, by keys that are there
    """

    change: int  # its number, from 1
    put: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    below: str = ""
    drop: tuple[str, ...] = ()
    to: Mapping[str, str] = field(default_factory=dict)


def edit_changes(manifest: Path, edits: Sequence[Edit]) -> bool:
    """Edit ``series.yaml``; whether there was anything to do.

    :raises UsageError: it is written in a way that cannot be edited; nothing is changed
    :raises CannotTellError: it cannot be written
    """
    text = fresh = manifest.read_bytes().decode()
    wanted = yaml.load(text, yaml.BaseLoader)
    for edit in edits:
        # One at a time, for each moves what is below it.
        for key, name in edit.to.items():
            fresh = _changed(fresh, edit.change, key, name)
            wanted["changes"][edit.change - 1][key] = name
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


@dataclass(frozen=True)
class Saved:
    """What is to be saved of a resolution.

    :param conflicts: the paths that were in conflict
    :param left_out: paths of which a part was left out: the next run must go on saying so
    """

    patch: bytes
    conflicts: Sequence[str]
    left_out: Sequence[str] = ()


def save_resolutions(
    series: Series,
    resolutions: Mapping[int, Saved],
    before_last: Callable[[Mapping[int, str]], None] = lambda _: None,
) -> list[Path]:
    """Write the patches that changes become, and return the files that were written or changed.

    Nothing that a person wrote is written over: each patch gets a file of its own, and
    ``series.yaml``, which then names it, is replaced last, in one step.

    :param before_last: is told the names by the changes' numbers before that step
    """
    names, edits, written = {}, [], []
    for number, saved in resolutions.items():
        change = series.changes[number - 1]
        path = _free_name(series, change, saved.patch)
        replace_file(path, saved.patch)
        written.append(path)
        names[number] = path.name
        edits.append(_edit(change, os.path.relpath(path, series.folder), saved))
    before_last(names)
    manifest = series.changes[0].source[0]
    if edit_changes(manifest, edits):
        written.append(manifest)
    return written


def _free_name(series: Series, change: Change, patch: bytes) -> Path:
    """Return the path of a file that is not there yet, or holds this very patch."""
    if change.patch_file:
        stem = change.patch_file.with_suffix("").with_name(f"{change.patch_file.stem}-resolved")
    else:
        stem = series.folder / f"{change.number:04}-{_slug(change)}"
    numbers = ("", *(f"-{number}" for number in range(2, 1000)))
    paths = (stem.with_name(f"{stem.name}{number}.patch") for number in numbers)
    return next(path for path in paths if not path.exists() or path.read_bytes() == patch)


def _edit(change: Change, name: str, saved: Saved) -> Edit:
    """Name the patch, and what was in conflict, on which the message of the next run hangs."""
    put: dict[str, str | Sequence[str]] = {} if change.patch_file else {"patch": name}
    before = change.conflicts or ()
    section = change.conflicts_section or bool(saved.left_out)
    if before != KEEP_SECTION and (change.commit or section):
        put["conflicts"] = [*dict.fromkeys((*before, *saved.conflicts))]
    if saved.left_out:
        put["left-out"] = [*dict.fromkeys((*change.left_out, *saved.left_out))]
    if section and not change.conflicts_section:
        put["conflicts-section"] = "true"
    # What is saved has git's own prefixes, so it needs no strip.
    drop = ("strip", *(key for key in put if key != "patch"))
    below = "commit" if change.commit else "patch"
    to = {"patch": name} if change.patch_file else {}
    return Edit(change.number, put, below, drop, to)


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


def _changed(text: str, number: int, key: str, value: str) -> str:
    old = next(v for k, v in _mapping(text, number).value if k.value == key)
    return text[: old.start_mark.index] + _flow(value) + text[old.end_mark.index :]


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
