"""The checks of openstack/releases that can be answered without a network, under their names there.

``openstack_releases/cmds/validate.py`` as of 2018-07; its order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from packaging.version import InvalidVersion, Version

from backport.release.model import Check, State
from backport.release.request import Listed
from backport.release.version import is_canonical

_OPEN = ("development", "maintained")


@dataclass(frozen=True)
class Known:
    """What is known of a release that is asked for.

    :param tags: of the project's checkout, with their commits
    :param listed: the deliverable file as it is; None: no checkout of openstack/releases
    :param after: the same with the release in it
    :param status: of the series
    """

    version: str
    commit: str
    exists: bool
    on_branch: bool
    previous_below: bool
    tags: Mapping[str, str]
    listed: Listed | None = None
    after: Listed | None = None
    status: str | None = None


def checks(state: State, known: Known) -> list[Check]:
    """Ask all of them."""
    return [
        *_of_the_commit(state, known),
        _version_numbers(state, known),
        *_of_the_file(state, known),
        _requirements(state, known),
    ]


def _of_the_commit(state: State, known: Known) -> Iterator[Check]:
    whole = re.fullmatch("[0-9a-f]{40}", known.commit) is not None
    yield Check(
        "release_sha_exists", whole and known.exists,
        f"{known.commit} {'is in the checkout' if known.exists else 'is not in the checkout'}",
    )  # fmt: skip
    at = known.tags.get(known.version)
    where = "is not there yet" if at is None else f"is at {at}"
    yield Check("existing_tags", at in (None, known.commit), f"the tag {known.version} {where}")
    if not known.on_branch:
        said = f"it is not on {state.branch}"
    else:
        below = "comes after" if known.previous_below else "does not come after"
        said = f"it is on {state.branch}, and {below} {state.since}"
    yield Check("release_branch_membership", known.on_branch and known.previous_below, said)


def _version_numbers(state: State, known: Known) -> Check:
    name = "version_numbers"
    if not is_canonical(known.version):
        return Check(name, False, f"{known.version} is not canonical")
    if known.listed and known.version in dict(known.listed.releases):
        return Check(name, False, f"{known.version} is listed already")
    last = _last(known.listed)
    if last and Version(known.version) <= last:
        return Check(name, False, f"{known.version} does not come after {last}, listed last")
    if known.listed and str(last) != state.since:
        return Check(name, False, f"the tag before it is {state.since}, and {last} is listed last")
    return Check(name, True, f"{known.version} is canonical and comes after {state.since}")


def _of_the_file(state: State, known: Known) -> Iterator[Check]:
    names = ("new_releases_at_end", "one_release_per_patch", "new_releases_in_open_series")
    if known.listed is None or known.after is None:
        yield from (Check(name, None, "no checkout of openstack/releases") for name in names)
        return
    before, after = known.listed.releases, known.after.releases
    kept = after[: len(before)] == before
    at_end = kept and bool(after) and after[-1][0] == known.version
    yield Check(names[0], at_end, f"{after[-1][0] if after else 'nothing'} is the last entry")
    yield Check(names[1], kept and len(after) == len(before) + 1, f"{len(after) - len(before)} new")
    is_open = None if known.status is None else known.status in _OPEN
    yield Check(names[2], is_open, f"{state.series} is {known.status or 'not listed'}")


def _requirements(state: State, known: Known) -> Check:
    """New dependencies and raised minimums on a version that does not say so (Z is not 0)."""
    asks = [
        impact.what
        for change in state.changes
        for impact in change.impacts
        if impact.area == "requirements" and impact.step < 2
    ]
    patch = is_canonical(known.version) and Version(known.version).micro != 0
    said = "; ".join(asks) or "no dependency is new, no minimum was raised"
    return Check("requirements", not (asks and patch), said)


def _last(listed: Listed | None) -> Version | None:
    """Return the highest version of a file; ``ocata-em`` and the like are none."""
    found = []
    for name, _ in listed.releases if listed else ():
        try:
            found.append(Version(name))
        except InvalidVersion:
            continue
    return max(found, default=None)
