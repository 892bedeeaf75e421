"""Whatever kind of checkout it is, the same commits come out, and nothing else of it changes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gitrepo import Repo, snapshot
from plainrun import BRANCH, CRLF, SERIES, Plain, arrange, make_plain
from project import Project


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Plain:
    """Give a project, and what its series makes on a plain clone."""
    return make_plain(tmp_path_factory)


# -- states of a clone ----------------------------------------------------------------------


def dirty(repo: Repo) -> Repo:
    repo.write({"staged": "x\n", "crlf": "staged\n"})
    repo.git("add", "staged", "crlf")
    repo.git("stash", "-q")
    repo.write({"staged": "x\n", "crlf": "other\n", "binary": None, "untracked/x": "x\n"})
    repo.git("add", "staged")
    repo.git("add", "--intent-to-add", "untracked/x")
    return repo


def in_the_middle_of(*command: str) -> Callable[[Repo], Repo]:
    """Leave a conflict between two branches behind, by a command on the one that ends in it."""

    def make(repo: Repo) -> Repo:
        repo.git("branch", "-q", "theirs", "stable/ocata")
        repo.git("checkout", "-q", "-b", "ours", "stable/ocata")
        ours = repo.commit("ours", {"crlf": "ours\n"})
        repo.git("checkout", "-q", "theirs")
        repo.commit("theirs", {"crlf": "theirs\n"})
        repo.git("config", "rerere.enabled", "true")
        if command[0] == "am":
            mail = repo.git("format-patch", "--stdout", "-1", ours).encode()
            repo.git("am", "--3way", stdin=mail, check=False)
        else:
            repo.git(*command, check=False)
        assert repo.git("status", "--porcelain") or (repo.path / ".git/rebase-apply").exists()
        return repo

    return make


def bisecting(repo: Repo) -> Repo:
    repo.git("bisect", "start", "HEAD", "HEAD~1")
    return repo


def head_to_nowhere(repo: Repo) -> Repo:
    repo.git("symbolic-ref", "HEAD", "refs/heads/not/made/yet")
    return repo


def detached(repo: Repo) -> Repo:
    repo.git("checkout", "-q", "--detach", "stable/ocata~1")
    return repo


def packed(repo: Repo) -> Repo:
    repo.git("tag", "-a", "-m", "x", "1.1.0", "stable/ocata~1")
    repo.git("gc", "-q", "--prune=now")
    repo.git("commit-graph", "write", "--reachable")
    repo.git("multi-pack-index", "write")
    return repo


def sparse_index(repo: Repo) -> Repo:
    repo.git("sparse-checkout", "set", "--cone", "--sparse-index", "d")
    return repo


def split_index(repo: Repo) -> Repo:
    repo.git("update-index", "--split-index", "--untracked-cache")
    return repo


def damaged_index(repo: Repo) -> Repo:
    (repo.path / ".git/index").write_bytes(b"not an index")
    return repo


def only_a_remote_branch(repo: Repo) -> Repo:
    repo.git("update-ref", "refs/remotes/upstream/stable/ocata", "stable/ocata")
    repo.git("checkout", "-q", "-b", "work")
    repo.git("branch", "-q", "-D", "stable/ocata")
    return repo


def only_the_last_tag(repo: Repo) -> Repo:
    repo.git("tag", "-a", "-m", "the end", "ocata-eol", "stable/ocata")
    repo.git("checkout", "-q", "--detach")
    repo.git("branch", "-q", "-D", "stable/ocata")
    return repo


def a_file_of_the_same_name(repo: Repo) -> Repo:
    repo.write({"stable/ocata": "a file\n", "ocata-eol": "x\n", "backport/ocata/bug-1": "x\n"})
    repo.git("tag", "stable/ocata", "stable/ocata~1")
    return repo


# -- other kinds of repository ----------------------------------------------------------------


def beside(repo: Repo, name: str = "other") -> Path:
    return repo.path.with_name(name)


def bare(repo: Repo) -> Repo:
    repo.git("clone", "-q", "--bare", ".", str(beside(repo)))
    return with_identity(Repo(beside(repo)))


def linked(repo: Repo) -> Repo:
    repo.git("worktree", "add", "-q", str(beside(repo)), "-b", "elsewhere", "HEAD~1")
    return Repo(beside(repo))


def worktree_of_a_bare_one(repo: Repo) -> Repo:
    repo.git("clone", "-q", "--bare", ".", str(beside(repo, "bare")))
    Repo(beside(repo, "bare")).git("worktree", "add", "-q", str(beside(repo)), "stable/ocata")
    return with_identity(Repo(beside(repo)))


def a_git_directory_elsewhere(repo: Repo) -> Repo:
    repo.git("clone", "-q", "--separate-git-dir", str(beside(repo, "dir")), ".", str(beside(repo)))
    return with_identity(Repo(beside(repo)))


def a_link_to_it(repo: Repo) -> Repo:
    beside(repo).symlink_to(repo.path)
    return Repo(beside(repo))


def a_linked_git_directory(repo: Repo) -> Repo:
    (repo.path / ".git").rename(beside(repo, "dir"))
    (repo.path / ".git").symlink_to(beside(repo, "dir"))
    return repo


def a_submodule(repo: Repo) -> Repo:
    """Make it somebody's submodule: its git directory is in theirs, and names the work tree."""
    outer = Repo(beside(repo, "outer"))
    outer.path.mkdir()
    outer.git("init", "-q")
    outer.git("-c", "protocol.file.allow=always", "submodule", "-q", "add", str(repo.path), "sub")
    return with_identity(Repo(outer.path / "sub"))


