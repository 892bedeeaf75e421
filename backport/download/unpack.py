"""Unpacks a release's archive. Nothing of it is run, and nothing of it leaves the folder.

Each file is written here, not by ``tarfile``: its filter for such archives came with 3.12, and
not every 3.10 and 3.11 has it.
"""

from __future__ import annotations

import lzma
import os
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from backport.errors import CannotTellError

_MOST_MEMBERS = 200_000
_MOST_BYTES = 2 << 30  # unpacked, all together; nova's releases have some 50 MB
_BROKEN = (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError)


class ArchiveError(CannotTellError):
    """An archive that is damaged, or that must not be unpacked."""


@dataclass(frozen=True)
class _Member:
    """One entry. ``content`` is None for a folder and for a link."""

    name: str
    size: int
    executable: bool
    content: IO[bytes] | None = None
    link: str | None = None


def unpack(
    archive: Path, folder: Path, most_bytes: int = _MOST_BYTES, most_members: int = _MOST_MEMBERS
) -> None:
    """Unpack a tar or zip archive that has one folder at its top; that folder's content comes out.

    Modes are 755 or 644, the owner is who runs this. Links are made last, so that no file is
    written through one. Hard links, devices, absolute names and ``..`` are refused.

    :param folder: is made; it must not be there yet
    :param most_bytes: the bound of what comes out, all together
    :raises ArchiveError: it is damaged, or an entry is refused; the folder is gone again
    """
    folder.mkdir(parents=True)
    try:
        with closing(_members(archive)) as members:
            _Unpacking(archive, folder, most_bytes, most_members).take(members)
    except _BROKEN as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise ArchiveError(f"{archive.name} is damaged: {error}") from error
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        if error.errno is None:  # gzip.BadGzipFile
            raise ArchiveError(f"{archive.name} is damaged: {error}") from error
        raise
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _members(archive: Path) -> Generator[_Member, None, None]:
    if zipfile.is_zipfile(archive):
        return _zip_members(archive)
    return _tar_members(archive)


def _tar_members(archive: Path) -> Generator[_Member, None, None]:
    with tarfile.open(archive) as tar:
        for member in tar:
            executable = bool(member.mode & stat.S_IXUSR)
            if member.isdir():
                yield _Member(member.name, 0, True)
            elif member.issym():
                yield _Member(member.name, 0, False, link=member.linkname)
            elif member.isreg():
                yield _Member(member.name, member.size, executable, tar.extractfile(member))
            else:
                kind = "a hard link" if member.islnk() else "a device or a pipe"
                raise ArchiveError(f"{archive.name} is refused: {member.name} is {kind}")


def _zip_members(archive: Path) -> Generator[_Member, None, None]:
    with zipfile.ZipFile(archive) as file:
        for member in file.infolist():
            mode = member.external_attr >> 16
            if member.is_dir():
                yield _Member(member.filename, 0, True)
            elif stat.S_IFMT(mode) not in (0, stat.S_IFREG):
                raise ArchiveError(f"{archive.name} is refused: {member.filename} is no plain file")
            else:
                executable = bool(mode & stat.S_IXUSR)
                with file.open(member) as content:
                    yield _Member(member.filename, member.file_size, executable, content)


class _Unpacking:
    """Writes the entries of one archive, and keeps the bounds."""

    def __init__(self, archive: Path, folder: Path, most_bytes: int, most_members: int) -> None:
        self._archive = archive
        self._root = Path(os.path.realpath(folder))
        self._bytes, self._members = most_bytes, most_members
        self._top: str | None = None
        self._made: set[Path] = set()
        self._links: dict[Path, str] = {}

    def take(self, members: Iterator[_Member]) -> None:
        """Write everything, the links last."""
        for member in members:
            self._count(member)
            path = self._place(member)
            if path is None:
                continue
            self._make_way(path.parent, member)
            if member.link is not None:
                self._links[path] = member.link
            elif member.content is None:
                self._make_way(path, member)
            else:
                self._write(path, member)
        if self._top is None:
            raise self._refused("it is empty")
        self._make_links()

    def _count(self, member: _Member) -> None:
        self._members -= 1
        self._bytes -= member.size
        if self._members < 0 or self._bytes < 0:
            raise self._refused("what is in it is too much")

    def _place(self, member: _Member) -> Path | None:
        """Return where an entry goes; None for the top folder itself."""
        parts = [part for part in member.name.split("/") if part not in ("", ".")]
        if member.name.startswith("/") or ".." in parts or "\0" in member.name:
            raise self._refused(f"{member.name!r} would leave the folder")
        if not parts:
            return None
        self._top = self._top or parts[0]
        if parts[0] != self._top or (len(parts) == 1 and member.content):
            raise self._refused(f"{member.name!r} is not in its one top folder, {self._top!r}")
        return self._root.joinpath(*parts[1:]) if parts[1:] else None

    def _make_way(self, folder: Path, member: _Member) -> None:
        """Make the folders on the way to an entry, none of which may be a link."""
        if folder in self._made:
            return
        if any(step in self._links for step in (folder, *folder.parents)):
            raise self._refused(f"{member.name!r} lies behind a link")
        folder.mkdir(parents=True, exist_ok=True)
        self._made.add(folder)

    def _write(self, path: Path, member: _Member) -> None:
        """Write a file; of two of a name the later one stays, as with tar."""
        assert member.content is not None
        path.unlink(missing_ok=True)
        left = member.size
        with path.open("xb") as file:
            while left and (data := member.content.read(min(left, 1 << 20))):
                file.write(data)
                left -= len(data)
        if left:
            raise EOFError(f"{member.name} ends too soon")
        path.chmod(0o755 if member.executable else 0o644)

    def _make_links(self) -> None:
        for path, target in self._links.items():
            if os.path.lexists(path):
                raise self._refused(f"{path.name!r} is there twice")
            path.symlink_to(target)
        # Seen as the system sees them: a chain of links may lead out where each looks harmless.
        for path, target in self._links.items():
            if not Path(os.path.realpath(path)).is_relative_to(self._root):
                raise self._refused(
                    f"the link {path.name!r} leads out of the folder, to {target!r}"
                )

    def _refused(self, reason: str) -> ArchiveError:
        return ArchiveError(f"{self._archive.name} is refused: {reason}")
