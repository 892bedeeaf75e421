"""A folder for one run: gone at its end, and swept where a kill has left it."""

from __future__ import annotations

from pathlib import Path

from backport.workspace import workspace


def runs(parent: Path) -> list[str]:
    return sorted(path.name for path in parent.glob("run-*"))


def test_it_is_gone_at_the_end_whatever_was_done_to_it(tmp_path: Path) -> None:
    with workspace(tmp_path) as folder:
        (folder / "d").mkdir()
        (folder / "d/file").write_text("x")
        (folder / "d/link").symlink_to("/nowhere")
        (folder / "d").chmod(0o500)
        assert runs(tmp_path) == [folder.name]
    assert runs(tmp_path) == []


def test_what_a_killed_run_left_is_swept_and_what_another_uses_is_not(tmp_path: Path) -> None:
    for left in ("run-begun", "run-half-gone/d"):
        (tmp_path / left).mkdir(parents=True)
    (tmp_path / "run-killed").mkdir()
    (tmp_path / "run-killed/.lock").write_text("")
    with workspace(tmp_path) as one, workspace(tmp_path) as other:
        assert runs(tmp_path) == sorted([one.name, other.name])
        (one / "file").write_text("still there")
        with workspace(tmp_path):
            assert (one / "file").read_text() == "still there"
