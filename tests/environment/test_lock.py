"""A lock names released files by their checksums, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from backport.download.requirement import Wanted
from backport.environment.lock import read_lock
from backport.errors import CannotTellError, ManifestError

TWO = {"python_version": "2.7", "sys_platform": "linux2", "platform_machine": "x86_64"}
A, B = "a" * 64, "b" * 64


def read(tmp_path: Path, text: str) -> tuple[Wanted, ...]:
    (tmp_path / "lock.txt").write_text(text, encoding="utf-8")
    return read_lock(tmp_path / "lock.txt", TWO)


@pytest.mark.parametrize(
    "text",
    [
        f"six==1.10.0 --hash=sha256:{A} --hash=sha256:{B}",
        f"six==1.10.0 \\\n    --hash=sha256:{A} \\\n    --hash=sha256:{B}\n    # via nova\n",
        f"# why: it has a wheel\nsix==1.10.0 --hash sha256:{A.upper()} --hash=sha256:{B}  # so\n\n",
        f"six===1.10.0 ; python_version == '2.7' --hash=sha256:{A} --hash=sha256:{B}\n",
        f"six==1.10.0 --hash=sha256:{A} --hash=sha256:{B}\nenum34==1 ; python_version > '3' "
        f"--hash=sha256:{A}\n",
        f"six==1.10.0 --hash=sha256:{A} --hash=sha256:{B}\r\n"
        f"six==1.10.0 --hash=sha256:{A} --hash=sha256:{B}\r\n",
    ],
)
def test_packages_come_with_their_checksums(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text) == (Wanted("six", "1.10.0", frozenset({A, B})),)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("six==1.10.0", "has no --hash"),
        (f"six --hash=sha256:{A}", "not pinned"),
        (f"six>=1 --hash=sha256:{A}", "not pinned"),
        (f"six==1.* --hash=sha256:{A}", "not pinned"),
        (f"six==1.0,!=2 --hash=sha256:{A}", "not pinned"),
        (f"six @ https://host/six.zip --hash=sha256:{A}", "not pinned"),
        ("six==1.0 --hash=md5:abc", "no SHA-256"),
        ("six==1.0 --hash=sha256:abc", "no SHA-256"),
        (f"./six --hash=sha256:{A}", "no requirement"),
        (f"https://host/six.zip --hash=sha256:{A}", "no requirement"),
        ("-e .", "options have no place"),
        ("-r other.txt", "options have no place"),
        ("--index-url https://host/simple", "options have no place"),
        (f"six==1.0 --global-option=x --hash=sha256:{A}", "no requirement"),
        (f"Six==2.0 --hash=sha256:{A}", "another version"),
    ],
)
def test_anything_else_is_an_error_with_its_line(tmp_path: Path, line: str, reason: str) -> None:
    with pytest.raises(ManifestError) as caught:
        read(tmp_path, f"# first\nsix==1.10.0 --hash=sha256:{A}\n{line}\n")
    assert [problem.line for problem in caught.value.problems] == [3]
    assert reason in caught.value.message


def test_all_errors_come_at_once(tmp_path: Path) -> None:
    with pytest.raises(ManifestError) as caught:
        read(tmp_path, "one\ntwo \\\n  >=3\n-e .\n")
    assert [problem.line for problem in caught.value.problems] == [1, 2, 4]


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(CannotTellError, match="cannot be read"):
        read_lock(tmp_path / "nothing.txt", TWO)
    (tmp_path / "lock.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(CannotTellError, match="cannot be read"):
        read_lock(tmp_path / "lock.txt", TWO)
