"""Looking into patches, never applying them: bytes as people have them → values, and git's form.

Nothing of a patch reaches git but what was understood here: :attr:`Patch.data` is written anew
from the values. What cannot be understood, or must not be applied, is refused with one clear line.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchSet

from backport.errors import ManifestError, Problem
from backport.patch.checks import file_faults, together_faults
from backport.patch.filenames import Names, file_names
from backport.patch.model import Edit, FileKind, FilePatch, Hunk, Patch
from backport.patch.not_a_patch import no_patch, unreadable
from backport.patch.scanner import Section, fault, scan_patch
from backport.patch.writer import render_patch

__all__ = [
    "Edit", "FileKind", "FilePatch", "Hunk", "Patch",
    "parse_diff", "parse_patch", "patch_paths", "read_patch", "render_patch",
]  # fmt: skip

_MAX_BYTES = 64 << 20
_MAX_LINES = 1_000_000  # all of nova is half of that; as values, a line is some 300 bytes
_MAX_FILES = 10_000  # nova has some 3,000
_MAX_FAULTS = 50  # at once; a patch with more is something else
_INDEX = re.compile(rb"([0-9a-f]{4,64})\.\.([0-9a-f]{4,64})(?: ([0-7]{6}))?$")
_SIMILARITY = re.compile(rb"(?:\d|[1-9]\d|100)%")


def read_patch(path: Path, strip: int | None = None) -> Patch:
    """Read a patch file; see :func:`parse_patch`.

    :raises ManifestError: also where it is no file, or larger than 64 MiB (and then not read)
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise fault(path, 0, "is no file")
        if status.st_size > _MAX_BYTES:
            raise _too_large(path)
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "its name cannot be meant"
        raise fault(path, 0, f"cannot be read: {reason}") from error
    return parse_patch(data, path, strip)


def parse_patch(data: bytes, where: Path, strip: int | None = None) -> Patch:
    """Look into a patch.

    :param data: what ``git diff``, ``format-patch`` or ``show`` wrote, or a mail that holds it
    :param where: the name for messages
    :param strip: leading folders that are not the files' (``git apply -p``); None: find out
    :raises ManifestError: for all that must not or cannot be applied
    """
    lines = _lines(data, where)
    sections = scan_patch(lines, where)
    if not sections:
        alien = no_patch(data)
        raise fault(where, 0, alien.what, alien.hint)
    if len(sections) > _MAX_FILES:
        raise fault(where, 0, f"has more than {_MAX_FILES} files, which no backport has")
    names = file_names(sections, where, strip)
    files = tuple(
        _file(section, name, lines, where) for section, name in zip(sections, names, strict=True)
    )
    faults = [*chain.from_iterable(map(file_faults, files)), *together_faults(files)]
    if faults:
        worst = sorted(faults)[:_MAX_FAULTS]
        raise ManifestError([Problem(where, line, message) for line, message in worst])
    return Patch(render_patch(files), files)


def parse_diff(data: bytes, where: Path) -> Patch:
    """Look into what ``git diff`` prints of two trees: nothing, if they are the same.

    :raises ManifestError: for what a backport must not carry; see :func:`parse_patch`
    """
    return parse_patch(data, where) if data else Patch(b"", ())


def patch_paths(patch: Patch) -> tuple[str, ...]:
    """All paths that a patch reads or writes, sorted; both names of a rename."""
    return tuple(sorted({path for file in patch.files for path in file.paths}))


def _too_large(where: Path) -> ManifestError:
    return fault(where, 0, f"is larger than {_MAX_BYTES >> 20} MiB, which no backport is")


def _lines(data: bytes, where: Path) -> list[bytes]:
    r"""Cut a patch at ``\n`` and nothing else: form feeds and lone CRs are content."""
    if len(data) > _MAX_BYTES:
        raise _too_large(where)
    alien = unreadable(data)
    if alien:
        raise fault(where, 0, alien.what, alien.hint)
    if data.count(b"\n") > _MAX_LINES:
        raise fault(where, 0, f"has more than {_MAX_LINES} lines, which no backport has")
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    return _without_mail_crs(lines)


def _without_mail_crs(lines: list[bytes]) -> list[bytes]:
    """Undo what a mail program or an editor did, if it put a CR at the end of every line.

    A patch of a CRLF file has none in its headers, and is left as it is.
    """
    start = next((i for i, line in enumerate(lines) if line.startswith((b"diff ", b"--- "))), 0)
    body = lines[start:]
    # The last line may be without: it may have no newline either.
    if len(body) > 1 and all(line.endswith(b"\r") for line in body[:-1]):
        return lines[:start] + [line.removesuffix(b"\r") for line in body]
    return lines


