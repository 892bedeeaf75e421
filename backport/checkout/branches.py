"""The project's branches as a checkout has them: a branch changes its name as it ages.

``stable/X`` is renamed ``unmaintained/X`` when its maintenance ends, and deleted when its life
does; tags are what is left then (project team guide, "Stable Branches"; the tags of nova).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from backport.checkout.repository import Checkout

#: Where a branch is looked for, the best first; ``{series}`` is its last part.
_PLACES = (
    "refs/heads/{branch}",
    "refs/remotes/*/{branch}",
    "refs/heads/unmaintained/{series}",
    "refs/remotes/*/unmaintained/{series}",
    "refs/tags/{series}-eol",
    "refs/tags/{series}-eom",
    "refs/tags/{series}-em",
)


@dataclass(frozen=True)
class Found:
    """A place where a checkout has a branch: the ref, its short name, the commit that it holds."""

    ref: str
    commit: str

    @property
    def name(self) -> str:
        """The name for people: ``origin/unmaintained/yoga``, ``pike-eol``."""
        return re.sub("^refs/(heads|remotes|tags)/", "", self.ref)


def find_branches(checkout: Checkout, branches: Iterable[str]) -> dict[str, tuple[Found, ...]]:
    """Map each branch (``stable/pike``, ``master``) to where the checkout has it, the best first.

    A local branch may be behind the remote's, so whoever asks *whether* a branch has something
    asks all of them. Branches that it has nowhere are left out.
    """
    refs = checkout.refs("refs/heads/", "refs/remotes/", "refs/tags/")
    found = {branch: tuple(_places(refs, branch)) for branch in branches}
    return {branch: places for branch, places in found.items() if places}


def _places(refs: dict[str, str], branch: str) -> Iterable[Found]:
    series = branch.rpartition("/")[2]
    for place in _PLACES:
        if "{series}" in place and branch == series:
            return  # master has no other name
        want = re.escape(place.format(branch=branch, series=series)).replace(r"\*", "[^/]+")
        names = [name for name in refs if re.fullmatch(want, name)]
        yield from (Found(name, refs[name]) for name in upstream_first(names))


def upstream_first(names: Iterable[str]) -> list[str]:
    """Sort refs: those of upstream's usual remotes first, then in alphabetical order."""
    usual = ("refs/remotes/origin/", "refs/remotes/gerrit/", "refs/remotes/upstream/")
    return sorted(names, key=lambda name: (not name.startswith(usual), name))
