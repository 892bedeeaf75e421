"""What git must never see, and what it would take and should not (must 7)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from backport.patch.binary import binary_fault
from backport.patch.model import GITLINK, LINK, FileKind, FilePatch, Hunk

# What HFS+ leaves out when it compares names: next_hfs_char() of git's utf8.c.
_IGNORED = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
_MODE = re.compile(rf"100[0-7]{{3}}|{LINK}|{GITLINK}")
_SUBPROJECT = re.compile(rb"[-+]Subproject commit [0-9a-f]{40}(?:[0-9a-f]{24})?\n?")
# The empty blob, in SHA-1 and in SHA-256 repositories.
_EMPTY_BLOBS = (
    "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
    "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
)


def path_fault(path: str) -> str:
    """Say why git must not be given a path; "" where it may be.

    The rules are those of git's verify_path() with core.protectHFS and core.protectNTFS on.
    """
    if "\0" in path:
        return "a file name with a NUL byte in it"
    if path.startswith("/") or re.match(r"[A-Za-z]:[/\\]", path):
        return "an absolute file name"
    parts = re.split(r"[/\\]", path)
    if ".." in parts:
        return "a file name that leaves the tree"
    if any(_is_git_folder(part) for part in parts):
        return "a file name inside a .git folder"
    if {"", "."} & set(path.split("/")):
        return "a file name with an empty part"
    return ""


def _is_git_folder(part: str) -> bool:
    """Whether some file system takes this name for ``.git`` (or its short form on NTFS)."""
    plain = _IGNORED.sub("", part).split(":")[0].rstrip(" .").casefold()
    return plain in (".git", "git~1")


def file_faults(file: FilePatch) -> Iterator[tuple[int, str]]:
    """What is wrong with one file of a patch: lines of the patch, and words."""
    for path in {file.old_path, file.new_path} - {None}:
        if message := path_fault(path or ""):
            yield file.line, f"{message}: {path!r}"
    for check in (_mode_fault, _whole_fault, _binary_fault, _gitlink_fault):
        if message := check(file):
            yield file.line, f"{message}: {file.path!r}"
    for hunk in file.hunks:
        if message := _hunk_fault(hunk, file.kind):
            yield hunk.line, message
    yield from _order_faults(file.hunks)


def _mode_fault(file: FilePatch) -> str:
    modes = [mode for mode in (file.old_mode, file.new_mode) if mode]
    if len(modes) == 1 and file.kind not in (FileKind.ADD, FileKind.DELETE):
        return "half of a change of mode: the patch is cut off"
    if not all(_MODE.fullmatch(mode) for mode in modes):
        return f"a file mode that git does not have ({' or '.join(modes)})"
    if len({mode[:2] for mode in modes}) > 1:
        return "a file that becomes something else without being deleted first"
    if file.new_mode == LINK and re.fullmatch(
        r"\.gitmodules|gitmod~\d", file.path.rsplit("/", 1)[-1], re.I
    ):
        return "a link where git reads its settings"
    return ""


def _whole_fault(file: FilePatch) -> str:
    """Whether all of the change is there, and it is one."""
    if file.kind in (FileKind.RENAME, FileKind.COPY) and file.old_path == file.new_path:
        return "a rename or a copy of a file onto itself"
    if file.binary or file.hunks:
        return ""
    known = file.new_blob if file.kind is FileKind.ADD else file.old_blob
    if file.kind in (FileKind.ADD, FileKind.DELETE):
        empty = not known or any(blob.startswith(known) for blob in _EMPTY_BLOBS)
        return "" if empty else "a file without its content (git diff -D leaves it out)"
    if file.kind is FileKind.MODIFY:
        return "no change at all, or one that is cut off"
    if file.old_blob != file.new_blob:
        return "other content by its index line, but no hunk: the patch is cut off"
    return ""


def _binary_fault(file: FilePatch) -> str:
    if not file.binary:
        return ""
    blobs = [blob for blob in (file.old_blob, file.new_blob) if blob]
    if not blobs or any(len(blob) not in (40, 64) for blob in blobs):
        return "a binary file without full blob ids (git diff --full-index --binary has them)"
    return binary_fault(file.binary_lines) if file.binary_lines else ""


def _gitlink_fault(file: FilePatch) -> str:
    if GITLINK not in (file.old_mode, file.new_mode) or not (file.hunks or file.binary):
        return ""
    lines = [line for hunk in file.hunks for line in hunk.lines]
    signs = sorted(line[:1] for line in lines)
    if len(set(signs)) == len(signs) and all(_SUBPROJECT.fullmatch(line) for line in lines):
        return ""
    return "a submodule that does not go from one commit to another"


def _hunk_fault(hunk: Hunk, kind: FileKind) -> str:
    if all(line.startswith(b" ") for line in hunk.lines):
        return "a hunk that changes nothing"
    if kind is FileKind.ADD and (hunk.old_count or hunk.old_start):
        return "a new file with lines that were there before"
    if kind is FileKind.DELETE and (hunk.new_count or hunk.new_start):
        return "a deleted file with lines that stay"
    first = hunk.old_start + (hunk.old_count == 0)
    # At the first line git asks that the hunk is the whole file; that is safe (git's apply.c).
    if first > 1 and not hunk.leading and not hunk.trailing:
        return "a hunk without context, whose place cannot be checked (git diff -U3 gives it one)"
    return ""


def _order_faults(hunks: tuple[Hunk, ...]) -> Iterator[tuple[int, str]]:
    free = 0  # the first old line that no hunk has had
    for number, hunk in enumerate(hunks, 1):
        first = hunk.old_start + (hunk.old_count == 0)
        if first < free:
            yield hunk.line, "a hunk above or over the one before it"
        free = first + hunk.old_count
        if _ends_early(hunk, last=number == len(hunks)):
            yield hunk.line, "a line without a newline that is not the last of its file"


def _ends_early(hunk: Hunk, *, last: bool) -> bool:
    """Whether a line that ends its file has others behind it."""
    for side in (hunk.side(old=True), hunk.side(old=False)):
        upto = side[:-1] if last else side
        if any(not line.endswith(b"\n") for line in upto):
            return True
    return False


def together_faults(files: Iterable[FilePatch]) -> Iterator[tuple[int, str]]:
    """What is wrong with files next to each other: twice the same, or one through a link."""
    files = tuple(files)
    written = [file for file in files if file.new_path]
    gone = {file.removes for file in files if file.removes}
    yield from _twice(written, lambda file: file.new_path)
    yield from _twice((file for file in files if file.removes), lambda file: file.removes)
    for file in files:
        if file.kind in (FileKind.MODIFY, FileKind.MODE) and file.new_path in gone:
            yield file.line, f"a file that is changed and also taken away: {file.path!r}"
    yield from _through(written)


def _twice(
    files: Iterable[FilePatch], path_of: Callable[[FilePatch], str | None]
) -> Iterator[tuple[int, str]]:
    seen: set[str | None] = set()
    for file in files:
        path = path_of(file)
        if path in seen:
            yield file.line, f"the same file for a second time: {path!r}"
        seen.add(path)


def _through(written: list[FilePatch]) -> Iterator[tuple[int, str]]:
    """Files below what is no folder in the end; links without case, as some file systems do."""
    plain = {file.path for file in written}
    links = {file.path.casefold() for file in written if file.new_mode == LINK}
    for file in written:
        above = [file.path[: slash.start()] for slash in re.finditer("/", file.path)]
        if any(folder.casefold() in links for folder in above):
            yield file.line, f"a file below a link of the same patch: {file.path!r}"
        elif plain.intersection(above):
            yield file.line, f"a file below another file of the same patch: {file.path!r}"
