"""Writing a patch from values, byte for byte as ``git diff --full-index --binary`` does."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from backport.patch.model import FileKind, FilePatch, Hunk

_NO_NEWLINE = b"\\ No newline at end of file\n"
_UNUSUAL = re.compile(rb'[\x00-\x1f\x7f-\xff"\\]')
_NAMED_ESCAPES = dict(zip(b'\a\b\t\n\v\f\r"\\', b'abtnvfr"\\', strict=True))


def render_patch(files: Iterable[FilePatch]) -> bytes:
    """Write a patch; ``git apply -p1`` takes it."""
    return b"".join(part for file in files for part in _file(file))


def quote(path: bytes, force: bool = False) -> bytes:
    """Quote a path if git's ``quote_c_style`` does, with ``core.quotePath`` on."""
    if not force and not _UNUSUAL.search(path):
        return path
    return b'"' + _UNUSUAL.sub(_escape, path) + b'"'


def _escape(match: re.Match[bytes]) -> bytes:
    byte = match.group()[0]
    named = _NAMED_ESCAPES.get(byte)
    return b"\\" + (bytes([named]) if named else b"%03o" % byte)


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def _file(file: FilePatch) -> Iterator[bytes]:
    old, new = _bytes(file.old_path or file.path), _bytes(file.path)
    # git 2.39 cannot read its own header of an empty file "x /y" where no other line has the name.
    only_here = not file.hunks and file.kind not in (FileKind.RENAME, FileKind.COPY)
    force = only_here and b" " in new
    yield b"diff --git %s %s\n" % (quote(b"a/" + old, force), quote(b"b/" + new, force))
    yield from _modes(file)
    if file.similarity:
        yield file.similarity.encode() + b"\n"
    if file.kind in (FileKind.RENAME, FileKind.COPY):
        word = file.kind.value.encode()
        yield b"%s from %s\n%s to %s\n" % (word, quote(old), word, quote(new))
    yield from _index(file)
    if file.binary:
        yield from _binary(file)
    elif file.hunks:
        yield b"--- " + _side(b"a/", file.old_path)
        yield b"+++ " + _side(b"b/", file.new_path)
        for hunk in file.hunks:
            yield from _hunk(hunk)


def _modes(file: FilePatch) -> Iterator[bytes]:
    if file.kind is FileKind.ADD:
        yield f"new file mode {file.new_mode or '100644'}\n".encode()
    elif file.kind is FileKind.DELETE:
        yield f"deleted file mode {file.old_mode or '100644'}\n".encode()
    elif file.old_mode != file.new_mode:
        yield f"old mode {file.old_mode}\nnew mode {file.new_mode}\n".encode()


def _index(file: FilePatch) -> Iterator[bytes]:
    known = file.old_blob or file.new_blob
    if not known:
        return
    nothing = "0" * len(known)
    mode = ""
    if file.old_mode and file.old_mode == file.new_mode:
        mode = f" {file.old_mode}"
    yield f"index {file.old_blob or nothing}..{file.new_blob or nothing}{mode}\n".encode()


def _side(prefix: bytes, path: str | None) -> bytes:
    if path is None:
        return b"/dev/null\n"
    name = quote(prefix + _bytes(path))
    # git ends a name that has a space in it with a tab, for GNU patch's sake.
    return name + (b"\t\n" if b" " in name else b"\n")


def _binary(file: FilePatch) -> Iterator[bytes]:
    if file.binary_lines:
        yield b"GIT binary patch\n"
        yield from (line + b"\n" for line in file.binary_lines)
        return
    old, new = _name_in_words(b"a/", file.old_path), _name_in_words(b"b/", file.new_path)
    yield b"Binary files %s and %s differ\n" % (old, new)


def _name_in_words(prefix: bytes, path: str | None) -> bytes:
    return b"/dev/null" if path is None else quote(prefix + _bytes(path))


def _hunk(hunk: Hunk) -> Iterator[bytes]:
    yield hunk.header.encode("utf-8", "surrogateescape") + b"\n"
    for line in hunk.lines:
        yield line if line.endswith(b"\n") else line + b"\n" + _NO_NEWLINE
