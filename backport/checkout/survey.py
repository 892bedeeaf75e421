"""Many commits at once: what they touch, who holds them, what picking them again comes to.

A git for each commit would take minutes; these take one process, or one a core, for all.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from backport.checkout.objects import NOBODY
from backport.checkout.scratch import Scratch

_CHANGE_ID = re.compile(rb"^Change-Id:[ \t]*(I[0-9a-f]{40})[ \t]*\r?$", re.M)
# As git cherry-pick merges by default: it is that what people saw.
_AS_CHERRY_PICK = (
    "merge.renames=true",
    "merge.renameLimit=7000",
    "merge.directoryRenames=conflict",
)


@dataclass(frozen=True)
class Pick:
    """A commit with one parent, and the commit that it is picked onto."""

    commit: str
    onto: str


@dataclass(frozen=True)
class Picked:
    """What a pick comes to: the tree, and the paths in conflict; none: clean."""

    tree: str
    conflicts: tuple[str, ...]


@dataclass
class Holders:
    """Which branches hold which commits, above a commit that is common to all."""

    branches: tuple[str, ...]  # the oldest first
    _masks: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    _walked: set[str] = field(default_factory=set)
    _changes: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def of(self, commit: str) -> tuple[str, ...]:
        """Return the branches that hold a commit, the oldest first."""
        mask = self._masks[commit] if commit in self._walked else 0
        return tuple(name for bit, name in enumerate(self.branches) if mask >> bit & 1)

    def of_change(self, change_id: str) -> dict[str, str | None]:
        """Map the branches that have a change to their own commit of it, in order.

        None where that is a commit which still newer branches hold, too.
        """
        found: dict[str, str | None] = {}
        for commit in self._changes.get(change_id, ()):
            *older, home = self.of(commit)
            found.update({name: found.get(name) for name in older})
            found[home] = commit
        return {name: found[name] for name in self.branches if name in found}

    def add(self, commit: str, parents: Sequence[str], message: bytes) -> None:
        """Take in a commit; its children came before it.

        A parent that is common to all is told of, and does not come itself.
        """
        self._walked.add(commit)
        for parent in parents:
            self._masks[parent] |= self._masks[commit]
        for change in _CHANGE_ID.findall(message)[-1:]:
            self._changes[change.decode()].append(commit)


def read_holders(scratch: Scratch, tips: Mapping[str, Sequence[str]], base: str) -> Holders:
    """Walk all branches down to what ``base`` has: half a second for nova's from ocata on.

    :param tips: by branch, the oldest first; one branch may have several
    """
    holders = Holders(tuple(tips))
    for bit, commits in enumerate(tips.values()):
        for commit in commits:
            holders._masks[commit] |= 1 << bit
    stdin = "".join(f"{tip}\n" for tip in holders._masks) + f"^{base}\n"
    how = ("-z", "--topo-order", "--no-decorate", "--format=%H %P%n%B", "--stdin")
    out = scratch.git.run("log", *how, stdin=stdin.encode()).out if holders._masks else b""
    for record in filter(None, out.split(b"\0")):
        head, _, message = record.partition(b"\n")
        commit, *parents = head.decode().split()
        holders.add(commit, parents, message)
    return holders


def touched(scratch: Scratch, commits: Sequence[str]) -> dict[str, list[tuple[str, str]]]:
    """Map commits to what they change against their parent: git's letter, and the path."""
    how = ("--stdin", "-r", "-z", "--root", "--no-renames", "--name-status")
    stdin = "".join(f"{commit}\n" for commit in dict.fromkeys(commits)).encode()
    fields = iter(scratch.git.run("diff-tree", *how, stdin=stdin).fields if commits else ())
    found: dict[str, list[tuple[str, str]]] = {commit: [] for commit in commits}
    here: list[tuple[str, str]] = []
    for word in fields:
        if len(word) >= 40:
            here = found[word]
        else:
            here.append((word, next(fields)))
    return found


def added_lines(scratch: Scratch, commit: str, path: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that a commit adds to a file: number, text."""
    how = ("-p", "-U0", "-r", "--root", "--no-commit-id", "--no-ext-diff", "--no-textconv")
    number = 0
    for line in scratch.git.run("diff-tree", *how, commit, "--", path).text.split("\n"):
        hunk = re.match(r"@@ -\S+ \+(\d+)", line)
        if hunk:
            number = int(hunk[1])
        elif line.startswith("+") and number:
            yield number, line[1:]
            number += 1


def pick_all(scratch: Scratch, picks: Sequence[Pick]) -> list[Picked]:
    """Pick commits as git cherry-pick would, without a work tree, on all cores."""
    changed = touched(scratch, [pick.commit for pick in picks])
    lines = [" ".join(_sides(scratch, pick, changed[pick.commit])) + "\n" for pick in picks]
    workers = min(os.cpu_count() or 1, len(lines)) or 1
    shares = [lines[number::workers] for number in range(workers)]
    with ThreadPoolExecutor(workers) as pool:
        done = list(pool.map(lambda share: list(_merge(scratch, share)), shares))
    return [done[number % workers][number // workers] for number in range(len(lines))]


def _sides(scratch: Scratch, pick: Pick, changed: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """Return the commits to merge; they have the picked one's parent for a base.

    Made up for the purpose, as merge-tree takes ``--merge-base`` from git 2.40 on only.
    """
    parent, onto = scratch.commit(pick.commit).parents[0], scratch.tree(pick.onto)
    paths = [path for _, path in changed]
    old, new, here = (scratch.entries(tree, paths) for tree in (parent, pick.commit, onto))
    if here.keys() == old.keys() and all(_has_folder(scratch, onto, p) for p in new.keys() - old):
        # All other files are the same on all sides, then. No rename of the branch's can be one
        # of these files, and looking for renames among the others is most of a merge's time.
        root = _made(scratch, scratch.update(onto, {path: old.get(path) for path in paths}))
        theirs = scratch.update(onto, {path: new.get(path) for path in paths})
        return _made(scratch, onto, root), _made(scratch, theirs, root)
    return _made(scratch, onto, parent), pick.commit


def _has_folder(scratch: Scratch, tree: str, path: str) -> bool:
    folder = path.rpartition("/")[0]
    return not folder or folder in scratch.entries(tree, [folder])


def _made(scratch: Scratch, tree: str, *parents: str) -> str:
    return scratch.make_commit(tree, parents, "to be merged", NOBODY, NOBODY)


def _merge(scratch: Scratch, lines: Sequence[str]) -> Iterator[Picked]:
    """Read what ``merge-tree --stdin`` prints: status, tree, the conflicted paths, an empty field.

    In the order of the questions (observed with git 2.39.5).
    """
    how = ("--write-tree", "--stdin", "--name-only", "--no-messages")
    stdin = "".join(lines).encode()
    out = scratch.git.run("merge-tree", *how, stdin=stdin, settings=_AS_CHERRY_PICK).out
    fields = iter(out.decode("utf-8", "surrogateescape").split("\0"))
    for _ in lines:
        next(fields)
        tree = next(fields)
        yield Picked(tree, tuple(dict.fromkeys(iter(fields.__next__, ""))))
