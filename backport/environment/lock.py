"""Reads a lock: the packages of an environment, each with its version and its checksums.

The format is what ``pip install --require-hashes --no-deps -r`` takes, less what names no
released file: ``name==version [; marker] --hash=sha256:HEX …``, comments, and lines that go
on after a backslash.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from packaging.markers import UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from backport.download.requirement import Wanted
from backport.errors import CannotTellError, ManifestError, Problem

_COMMENT = re.compile(r"(^|\s)#.*$")
_HASH = re.compile(r"\s--hash[= ](?P<algorithm>\w+):(?P<digest>\S+)")
_SHA256 = re.compile(r"^[0-9a-fA-F]{64}$")


def read_lock(lock: Path, markers: Mapping[str, str]) -> tuple[Wanted, ...]:
    """Return the packages of a lock that are for the interpreter.

    :param markers: the environment of PEP 508 that ``;`` conditions are asked of
    :raises ManifestError: everything that is wrong with the file, with its lines
    :raises CannotTellError: it cannot be read
    """
    try:
        text = lock.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CannotTellError(f"the lock {lock} cannot be read: {error}") from error
    problems: list[Problem] = []
    found: dict[str, Wanted] = {}
    for number, line in _logical_lines(text):
        try:
            wanted = _parse(line, markers)
            if wanted and found.setdefault(canonicalize_name(wanted.name), wanted) != wanted:
                raise ValueError(f"{wanted.name} is in it already, with another version")
        except ValueError as error:
            problems.append(Problem(lock, number, str(error)))
    if problems:
        raise ManifestError(problems, "A lock has lines like: name==1.0 --hash=sha256:HEX")
    return tuple(found.values())


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield lines with their numbers, joined where a backslash says so, without comments."""
    begun, parts = 0, []
    for number, raw in enumerate(text.splitlines(), 1):
        line = _COMMENT.sub("", raw).rstrip()
        begun = begun or number
        parts.append(line.removesuffix("\\"))
        if line.endswith("\\"):
            continue
        if joined := " ".join(parts).strip():
            yield begun, joined
        begun, parts = 0, []


def _parse(line: str, markers: Mapping[str, str]) -> Wanted | None:
    """Return a line's package; None where its marker says that it is for others.

    :raises ValueError: what is wrong with it
    """
    if line.startswith("-"):
        raise ValueError(f"options have no place in a lock: {line.split()[0]}")
    digests = frozenset(_digest(match) for match in _HASH.finditer(line))
    try:
        requirement = Requirement(_HASH.sub("", line).strip())
    except InvalidRequirement as error:
        raise ValueError(f"is no requirement: {str(error).splitlines()[0]}") from error
    pins = list(requirement.specifier)
    if requirement.url or len(pins) != 1 or pins[0].operator not in ("==", "==="):
        raise ValueError(f"{requirement.name} is not pinned to one version by ==")
    if pins[0].version.endswith(".*"):
        raise ValueError(f"{requirement.name} is not pinned to one version: {pins[0]}")
    if not digests:
        raise ValueError(f"{requirement.name} has no --hash=sha256:…")
    if requirement.marker and not _holds(requirement, markers):
        return None
    return Wanted(requirement.name, pins[0].version, digests)


def _digest(match: re.Match[str]) -> str:
    if match["algorithm"] != "sha256" or not _SHA256.match(match["digest"]):
        raise ValueError(f"is no SHA-256 checksum: {match['algorithm']}:{match['digest']}")
    return match["digest"].lower()


def _holds(requirement: Requirement, markers: Mapping[str, str]) -> bool:
    assert requirement.marker is not None
    try:
        return requirement.marker.evaluate(dict(markers))
    except UndefinedEnvironmentName as error:
        raise ValueError(f"{requirement.name}: {error}") from error
