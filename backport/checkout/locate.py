"""Where the series goes: which repository, and which commit of it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from backport.checkout.branches import upstream_first
from backport.checkout.repository import Checkout
from backport.errors import UsageError
from backport.series.model import Branch


@dataclass(frozen=True)
class Base:
    """The commit that the series goes onto, and the name that it was found under."""

    commit: str
    name: str


def locate_base(checkout: Checkout, branch: Branch, onto: str | None = None) -> Base:
    """Find the base: ``onto``, else the branch, a remote's, or the tag left at its end of life.

    :raises UsageError: none is there; the message names what was looked for
    """
    if onto is not None:
        return _onto(checkout, onto)
    local, tag = f"refs/heads/{branch.branch}", f"refs/tags/{branch.eol_tag}"
    found = checkout.refs(local, f"refs/remotes/*/{branch.branch}", tag)
    remotes = upstream_first(name for name in found if name.startswith("refs/remotes/"))
    for name in (local, *remotes, tag):
        if name in found:
            return Base(found[name], re.sub("^refs/(heads|remotes|tags)/", "", name))
    looked_for = [branch.branch, f"<remote>/{branch.branch}"]
    looked_for += [f"the tag {branch.eol_tag}"] if branch.eol_tag else []
    raise UsageError(
        f"{checkout.folder} has none of {', '.join(looked_for)}",
        f"Is it a clone of {branch.project}? Fetch the branch, or name a commit with --onto.",
    )


def check_project(checkout: Checkout, gitreview: bytes | None, branch: Branch) -> None:
    """Refuse another project's checkout, by what the base's ``.gitreview`` says.

    :param gitreview: that file (git-review(1)); None where there is none, which says nothing
    :raises UsageError: it is another project's
    """
    text = (gitreview or b"").decode("utf-8", "replace")
    found = re.search(r"^project\s*=\s*(\S+?)(\.git)?\s*$", text, re.MULTILINE)
    if found and found[1] != branch.project:
        raise UsageError(
            f"{checkout.folder} is a checkout of {found[1]}, by its .gitreview; "
            f"the series is for {branch.project}",
            f"Give a clone of {branch.project}.",
        )


def _onto(checkout: Checkout, onto: str) -> Base:
    commit = checkout.resolve(onto)
    if commit is None:
        raise UsageError(
            f"{checkout.folder} has no commit {onto!r}",
            "Name a branch, a tag or a hash; fetch it first where it is a remote's."
            + (" History is cut off here (a shallow clone)." if checkout.is_shallow else ""),
        )
    return Base(commit, onto)
