"""Nothing of an archive leaves the folder, and nothing half is left."""

from __future__ import annotations

import io
import os
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from backport.download.unpack import ArchiveError, unpack
from backport.errors import ExitCode

Entry = tuple[str, object]  # name, and content, or a change of the header


def write(path: Path, *entries: Entry, mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as tar:  # type: ignore[call-overload]
        for name, what in entries:
            member = tarfile.TarInfo(name)
            content = what if isinstance(what, bytes) else b""
            if callable(what):
                what(member)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return path


def link(target: str, kind: bytes = tarfile.SYMTYPE) -> Callable[[tarfile.TarInfo], None]:
    def change(member: tarfile.TarInfo) -> None:
        member.type, member.linkname = kind, target

    return change


def kind(number: bytes) -> Callable[[tarfile.TarInfo], None]:
    return lambda member: setattr(member, "type", number)


GOOD: Entry = ("top/a", b"a")


@pytest.mark.parametrize(
    "entries",
    [
        pytest.param([("/etc/passwd", b"x")], id="absolute"),
        pytest.param([GOOD, ("top/../../x", b"x")], id="dots"),
        pytest.param([GOOD, ("top/..", kind(tarfile.DIRTYPE))], id="dots at the end"),
        pytest.param([GOOD, ("../x", b"x")], id="dots first"),
        pytest.param([GOOD, ("other/x", b"x")], id="two at the top"),
        pytest.param([("x", b"x")], id="a file at the top"),
        pytest.param([], id="empty"),
        pytest.param([GOOD, ("top/l", link("/etc"))], id="absolute link"),
        pytest.param([GOOD, ("top/l", link("../x"))], id="link out"),
        pytest.param([GOOD, ("top/l", link(".")), ("top/m", link("l/.."))], id="link by link"),
        pytest.param([GOOD, ("top/l", link("/tmp")), ("top/l/x", b"x")], id="through a link"),
        pytest.param([GOOD, ("top/d/l", link("..")), ("top/d/l/x", b"x")], id="through inner"),
        pytest.param([("top/l", link("/tmp/x")), ("top/l", b"x")], id="over a link"),
        pytest.param([GOOD, ("top/a", link("b"))], id="a link over a file"),
        pytest.param([GOOD, ("top/h", link("top/a", tarfile.LNKTYPE))], id="hard link"),
        pytest.param([GOOD, ("top/h", link("/etc/passwd", tarfile.LNKTYPE))], id="hard link out"),
        pytest.param([GOOD, ("top/p", kind(tarfile.FIFOTYPE))], id="pipe"),
        pytest.param([GOOD, ("top/c", kind(tarfile.CHRTYPE))], id="character device"),
        pytest.param([GOOD, ("top/b", kind(tarfile.BLKTYPE))], id="block device"),
    ],
)  # fmt: skip
def test_a_hostile_archive_is_refused_and_leaves_nothing(
    tmp_path: Path, entries: list[Entry]
) -> None:
    archive = write(tmp_path / "x.tar.gz", *entries)
    folder = tmp_path / "below" / "out"
    folder.parent.mkdir()
    with pytest.raises(ArchiveError, match=r"x\.tar\.gz is refused") as caught:
        unpack(archive, folder)
    assert caught.value.exit_code == ExitCode.CANNOT_TELL
    assert [path.name for path in tmp_path.iterdir()] == [
        "x.tar.gz",
        "below",
    ] or not folder.exists()
    assert list((tmp_path / "below").iterdir()) == []


@pytest.mark.parametrize("mode", ["w:gz", "w:bz2", "w:xz", "w"])
def test_the_content_comes_out_without_the_top_folder(tmp_path: Path, mode: str) -> None:
    archive = write(tmp_path / "x", ("top", kind(tarfile.DIRTYPE)), ("./top/d/a", b"1"), mode=mode)
    unpack(archive, tmp_path / "out")
    assert (tmp_path / "out/d/a").read_bytes() == b"1"


def test_a_zip_comes_out_the_same(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as file:
        file.writestr("top/d/a", b"1")
    unpack(tmp_path / "x.zip", tmp_path / "out")
    assert (tmp_path / "out/d/a").read_bytes() == b"1"


@pytest.mark.parametrize(
    ("name", "mode"),
    [("top/../../x", 0), ("/x", 0), ("top/l", stat.S_IFLNK | 0o777)],
)
def test_a_hostile_zip_is_refused(tmp_path: Path, name: str, mode: int) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as file:
        file.writestr("top/a", b"1")
        info = zipfile.ZipInfo(name)
        info.external_attr = mode << 16
        file.writestr(info, b"/etc")
    with pytest.raises(ArchiveError):
        unpack(tmp_path / "x.zip", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_modes_are_plain_and_links_within_stay_links(tmp_path: Path) -> None:
    def setuid(member: tarfile.TarInfo) -> None:
        member.mode, member.uid = 0o6777, 0

    def secret(member: tarfile.TarInfo) -> None:
        member.mode = 0o000

    archive = write(
        tmp_path / "x",
        ("top/run", setuid),
        ("top/secret", secret),
        ("top/d/l", link("../run")),
        ("top/dangling", link("nothing")),
    )
    unpack(archive, tmp_path / "out")
    out = tmp_path / "out"
    assert stat.S_IMODE((out / "run").stat().st_mode) == 0o755
    assert stat.S_IMODE((out / "secret").stat().st_mode) == 0o644
    assert os.readlink(out / "d/l") == "../run"
    assert os.readlink(out / "dangling") == "nothing"


def test_of_two_files_of_a_name_the_later_stays(tmp_path: Path) -> None:
    unpack(write(tmp_path / "x", ("top/a", b"1"), ("top/a", b"22")), tmp_path / "out")
    assert (tmp_path / "out/a").read_bytes() == b"22"


@pytest.mark.parametrize("bounds", [{"most_bytes": 99}, {"most_members": 2}])
def test_there_are_bounds(tmp_path: Path, bounds: dict[str, int]) -> None:
    archive = write(tmp_path / "x", *[(f"top/{number}", b"0" * 50) for number in range(3)])
    with pytest.raises(ArchiveError, match="too much"):
        unpack(archive, tmp_path / "out", **bounds)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["x.tar.gz", "x.tar.bz2", "x.tar.xz"])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_a_damaged_archive_is_told_and_leaves_nothing(
    tmp_path: Path, name: str, share: float
) -> None:
    mode = {"gz": "w:gz", "bz2": "w:bz2", "xz": "w:xz"}[name.rpartition(".")[2]]
    archive = write(tmp_path / name, ("top/a", os.urandom(30_000)), mode=mode)
    data = archive.read_bytes()
    archive.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(ArchiveError, match="damaged"):
        unpack(archive, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_there_is_not_written_into(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(FileExistsError):
        unpack(write(tmp_path / "x", GOOD), tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []
