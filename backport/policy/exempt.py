"""Whom the policy does not mean: bots, infrastructure, reverts, notes of a release.

Measured on nova's stable/ocata: of 17 commits without provenance these are all but four.
"""

from __future__ import annotations

import re

from backport.policy.model import Facts
from backport.series.message import stable_only

_BOTS = re.compile(
    r"(infra-root@openstack\.org|openstack-infra@lists\.openstack\.org|.*\bzuul@.*"
    r"|.*\[bot\]@.*|.*-bot@.*)\Z",
    re.I,
)
_INFRA = re.compile(
    r"(\.zuul\.yaml|\.?zuul\.d/.*|\.gitreview|\.gitignore|\.gitmodules|tox\.ini|bindep\.txt|gate/.*"
    r"|playbooks/.*|roles/.*|devstack/.*|tools/.*|\.s?testr\.conf|\.coveragerc|\.mailmap"
    r"|\.pre-commit-config\.yaml|\.git-blame-ignore-revs|test-requirements\.txt"
    r"|(doc|releasenotes)/(requirements\.txt|source/conf\.py)|tests-[\w-]+\.txt)\Z"
)
_REVERT = re.compile(r"^This reverts commit [0-9a-f]{7,64}", re.M)
# Scripts that went through all branches at once change a link in many kinds of files.
_MECHANICAL = re.compile(r"(OpenDev Migration Patch|Replace .* git://)", re.I)


def by_bot(facts: Facts) -> bool:
    """Whether a bot has written it."""
    return bool(_BOTS.match(facts.author.email))


def is_infra(facts: Facts) -> bool:
    """Whether it changes only how the project is built and checked (team guide: gate fixes)."""
    mechanical = _MECHANICAL.match(facts.subject)
    return bool(mechanical or (facts.paths and all(map(_INFRA.match, facts.paths))))


def is_revert(facts: Facts) -> bool:
    """Whether it takes another commit of the branch back."""
    return facts.subject.startswith("Revert ") or bool(_REVERT.search(facts.message))


def is_release_note(facts: Facts) -> bool:
    """Whether it only writes a release note, which may be the branch's own (reno)."""
    return bool(facts.paths) and all(path.startswith("releasenotes/") for path in facts.paths)


def is_tagged(facts: Facts) -> bool:
    """Whether its subject says that it is for stable branches only."""
    return stable_only(facts.subject)
