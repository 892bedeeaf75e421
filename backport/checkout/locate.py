"""Where the series goes: which repository, and which commit of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from backport.checkout.branches import upstream_first
from backport.checkout.git import Git
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
    project = _project((gitreview or b"").decode("utf-8", "replace"))
    if project and project != branch.project:
        raise UsageError(
            f"{checkout.folder} is a checkout of {project}, by its .gitreview; "
            f"the series is for {branch.project}",
            f"Give a clone of {branch.project}.",
        )


def clone_around(folder: Path, branch: Branch) -> Path | None:
    """Return the clone of the branch's project that a folder is in; None where it is in none.

    It is known by a remote's URL, or by the ``.gitreview`` of its HEAD, as a fork's clone.
    """
    looks = (place for place in (folder, *folder.parents) if _may_be_repository(place))
    top = next(looks, None)
    if top is None:
        return None
    git = Git(top)
    how = ("config", "--get-regexp", r"^remote\..*\.url$")
    urls = git.run(*how, ok=(0, 1, 128)).text.splitlines()
    review = git.run("cat-file", "blob", "HEAD:.gitreview", ok=(0, 128))
    known = [url.removesuffix("/").removesuffix(".git") for url in urls]
    ours = any(re.search(rf"[/:]{re.escape(branch.project)}$", url) for url in known)
    told = _project(review.text) if not review.status else None
    return top if ours or told == branch.project else None


def _may_be_repository(folder: Path) -> bool:
    """A work tree, linked or not, or a git directory that is no work tree's."""
    bare = folder.name != ".git" and (folder / "HEAD").is_file() and (folder / "objects").is_dir()
    return bare or (folder / ".git").exists()


def _project(gitreview: str) -> str | None:
    found = re.search(r"^project\s*=\s*(\S+?)(\.git)?\s*$", gitreview, re.MULTILINE)
    return found[1] if found else None


def _onto(checkout: Checkout, onto: str) -> Base:
    commit = checkout.resolve(onto)
    if commit is None:
        raise UsageError(
            f"{checkout.folder} has no commit {onto!r}",
            "Name a branch, a tag or a hash; fetch it first where it is a remote's."
            + (" History is cut off here (a shallow clone)." if checkout.is_shallow else ""),
        )
    return Base(commit, onto)
