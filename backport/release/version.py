"""The next version, by the rules as practised, and what is refused.

Sources: openstack/releases, doc/source/reference/using.rst and reviewer_guide.rst (what goes up),
openstack_releases/cmds/validate.py (canonical, never lower); PBR's pbr/version.py (the form).
"""

from __future__ import annotations

import re

from packaging.version import Version

from backport.errors import UsageError
from backport.release.model import Decision, Reason, State, Step, Unreleased

#: As PBR writes a final version: three numbers without zeros in front of them.
CANONICAL = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
_NAMES = {Step.PATCH: "patch", Step.MINOR: "minor", Step.MAJOR: "major"}


def is_canonical(version: str) -> bool:
    """Whether it is the version of a release, as PBR would write it."""
    return CANONICAL.fullmatch(version) is not None


def bumped(previous: Version, step: Step) -> str:
    """Return the next version of a kind."""
    kept = previous.release[: int(step)]
    return ".".join(map(str, (*kept, previous.release[int(step)] + 1, *(0,) * (2 - int(step)))))


def decide(state: State, wanted: str | None = None) -> Decision:
    """Choose the version, or take the one that is wanted if the rules allow it.

    :raises UsageError: nothing is unreleased, or nothing but CI's; the wanted one is forbidden
    """
    previous = state.previous
    if previous is None:
        raise UsageError(
            f"{state.tip_name} has no release before it",
            "Fetch the tags (git fetch --tags); a first release is not made here.",
        )
    _something(state)
    reasons = tuple(map(_reason, state.changes))
    step = min(reason.step for reason in reasons)
    if step is Step.MAJOR:
        one = next(reason for reason in reasons if reason.step is Step.MAJOR)
        raise UsageError(
            f"{one.commit[:10]} asks for a major version ({one.why}), which a stable branch "
            "never gets",
            "Revert it on the branch.",
        )
    version = bumped(previous, step)
    why = _why(reasons, step)
    if wanted is not None and wanted != version:
        why = _allowed(wanted, version, previous, step, why)
    return Decision(wanted or version, str(previous), step, why, reasons)


def _something(state: State) -> None:
    if not state.changes:
        raise UsageError(
            f"{state.tip_name} holds nothing that {state.since} does not have",
            "There is nothing to release.",
        )
    if state.ci_only:
        raise UsageError(
            f"since {state.since} there are only changes of CI ({len(state.changes)})",
            "Such a release is of no use to those who run the project; it is not asked for.",
        )


def _reason(change: Unreleased) -> Reason:
    strong = [impact for impact in change.impacts if impact.step < Step.PATCH]
    if strong:
        return Reason(change.commit, change.subject, change.step, strong[0].what)
    if change.ci_only:
        why = "CI only"
    elif change.tests_only:
        why = "tests only"
    else:
        areas = ", ".join(dict.fromkeys(impact.area for impact in change.impacts))
        why = f"a fix, which touches {areas}" if areas else "a fix"
    return Reason(change.commit, change.subject, Step.PATCH, why)


def _why(reasons: tuple[Reason, ...], step: Step) -> str:
    if step is Step.PATCH:
        return "fixes only: no feature, no new dependency or minimum, no migration"
    strong = [reason for reason in reasons if reason.step is step]
    more = f", and {len(strong) - 1} more" if len(strong) > 1 else ""
    return f"{strong[0].why} ({strong[0].commit[:10]}){more}"


def _allowed(wanted: str, version: str, previous: Version, step: Step, why: str) -> str:
    """Return the reason for a version that is not the one that follows.

    :raises UsageError: the rules forbid it
    """
    if not is_canonical(wanted):
        raise UsageError(
            f"{wanted!r} is no canonical version", "Three numbers, such as 15.1.4 (PBR's form)."
        )
    new = Version(wanted)
    if new <= previous:
        raise UsageError(f"{wanted} does not come after {previous}", f"The next is {version}.")
    steps = {bumped(previous, each): each for each in Step}
    if wanted not in steps:
        raise UsageError(
            f"{wanted} leaves versions out: {previous} is the last one", f"The next is {version}."
        )
    if steps[wanted] is Step.MAJOR:
        raise UsageError(
            f"{wanted} is a major version, which a stable branch never gets",
            f"The next is {version}.",
        )
    if steps[wanted] > step:
        raise UsageError(
            f"{wanted} is a {_NAMES[steps[wanted]]} version, and that is not enough: {why}",
            f"The next is {version}.",
        )
    return f"asked for; by the changes it would be {version}: {why}"
