"""From what was applied to what is to be proven: the tests of each change, named and found."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from backport.apply.outcome import AppliedChange, Outcome
from backport.checkout.scratch import Scratch
from backport.errors import UsageError
from backport.kept import digest, read_checked, write_checked
from backport.proof.matrix import Claim, Step
from backport.selection.missing_tests import check_named
from backport.selection.targeted import ChangedFile, Selection, changed_tests
from backport.selection.test_classes import Sources
from backport.series.model import TestSettings

#: Goes into the key of kept selections: another way to find tests finds other tests.
SELECTION = "2"


def make_claim(scratch: Scratch, cache: Path, settings: TestSettings, outcome: Outcome) -> Claim:
    """Say what is to be proven, and by which tests.

    :raises UsageError: a named test does not exist
    """
    steps = [_step(scratch, cache, settings, one) for one in outcome.applied]
    return Claim(scratch.tree(outcome.base), tuple(steps), settings.paths)


def _step(scratch: Scratch, cache: Path, settings: TestSettings, one: AppliedChange) -> Step:
    change = one.change
    if one.already_in:
        return Step(change.number, change.kind, one.tree)
    before = scratch.tree(one.parent)
    # Read from sources, so it is a function of two trees; it takes a second on nova.
    key = digest(SELECTION, before, one.tree, *settings.paths, "named", *change.tests)
    kept = cache / "selections" / f"{key}.json"
    changed = read_checked(kept)
    if changed is None:
        check_tests(scratch, one.tree, change.tests)
        found = tests_changed(scratch, settings, before, one.tree)
        changed = [found.own, found.touched]
        write_checked(kept, changed)
    own, touched = map(tuple, changed)
    if not (own or change.tests):  # there is nothing nearer to it
        own, touched = touched, ()
    return Step(change.number, change.kind, one.tree, change.tests, own, touched)


def check_tests(scratch: Scratch, tree: str, tests: Sequence[str]) -> None:
    """Refuse tests that do not exist; a package stands for all modules below it.

    :raises UsageError: naming each, with the nearest name that there is
    """
    single = [test for test in tests if not _is_package(scratch, tree, test)]
    missing = check_named(
        single,
        lambda path: scratch.file(tree, path),
        lambda folder: scratch.paths(tree, folder),
    )
    if missing:
        raise UsageError(
            "\n".join(str(one) for one in missing),
            "Correct the names; a test that was named and did not run is never a pass.",
        )


def _is_package(scratch: Scratch, tree: str, name: str) -> bool:
    dotted = all(part.isidentifier() for part in name.split("."))
    return dotted and bool(scratch.paths(tree, name.replace(".", "/") + "/"))


def tests_changed(scratch: Scratch, settings: TestSettings, before: str, after: str) -> Selection:
    """Return the tests that differ between two trees."""
    files = {
        path: ChangedFile(scratch.file(before, path), scratch.file(after, path))
        for path in scratch.changed_paths(before, after)
        if path.startswith(settings.paths)
    }
    return changed_tests(files, _sources(scratch, settings, after))


def _sources(scratch: Scratch, settings: TestSettings, tree: str) -> Sources:
    return Sources(
        read=lambda path: scratch.file(tree, path),
        holding=lambda word: [
            path for path in scratch.holding(tree, word, settings.paths) if path.endswith(".py")
        ],
    )
