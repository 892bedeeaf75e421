"""Nothing of the user's settings takes part, and what git says is told apart."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from backport.checkout.git import Git, GitFailedError, git_version, scrub
from gitrepo import Repo

HOSTILE_SETTINGS = """
[core]
    hooksPath = {hooks}
    fsmonitor = {hooks}/mark
    pager = {hooks}/mark
    autocrlf = true
    quotePath = true
    attributesFile = {hooks}/attributes
[color]
    ui = always
[alias]
    rev-parse = !{hooks}/mark
[apply]
    whitespace = fix
[diff]
    external = {hooks}/mark
    noprefix = true
[commit]
    gpgsign = true
[i18n]
    commitEncoding = latin1
    logOutputEncoding = latin1
[log]
    showSignature = true
"""


def test_the_users_settings_are_cut_off(repo: Repo, tmp_path: Path) -> None:
    home = Path(os.environ["HOME"])
    (home / ".gitconfig").write_text(HOSTILE_SETTINGS.format(hooks=tmp_path))
    told = Git(repo.path).run("config", "--list").text
    assert "gpgsign" not in told
    assert "core.hookspath=/dev/null" in told


def test_the_checkouts_settings_are_overruled(repo: Repo) -> None:
    repo.git("config", "core.fsmonitor", "/bin/false")
    repo.git("config", "core.hooksPath", "/elsewhere")
    git = Git(repo.path)
    assert git.run("config", "--get", "core.fsmonitor").text == "false"
    assert git.run("config", "--get", "core.hooksPath").text == "/dev/null"


def test_the_environment_is_scrubbed_but_for_who_commits_and_how_remotes_are_reached() -> None:
    environ = {
        "GIT_DIR": "/elsewhere",
        "GIT_CONFIG_PARAMETERS": "'core.pager=x'",
        "GIT_OBJECT_DIRECTORY": "/elsewhere",
        "GIT_COMMITTER_DATE": "1 +0000",
        "GIT_COMMITTER_NAME": "Carl",
        "GIT_SSH_COMMAND": "ssh -i key",
        "GITHUB_TOKEN": "not git's",
        "HOME": "/home",
    }
    scrub(environ)
    assert sorted(environ) == ["GITHUB_TOKEN", "GIT_COMMITTER_NAME", "GIT_SSH_COMMAND", "HOME"]


def test_git_does_not_look_above_the_folder(repo: Repo) -> None:
    below = repo.path / "below"
    below.mkdir()
    with pytest.raises(GitFailedError, match="not a git repository"):
        Git(below).run("rev-parse", "--git-dir")


def test_an_unexpected_status_is_an_error_with_git_s_reason(repo: Repo) -> None:
    with pytest.raises(GitFailedError, match=r"cat-file failed with status 128: .*bad file"):
        Git(repo.path).run("cat-file", "blob", "0" * 40)


def test_an_expected_status_is_a_result(repo: Repo) -> None:
    assert Git(repo.path).run("cat-file", "-e", "0" * 40, ok=(0, 1, 128)).status in (1, 128)


def test_a_nul_in_an_argument_is_an_error_of_ours(repo: Repo) -> None:
    with pytest.raises(GitFailedError, match="cannot be asked"):
        Git(repo.path).run("rev-parse", "a\0b")


def test_input_and_output_are_bytes(repo: Repo) -> None:
    data = bytes(range(256))
    git = Git(repo.path)
    blob = git.run("hash-object", "-w", "--stdin", stdin=data).text
    assert git.run("cat-file", "blob", blob).out == data


def test_the_version_is_new_enough() -> None:
    assert git_version() >= (2, 38)


def fake_git(folder: Path, script: str) -> str:
    """Make a program that stands for git, and return a PATH with nothing else on it."""
    folder.mkdir()
    (folder / "git").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "git").chmod(0o755)
    return str(folder)


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("", "git does not answer"),
        ("echo git version 2.37.9", "'git version 2.37.9' is too old"),
        ("exit 1", "git does not answer"),
        ("echo hello", "git does not answer"),
        ('kill -9 "$$"', "git does not answer"),
    ],
)
def test_without_a_git_that_works_a_line_says_so(tmp_path: Path, script: str, says: str) -> None:
    """In a process of its own: GitPython asks once, and cannot be loaded without a git."""
    path = fake_git(tmp_path / "bin", script) if script else str(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "backport", "run", "ocata/bug-1783613", "--checkout", str(tmp_path)],
        env=os.environ | {"PATH": path, "PYTHONPATH": str(Path(__file__).parents[2])},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 4
    assert f"error: {says}" in done.stderr
    assert "2.38" in done.stderr
    assert "Traceback" not in done.stderr
