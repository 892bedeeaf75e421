"""Which branches of the project have a change, need it, or do not have the code that it mends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from backport.apply import present
from backport.apply.delta import Delta, make_deltas
from backport.apply.outcome import AlreadyIn
from backport.apply.three_way import climb, holds
from backport.checkout.scratch import Scratch
from backport.errors import ConflictError
from backport.patch.model import FileKind, FilePatch
from backport.picking.lines import Carrier, Lines
from backport.picking.model import Affected, BranchStanding, Line, Standing, State
from backport.series.message import provenance, subject_without_tags
from backport.series.model import Series
from backport.source.outline import outline


def affected(
    scratch: Scratch, branches: Sequence[Line], series: Series, absent: Sequence[str]
) -> Affected:
    """Tell how each branch stands to each change of a series, each taken by itself.

    :param branches: those to look at, the newest first: that is the trunk of the others
    :param absent: branches that the checkout does not have
    """
    deltas = make_deltas(scratch, series.changes)
    lines = Lines(scratch, branches[::-1])
    home = next((one for one in branches if one.branch == series.branch.branch), branches[-1])
    takers = _Takers(scratch, branches[0].tips[0], home.tips[0])
    named = [_named(lines, delta) for delta in deltas]
    rows = [
        BranchStanding(
            line.branch,
            line.name,
            tuple(
                _standing(scratch, line, delta, found.get(line.branch), takers)
                for delta, found in zip(deltas, named, strict=True)
            ),
        )
        for line in branches
    ]
    unknown = State.UNKNOWN, "the checkout does not have the branch"
    gone = [
        BranchStanding(branch, "", tuple(Standing(d.change.number, *unknown) for d in deltas))
        for branch in absent
    ]
    return Affected(series.name, tuple(map(_subject, deltas)), (*rows, *gone))


def _subject(delta: Delta) -> str:
    text = delta.picked.message if delta.picked else delta.change.subject
    return subject_without_tags(text)


def _named(lines: Lines, delta: Delta) -> dict[str, Carrier]:
    """Find the commits that are the change by their Change-Id and subject."""
    change_id = delta.change.change_id
    found: dict[str, Carrier] = {}
    for line, carriers in lines.by_change_id(change_id) if change_id else ():
        for one in carriers:
            if subject_without_tags(one.message) == _subject(delta):
                found.setdefault(line.branch, one)
    return found


def _standing(
    scratch: Scratch, line: Line, delta: Delta, named: Carrier | None, takers: _Takers
) -> Standing:
    blank = Standing(delta.change.number, State.UNKNOWN, "")
    tip = line.tips[0]
    if named:
        return replace(blank, state=State.HAS, detail="Change-Id", commit=named.commit)
    for source in _sources(delta):
        found = scratch.resolve(source)
        if found and scratch.is_ancestor(found, tip):
            return replace(blank, state=State.HAS, detail="the commit itself", commit=found)
    tree = scratch.tree(tip)
    if holds(scratch, tree, delta):
        return replace(blank, state=State.HAS, detail="content")
    lost = _lost_code(scratch, tip, delta, takers)
    if lost:
        return replace(blank, state=State.NO_CODE, detail=lost[0], commit=lost[1])
    climbed = climb(scratch, tree, delta, ())
    if not climbed.conflicts and all(file.kind is FileKind.ADD for file in delta.patch.files):
        return replace(blank, detail="it adds files alone, which fit anywhere")
    if not climbed.conflicts:
        return replace(blank, state=State.CLEAN, detail="applies cleanly")
    known = _by_patch_id(scratch, delta, tip)
    if known:
        return replace(blank, state=State.HAS, detail="patch-id", commit=known.commit or "")
    paths = tuple(file.path for file in climbed.conflicts)
    return replace(blank, state=State.CONFLICT, detail="conflicts", paths=paths)


def _by_patch_id(scratch: Scratch, delta: Delta, tip: str) -> AlreadyIn | None:
    try:
        return present.by_patch_id(scratch, delta, tip)
    except ConflictError:
        return None


def _sources(delta: Delta) -> list[str]:
    if not delta.picked:
        return list(delta.change.provenance)
    return [delta.picked.id, *provenance(delta.picked.message)]


def _lost_code(scratch: Scratch, tip: str, delta: Delta, takers: _Takers) -> tuple[str, str] | None:
    """Say what of the code that a change mends is not there any more, and which commit took it.

    The change is asked by its production code, or, where it has none, by all of its files.
    """
    files = [file for file in delta.patch.files if file.kind is FileKind.MODIFY]
    code = [file for file in files if "/tests/" not in f"/{file.path}"] or files
    told = [
        _lost_in(scratch, tip, delta, file, takers) for file in code if file.path.endswith(".py")
    ]
    lost = [one for one in told if one]
    return lost[0] if lost and len(lost) == len(told) else None


def _lost_in(
    scratch: Scratch, tip: str, delta: Delta, file: FilePatch, takers: _Takers
) -> tuple[str, str] | None:
    """Tell whether all functions that a file's hunks change are gone, or lost what is changed."""
    path = file.old_path or file.path
    sides = delta.sides.get(file.path)
    before = scratch.blob(sides.before.blob) if sides and sides.before else None
    here = scratch.file(scratch.tree(tip), path)
    if here is None:
        return f"{path} is not there", takers.of(tip, path, "")
    then, now = outline(before or b""), outline(here)
    if before is None or then is None or now is None:
        return None
    names = {scope.name for scope in now.scopes}
    gone = []
    for hunk in file.hunks:
        home = then.home(hunk.old_start + hunk.leading)
        lines = [line[1:] for line in hunk.lines if line[:1] == b"-" and line[1:].strip()]
        if home and home not in names:
            gone.append((f"{home} is not in {path}", home.rpartition(".")[2]))
        elif home and lines and not any(line in here for line in lines):
            words = lines[0].strip().decode("utf-8", "replace")
            gone.append((f"{home} was rewritten: it has no “{words}”", words))
        elif home and lines:
            return None
    if not gone:
        return None
    why, word = gone[0]
    return why, takers.of(tip, path, word)


class _Takers:
    """Finds the commits of the trunk that took code away; each is looked for once."""

    def __init__(self, scratch: Scratch, trunk: str, oldest: str) -> None:
        self._scratch = scratch
        self._trunk = trunk
        self._oldest = oldest
        self._known: dict[tuple[str, str], str] = {}

    def of(self, tip: str, path: str, word: str) -> str:
        """Return the commit that took a word out of a file ("": the file), if ``tip`` has it."""
        key = path, word
        if key not in self._known:
            self._known[key] = self._scratch.taking(path, word, self._trunk, self._oldest) or ""
        found = self._known[key]
        return found if found and self._scratch.is_ancestor(found, tip) else ""
