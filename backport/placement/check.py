"""Did every hunk land where it belongs? Its home there, against the one that it came from.

git follows offsets, so that a hunk can land in a look-alike. The home of a line is the innermost
class or function around it, and in a file that is no Python, the line that git would take for
the heading of a hunk there. Where the file that the patch was made from is not known, only the
heading after the patch's ``@@`` tells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from backport.apply.outcome import HunkPlacement
from backport.patch.model import Edit, Hunk
from backport.placement.hunk_heading import not_under_heading
from backport.placement.landing import Landing, Lines, Piece, edits_between, follow, pieces_of
from backport.placement.renamed_scope import find_renamed
from backport.placement.scopes import View, views

#: Where a hunk belongs whose place nothing tells.
UNTOLD = "a place that cannot be told"


@dataclass(frozen=True)
class Versions:
    """A file before and after a change."""

    before: bytes
    after: bytes


@dataclass(frozen=True)
class Placed:
    """A hunk and where it landed; ``placement`` is None where the base has all of it already.

    :param wrong_home: where it belongs and where it landed, if these are two
    """

    hunk: Hunk
    placement: HunkPlacement | None
    wrong_home: tuple[str, str] | None = None

    @property
    def complaint(self) -> str:
        """What is wrong, for people: "belongs in T0.y, landed in T1.y"; "" if nothing is."""
        if not self.wrong_home:
            return ""
        belongs, landed = (home or "the module itself" for home in self.wrong_home)
        return f"belongs in {belongs}, landed in {landed}"


def place_hunks(
    path: str, hunks: Sequence[Hunk], target: Versions, source: Versions | None = None
) -> tuple[Placed, ...]:
    """Find where the hunks of a file landed, and whether each is at home there.

    :param path: tells Python from other files; so does a ``#!`` line
    :param target: the file of the base, before and after the hunks were applied, by whatever way
    :param source: the file that the patch was made from, before and after; None: not known
    """
    pieces = pieces_of(hunks)
    old, new, *origin = views(
        path, target.before, target.after, *((source.before, source.after) if source else ())
    )
    aliases = _aliases(pieces, old, origin)
    origin = [replace(view, aliases=aliases) for view in origin] if aliases else origin
    placed = _place(hunks, pieces, (old, new), origin)
    known_as = {here: there for there, here in aliases.items()}
    return tuple(_with_name(one, known_as) for one in placed)


def _aliases(pieces: Sequence[Piece], old: View, origin: Sequence[View]) -> dict[str, str]:
    """Map the functions of the pieces that the branch has under another name to that name."""
    if not origin or origin[0].outline is None or old.outline is None:
        return {}
    before, scopes = origin[0], origin[0].outline.scopes
    here = {scope.name for scope in old.outline.scopes}
    target = old.outline.scopes, old.lines
    homes = {before.home(line) for piece in pieces for line in _around(piece.edit.old)} - here
    found = {
        scope.name: find_renamed(scope, (scopes, before.lines), target)
        for scope in scopes
        if scope.name in homes and scope.kind == "function"
    }
    return {name: scope.name for name, scope in found.items() if scope}


def _around(changed: range) -> range:
    """Return the lines of a range; of an empty one, the line that it is put in front of."""
    return changed or range(changed.start, changed.start + 1)


def _with_name(placed: Placed, known_as: Mapping[str, str]) -> Placed:
    home = placed.placement.home if placed.placement else ""
    if placed.placement is None or home not in known_as:
        return placed
    return replace(placed, placement=replace(placed.placement, known_as=known_as[home]))


def _place(
    hunks: Sequence[Hunk],
    pieces: Sequence[Piece],
    target: tuple[View, View],
    origin: Sequence[View],
) -> tuple[Placed, ...]:
    old, new = target
    landed = follow(pieces, old.lines, new.lines)
    if landed is None:
        return tuple(_scattered(hunks, pieces, (old, new), origin))
    by_hunk: list[list[Landing]] = [[] for _ in hunks]
    for landing in filter(None, landed):
        by_hunk[landing.piece.hunk].append(landing)
    placed = tuple(
        _placed(hunk, landings, (old, new), origin)
        for hunk, landings in zip(hunks, by_hunk, strict=True)
    )
    if origin and None in landed and any(one.wrong_home for one in placed):
        # Of two pieces of the same content, the one that is in may have been taken for the other.
        counted = tuple(_scattered(hunks, pieces, (old, new), origin))
        return placed if any(one.wrong_home for one in counted) else counted
    return placed


def homes_unmoved(path: str, hunks: Sequence[Hunk], versions: Versions) -> tuple[str, ...]:
    """Name the homes of hunks in the very file that they were made from."""
    new = views(path, versions.after)[0]
    homes = []
    for hunk in hunks:
        old = new if _adds_first(hunk, new) else views(path, versions.before)[0]
        landings = [Landing(piece, piece.edit) for piece in pieces_of([hunk])]
        homes.append(_home(landings, old, new))
    return tuple(homes)


def unmoved(hunk: Hunk, home: str) -> HunkPlacement:
    """Return the placement of a hunk that is where the patch says."""
    return HunkPlacement(_wanted(hunk), _wanted(hunk), home)


def _adds_first(hunk: Hunk, new: View) -> bool:
    """Whether the home of a hunk is told by a line that it adds; else the file before is needed."""
    return any(True for _ in new.telling(next(hunk.edits()).new))


def _placed(
    hunk: Hunk, landings: Sequence[Landing], target: tuple[View, View], origin: Sequence[View]
) -> Placed:
    if not landings:
        return Placed(hunk, None)
    old, new = target
    wanted = _wanted(hunk)
    placement = HunkPlacement(wanted, wanted + landings[0].shift, _home(landings, old, new))
    placement = replace(placement, lookalikes=_lookalikes(hunk, placement.landed_line, old))
    if origin:
        before, after = origin
        wrong = _away(landings, target, (before, after))
        if wrong is None and placement.lookalikes:
            wrong = _between_others(landings, target, (before, after))
    else:
        wrong = not_under_heading(hunk, placement.landed_line, placement.home, old)
    return Placed(hunk, placement, wrong)


def _home(landings: Sequence[Landing], old: View, new: View) -> str:
    """Return the home of the first line that says something."""
    for landing in landings:
        for view, changed in ((new, landing.edit.new), (old, landing.edit.old)):
            for line in view.telling(changed):
                return view.home(line, changed)
    first = landings[0].edit
    return new.home(first.new.start, first.new) if first.new else old.home(first.old.start)


def _away(
    landings: Sequence[Landing], target: tuple[View, View], origin: tuple[View, View]
) -> tuple[str, str] | None:
    """Compare the homes line by line: the removed ones before, the added ones after the change.

    So a scope that the patch itself adds or renames has the same name on both sides.
    """
    for landing in landings:
        here, there = landing.edit, landing.piece.edit
        sides = zip((here.old, here.new), (there.old, there.new), target, origin, strict=True)
        for landed, belongs, ours, theirs in sides:
            for line in ours.telling(landed):
                origin_line = belongs.start + line - landed.start
                pair = theirs.home(origin_line, belongs), ours.home(line, landed)
                if ours.differs(theirs, *pair):
                    return pair
    return None


def _between_others(
    landings: Sequence[Landing], target: tuple[View, View], origin: tuple[View, View]
) -> tuple[str, str] | None:
    """Look closer where the block stands more than once at the same level of a class or module.

    Its home says too little then: it must not have got between two definitions which are
    both others than those that it was between.
    """
    edit, origin_edit = landings[0].edit, landings[0].piece.edit
    if edit.new:
        found = origin[1].neighbours(origin_edit.new), target[1].neighbours(edit.new)
    else:
        found = origin[0].neighbours(origin_edit.old), target[0].neighbours(edit.old)
    belongs, landed = found
    if belongs is None or landed is None or belongs[0] == landed[0] or belongs[1] == landed[1]:
        return None
    return _beside(*belongs), _beside(*landed)


def _beside(above: str, below: str) -> str:
    """Name a place between two definitions, one of which there is."""
    return f"the lines after {above}" if above else f"the lines before {below}"


def _scattered(
    hunks: Sequence[Hunk],
    pieces: Sequence[Piece],
    target: tuple[View, View],
    origin: Sequence[View],
) -> Iterator[Placed]:
    """Place hunks that cannot be followed piece by piece, since a merge has cut them otherwise.

    A diff of our own could take one line for another of the same content. So lines are
    counted: no home may have gained or lost one that it did not where the patch was made.
    """
    edits = edits_between(target[0].lines, target[1].lines)
    strays = _strays(_gains(*target), _gains(*origin) if origin else Counter())
    homes = [_lines_of((p.edit for p in pieces if p.hunk == n), origin) for n in range(len(hunks))]
    content = [
        {line for piece in pieces if piece.hunk == n for line in piece.removed + piece.added}
        for n in range(len(hunks))
    ]
    often = Counter(line for lines in content for line in lines)
    told = any(often[line] == 1 for line in strays)
    for hunk, lines, at_home in zip(hunks, content, homes, strict=True):
        doubtful = (line for line in strays if line in lines and (often[line] == 1 or not told))
        wrong = next((strays[line] for line in doubtful), None)
        own = [edit for edit in edits if at_home & _lines_of([edit], target)]
        if not own and (wrong or not origin):
            own = [e for e in edits if lines & {line for line, _ in _lines_of([e], target)}]
        yield Placed(hunk, _at(hunk, own[0], *target) if own else None, wrong)


def _at(hunk: Hunk, edit: Edit, old: View, new: View) -> HunkPlacement:
    view, changed = (new, edit.new) if edit.new else (old, edit.old)
    landed = max(edit.old.start - hunk.leading, 1)
    return HunkPlacement(_wanted(hunk), landed, view.home(changed.start, changed))


def _wanted(hunk: Hunk) -> int:
    return hunk.old_start + (hunk.old_count == 0)


def _lines_of(edits: Iterable[Edit], views: Sequence[View]) -> set[tuple[bytes, str]]:
    """Return the lines that edits take away or add, each with its home."""
    return {
        (view.lines[line - 1], view.home(line, changed))
        for edit in edits
        for view, changed in zip(views, (edit.old, edit.new), strict=False)
        for line in view.telling(changed)
    }


def _gains(before: View, after: View) -> Counter[tuple[bytes, str]]:
    """Count the lines of one content in one home that there are more of after than before."""
    gains = Counter(after.census())
    gains.subtract(before.census())
    return gains


def _strays(
    ours: Counter[tuple[bytes, str]], theirs: Counter[tuple[bytes, str]]
) -> dict[bytes, tuple[str, str]]:
    """Map the lines of which a home gained or lost too many to where they belong, and are."""
    strays: dict[bytes, tuple[str, str]] = {}
    for (line, home), gain in ours.items():
        wanted = theirs[line, home]
        if not min(wanted, 0) <= gain <= max(wanted, 0):
            homes = [other for (same, other), change in theirs.items() if same == line and change]
            strays.setdefault(line, (homes[0] if homes else UNTOLD, home))
    return strays


def _lookalikes(hunk: Hunk, landed_line: int, old: View) -> tuple[int, ...]:
    """Find where else in the same home the block stands that the hunk was made for."""
    block = hunk.side(old=True)
    homes = old.homes(landed_line, len(block))
    return tuple(
        line
        for line in _occurrences(block, old.lines)
        if line != landed_line and old.homes(line, len(block)) == homes
    )


def _occurrences(block: Lines, lines: Lines) -> Iterator[int]:
    if not any(line.strip() for line in block):
        return
    for index, line in enumerate(lines):
        if line == block[0] and lines[index : index + len(block)] == block:
            yield index + 1
