"""A laid out tree is the tree, whatever was laid out, run or written before."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from backport.checkout.objects import Entry
from backport.runner.exported_tree import Store, TreeFolder, stamp
from backport.runner.results import Environment
from tinyproject import Project, make_project, outcomes


@pytest.fixture(params=["3", "2.7"])
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Project:
    return make_project(request.param, tmp_path)


@pytest.fixture
def project3(tmp_path: Path) -> Project:
    return make_project("3", tmp_path)


def lay_out(project: Project, tree: str, name: str, private: bool = False) -> TreeFolder:
    folder = project.folder / name
    return project.store.lay_out(project.trees, tree, folder, project.environment, private)


def content(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


@pytest.mark.parametrize("private", [False, True])
@pytest.mark.parametrize("count", [2, 50])
def test_the_folder_holds_the_tree(project3: Project, private: bool, count: int) -> None:
    files = {f"a/b{number}/c.py": f"x = {number}\n" for number in range(count)}
    tree = project3.tree(files)
    for number in range(2):
        assert content(lay_out(project3, tree, f"tree-{number}", private).folder) == files


def test_modes_links_and_submodules_are_kept(project3: Project) -> None:
    scratch = project3.scratch
    tree = scratch.update(
        None,
        {
            "plain": Entry("100644", scratch.write_blob(b"same")),
            "tool": Entry("100755", scratch.write_blob(b"same")),
            "link": Entry("120000", scratch.write_blob(b"/etc/passwd")),
            "module": Entry("160000", "1" * 40),
        },
    )
    folder = lay_out(project3, tree, "tree").folder
    assert [os.access(folder / name, os.X_OK) for name in ("plain", "tool")] == [False, True]
    assert os.readlink(folder / "link") == "/etc/passwd"
    assert list((folder / "module").iterdir()) == []


def test_equal_files_are_kept_once(project3: Project) -> None:
    first = lay_out(project3, project3.tree({"a.py": "1", "b.py": "2"}), "one")
    second = lay_out(project3, project3.tree({"a.py": "1", "b.py": "3"}), "two")
    assert (first.folder / "a.py").samefile(second.folder / "a.py")
    assert not (first.folder / "b.py").samefile(second.folder / "b.py")
    private = lay_out(project3, first.tree, "three", private=True)
    assert not (private.folder / "a.py").samefile(first.folder / "a.py")


def test_what_is_written_into_is_noticed_and_made_anew(project3: Project) -> None:
    tree = project3.tree({"a.py": "1", "b.py": "2"})
    first = lay_out(project3, tree, "one")
    assert first.changed() == ()
    (first.folder / "a.py").write_text("written")
    assert first.changed() == ("a.py",)
    assert content(lay_out(project3, tree, "two").folder) == {"a.py": "1", "b.py": "2"}


def test_a_damaged_store_is_mended(project3: Project) -> None:
    tree = project3.tree({f"{number}.py": str(number) for number in range(30)})
    first = lay_out(project3, tree, "one")
    kept = [path for path in (project3.workshop.cache / "trees").rglob("*") if path.is_file()]
    assert len(kept) == 30
    for path in kept[:25]:
        path.unlink()
    kept[25].write_text("damaged")
    assert content(lay_out(project3, tree, "two").folder) == {
        f"{number}.py": str(number) for number in range(30)
    }
    assert len(first.changed()) == 1


def test_times_tell_contents_apart() -> None:
    assert stamp("00" * 20) == 2**30
    assert stamp("ff" * 20) < 2**31
    assert stamp("0000001" + "0" * 33) == 2**30 + 1


TEST = "import unittest\nfrom lib import code\n\n\nclass T(unittest.TestCase):\n"
TEST += "    def test(self):\n        self.assertEqual(code.value, {value})\n"


def test_stale_bytecode_never_fakes_a_result(project: Project) -> None:
    # Trees of the same second, same sizes, and bytecode kept in between: the trap of Python 2.
    for value in (1, 2, 1, 3, 2):
        run = project.run(
            {
                "lib/__init__.py": "",
                "lib/code.py": f"value = {value}\n",
                "tests/test_it.py": TEST.format(value=value),
            }
        )
        assert run.green, run.results


def test_bytecode_is_kept_and_used(project: Project) -> None:
    files = {
        "lib/__init__.py": "",
        "lib/code.py": "value = 1\n",
        "tests/test_it.py": TEST.format(value=1),
    }
    assert project.run(files).green
    kept = list((project.workshop.cache / "trees" / "bytecode").rglob("*.pyc"))
    assert len(kept) == 3  # the two empty files are the same blob
    folder = lay_out(project, project.tree({"tests/__init__.py": "", **files}), "again").folder
    made = list(folder.rglob("*.pyc"))
    assert len(made) == 4
    assert {path.stat().st_ino for path in made} == {path.stat().st_ino for path in kept}
    before = {path: path.stat().st_mtime_ns for path in kept}
    assert project.run(files).green
    assert {path: path.stat().st_mtime_ns for path in kept} == before


def test_bytecode_of_another_environment_is_not_used(tmp_path: Path) -> None:
    project = make_project("3", tmp_path)
    files = {"tests/test_it.py": "import unittest\nclass T(unittest.TestCase):\n    pass\n"}
    project.run(files)
    other = Environment(project.environment.python, "other", project.environment.version, tmp_path)
    tree = project.tree(files)
    laid = project.store.lay_out(project.trees, tree, tmp_path / "other", other)
    assert not list(laid.folder.rglob("*.pyc"))


def test_bytecode_that_is_no_bytecode_is_not_kept(project3: Project) -> None:
    laid = lay_out(project3, project3.tree({"a.py": "1", "b.py": "2", "c.py": "3"}), "tree")
    tag = "cpython-" + "".join(project3.environment.version.split(".")[:2])
    (laid.folder / "__pycache__").mkdir()
    for name, data in {"a": b"", "b": b"\0" * 20, "c": b"abcd" * 10}.items():
        (laid.folder / "__pycache__" / f"{name}.{tag}.pyc").write_bytes(data)
    project3.store.keep_bytecode(laid, project3.environment)
    assert not (project3.workshop.cache / "trees" / "bytecode").exists()


def test_a_test_that_removes_its_tree_harms_no_other(project: Project) -> None:
    text = "import os, shutil, unittest\nclass T(unittest.TestCase):\n    def test(self):\n"
    files = {"tests/test_it.py": text + "        shutil.rmtree(os.getcwd())\n"}
    for _ in range(2):
        run = project.run(files)
        assert set(outcomes(run).values()) == {run.results[0].status}
        assert run.results[0].status.passed


def test_another_file_system_is_copied_to_once(project3: Project, tmp_path: Path) -> None:
    shared = Path("/dev/shm")
    if not shared.is_dir() or shared.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is no second file system")
    folder = shared / f"backport-{os.getpid()}-{time.time_ns()}"
    store = Store(folder)
    try:
        tree = project3.tree({"a.py": "1"})
        laid = store.lay_out(project3.trees, tree, tmp_path / "tree", project3.environment)
        assert content(laid.folder) == {"a.py": "1"}
        assert laid.changed() == ()
        second = store.lay_out(project3.trees, tree, tmp_path / "second", project3.environment)
        assert (second.folder / "a.py").samefile(laid.folder / "a.py")
        (second.folder / "a.py").write_text("2")
        assert laid.changed() == second.changed() == ("a.py",)
        third = store.lay_out(project3.trees, tree, tmp_path / "third", project3.environment)
        assert content(third.folder) == {"a.py": "1"}
    finally:
        for path in sorted(folder.rglob("*"), reverse=True):
            path.unlink() if path.is_file() else path.rmdir()
        folder.rmdir()
