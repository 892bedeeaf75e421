"""Where a checkout has the project's branches, whatever they are called by now."""

from __future__ import annotations

import pytest

from backport.checkout.branches import find_branches
from backport.checkout.repository import open_checkout
from gitrepo import Repo

# What there is; the branch that is asked for; where it is, the best first.
TABLE = {
    "a local branch": (["refs/heads/stable/pike"], "stable/pike", ["stable/pike"]),
    "local before remote": (
        [
            "refs/remotes/mine/stable/pike",
            "refs/remotes/origin/stable/pike",
            "refs/heads/stable/pike",
        ],
        "stable/pike",
        ["stable/pike", "origin/stable/pike", "mine/stable/pike"],
    ),
    "unmaintained before a tag": (
        ["refs/tags/yoga-eom", "refs/remotes/origin/unmaintained/yoga"],
        "stable/yoga",
        ["origin/unmaintained/yoga", "yoga-eom"],
    ),
    "the end of life before the end of maintenance": (
        ["refs/tags/pike-em", "refs/tags/pike-eol"],
        "stable/pike",
        ["pike-eol", "pike-em"],
    ),
    "master": (["refs/heads/master", "refs/tags/master-eol"], "master", ["master"]),
    "a dot is a dot": (["refs/heads/stable/2023x1"], "stable/2023.1", []),
    "no other branch that ends so": (["refs/heads/xstable/pike"], "stable/pike", []),
    "no branch of a topic": (["refs/remotes/origin/me/stable/pike"], "stable/pike", []),
}


@pytest.mark.parametrize("case", TABLE)
def test_a_branch_is_found_by_the_names_that_it_has_had(repo: Repo, case: str) -> None:
    refs, branch, names = TABLE[case]
    commit = repo.commit("one", {"a": "1\n"})
    for ref in refs:
        repo.git("update-ref", ref, commit)
    found = find_branches(open_checkout(repo.path), [branch])
    assert [place.name for place in found.get(branch, ())] == names
    assert all(place.commit == commit for place in found.get(branch, ()))
