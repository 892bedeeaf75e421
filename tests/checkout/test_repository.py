"""The checkout is read in whatever state it is, and one method moves refs, all or none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from backport.checkout.objects import Signed
from backport.checkout.repository import Checkout, Identities, open_checkout
from backport.checkout.transaction import RefUpdate, hand_over
from backport.errors import RefusedError, UsageError
from backport.series.model import Person
from gitrepo import Repo, make_repo, snapshot

CARL = Person("Carl Committer", "carl@example.org")
WHO = Signed(CARL, "1530000000 +0000")


def made_on(repo: Repo, tmp_path: Path, base: str) -> tuple[bytes, str]:
    """Make a commit on ``base``; return its pack and its id."""
    scratch = open_checkout(repo.path).scratch(tmp_path / "scratch")
    made = scratch.make_commit(scratch.tree(base), (base,), "made", WHO, WHO)
    return scratch.pack([made], base), made


def test_a_clone_a_bare_one_and_a_linked_worktree_are_told_apart(
    repo: Repo, tmp_path: Path
) -> None:
    repo.commit("base", {"a": "a\n"})
    repo.git("clone", "-q", "--bare", ".", str(tmp_path / "bare"))
    repo.git("worktree", "add", "-q", str(tmp_path / "linked"), "-b", "other")
    repo.git("clone", "-q", "--depth=1", f"file://{repo.path}", str(tmp_path / "shallow"))
    kinds = [
        open_checkout(path).kind
        for path in (repo.path, tmp_path / "bare", tmp_path / "linked", tmp_path / "shallow")
    ]
    assert kinds == ["clone", "bare repository", "clone, linked worktree", "clone, shallow"]


def test_a_git_directory_may_be_named_itself(repo: Repo) -> None:
    base = repo.commit("base", {"a": "a\n"})
    assert open_checkout(repo.path / ".git").resolve("HEAD") == base


def test_a_folder_within_a_repository_is_none(repo: Repo) -> None:
    repo.commit("base", {"d/a": "a\n"})
    with pytest.raises(UsageError, match="is no git repository"):
        open_checkout(repo.path / "d")


def test_a_missing_folder_and_an_empty_one_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no folder"):
        open_checkout(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="is no git repository"):
        open_checkout(tmp_path)


def test_revisions_that_look_like_options_mean_nothing(repo: Repo) -> None:
    repo.commit("base", {"a": "a\n"})
    checkout = open_checkout(repo.path)
    for rev in ("--all", "-n1", "--exec=x", "HEAD..", "", "nowhere"):
        assert checkout.resolve(rev) is None


def test_reading_changes_nothing_even_in_the_middle_of_a_rebase(repo: Repo) -> None:
    repo.commit("base", {"a": "a\n"})
    repo.commit("one", {"a": "one\n"})
    repo.git("branch", "topic", "HEAD~1")
    repo.git("checkout", "-q", "topic")
    repo.commit("two", {"a": "two\n"})
    repo.git("rebase", "stable/ocata", check=False)
    repo.write({"untracked": "x\n", "a": "dirty\n"})
    before = snapshot(repo.path)
    checkout = open_checkout(repo.path)
    checkout.identities()
    checkout.describe(checkout.resolve("HEAD") or "")
    assert checkout.holders("refs/heads/topic") != []
    assert snapshot(repo.path) == before


def test_a_branch_that_is_checked_out_anywhere_is_known(repo: Repo, tmp_path: Path) -> None:
    repo.commit("base", {"a": "a\n"})
    repo.git("worktree", "add", "-q", str(tmp_path / "linked"), "-b", "other")
    checkout = open_checkout(repo.path)
    assert checkout.holders("refs/heads/stable/ocata") == [repo.path]
    assert checkout.holders("refs/heads/other") == [tmp_path / "linked"]
    assert checkout.holders("refs/heads/none") == []


def test_identities_follow_git_s_own_rule(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    checkout = open_checkout(repo.path)
    assert checkout.identities() == Identities(CARL, CARL)
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Ann Author")
    assert checkout.identities().author.name == "Ann Author"


def test_a_global_identity_counts(repo: Repo) -> None:
    repo.git("config", "--unset", "user.name")
    repo.git("config", "--unset", "user.email")
    settings = Path(os.environ["HOME"]) / ".gitconfig"
    settings.write_text("[user]\nname = Glo Bal\nemail = glo@example.org\n")
    assert open_checkout(repo.path).identities().committer == Person("Glo Bal", "glo@example.org")


def test_nobody_is_a_usage_error_with_the_remedy(repo: Repo) -> None:
    repo.git("config", "--unset", "user.name")
    repo.git("config", "--unset", "user.email")
    repo.git("config", "user.useConfigOnly", "true")
    with pytest.raises(UsageError, match="does not know who you are") as caught:
        open_checkout(repo.path).identities()
    assert "git config --global user.name" in caught.value.hint


def test_publishing_moves_the_ref_and_nothing_else(repo: Repo, tmp_path: Path) -> None:
    base = repo.commit("base", {"a": "a\n"})
    before = snapshot(repo.path)
    pack, made = made_on(repo, tmp_path, base)
    checkout = open_checkout(repo.path)
    hand_over(
        checkout,
        tmp_path / "note",
        pack,
        [RefUpdate("refs/heads/backport/x", made, None)],
        WHO,
        "why",
    )
    after = snapshot(repo.path)
    assert after.refs["refs/heads/backport/x"] == made
    assert after.without("refs/heads/backport/x") == before
    repo.git("fsck", "--strict")


def make_branch(repo: Repo, tmp_path: Path, pack: bytes, tip: str) -> None:
    """Hand a pack over, and make the branch ``backport/x`` of its tip."""
    updates = [RefUpdate("refs/heads/backport/x", tip, None)]
    hand_over(open_checkout(repo.path), tmp_path / "note", pack, updates, WHO, "why")


def test_a_branch_that_came_up_meanwhile_is_not_overwritten(repo: Repo, tmp_path: Path) -> None:
    base = repo.commit("base", {"a": "a\n"})
    pack, made = made_on(repo, tmp_path, base)
    repo.git("branch", "backport/x", base)
    before = snapshot(repo.path)
    with pytest.raises(RefusedError, match="backport/x"):
        make_branch(repo, tmp_path, pack, made)
    assert snapshot(repo.path) == before


def test_of_two_refs_both_move_or_none(repo: Repo, tmp_path: Path) -> None:
    base = repo.commit("base", {"a": "a\n"})
    pack, made = made_on(repo, tmp_path, base)
    before = snapshot(repo.path)
    updates = [
        RefUpdate("refs/backport/replaced/x", base, None),
        RefUpdate("refs/heads/stable/ocata", made, made),  # it holds base
    ]
    with pytest.raises(RefusedError):
        hand_over(open_checkout(repo.path), tmp_path / "note", pack, updates, WHO, "why")
    assert snapshot(repo.path) == before


def test_no_hook_runs(repo: Repo, tmp_path: Path) -> None:
    base = repo.commit("base", {"a": "a\n"})
    hooks = repo.path / ".git/hooks"
    hooks.mkdir()
    mark = tmp_path / "mark"
    for name in ("reference-transaction", "post-checkout", "pre-commit", "post-index-change"):
        (hooks / name).write_text(f"#!/bin/sh\necho {name} >> {mark}\n")
        (hooks / name).chmod(0o755)
    pack, made = made_on(repo, tmp_path, base)
    make_branch(repo, tmp_path, pack, made)
    assert not mark.exists()


@pytest.mark.parametrize("name", ["", "-x", "a..b", "a b", "x.lock", "@{-1}", "a//b", "HEAD"])
def test_what_is_no_branch_name_is_refused(repo: Repo, name: str) -> None:
    repo.commit("base", {"a": "a\n"})
    with pytest.raises(UsageError, match="no name for a branch"):
        Checkout(repo.path).check_branch_name(name)


def test_a_shallow_clone_can_be_worked_on(repo: Repo, tmp_path: Path) -> None:
    for n in range(3):
        repo.commit(f"{n}\n\nChange-Id: I{n}", {"a": f"{n}\n"})
    repo.git("clone", "-q", "--depth=1", f"file://{repo.path}", str(tmp_path / "shallow"))
    shallow = open_checkout(tmp_path / "shallow")
    tip = str(shallow.resolve("HEAD"))
    scratch = shallow.scratch(tmp_path / "scratch")
    assert scratch.search(tip, ["I2", "I1"]) == [(tip, "Change-Id: I2")]


def test_a_repository_with_alternates_can_be_worked_on(repo: Repo, tmp_path: Path) -> None:
    base = repo.commit("base", {"a": "a\n"})
    repo.git("clone", "-q", "--shared", str(repo.path), str(tmp_path / "shared"))
    shared = Repo(tmp_path / "shared")
    shared.git("config", "user.email", "x@example.org")
    assert made_on(shared, tmp_path, base)[1]


def test_another_owner_s_settings_are_not_asked_for(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "theirs")
    base = repo.commit("base", {"a": "a\n"})
    if os.getuid() != 0:
        pytest.skip("only root can give a folder away")
    for path in (repo.path, repo.path / ".git"):
        os.chown(path, 12345, 12345)
    assert open_checkout(repo.path).resolve("HEAD") == base