def borrowing(repo: Repo) -> Repo:
    repo.git("clone", "-q", "--shared", ".", str(beside(repo, "first")))
    Repo(beside(repo, "first")).git("clone", "-q", "--shared", ".", str(beside(repo)))
    return with_identity(Repo(beside(repo)))


def borrowing_from_near(repo: Repo) -> Repo:
    """Let it borrow objects by a relative path, and through a list with a comment and a quote."""
    other = borrowing(repo)
    alternates = other.path / ".git/objects/info/alternates"
    alternates.write_text('# by hand\n"../../../checkout/.git/objects"\n')
    shutil.rmtree(beside(repo, "first"))
    return other


def shallow(repo: Repo) -> Repo:
    repo.git("clone", "-q", "--depth=2", f"file://{repo.path}", str(beside(repo)))
    return with_identity(Repo(beside(repo)))


def partial(repo: Repo) -> Repo:
    """Leave all files out of a clone, even those of HEAD."""
    repo.git("config", "uploadpack.allowFilter", "true")
    repo.git("config", "uploadpack.allowAnySHA1InWant", "true")
    how = ("--filter=blob:none", "--no-checkout")
    repo.git("clone", "-q", *how, f"file://{repo.path}", str(beside(repo)))
    return with_identity(Repo(beside(repo)))


def with_identity(repo: Repo) -> Repo:
    repo.git("config", "user.name", "Carl Committer")
    repo.git("config", "user.email", "carl@example.org")
    return repo


KINDS: dict[str, Callable[[Repo], Repo]] = {
    "dirty": dirty,
    "rebasing": in_the_middle_of("rebase", "ours"),
    "rebasing by patches": in_the_middle_of("rebase", "--apply", "ours"),
    "merging": in_the_middle_of("merge", "ours"),
    "cherry-picking": in_the_middle_of("cherry-pick", "ours"),
    "reverting": in_the_middle_of("revert", "--no-edit", "ours"),
    "applying mails": in_the_middle_of("am"),
    "bisecting": bisecting,
    "unborn": head_to_nowhere,
    "detached": detached,
    "packed": packed,
    "sparse index": sparse_index,
    "split index": split_index,
    "damaged index": damaged_index,
    "only a remote's branch": only_a_remote_branch,
    "only the tag at the branch's end": only_the_last_tag,
    "files and tags of the same name": a_file_of_the_same_name,
    "bare": bare,
    "linked worktree": linked,
    "worktree of a bare one": worktree_of_a_bare_one,
    "git directory elsewhere": a_git_directory_elsewhere,
    "a link to it": a_link_to_it,
    "a linked git directory": a_linked_git_directory,
    "a submodule": a_submodule,
    "borrowing": borrowing,
    "borrowing from near": borrowing_from_near,
    "shallow": shallow,
    "partial": partial,
}


@pytest.mark.parametrize("kind", KINDS)
def test_any_kind_of_checkout_gets_the_same_commits(
    plain: Plain, tmp_path: Path, kind: str
) -> None:
    project = plain.copy(tmp_path / "project")
    repo = KINDS[kind](project.repo)
    before = snapshot(repo.path), snapshot(project.repo.path)
    ran = Project(project.root, repo).apply(SERIES)
    assert ran.code == 0, ran.err + ran.out
    after = snapshot(repo.path), snapshot(project.repo.path)
    assert after[0].refs[BRANCH] == plain.tip
    assert tuple(found.without(BRANCH) for found in after) == before
    repo.git("fsck", "--strict", "--connectivity-only", BRANCH)


