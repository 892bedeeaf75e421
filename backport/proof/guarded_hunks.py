"""Every hunk earns its place: each hunk of a fix is left out in turn, and a test must notice.

Hunks of tests are not asked. Those that change no code, such as comments and docstrings, are told
by their tokens and not run. The tests that the fix changes go first, and the first that fails is
enough; only if all of them pass do the rest run. They keep upstream's order: one that fails in
another is no evidence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from backport.checkout.objects import Entry
from backport.patch.model import FilePatch, Hunk
from backport.patch.reader import parse_patch
from backport.proof.cells import Ask, Runs
from backport.proof.matrix import Claim, Step
from backport.runner.results import Guard, HunkProof, Run, Status, TestResult
from backport.runner.trees import Trees
from backport.source.outline import same_code

_PROSE = (".rst", ".md", ".txt", ".po", ".pot")


@dataclass(frozen=True)
class LeftOut:
    """A fix without one of its hunks. ``tree`` None: it could not be left out, or is no code."""

    step: Step
    path: str
    header: str
    tree: str | None
    no_code: bool = False
    reason: str = ""


def prove_hunks(
    claim: Claim, trees: Trees, runs: Runs, passing: Mapping[int, Sequence[TestResult]]
) -> tuple[HunkProof, ...]:
    """Leave out each hunk of each fix in turn, and run the tests that pass with all of them.

    :param passing: for each change the tests that pass on its own commit
    """
    left_out = [one for step in claim.fixes for one in leave_out_each(claim, trees, step)]
    waiting = [one for one in left_out if one.tree]
    told: dict[LeftOut, Run] = {}
    for changed in (True, False):
        asks = {
            one: Ask(_label(one), one.tree or "", tests, fail_fast=True, wants_red=True)
            for one in waiting
            if (tests := _tests(one.step, passing, changed))
        }
        made = dict(zip(asks, runs.make(list(asks.values())), strict=True))
        told |= {one: _joined(told.get(one), run) for one, run in made.items()}
        waiting = [one for one in waiting if one not in told or not _noticed(told[one])]
    return tuple(_proof(one, told.get(one)) for one in left_out)


def _joined(before: Run | None, run: Run) -> Run:
    """Return two runs of the same tree as one; the one that told something by itself."""
    if before is None or _noticed(run):
        return run
    return replace(
        run,
        selection=(*before.selection, *run.selection),
        results=(*before.results, *run.results),
        seconds=before.seconds + run.seconds,
        reused=before.reused and run.reused,
    )


def _tests(
    step: Step, passing: Mapping[int, Sequence[TestResult]], changed: bool
) -> tuple[str, ...]:
    """Return the tests that the step changes, or the others."""
    there = passing.get(step.number, ())
    return tuple(sorted(one.id for one in there if (one.id in step.changed) is changed))


def leave_out_each(claim: Claim, trees: Trees, step: Step) -> Iterator[LeftOut]:
    """Yield, for each hunk of a change outside the tests, the tree without it."""
    before = claim.before(step)
    patch = parse_patch(trees.diff(before, step.tree), Path("series"))
    for file in patch.files:
        if not file.path.startswith(claim.paths):
            yield from _of_file(trees, step, before, file)


def _of_file(trees: Trees, step: Step, before: str, file: FilePatch) -> Iterator[LeftOut]:
    whole = not file.hunks or file.removes == file.path or not file.old_path
    if _is_prose(file.path):
        for header in [hunk.header for hunk in file.hunks] or ["whole file"]:
            yield LeftOut(step, file.path, header, None, no_code=True)
    elif whole:
        yield _whole_file(trees, step, before, file)
    else:
        entry = trees.files(step.tree)[file.path]
        data = trees.blob(entry.blob)
        for hunk in file.hunks:
            yield _without(trees, step, file.path, entry, data, hunk)


def _whole_file(trees: Trees, step: Step, before: str, file: FilePatch) -> LeftOut:
    """Leave out a file that was added, deleted, or changed other than by lines."""
    header = f"{file.kind.value} of the whole file"
    old = trees.files(before).get(file.path)
    new = trees.files(step.tree).get(file.path)
    data = trees.blob(old.blob) if old else b""
    if new and not old and file.path.endswith(".py") and same_code(trees.blob(new.blob), b""):
        return LeftOut(step, file.path, header, None, no_code=True)
    return LeftOut(step, file.path, header, trees.with_file(step.tree, file.path, old, data))


def _without(trees: Trees, step: Step, path: str, entry: Entry, data: bytes, hunk: Hunk) -> LeftOut:
    lines = _lines(data)
    start = hunk.new_start - (hunk.new_count > 0)
    if tuple(lines[start : start + hunk.new_count]) != hunk.side(old=False):
        return LeftOut(step, path, hunk.header, None, reason="it is not where the patch says")
    lines[start : start + hunk.new_count] = hunk.side(old=True)
    shorter = b"".join(lines)
    if path.endswith(".py") and same_code(data, shorter):
        return LeftOut(step, path, hunk.header, None, no_code=True)
    return LeftOut(step, path, hunk.header, trees.with_file(step.tree, path, entry, shorter))


def _lines(data: bytes) -> list[bytes]:
    """Return the lines as git cuts them: a lone CR, or a form feed, ends none."""
    parts = data.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _is_prose(path: str) -> bool:
    return PurePosixPath(path).suffix in _PROSE or path.startswith("releasenotes/")


def _label(one: LeftOut) -> str:
    return f"without {one.path.rpartition('/')[2]} {one.header.split(' @@')[0].strip('@ ')}"


def _noticed(run: Run) -> bool:
    return bool(run.problem) or any(
        not (one.status.passed or one.status is Status.SKIPPED) for one in run.results
    )


def _proof(one: LeftOut, run: Run | None) -> HunkProof:
    guard, guards, reason = _guard(one, run)
    return HunkProof(one.step.number, one.path, one.header, guard, guards, run, reason)


def _guard(one: LeftOut, run: Run | None) -> tuple[Guard, tuple[str, ...], str]:
    if one.no_code:
        return Guard.NO_CODE, (), "comments, docstrings, blank lines or prose"
    if one.reason:
        return Guard.CANNOT_TELL, (), one.reason
    if run is None:
        return Guard.UNGUARDED, (), "there are no tests that pass with it"
    red = tuple(result.id for result in run.results if result.status.red)
    if red:
        return Guard.GUARDED, red, ""
    broken = tuple(r.id for r in run.results if r.status is Status.SETUP_ERROR)
    if broken:
        return Guard.GUARDED, broken, "without it the tests cannot even be set up"
    if _noticed(run):
        why = run.problem.partition("\n")[0] or "a test crashed or did not end"
        return Guard.CANNOT_TELL, (), why
    return Guard.UNGUARDED, (), "without it, all targeted tests still pass"
