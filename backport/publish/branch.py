"""The branch that appears in the checkout, last: one compare-and-swap, or nothing."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from backport.checkout.objects import Signed
from backport.checkout.repository import Checkout
from backport.checkout.scratch import Scratch
from backport.checkout.transaction import RefUpdate, hand_over, refuse_locked
from backport.errors import RefusedError

#: Where ``--replace`` keeps what a branch held before.
REPLACED = "refs/backport/replaced"


class Action(str, Enum):
    """What publishing came to."""

    CREATED = "created"
    NOTHING_TO_DO = "nothing-to-do"
    REPLACED = "replaced"
    DRY_RUN = "dry-run"


@dataclass(frozen=True)
class Plan:
    """What publishing will do, worked out beforehand, so that a refusal costs no test run."""

    ref: str
    new: str
    old: str | None
    action: Action

    @property
    def branch(self) -> str:
        """The branch's short name."""
        return _short(self.ref)


def plan_branch(checkout: Checkout, branch: str, tip: str, replace: bool, dry_run: bool) -> Plan:
    """Work out what has to be done so that ``branch`` holds ``tip``.

    :raises RefusedError: it holds something else, or is checked out somewhere
    """
    ref = f"refs/heads/{branch}"
    old = _check_name(checkout, branch)
    if old == tip:
        return Plan(ref, tip, old, Action.NOTHING_TO_DO)
    if old and not replace:
        raise RefusedError(
            f"branch {branch} holds other commits already: {checkout.one_line(old)}",
            "To keep them under another name and go on, add --replace;\n"
            "to leave them, choose another name with --branch-name.",
        )
    other = checkout.symbolic(ref) if old else None
    if other:
        raise RefusedError(
            f"branch {branch} only stands for another, {_short(other)}, which must not move",
            "Choose another name with --branch-name.",
        )
    holders = checkout.holders(ref)  # an unborn branch is checked out, too
    if holders:
        raise RefusedError(
            f"branch {branch} is checked out in {holders[0]}",
            "Check out another branch there, or choose another name with --branch-name.",
        )
    if dry_run:
        return Plan(ref, tip, old, Action.DRY_RUN)
    refuse_locked(checkout, ref)
    return Plan(ref, tip, old, Action.REPLACED if old else Action.CREATED)


def publish(
    checkout: Checkout, note: Path, scratch: Scratch, plan: Plan, base: str, who: Signed
) -> None:
    """Carry the plan out.

    :param note: see :func:`~backport.checkout.transaction.hand_over`
    :raises RefusedError: the branch is not any more what the plan was made for
    """
    if plan.action not in (Action.CREATED, Action.REPLACED):
        return
    updates = [RefUpdate(plan.ref, plan.new, plan.old)]
    if plan.old:
        kept = f"{REPLACED}/{plan.branch}/{plan.old}"
        if kept not in checkout.refs(kept):
            # First, so that what the branch held is never without a name.
            updates.insert(0, RefUpdate(kept, plan.old, None))
    pack = scratch.pack([plan.new], base)
    hand_over(checkout, note, pack, updates, who, f"backport: {plan.action.value}")


def _check_name(checkout: Checkout, branch: str) -> str | None:
    """Refuse names that git refuses, and a name that lies within another branch's, or around it.

    :returns: what the branch holds, if it is there
    """
    checkout.check_branch_name(branch)
    parts = branch.split("/")
    names = ["refs/heads/" + "/".join(parts[:n]) for n in range(1, len(parts) + 1)]
    there = checkout.refs(*names)
    around = next((name for name in names[:-1] if name in there), None)
    if around:
        raise RefusedError(
            f"there is a branch {_short(around)}, so that git cannot have one called {branch}",
            "Rename that branch, or choose another name with --branch-name.",
        )
    below = next((name for name in there if name.startswith(names[-1] + "/")), None)
    if below:
        raise RefusedError(
            f"there are branches below {branch}, such as {_short(below)}",
            "Choose another name with --branch-name.",
        )
    return there.get(names[-1])


def _short(ref: str) -> str:
    return ref.removeprefix("refs/heads/")