def test_what_a_partial_clone_lacks_is_fetched_at_once_and_not_into_it(
    plain: Plain, tmp_path: Path
) -> None:
    """Once what the base lacks, and once what the commits that are picked lack."""
    project = plain.copy(tmp_path / "project")
    project.repo.git("checkout", "-q", "-b", "stable/pike")
    one = project.repo.commit("Fix it\n\nChange-Id: I" + "a" * 40, {"crlf": "1\n" + CRLF})
    two = project.repo.commit("Fix that\n\nChange-Id: I" + "b" * 40, {"crlf": "2\n" + CRLF})
    repo = partial(project.repo)
    series = project.series([pick(one, "a"), pick(two, "b")], name="picked")
    asked, hook = tmp_path / "asked", tmp_path / "hook"
    hook.write_text(f'#!/bin/sh\necho >> {asked}\nexec "$@"\n')
    hook.chmod(0o755)
    repo.git("config", "--global", "uploadpack.packObjectsHook", str(hook))
    listed = ("rev-list", "--objects", "--missing=print")
    missing = repo.git(*listed, "--all")
    ran = Project(project.root, repo).apply(series)
    assert ran.code == 0, ran.err + ran.out
    assert "partial" in ran.report["checkout"]["kind"]
    assert len(asked.read_text().splitlines()) == 2
    now = repo.git(*listed, "origin/stable/ocata", "origin/stable/pike")
    gone = {line[1:] for line in missing.split("\n") if line.startswith("?")}
    left = {line[1:] for line in now.split("\n") if line.startswith("?")}
    tip = "refs/heads/backport/ocata/picked"
    assert gone - left == set(repo.git("rev-parse", f"{tip}:crlf", f"{tip}~1:crlf").split())


def pick(commit: str, digit: str) -> dict[str, object]:
    return {"commit": commit, "kind": "fix", "change-id": "I" + digit * 40}


def test_a_partial_clone_whose_remote_is_gone_says_so(plain: Plain, tmp_path: Path) -> None:
    project = plain.copy(tmp_path / "project")
    repo = partial(project.repo)
    project.repo.path.rename(tmp_path / "gone")
    before = snapshot(repo.path)
    ran = Project(project.root, repo).apply(SERIES)
    assert ran.code == 4
    assert "is a partial clone, and what it lacks cannot be fetched" in ran.err
    assert "fetch --refetch" in ran.err
    assert snapshot(repo.path) == before


@pytest.mark.parametrize("url", ["ext::touch MARK", "-uMARK", "MARK"])
def test_nothing_is_run_for_a_partial_clone(plain: Plain, tmp_path: Path, url: str) -> None:
    project = plain.copy(tmp_path / "project")
    repo = partial(project.repo)
    mark = tmp_path / "mark"
    repo.git("config", "remote.origin.url", url.replace("MARK", str(mark)))
    repo.git("config", "remote.origin.uploadpack", f"touch {mark};")
    repo.git("config", "protocol.ext.allow", "always")
    ran = Project(project.root, repo).apply(SERIES)
    assert ran.code == 2
    assert "no URL that is cloned from" in ran.err
    assert not mark.exists()


def test_a_clone_without_trees_is_refused(plain: Plain, tmp_path: Path) -> None:
    project = plain.copy(tmp_path / "project")
    partial(project.repo)
    shutil.rmtree(beside(project.repo))
    how = ("--filter=tree:0", "--no-checkout")
    project.repo.git("clone", "-q", *how, f"file://{project.repo.path}", "../other")
    repo = with_identity(Repo(beside(project.repo)))
    before = snapshot(repo.path)
    ran = Project(project.root, repo).apply(SERIES)
    assert ran.code == 2
    assert "clone without trees" in ran.err
    assert snapshot(repo.path) == before


def test_a_shallow_clone_says_that_history_is_cut_off(plain: Plain, tmp_path: Path) -> None:
    """Where that is why something is not found: the files that a patch was made from, a commit."""
    project = plain.copy(tmp_path / "project")
    repo = project.repo
    older, newer = repo.git("rev-parse", "stable/ocata~1", "stable/ocata").split()
    how = ("clone", "-q", "--depth=1", "--branch=stable/ocata", f"file://{repo.path}")
    repo.git(*how, str(beside(repo)))
    shallow = Project(project.root, with_identity(Repo(beside(repo))))
    before = snapshot(shallow.repo.path)
    merged = shallow.apply(SERIES)
    assert merged.code == 3
    assert "which it was made from, is not in the checkout" in merged.out
    assert "shallow" in merged.report["conflict"]["files"][0]["reasons"][-1]
    onto = shallow.apply(SERIES, "--onto", older, "--branch-name", "x")
    picked = shallow.apply(project.series([pick(older, "a")], name="picked"))
    root = shallow.apply(project.series([pick(newer, "a")], name="root"))
    for ran in (onto, picked, root):
        assert ran.code == 2
        assert "shallow" in ran.err + ran.out
    assert snapshot(shallow.repo.path) == before


