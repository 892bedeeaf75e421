"""The nouns of a patch: what it does to which file, hunk by hunk. Values only.

Content is bytes throughout: a patch may carry any encoding, and its bytes must survive.
Paths are text, decoded from UTF-8 with ``surrogateescape``, so that they round-trip too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

LINK = "120000"
GITLINK = "160000"


class FileKind(str, Enum):
    """What a patch does to a file."""

    ADD = "add"
    DELETE = "delete"
    MODIFY = "modify"
    RENAME = "rename"  # with or without changes of its content
    COPY = "copy"
    MODE = "mode"  # the mode only


@dataclass(frozen=True)
class Edit:
    """Adjoining lines that a hunk replaces; context is not part of it.

    Half-open ranges of line numbers, from 1: ``range(10, 12)`` is lines 10 and 11. An empty
    ``old`` is an insertion before that line, an empty ``new`` a removal.
    """

    old: range
    new: range


@dataclass(frozen=True)
class Hunk:
    """One hunk. Lines count from 1; where a count is 0, the start is the line before, as in diff.

    ``lines`` are ``b" "``, ``b"-"`` or ``b"+"`` and then the line of the file, byte for byte,
    with its newline. A line without one is the last of a file that does not end in a newline.
    """

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    heading: str  # what git found above it, such as "class API(base.Base):"
    lines: tuple[bytes, ...]
    line: int = 0  # of its @@ line, in the patch file

    @property
    def header(self) -> str:
        """The ``@@`` line, written as git does."""
        old, new = _extent(self.old_start, self.old_count), _extent(self.new_start, self.new_count)
        return f"@@ -{old} +{new} @@" + (f" {self.heading}" if self.heading else "")

    @property
    def leading(self) -> int:
        """How many lines of context come before the first change."""
        return next((i for i, line in enumerate(self.lines) if line[:1] != b" "), len(self.lines))

    @property
    def trailing(self) -> int:
        """How many lines of context come after the last change."""
        backwards = enumerate(reversed(self.lines))
        return next((i for i, line in backwards if line[:1] != b" "), len(self.lines))

    def side(self, old: bool) -> tuple[bytes, ...]:
        """The lines of one side, without their prefix: the block before, or the one after."""
        keep = b" -" if old else b" +"
        return tuple(line[1:] for line in self.lines if line[:1] in keep)

    def edits(self) -> Iterator[Edit]:
        """The changed line ranges, top down."""
        old = self.old_start + (self.old_count == 0)
        new = self.new_start + (self.new_count == 0)
        removed = added = 0
        for line in (*self.lines, b" "):
            if line[:1] == b"-":
                removed += 1
            elif line[:1] == b"+":
                added += 1
            else:
                if removed or added:
                    yield Edit(range(old, old + removed), range(new, new + added))
                old, new = old + removed + 1, new + added + 1
                removed = added = 0


def _extent(start: int, count: int) -> str:
    """Diff leaves a count of 1 out."""
    return str(start) if count == 1 else f"{start},{count}"


@dataclass(frozen=True)
class FilePatch:
    """What a patch does to one file. Paths are relative to the top of the tree, with ``/``.

    ``old_path`` is None for an added file, ``new_path`` for a deleted one. Blob ids are as the
    patch has them, maybe abbreviated; None where it has none, or where there is no such file.
    Modes are git's (``100644``); None where the patch does not tell.
    """

    kind: FileKind
    old_path: str | None
    new_path: str | None
    old_mode: str | None = None
    new_mode: str | None = None
    old_blob: str | None = None
    new_blob: str | None = None
    binary: bool = False
    hunks: tuple[Hunk, ...] = ()
    similarity: str = ""  # git's line, such as "similarity index 96%"
    binary_lines: tuple[bytes, ...] = ()  # after "GIT binary patch"; () where it has no data
    line: int = 0  # of its first line, in the patch file

    @property
    def path(self) -> str:
        """The path after the change; of a deleted file, the one before."""
        return self.new_path or self.old_path or ""

    @property
    def removes(self) -> str | None:
        """The path that is gone afterwards, if any."""
        return self.old_path if self.kind in (FileKind.DELETE, FileKind.RENAME) else None

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths that it reads or writes: one, or both of a rename or a copy."""
        return tuple(dict.fromkeys(path for path in (self.old_path, self.new_path) if path))

    def edits(self) -> tuple[Edit, ...]:
        """The changed line ranges of all hunks, top down."""
        return tuple(edit for hunk in self.hunks for edit in hunk.edits())

    def leave_out(self, hunk: Hunk) -> FilePatch | None:
        """The same without one of its hunks; None where nothing is left.

        The hunks below move up in the new file by as much as this one had grown it, so that
        git looks for them where they are. What blob comes out is not known then.
        """
        if self.kind in (FileKind.ADD, FileKind.DELETE):
            return None  # its one hunk is all of the file
        at = self.hunks.index(hunk)
        grown = hunk.new_count - hunk.old_count
        below = (replace(each, new_start=each.new_start - grown) for each in self.hunks[at + 1 :])
        left = (*self.hunks[:at], *below)
        if left or self.kind is FileKind.RENAME or self.old_mode != self.new_mode:
            return replace(self, hunks=left, new_blob=None)
        return None


@dataclass(frozen=True)
class Patch:
    """A patch that has been looked into: written anew from what was understood, for git to apply.

    ``data`` has git's own form (``a/`` and ``b/``, hence a ``strip`` of 1), no noise around it,
    and nothing in it that is not in ``files``. Line numbers are those of the patch as it was given.
    """

    data: bytes
    files: tuple[FilePatch, ...]
    strip: int = 1  # what ``git apply -p`` needs for ``data``
