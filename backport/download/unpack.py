"""Unpacks a release's archive. Nothing of it is run, and nothing of it leaves the folder.

What a member of a tar may be is for ``tarfile``'s data filter (PEP 706; since 3.10.12 and
3.11.4). Ours are the one folder at the top, the bounds, and links last: with none there while
files are written, no file is written through one.
"""

from __future__ import annotations

import lzma
import os
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path

from backport.errors import CannotTellError

_MOST_MEMBERS = 200_000
_MOST_BYTES = 2 << 30  # unpacked, all together; nova's releases have some 50 MB
_BROKEN = (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError)


class ArchiveError(CannotTellError):
    """An archive that is damaged, or that must not be unpacked."""


def unpack(
    archive: Path, folder: Path, most_bytes: int = _MOST_BYTES, most_members: int = _MOST_MEMBERS
) -> None:
    """Unpack a tar or zip archive that has one folder at its top; that folder's content comes out.

    Modes are 755 or 644, the owner is who runs this. Hard links, devices, absolute names, ``..``
    and links that lead out are refused.

    :param folder: is made; it must not be there yet
    :param most_bytes: the bound of what comes out, all together
    :raises ArchiveError: it is damaged, or an entry is refused; the folder is gone again
    """
    if not hasattr(tarfile, "data_filter"):
        raise CannotTellError("this Python is too old to unpack archives safely; 3.10.12 will do")
    folder.mkdir(parents=True)
    try:
        if zipfile.is_zipfile(archive):
            _unpack_zip(archive, folder, most_bytes, most_members)
        else:
            _unpack_tar(archive, folder, most_bytes, most_members)
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, tarfile.FilterError):
            raise ArchiveError(f"{archive.name} is refused: {error}") from error
        broken = isinstance(error, OSError) and error.errno is None  # gzip.BadGzipFile
        if broken or isinstance(error, _BROKEN):
            raise ArchiveError(f"{archive.name} is damaged: {error}") from error
        raise


def _unpack_tar(archive: Path, folder: Path, most_bytes: int, most_members: int) -> None:
    with tarfile.open(archive) as tar:
        left = most_bytes
        members: list[tarfile.TarInfo] = []
        for member in tar:
            left -= member.size
            if left < 0 or len(members) >= most_members:
                raise ArchiveError(f"{archive.name} is refused: what is in it is too much")
            if not (member.isreg() or member.isdir() or member.issym()):
                raise ArchiveError(f"{archive.name} is refused: {member.name} is no plain file")
            members.append(member)
        inner = _below_the_top(archive, [(one.name, one.isdir()) for one in members])
        moved = [one.replace(name=name) for one, name in zip(members, inner, strict=True) if name]
        links = [one for one in moved if one.issym()]
        tar.extractall(folder, [one for one in moved if not one.issym()], filter=_plain)
        for link in links:
            if os.path.lexists(folder / link.name):
                raise ArchiveError(f"{archive.name} is refused: {link.name} is there twice")
            tar.extract(link, folder, filter="data")
    # Seen as the system sees them: a chain of links may lead out where each looks harmless.
    for link in links:
        if not Path(os.path.realpath(folder / link.name)).is_relative_to(os.path.realpath(folder)):
            raise ArchiveError(f"{archive.name} is refused: the link {link.name} leads out")


def _plain(member: tarfile.TarInfo, folder: str) -> tarfile.TarInfo:
    executable = member.isdir() or member.mode & stat.S_IXUSR
    return tarfile.data_filter(member, folder).replace(mode=0o755 if executable else 0o644)


def _unpack_zip(archive: Path, folder: Path, most_bytes: int, most_members: int) -> None:
    with zipfile.ZipFile(archive) as file:
        members = file.infolist()
        if len(members) > most_members or sum(one.file_size for one in members) > most_bytes:
            raise ArchiveError(f"{archive.name} is refused: what is in it is too much")
        inner = _below_the_top(archive, [(one.filename, one.is_dir()) for one in members])
        for member, name in zip(members, inner, strict=True):
            mode = member.external_attr >> 16
            if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise ArchiveError(f"{archive.name} is refused: {member.filename} is no plain file")
            path = folder / name
            (path if member.is_dir() else path.parent).mkdir(parents=True, exist_ok=True)
            if not member.is_dir():
                with file.open(member) as content, path.open("wb") as out:
                    shutil.copyfileobj(content, out)
                path.chmod(0o755 if mode & stat.S_IXUSR else 0o644)


def _below_the_top(archive: Path, members: Iterable[tuple[str, bool]]) -> list[str]:
    """Return each name without its first folder, which all must share; the folder's own is empty.

    :raises ArchiveError: a name would leave the folder, or there is more than one at the top
    """
    top, inner = "", []
    for name, is_folder in members:
        parts = [part for part in name.split("/") if part not in ("", ".")]
        if name.startswith("/") or ".." in parts or "\0" in name:
            raise ArchiveError(f"{archive.name} is refused: {name!r} would leave the folder")
        top = top or "".join(parts[:1])
        if parts and (parts[0] != top or not (parts[1:] or is_folder)):
            raise ArchiveError(f"{archive.name} is refused: {name!r} is not in one top folder")
        inner.append("/".join(parts[1:]))
    if not top:
        raise ArchiveError(f"{archive.name} is refused: it is empty")
    return inner