# -- names ----------------------------------------------------------------------------------------

NAMES = [
    "with spaces", "-dash", "--upload-pack=x", "quote\"s'", "new\nline", "grün-鉛", "back\\slash",
    "co:lon", "per%cent", "$HOME", "~x", "*", "#hash", "http:", "x" * 200, "dot.", "\x01\x7f",
    "not-utf8-\udcff", "[bold]", "a@b.c:d", "{braces}",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_checkout_may_have_any_name(plain: Plain, tmp_path: Path, name: str) -> None:
    project = plain.copy(tmp_path / "project", name)
    before = snapshot(project.repo.path)
    ran = project.run("run", SERIES, f"--checkout={name}", "--skip-tests")
    assert ran.code == 0, ran.err + ran.out
    after = snapshot(project.repo.path)
    assert after.refs[BRANCH] == plain.tip
    assert after.without(BRANCH) == before


def test_a_checkout_of_sha256_gets_the_same_trees(plain: Plain, tmp_path: Path) -> None:
    (tmp_path / "sha256").mkdir()
    project = arrange(tmp_path / "sha256", "--object-format=sha256")
    before = snapshot(project.repo.path)
    ran = project.apply(SERIES)
    assert ran.code == 0, ran.err + ran.out
    assert snapshot(project.repo.path).without(BRANCH) == before
    other = plain.copy(tmp_path / "project")
    assert other.apply(SERIES).code == 0
    assert project.files() == other.files()
    project.repo.git("fsck", "--strict")


# -- read only ------------------------------------------------------------------------------------


def read_only(project: Project, *args: str) -> subprocess.CompletedProcess[str]:
    """Run the command with the checkout mounted read-only, in a mount namespace of its own."""
    script = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@"'
    where = str(project.repo.path)
    command = (sys.executable, "-m", "backport", "run", SERIES, "--checkout", where, *args)
    return subprocess.run(
        ["unshare", "--map-root-user", "--mount", "sh", "-c", script, "sh", where, *command],
        cwd=project.root,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_checkout_that_cannot_be_written_is_read_all_the_same(
    plain: Plain, tmp_path: Path
) -> None:
    project = plain.copy(tmp_path / "project")
    before = snapshot(project.repo.path)
    objects = sorted(path for path in (project.repo.path / ".git/objects").rglob("*"))
    dry = read_only(project, "--skip-tests", "--dry-run")
    if "unshare" in dry.stderr or "mount:" in dry.stderr:
        pytest.skip(f"no mounts here: {dry.stderr}")
    assert dry.returncode == 0, dry.stderr
    wet = read_only(project, "--skip-tests", "--json")  # a terminal would cut a long path
    assert wet.returncode == 4
    assert "cannot be written" in wet.stdout
    assert "Traceback" not in wet.stderr
    assert snapshot(project.repo.path) == before
    assert sorted((project.repo.path / ".git/objects").rglob("*")) == objects


# -- what is none ---------------------------------------------------------------------------------


def test_a_checkout_of_another_project_is_refused(plain: Plain, tmp_path: Path) -> None:
    project = plain.copy(tmp_path / "project")
    text = "[gerrit]\nhost=review.example.org\nproject=openstack/other.git\n"
    project.repo.commit("another", {".gitreview": text})
    ran = project.apply(SERIES)
    assert ran.code == 2
    assert "is a checkout of openstack/other" in ran.err


def test_a_checkout_without_the_branch_says_what_was_looked_for(
    plain: Plain, tmp_path: Path
) -> None:
    project = plain.copy(tmp_path / "project")
    project.repo.git("branch", "-m", "stable/ocata", "master")
    ran = project.apply(SERIES)
    assert ran.code == 2
    for name in ("stable/ocata", "<remote>/stable/ocata", "ocata-eol"):
        assert name in ran.err


def no_folder(folder: Path) -> None:
    """Make nothing."""


def a_name_that_is_too_long(folder: Path) -> None:
    folder.symlink_to("x" * 300)


def a_file(folder: Path) -> None:
    folder.write_text("x")


def an_empty_folder(folder: Path) -> None:
    folder.mkdir()


def an_empty_git_folder(folder: Path) -> None:
    (folder / ".git").mkdir(parents=True)


def a_git_file_that_leads_nowhere(folder: Path) -> None:
    folder.mkdir()
    (folder / ".git").write_text("gitdir: /nowhere\n")


def a_folder_within_one(folder: Path) -> None:
    (folder.with_name("checkout") / "d").rename(folder.with_name("checkout") / "e")
    folder.symlink_to(folder.with_name("checkout") / "e")


NONE = [
    no_folder,
    a_name_that_is_too_long,
    a_file,
    an_empty_folder,
    an_empty_git_folder,
    a_git_file_that_leads_nowhere,
    a_folder_within_one,
]


@pytest.mark.parametrize("kind", NONE)
def test_what_is_no_checkout_is_refused(
    plain: Plain, tmp_path: Path, kind: Callable[[Path], None]
) -> None:
    project = plain.copy(tmp_path / "project")
    kind(project.root / "other")
    ran = project.run("run", SERIES, "--checkout", "other", "--skip-tests")
    assert ran.code == 2
    assert re.search("no git repository|there is no folder|is no folder", ran.err)
    assert ran.err.count("error: ") == 1


def test_a_repository_of_another_form_is_refused(plain: Plain, tmp_path: Path) -> None:
    project = plain.copy(tmp_path / "project")
    project.repo.git("config", "core.repositoryFormatVersion", "99")
    ran = project.apply(SERIES)
    assert ran.code == 2
    assert "version" in ran.err


def test_a_damaged_repository_is_said_so(plain: Plain, tmp_path: Path) -> None:
    project = plain.copy(tmp_path / "project")
    shutil.rmtree(project.repo.path / ".git/objects")
    (project.repo.path / ".git/objects").mkdir()
    ran = project.apply(SERIES)
    assert ran.code == 4
    assert ran.err.count("error: ") == 1


# -- URLs -----------------------------------------------------------------------------------------


def test_a_url_is_cloned_once(plain: Plain, tmp_path: Path) -> None:
    project = plain.copy(tmp_path / "project")
    with_identity_of_the_user = ("user.name=Carl Committer", "user.email=carl@example.org")
    for setting in with_identity_of_the_user:
        project.repo.git("config", "--global", *setting.split("="))
    url = f"file://{project.repo.path}"
    first = project.run("run", SERIES, "--checkout", url, "--skip-tests", "--json")
    assert first.code == 0, first.err + first.out
    assert first.report["branch"]["tip"] == plain.tip
    project.repo.path.rename(tmp_path / "gone")
    second = project.run("run", SERIES, "--checkout", url, "--skip-tests", "--json")
    assert second.report["branch"]["action"] == "nothing-to-do"


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("ext::touch MARK", 2),
        ("ext::sh -c touch% MARK", 2),
        ("fd::17", 2),
        ("-u touch MARK", 2),
        ("--upload-pack=touch MARK", 2),
        ("ssh://-oProxyCommand=touch MARK/x", 2),
        ("ssh://-oProxyCommand=touch%20MARK/x", 2),
        ("git@-oProxyCommand=MARK:x", 2),
        ("ftp://example.org/x", 2),
        ("javascript://x", 2),
        ("file://nowhere", 2),
        ("file:///nowhere/at/all", 4),
    ],
)
def test_a_url_that_runs_something_or_leads_nowhere_is_refused(
    plain: Plain, tmp_path: Path, url: str, code: int
) -> None:
    project = plain.copy(tmp_path / "project")
    mark = tmp_path / "mark"
    ran = project.run("run", SERIES, f"--checkout={url.replace('MARK', str(mark))}", "--skip-tests")
    assert ran.code == code, ran.err
    assert ran.err.count("error: ") == 1
    assert not mark.exists()
    assert not list(tmp_path.glob("**/*.git.part"))


def test_passwords_in_urls_are_not_shown(plain: Plain, tmp_path: Path) -> None:
    project = plain.copy(tmp_path / "project")
    url = "https://carl:secret@127.0.0.1:9/x.git"
    ran = project.run("run", SERIES, "--checkout", url, "--skip-tests")
    assert ran.code == 4
    assert "cannot clone https://carl@127.0.0.1:9/x.git" in ran.err
    assert "secret" not in ran.err + ran.out
