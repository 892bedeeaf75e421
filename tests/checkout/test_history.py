"""What messages say of where commits come from: found without git's help the second time."""

from __future__ import annotations

from pathlib import Path

import pytest

from backport.checkout.git import Git
from backport.checkout.history import History
from backport.checkout.repository import open_checkout
from gitrepo import Repo

ONE, TWO = "I" + "1" * 40, "I" + "2" * 40


@pytest.fixture
def tips(repo: Repo) -> list[str]:
    """Give a branch, commit by commit."""
    messages = (
        f"one\n\nChange-Id: {ONE}",
        f"speaks of {TWO}\n\nIt is not {TWO}\nin this line.",
        f"two\n\nChange-Id: {TWO}\n(cherry picked from commit {'a' * 40})",
        f'Revert "two"\n\nThis reverts commit {"b" * 40}.\n\nChange-Id: {ONE}',
    )
    return [repo.commit(message, {"a": message}) for message in messages]


def history(repo: Repo, folder: Path | None) -> History:
    return History(open_checkout(repo.path).git, folder)


def test_lines_are_found_newest_first(repo: Repo, tips: list[str], tmp_path: Path) -> None:
    for _ in range(2):
        found = history(repo, tmp_path / "kept").find(tips[-1], [ONE, "a" * 40])
        assert found == [
            (tips[3], f"Change-Id: {ONE}"),
            (tips[2], f"(cherry picked from commit {'a' * 40})"),
            (tips[0], f"Change-Id: {ONE}"),
        ]
    assert history(repo, None).find(tips[-1], [TWO]) == [(tips[2], f"Change-Id: {TWO}")]
    assert history(repo, None).find(tips[1], [TWO]) == []
    # The commit's own id is nothing that its message says.
    assert history(repo, None).find(tips[-1], [tips[2]]) == []


def test_what_is_kept_is_used(
    repo: Repo, tips: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "kept"
    history(repo, kept).find(tips[1], [ONE])
    again = history(repo, kept)
    with monkeypatch.context() as patched:
        patched.delattr(Git, "run")
        assert again.find(tips[1], [ONE]) == [(tips[0], f"Change-Id: {ONE}")]
    assert [commit for commit, _ in again.find(tips[3], [ONE])] == [tips[3], tips[0]]


@pytest.mark.parametrize("damage", [b"", b"no digest", None])
def test_a_damaged_file_is_read_anew(
    repo: Repo, tips: list[str], tmp_path: Path, damage: bytes | None
) -> None:
    history(repo, tmp_path / "kept").find(tips[0], [ONE])
    (file,) = (tmp_path / "kept").iterdir()
    whole = file.read_bytes()
    file.write_bytes(whole[:-5] if damage is None else damage)
    (tmp_path / "kept/tmpleftover").write_bytes(b"half")
    assert history(repo, tmp_path / "kept").find(tips[0], [ONE]) == [(tips[0], f"Change-Id: {ONE}")]
    assert file.read_bytes() == whole


def test_only_a_few_are_kept(repo: Repo, tmp_path: Path) -> None:
    for number in range(12):
        tip = repo.commit(f"{number}\n\nChange-Id: {ONE}", {"a": f"{number}"})
        assert len(history(repo, tmp_path / "kept").find(tip, [ONE])) == number + 1
    assert len(list((tmp_path / "kept").iterdir())) == 8


def test_a_folder_that_cannot_be_written_is_no_matter(
    repo: Repo, tips: list[str], tmp_path: Path
) -> None:
    (tmp_path / "kept").write_text("a file")
    assert history(repo, tmp_path / "kept").find(tips[0], [ONE])
