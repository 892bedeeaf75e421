"""Takes a git diff apart for showing it. Anything is accepted; what is no diff is shown as is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from backport.report.text import clean

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_WHAT = ("new file", "deleted file", "rename from", "copy from", "old mode", "new mode", "Binary")


@dataclass(frozen=True)
class Line:
    """One line of a diff. ``kind`` is ``add``, ``del``, ``same``, ``hunk`` or ``meta``."""

    kind: str
    text: str
    old: int = 0  # its number before the change; 0: it has none
    new: int = 0

    @property
    def numbers(self) -> str:
        """Both numbers, right-aligned, for the margin."""
        return f"{self.old or '':>5} {self.new or '':>5} "


@dataclass(frozen=True)
class FileDiff:
    """What a diff does to one file."""

    path: str
    what: tuple[str, ...]  # such as "new file mode 100644"
    lines: tuple[Line, ...]

    @property
    def added(self) -> int:
        """How many lines it adds."""
        return sum(line.kind == "add" for line in self.lines)

    @property
    def removed(self) -> int:
        """How many lines it removes."""
        return sum(line.kind == "del" for line in self.lines)


def file_diffs(diff: str) -> tuple[FileDiff, ...]:
    """Return the files of a git diff, in order."""
    return tuple(_file(lines) for lines in _sections(clean(diff).split("\n")) if any(lines))


def _sections(lines: list[str]) -> Iterator[list[str]]:
    section: list[str] = []
    for line in lines:
        # No line of a hunk starts so: each has a sign before its text.
        if line.startswith("diff --git ") and section:
            yield section
            section = []
        section.append(line)
    yield section


def _file(section: list[str]) -> FileDiff:
    header, body = _split(section)
    what = tuple(line for line in header if line.startswith(_WHAT))
    lines = tuple(_lines(body)) if body else tuple(Line("meta", line) for line in header)
    return FileDiff(_path(header), what, lines)


def _split(section: list[str]) -> tuple[list[str], list[str]]:
    start = next((i for i, line in enumerate(section) if _HUNK.match(line)), len(section))
    body = section[start:]
    while body and not body[-1]:
        body = body[:-1]
    return section[:start], body


def _path(header: list[str]) -> str:
    for prefix in ("+++ ", "rename to ", "--- "):
        for line in header:
            name = line.removeprefix(prefix)
            if name != line and name != "/dev/null":
                return _bare(name)
    first = header[0] if header else ""
    return _bare(first.rpartition(" b/")[2]) if first.startswith("diff --git ") else ""


def _bare(name: str) -> str:
    return re.sub(r'^("?)[ab]/', r"\1", name.rstrip("\t"))


def _lines(body: list[str]) -> Iterator[Line]:
    old = new = old_left = new_left = 0
    for text in body:
        hunk = _HUNK.match(text) if old_left <= 0 and new_left <= 0 else None
        if hunk:
            old, new = int(hunk[1]), int(hunk[3])
            old_left, new_left = int(hunk[2] or 1), int(hunk[4] or 1)
            yield Line("hunk", text)
        elif text.startswith("\\") or (old_left <= 0 and new_left <= 0):
            yield Line("meta", text)
        else:
            in_old, in_new = not text.startswith("+"), not text.startswith("-")
            kind = "same" if in_old and in_new else "del" if in_old else "add"
            yield Line(kind, text, old if in_old else 0, new if in_new else 0)
            old, old_left = old + in_old, old_left - in_old
            new, new_left = new + in_new, new_left - in_new


def cut(file: FileDiff, limit: int) -> FileDiff:
    """Return the file with at most ``limit`` lines, the last of which says what is left out."""
    if len(file.lines) <= limit:
        return file
    note = f"[… {len(file.lines) - limit:,} lines left out; git show has them …]"
    return FileDiff(file.path, file.what, (*file.lines[:limit], Line("meta", note)))
