"""The kinds of text that a manifest holds: each checked, and told in words that help.

Where a rule is not ours it has its source; the words are those that a user sees behind the key.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, WrapValidator

from backport.patch.checks import path_fault
from backport.series.model import KEEP_SECTION, Person

_DATE = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?::(\d\d))? ?(?:Z|([+-])(\d\d):?([0-5]\d))", re.ASCII
)
_TRAILER = re.compile(r"([A-Za-z0-9-]+): (\S.*)")


def matching(pattern: str, words: str) -> AfterValidator:
    """Let text through that a pattern describes whole; ``words`` say what it must be."""
    whole = re.compile(pattern, re.ASCII)

    def check(text: str) -> str:
        if not whole.fullmatch(text):
            raise ValueError(f"must be {words}")
        return text

    return AfterValidator(check)


def _refusing(reason: Callable[[str], str]) -> AfterValidator:
    def check(text: str) -> str:
        if words := reason(text):
            raise ValueError(words)
        return text

    return AfterValidator(check)


def _line_fault(text: str) -> str:
    if not text.strip():
        return "must not be empty"
    if text != text.strip():
        return "must not begin or end in a space or a line break (put it behind the key)"
    if not text.isprintable():
        return "must be one line, of characters that can be printed"
    return ""


def _file_fault(text: str) -> str:
    """A file beside the manifest: it must be in the folder, and not lead out of it."""
    if reason := path_fault(text):
        return f"must be a file in this folder, not {reason}"
    return ""


def _tree_path_fault(text: str) -> str:
    reason = path_fault(text.removesuffix("/"))
    return f"must be a path in the project's tree, not {reason}" if reason else ""


def _ref_fault(text: str) -> str:
    """git-check-ref-format(1), and no dash in front."""
    sound = re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._/+-]*", text)
    bad = ("..", "//", "/.", ".lock/") if sound else ()
    if not sound or any(part in f"{text}/" for part in bad) or text.endswith(("/", ".", ".lock")):
        return "must be a branch or a tag, such as stable/ocata"
    return ""


def _person(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    match = re.fullmatch(r"([^<>\n]*[^<>\s]) <([^<>\s]+)>", value)
    if not match:
        raise ValueError("must be 'Name <mail address>'")
    return Person(match[1].strip(), match[2])


def _date(text: str) -> str:
    """Turn ISO 8601 into what git takes, whatever the zone of this machine."""
    match = _DATE.fullmatch(text)
    if not match:
        raise ValueError("must be a date with its offset, such as 2018-08-06T14:32:00+00:00")
    day, time, seconds = match[1], match[2], match[3] or "00"
    sign, hours, minutes = match[4] or "+", match[5] or "00", match[6] or "00"
    try:
        when = datetime.fromisoformat(f"{day}T{time}:{seconds}{sign}{hours}:{minutes}")
    except ValueError as error:
        raise ValueError("must be a date that there is") from error
    if when.timestamp() < 0:
        raise ValueError("must be a date that git can keep, 1970 or later")
    return f"{int(when.timestamp())} {sign}{hours}{minutes}"


def _trailer(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    match = _TRAILER.fullmatch(value)
    if not match or not value.isprintable():
        raise ValueError("must be one line, 'Token: value', such as 'Co-Authored-By: A <a@b.c>'")
    if match[1].lower() == "change-id":
        raise ValueError("must not be the Change-Id, which has a key of its own: change-id")
    return match[1], match[2]


def _keep_or_list(value: Any, check: Any) -> Any:
    if isinstance(value, str) and value != "keep":
        raise ValueError("must be 'keep', or a list of the files that were in conflict")
    return KEEP_SECTION if value == "keep" else check(value)


def _description_fault(text: str) -> str:
    for line in text.split("\n"):
        if re.match(r"Change-Id:", line, re.I):
            return "must not hold a Change-Id line; it goes to the key change-id"
        if re.match(r"\(cherry[ -]picked from ", line):
            return "must not hold a 'cherry picked from' line; its commit goes to provenance"
    return ""


Line = Annotated[str, _refusing(_line_fault)]
Description = Annotated[str, _refusing(_description_fault)]
File = Annotated[str, _refusing(_line_fault), _refusing(_file_fault)]
TreePath = Annotated[str, _refusing(_line_fault), _refusing(_tree_path_fault)]
Ref = Annotated[str, _refusing(_ref_fault)]
Author = Annotated[Person, BeforeValidator(_person)]
Date = Annotated[str, AfterValidator(_date)]
Conflicts = Annotated[tuple[TreePath, ...], WrapValidator(_keep_or_list)]
Trailer = Annotated[tuple[str, str], BeforeValidator(_trailer)]
# The form of Gerrit's commit-msg hook.
ChangeId = Annotated[str, matching(r"I[0-9a-f]{40}", "an I and 40 digits of 0-9a-f")]
Commit = Annotated[str, matching(r"[0-9a-f]{7,40}|[0-9a-f]{64}", "7 to 40 digits of 0-9a-f")]
FullCommit = Annotated[
    str, matching(r"[0-9a-f]{40}|[0-9a-f]{64}", "the 40 digits of a whole commit id")
]
Sha256 = Annotated[str, matching(r"[0-9a-f]{64}", "64 digits of 0-9a-f")]
# A scenario of testscenarios may stand behind a test's id.
Test = Annotated[
    str,
    matching(
        r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*(\([^()\s]*\))?",
        "the dotted name of a test module, class or method",
    ),
]
Dotted = Annotated[str, matching(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", "a dotted Python name")]
Identifier = Annotated[str, matching(r"[A-Za-z_]\w*", "a Python name")]
Variable = Annotated[str, matching(r"[A-Za-z_]\w*", "the name of an environment variable")]
PythonVersion = Annotated[str, matching(r"\d\.\d{1,2}", "a version of Python, such as 2.7")]
Project = Annotated[
    str, matching(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", "OWNER/NAME, such as openstack/nova")
]
ReleaseLine = Annotated[str, matching(r"\d+(\.\d+)*", "numbers and dots, such as 15.1")]
Sdist = Annotated[
    str, matching(r"[A-Za-z0-9][\w.-]*==[A-Za-z0-9][\w.+!-]*", "NAME==VERSION, as nova==15.1.5")
]
