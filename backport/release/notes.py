"""The release notes that would appear under a version, by reno itself, and drafts for more.

reno walks all of a branch's history with dulwich, 20 s of nova's, and has no way to leave a tag
out. So it is given a repository of its own for the asking, of two commits: the trees of the last
release and of this one, tagged so. A note is of the first version that has it, as ever with reno.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Iterator
from pathlib import Path

import yaml

from backport.checkout.objects import NOBODY
from backport.checkout.repository import Checkout
from backport.errors import UsageError
from backport.policy.bugs import Effect
from backport.release.model import Notes, State
from backport.release.request import EXTRA

_MARK = "# DRAFT: made from the commit; a person has to write it."


def read_notes(checkout: Checkout, folder: Path, state: State, version: str) -> Notes:
    """Ask reno.

    :param folder: a new one, for the repository that reno is given
    :raises UsageError: reno is missing
    """
    try:
        from reno import config, formatter, loader  # type: ignore[import-untyped]
    except ImportError as error:
        raise UsageError("reno is missing", EXTRA) from error
    _make(checkout, folder, state, version)
    logging.getLogger("reno").setLevel(logging.ERROR)  # it tells of what it reads
    settings = config.Config(str(folder))
    settings.override(branch=state.branch, earliest_version=state.since, stop_at_branch_base=False)
    with loader.Loader(settings, ignore_cache=True) as found:
        versions = [version] if version in found.versions else []
        files = tuple(sorted(name for each in versions for name, _ in found[each]))
        try:
            text = formatter.format_report(found, settings, versions, show_source=False)
        except (ValueError, yaml.YAMLError) as error:
            why = " ".join(str(error).split())
            raise UsageError(f"reno cannot read a release note: {why}", "Mend it first.") from error
    return Notes(files, text if files else "", dict(_drafts(state)))


def _make(checkout: Checkout, folder: Path, state: State, version: str) -> None:
    assert state.since_commit is not None
    scratch = checkout.scratch(folder)
    old = scratch.make_commit(scratch.tree(state.since_commit), (), "old", NOBODY, NOBODY)
    new = scratch.make_commit(scratch.tree(state.tip), (old,), "new", NOBODY, NOBODY)
    scratch.close()
    # dulwich does not know git's quotes there.
    (folder / "objects/info/alternates").write_bytes(os.fsencode(checkout.objects) + b"\n")
    refs = {"heads/" + state.branch: new, f"tags/{version}": new, f"tags/{state.since}": old}
    for name, commit in refs.items():
        file = folder / "refs" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{commit}\n")


def _drafts(state: State) -> Iterator[tuple[str, str]]:
    """Draft a note for each bug that is closed, and that no note of the range names."""
    noted = " ".join(note for change in state.changes for note in change.notes)
    for change in state.changes:
        if change.notes or change.tests_only or change.ci_only:
            continue
        for bug, effect in change.bugs.items():
            if effect is Effect.CLOSES and str(bug) not in noted:
                uid = hashlib.sha1(f"{state.project} {bug}".encode()).hexdigest()[:16]
                url = f"https://bugs.launchpad.net/bugs/{bug}"
                words = json.dumps(f"`Bug {bug} <{url}>`_: {change.subject}", ensure_ascii=False)
                path = f"releasenotes/notes/bug-{bug}-{uid}.yaml"
                yield path, f"---\n{_MARK}\nfixes:\n  - {words}\n"
