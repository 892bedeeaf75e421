"""The plumbing: trees, patches, merges and commits without a work tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from backport.checkout.objects import Entry, Signed
from backport.checkout.repository import open_checkout
from backport.checkout.scratch import Scratch
from backport.series.model import Person
from gitrepo import Repo, make_repo, snapshot

ANN = Signed(Person("Ann Author", "ann@example.org"), "1530000000 +0200")
TEN = "".join(f"line {n}\n" for n in range(1, 11))


def scratch_of(repo: Repo, tmp_path: Path) -> Scratch:
    return open_checkout(repo.path).scratch(tmp_path / "scratch")


def test_what_is_made_here_does_not_reach_the_checkout(repo: Repo, tmp_path: Path) -> None:
    base = repo.commit("base", {"a": TEN})
    before = snapshot(repo.path)
    count = repo.git("count-objects")
    scratch = scratch_of(repo, tmp_path)
    made = scratch.make_commit(scratch.tree(base), (base,), "made", ANN, ANN)
    assert scratch.commit(made).parents == (base,)
    assert repo.git("cat-file", "-t", made, check=False) == ""
    assert repo.git("count-objects") == count
    assert snapshot(repo.path) == before


@pytest.mark.parametrize("name", ["a b", 'quo"te', "new\nline", "ünï", "#hash", "-dash", "co:lon"])
def test_a_checkout_may_lie_under_any_name(tmp_path: Path, name: str) -> None:
    repo = make_repo(tmp_path / name)
    base = repo.commit("base", {"a": TEN})
    assert scratch_of(repo, tmp_path).file(base, "a") == TEN.encode()


def test_apply_follows_offsets_and_says_why_it_does_not(repo: Repo, tmp_path: Path) -> None:
    base = repo.commit("base", {"a": TEN})
    changed = repo.commit("change", {"a": TEN.replace("line 5", "line V")})
    patch = repo.diff(base, changed)
    moved = repo.commit("moved", {"a": "more\n" * 3 + TEN})
    other = repo.commit("other", {"a": "other\n"})
    scratch = scratch_of(repo, tmp_path)
    done = scratch.apply(scratch.tree(moved), patch, ["a"])
    assert done.tree
    assert scratch.file(done.tree, "a") == b"more\n" * 3 + TEN.replace("line 5", "line V").encode()
    refused = scratch.apply(scratch.tree(other), patch, ["a"])
    assert refused.tree is None
    assert "patch failed: a:2" in refused.complaints


def test_applying_twice_from_the_same_tree_gives_the_same(repo: Repo, tmp_path: Path) -> None:
    base = repo.commit("base", {"a": TEN})
    patch = repo.diff(base, repo.commit("change", {"a": TEN.replace("line 5", "line V")}))
    scratch = scratch_of(repo, tmp_path)
    tree = scratch.tree(base)
    once = scratch.apply(tree, patch, ["a"]).tree
    assert once == scratch.apply(tree, patch, ["a"]).tree
    assert scratch.apply(str(once), patch, ["a"]).tree is None
    assert scratch.apply(str(once), patch, ["a"], reverse=True).tree == tree


def test_whitespace_errors_go_in_as_they_are(repo: Repo, tmp_path: Path) -> None:
    base = repo.commit("base", {"a": TEN, ".gitattributes": "* whitespace=fix\n"})
    new = TEN.replace("line 5", "line V \t ")
    changed = repo.commit("change", {"a": new})
    scratch = scratch_of(repo, tmp_path)
    done = scratch.apply(scratch.tree(base), repo.diff(base, changed), ["a"])
    assert done.tree == scratch.tree(changed)


def test_merge_takes_both_sides_and_reports_conflicts(repo: Repo, tmp_path: Path) -> None:
    base = repo.commit("base", {"a": TEN, "b": TEN})
    ours = repo.commit("ours", {"a": TEN.replace("line 2", "line II")})
    repo.git("checkout", "-q", base)
    theirs = repo.commit("theirs", {"a": TEN.replace("line 9", "line IX")})
    repo.git("checkout", "-q", base)
    clash = repo.commit("clash", {"a": TEN.replace("line 2", "line two")})
    scratch = scratch_of(repo, tmp_path)
    trees = [scratch.tree(commit) for commit in (base, ours, theirs, clash)]
    clean = scratch.merge(trees[0], trees[1], trees[2])
    assert not clean.conflicts
    both = TEN.replace("line 2", "line II").replace("line 9", "line IX")
    assert scratch.file(clean.tree, "a") == both.encode()
    conflict = scratch.merge(trees[0], trees[1], trees[3])
    assert list(conflict.conflicts) == ["a"]
    assert "content" in conflict.conflicts["a"][0]
    marked = scratch.file(conflict.tree, "a") or b""
    assert b"<<<<<<< branch\nline II\n|||||||" in marked
    assert b"line two\n>>>>>>> change\n" in marked


_HARD = "[stable only] Subject\n\n# a comment\n---\ndiff -\n\nFrom here: no\n\nChange-Id: I1\n"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("John Smith Jr.", _HARD),
        ("O'Neil", "Subject\n\n\n\n  indented\t\n"),
        ("Søren", "Ünï\n"),
        ('Quo"te', "m\n"),
        ("comma, name", "m\n"),
        ("dots...", "m\n"),
    ],
)
def test_names_and_messages_are_kept_byte_for_byte(
    repo: Repo, tmp_path: Path, name: str, message: str
) -> None:
    base = repo.commit("base", {"a": TEN})
    scratch = scratch_of(repo, tmp_path)
    who = Signed(Person(name, "x@example.org"), "1530000000 -0330")
    made = scratch.commit(scratch.make_commit(scratch.tree(base), (base,), message, who, ANN))
    assert (made.author, made.message) == (who, message)


def test_a_message_in_another_encoding_is_read(repo: Repo, tmp_path: Path) -> None:
    repo.git("config", "i18n.commitEncoding", "iso-8859-1")
    repo.write({"a": TEN})
    repo.git("add", "a")
    repo.git("commit", "-q", "-F", "-", stdin="Grün\n".encode("iso-8859-1"))
    scratch = scratch_of(repo, tmp_path)
    assert scratch.commit(repo.git("rev-parse", "HEAD")).message == "Grün\n"


def test_overlay_puts_one_tree_s_tests_on_the_other_s_code(repo: Repo, tmp_path: Path) -> None:
    code = repo.commit("code", {"p/m.py": "1\n", "p/tests/t.py": "1\n", "p/tests/old.py": "1\n"})
    tests = repo.commit(
        "tests",
        {"p/m.py": "2\n", "p/tests/t.py": "2\n", "p/tests/old.py": None, "p/tests/new.py": "2\n"},
    )
    scratch = scratch_of(repo, tmp_path)
    mixed = scratch.overlay(scratch.tree(code), scratch.tree(tests), ("p/tests/",))
    assert scratch.paths(mixed) == ["p/m.py", "p/tests/new.py", "p/tests/t.py"]
    assert scratch.file(mixed, "p/m.py") == b"1\n"
    assert scratch.file(mixed, "p/tests/t.py") == b"2\n"


def test_export_writes_the_tree_and_nothing_else(repo: Repo, tmp_path: Path) -> None:
    repo.write({"a": TEN, "d/run": "#!/bin/sh\n"})
    (repo.path / "d/run").chmod(0o755)
    (repo.path / "link").symlink_to("/etc/passwd")
    base = repo.commit("base")
    folder = tmp_path / "export"
    folder.mkdir()
    scratch_of(repo, tmp_path).export(base, folder)
    assert sorted(p.name for p in folder.rglob("*")) == ["a", "d", "link", "run"]
    assert (folder / "d/run").stat().st_mode & 0o100
    assert (folder / "link").is_symlink()


def test_search_finds_messages_and_patch_ids_commits(repo: Repo, tmp_path: Path) -> None:
    base = repo.commit("base", {"a": TEN})
    change = repo.commit("change\n\nChange-Id: I123", {"a": TEN.replace("line 5", "line V")})
    tip = repo.commit("later", {"b": "b\n"})
    scratch = scratch_of(repo, tmp_path)
    assert scratch.search(tip, ["I123"]) == [(change, "Change-Id: I123")]
    own = scratch.patch_id(repo.diff(base, change))
    assert scratch.patch_ids(tip, ["a"], 10)[next(iter(own))] == change


def test_a_pack_carries_what_the_base_lacks(repo: Repo, tmp_path: Path) -> None:
    base = repo.commit("base", {"a": TEN})
    scratch = scratch_of(repo, tmp_path)
    tree = scratch.update(
        scratch.tree(base), {"new": Entry("100644", scratch.write_blob(b"new\n"))}
    )
    made = scratch.make_commit(tree, (base,), "made", ANN, ANN)
    repo.git("unpack-objects", "-q", stdin=scratch.pack([made], base))
    assert repo.git("show", f"{made}:new") == "new"
    repo.git("fsck", "--strict")
