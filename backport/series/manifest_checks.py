"""What must fit together across the keys of a manifest, and the files that it names.

Works on plain data, sound or not, so that these problems come with those of single keys, at once.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from backport.errors import ManifestError
from backport.patch.checks import path_fault
from backport.patch.reader import Patch, read_patch
from backport.series.message import tagged
from backport.series.model import Kind
from backport.series.yaml_file import Document, Loc

_MAX_SUBJECT = 79  # characters, tag and all: more is cut by what people review in
_TRUE = ("true", "yes", "on", "1", "y", "t")  # pydantic's, in any case


def value_at(data: Any, loc: Loc) -> Any:
    """Return what stands at a place; None where there is no such place."""
    for part in loc:
        if isinstance(part, int) and isinstance(data, list) and part < len(data):
            data = data[part]
        elif isinstance(data, dict):
            data = data.get(part)
        else:
            return None
    return data


def named_file(document: Document, loc: Loc, others: Sequence[Path] = ()) -> Path | None:
    """Return the path of a file that a key names, or None; report what keeps it from being read.

    It must be a plain file in the manifest's folder or below, with no link on the way.

    :param others: folders where it may be instead, under the same name
    """
    name = value_at(document.data, loc)
    if not isinstance(name, str) or not name.isprintable() or path_fault(name):
        return None  # the schema has its say about these
    folder = document.path.parent
    for place in (folder, *others):
        path = place
        for part in PurePosixPath(name).parts:
            path /= part
            if os.path.islink(path):  # pathlib's would raise where a name is too long
                document.report(loc, f"{_key(loc)}: must be no link, and {str(path)!r} is one")
                return None
        if os.path.isfile(path):
            return path
    files = [other.name for other in folder.iterdir() if other.is_file()]
    close = difflib.get_close_matches(name, files, n=1)
    guess = f"; did you mean {close[0]!r}?" if close else ""
    document.report(loc, f"{_key(loc)}: there is no file {name!r} in {folder}{guess}")
    return None


def _key(loc: Loc) -> str:
    return str(next(part for part in reversed(loc) if isinstance(part, str) and part))


def read_patches(document: Document) -> dict[int, tuple[Path, Patch]]:
    """Read the patches of a series, by the number of the change (from 0); report their problems."""
    found = {}
    for number, change in _changes(document):
        path = named_file(document, ("changes", number, "patch"))
        if not path:
            continue
        strip = change.get("strip")
        depth = int(strip) if isinstance(strip, str) and strip in map(str, range(21)) else None
        try:
            found[number] = path, read_patch(path, depth)
        except ManifestError as error:
            # One remedy is all that a message has room for; the first is as good as any.
            document.problems += error.problems
            document.hint = document.hint or error.hint
    return found


def check_changes(document: Document, tag: str) -> None:
    """Report what does not fit together among the changes of a series.

    :param tag: of the branch, for the subjects of a series that is stable-only
    """
    has_bug = "bug" in document.data
    tag = tag if "stable-only" in document.data else ""
    for number, change in _changes(document):
        loc = ("changes", number)
        for key, message in _change_faults(change, has_bug):
            document.report((*loc, key) if key else loc, message)
        if message := _subject_fault(change.get("subject"), tag):
            document.report((*loc, "subject"), message)
    for key in ("change-id", "patch", "commit"):
        _check_unique(document, key)


def _changes(document: Document) -> Iterator[tuple[int, Mapping[str, Any]]]:
    changes = document.data.get("changes")
    for number, change in enumerate(changes if isinstance(changes, list) else ()):
        if isinstance(change, dict):
            yield number, change


# What a picked commit brings along: a backport keeps its message, and adds to it.
_OF_A_COMMIT = {
    "subject": "its subject",
    "description": "its text; what is to be said of the backport goes to note",
    "trailers": "its trailers; more of them go to trailers-add",
    "provenance": "its 'cherry picked from' lines, and gets one more",
}


def _change_faults(change: Mapping[str, Any], has_bug: bool) -> Iterator[tuple[str, str]]:
    """Tell what does not fit together in a change, with the key that it is about."""
    if "commit" in change:
        for key, own in _OF_A_COMMIT.items():
            if key in change:
                yield key, f"{key}: a picked commit keeps {own}"
        return
    if "patch" not in change and str(change.get("allow-empty")).lower() not in _TRUE:
        words = (
            "a change needs a patch or a commit ('allow-empty: true' if it is meant to be empty)"
        )
        yield "", words
    if "subject" not in change:
        yield "", "the key 'subject' is missing, which a change without a commit needs"
    if "trailers-add" in change:
        yield (
            "trailers-add",
            "trailers-add: is for a picked commit; here it is trailers",
        )
    if change.get("conflicts") == "keep":
        yield "conflicts", "conflicts: there is no picked message whose section could be kept"
    kind = change.get("kind")
    needs_bug = [each.value for each in Kind if each.trailer]
    if isinstance(kind, str) and kind in needs_bug and not has_bug:
        yield "", f"kind {kind!r} names the bug, and the series has none: add 'bug: NUMBER' above"


def _subject_fault(subject: object, tag: str) -> str:
    if not isinstance(subject, str) or "\n" in subject:
        return ""
    length = len(tagged(subject, tag))
    if length <= _MAX_SUBJECT:
        return ""
    with_tag = f" with the tag {tag!r}" if tag else ""
    return f"subject: is {length} characters long{with_tag}; at most {_MAX_SUBJECT}, better 50"


def _check_unique(document: Document, key: str) -> None:
    first: dict[str, int] = {}
    for number, change in _changes(document):
        value = change.get(key)
        if not isinstance(value, str):
            continue
        if value in first:
            document.report(
                ("changes", number, key),
                f"{key}: the same as that of change {first[value] + 1}: {value!r}",
            )
        first.setdefault(value, number)