def _file(section: Section, names: Names, lines: list[bytes], where: Path) -> FilePatch:
    modes, blobs = _modes_and_blobs(section, where)
    kind = _kind(section, names, modes)
    old, new = (None if name is None else name.decode("utf-8", "surrogateescape")
                for name in (names.old, names.new))  # fmt: skip
    return FilePatch(
        kind=kind,
        old_path=None if kind is FileKind.ADD else old,
        new_path=None if kind is FileKind.DELETE else new,
        old_mode=None if kind is FileKind.ADD else modes[0],
        new_mode=None if kind is FileKind.DELETE else modes[1],
        old_blob=None if kind is FileKind.ADD else blobs[0],
        new_blob=None if kind is FileKind.DELETE else blobs[1],
        binary=section.binary is not None or section.binary_names,
        hunks=tuple(_hunks(section, lines, where)),
        similarity=_similarity(section, where),
        binary_lines=_binary_lines(section, lines),
        line=section.line,
    )


def _kind(section: Section, names: Names, modes: tuple[str | None, str | None]) -> FileKind:
    if section.says_new or not names.old:
        return FileKind.ADD
    if section.says_gone or not names.new:
        return FileKind.DELETE
    if b"rename from" in section.extended:
        return FileKind.RENAME
    if b"copy from" in section.extended:
        return FileKind.COPY
    if modes[0] != modes[1] and not (section.hunks or section.binary or section.binary_names):
        return FileKind.MODE
    return FileKind.MODIFY


def _modes_and_blobs(
    section: Section, where: Path
) -> tuple[tuple[str | None, str | None], tuple[str | None, str | None]]:
    """Read the modes and the blob ids before and after; an id of zeros is none."""
    index = section.extended.get(b"index")
    match = _INDEX.match(index) if index is not None else None
    if index is not None and not match:
        raise fault(where, section.line, "an index line without two blob ids")
    old, new, both = match.groups() if match else (None, None, None)
    get = section.extended.get
    before = get(b"old mode") or get(b"deleted file mode") or both
    after = get(b"new mode") or get(b"new file mode") or both
    return (_text(before), _text(after)), (_blob(old), _blob(new))


def _text(mode: bytes | None) -> str | None:
    return None if mode is None else mode.decode("ascii", "backslashreplace")


def _blob(digits: bytes | None) -> str | None:
    return digits.decode() if digits and digits.strip(b"0") else None


def _similarity(section: Section, where: Path) -> str:
    for word in (b"similarity index", b"dissimilarity index"):
        share = section.extended.get(word)
        if share is not None and not _SIMILARITY.fullmatch(share):
            raise fault(where, section.line, f"no share that can be meant in {word.decode()!r}")
        if share is not None:
            return f"{word.decode()} {share.decode()}"
    return ""


def _binary_lines(section: Section, lines: list[bytes]) -> tuple[bytes, ...]:
    if section.binary is None:
        return ()
    start, end = section.binary
    found = [line.rstrip(b"\r") for line in lines[start:end]]
    # A mail may have lost the empty line at the end; with no data at all, the checks must say so.
    return tuple(found if found and not found[-1] else [*found, b""])


def _hunks(section: Section, lines: list[bytes], where: Path) -> Iterator[Hunk]:
    """Have unidiff read the hunks; the scanner has made sure of their counts."""
    text = chain(("--- a\n", "+++ b\n"), *(_text_lines(lines[a:b]) for a, b in section.hunks))
    try:
        found = [hunk for file in PatchSet(text) for hunk in file]
    except UnidiffParseError as error:
        reason = str(error).strip().splitlines()[0]
        raise fault(where, section.line, f"cannot be read: {reason}") from error
    for (start, _), hunk in zip(section.hunks, found, strict=True):
        yield Hunk(
            hunk.source_start,
            hunk.source_length,
            hunk.target_start,
            hunk.target_length,
            heading=hunk.section_header.rstrip("\r\n")
            .encode("latin-1")
            .decode("utf-8", "surrogateescape"),
            lines=_content((each.line_type or " ", each.value) for each in hunk),
            line=start + 1,
        )


def _text_lines(lines: list[bytes]) -> Iterator[str]:
    """Decode lines for unidiff, byte for character, so that any encoding comes back as it was."""
    for line in lines:
        # In German git, the marker is "\ Kein Zeilenumbruch am Dateiende."
        marker = line.startswith(b"\\")
        yield "\\ No newline at end of file\n" if marker else line.decode("latin-1") + "\n"


def _content(lines: Iterable[tuple[str, str]]) -> tuple[bytes, ...]:
    """Take unidiff's lines; a marker takes the newline off the line above it."""
    content: list[bytes] = []
    for sign, value in lines:
        if sign != "\\":
            content.append((sign + value).encode("latin-1"))
        elif content:
            content[-1] = content[-1].removesuffix(b"\n")
    return tuple(content)
