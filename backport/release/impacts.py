"""What a change does to those who run the project, told by the paths and lines that it changes.

The rules are those that are practised (openstack/releases, doc/source/reference/using.rst; nova's
15.1.0 and 16.1.0 were for a migration): a migration, a feature, a dependency or a raised minimum
ask for a minor version; an option, a policy rule, a sample do not (15.1.1, 15.1.4, 15.1.5).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import yaml
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from backport.policy.exempt import by_bot
from backport.policy.model import Facts, Touched
from backport.release.model import Impact, Step

_MIGRATION = re.compile(r".*/(migrate_repo|migrations|alembic)/versions/[^/]+\.(py|sql)\Z")
_AREAS = (
    ("requirements", re.compile(r"(driver-)?requirements\.txt\Z")),
    ("packaging", re.compile(r"setup\.(cfg|py)\Z")),
    ("configuration", re.compile(r"(.*/conf/.*\.py|etc/.*)\Z")),
    ("policies", re.compile(r".*/policies/.*\.py\Z")),
    ("database", re.compile(r".*/(migrate_repo|migrations|api_migrations|alembic)/.*\Z")),
    ("API", re.compile(r"(api-ref/.*|doc/api_samples/.*|.*/api_version_request\.py)\Z")),
    ("RPC", re.compile(r".*/rpcapi\.py\Z")),
    ("notifications", re.compile(r"(doc/notification_samples/.*|.*/notifications/.*\.py)\Z")),
)
_VERSIONS = re.compile(r".*/api_version_request\.py\Z")
_NOTE = re.compile(r"releasenotes/notes/.*\.yaml\Z")
# "Implements: blueprint x"; a plain "blueprint x" in the text is prose.
_BLUEPRINT = re.compile(r"^(Partial-)?Implements:.*\S", re.M | re.I)
_SEM_VER = re.compile(r"^sem-ver:\s*(.*)$", re.M | re.I)  # pbr/packaging.py; several: commas
_BY_SYMBOL = {
    "feature": Step.MINOR,
    "deprecation": Step.MINOR,
    "api-break": Step.MAJOR,
    "bugfix": Step.PATCH,
}

#: Reads a file before (False) and after (True) a commit; None: it is not there.
Read = Callable[[str, bool], bytes | None]


def impacts(facts: Facts, read: Read, is_test: Callable[[str], bool]) -> tuple[Impact, ...]:
    """Return what a commit does, each area once for each way that it is done in."""
    code = [touched for touched in facts.touched if not is_test(touched.path)]
    found = [impact for touched in code for impact in _of_path(touched, facts, read)]
    return tuple(dict.fromkeys([*found, *_of_message(facts.message)]))


def note_sections(data: bytes | None) -> set[str]:
    """Return the sections of a release note (reno); none where it is no YAML."""
    try:
        note: Any = yaml.safe_load(data or b"")
    except yaml.YAMLError:
        return set()
    return {str(key) for key, value in note.items() if value} if isinstance(note, dict) else set()


def requirement_changes(before: str, after: str) -> Iterator[tuple[str, bool]]:
    """Yield what was done to a requirements file, and whether it asks for a minor version.

    That is a dependency that is new, or has a higher minimum; an excluded version or an upper
    bound is none (nova's 15.0.1, 15.0.3, 15.0.7).
    """
    old, new = _requirements(before), _requirements(after)
    for name, lines in new.items():
        if name not in old:
            yield f"{name} is new", True
        elif lines != old[name]:
            low, was = _minimum(lines), _minimum(old[name])
            if low and (not was or low > was):
                yield f"the minimum of {name} goes up from {was or 'none'} to {low}", True
            else:
                yield f"{name} has other bounds", False
    yield from ((f"{name} is gone", False) for name in old if name not in new)


def _of_path(touched: Touched, facts: Facts, read: Read) -> Iterator[Impact]:
    path = touched.path
    if _NOTE.match(path) and touched.how == "A" and "features" in note_sections(read(path, True)):
        yield Impact("feature", f"{path} tells of a feature", Step.MINOR)
    area = next((area for area, pattern in _AREAS if pattern.match(path)), None)
    if area == "requirements":
        synced = by_bot(facts) or facts.subject.startswith("Updated from global requirements")
        texts = [(read(path, late) or b"").decode("utf-8", "replace") for late in (False, True)]
        for what, minor in requirement_changes(*texts):
            step = Step.MINOR if minor and not synced else Step.PATCH
            yield Impact(area, what + (", by the global requirements" if synced else ""), step)
    elif _MIGRATION.match(path) and touched.how == "A" and not path.endswith("__init__.py"):
        yield Impact("database", f"a migration: {path}", Step.MINOR)
    elif _VERSIONS.match(path):
        yield Impact("API", f"a version of the API: {path}", Step.MINOR)
    elif area:
        yield Impact(area, path)


def _of_message(message: str) -> Iterator[Impact]:
    blueprint = _BLUEPRINT.search(message)
    if blueprint:
        yield Impact("feature", f"“{blueprint[0].strip()}”", Step.MINOR)
    for line in _SEM_VER.findall(message):
        for symbol in (word.strip().lower() for word in line.split(",")):
            if symbol in _BY_SYMBOL:
                yield Impact("Sem-Ver", f"Sem-Ver: {symbol}", _BY_SYMBOL[symbol])


def _requirements(text: str) -> dict[str, list[Requirement]]:
    found: dict[str, list[Requirement]] = {}
    for line in text.splitlines():
        try:
            one = Requirement(line.partition("#")[0].strip())
        except InvalidRequirement:  # an option, a comment, nothing
            continue
        found.setdefault(canonicalize_name(one.name), []).append(one)
    return found


def _minimum(lines: list[Requirement]) -> Version | None:
    """Return the lowest version that is taken under any marker."""
    lows = [
        Version(each.version.removesuffix(".*"))
        for line in lines
        for each in line.specifier
        if each.operator in (">=", "~=", "==", ">")
    ]
    return min(lows, default=None)
