"""Every test is hermetic: its own HOME, fixed dates, no identity and no settings from outside."""

from __future__ import annotations

import os
import signal
from collections import Counter
from pathlib import Path

import pytest

from backport.environment.interpreter import find_interpreter
from backport.errors import CannotTellError
from gitrepo import Repo, make_repo
from plumbing import GitRepo
from project import Project, make_project
from stranger import Stranger

# A shell without job control has its background jobs ignore Ctrl-C, and so would all
# that the tests start; some test what Ctrl-C does.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def hermetic(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Cut off whatever the machine has of git settings, identities and caches."""
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(("GIT_", "XDG_", "BACKPORT_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("BACKPORT_BUILD", str(home / "build"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("TZ", "UTC")


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """Give an empty repository with an identity of its own."""
    return make_repo(tmp_path / "checkout")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Give a small project with a checkout."""
    return make_project(tmp_path)


@pytest.fixture(scope="session")
def plumbing(tmp_path_factory: pytest.TempPathFactory) -> GitRepo:
    """Give a repository that is shared by tests which only ask it for objects."""
    return GitRepo(tmp_path_factory.mktemp("repository"))


@pytest.fixture(scope="session")
def python27() -> None:
    """Find a Python 2.7, or say why there is none."""
    try:
        find_interpreter("2.7", None, dict(os.environ))
    except CannotTellError as error:
        if os.environ.get("CI") == "true":
            pytest.fail(f"CI must have a Python 2.7: {error.message}")
        pytest.skip(f"no Python 2.7: {error.message}")


@pytest.fixture(scope="session")
def stranger(python27: None, tmp_path_factory: pytest.TempPathFactory) -> Stranger:
    """Give a stranger's folder and HOME, the same for all tests."""
    root = tmp_path_factory.mktemp("stranger")
    (root / "home").mkdir()
    (root / "work").mkdir()
    return Stranger(root / "home", root / "work")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what tests have counted with ``record_property``: kills survived, examples run."""
    counts: Counter[str] = Counter()
    for report in terminalreporter.getreports("passed"):
        counts.update({name: n for name, n in report.user_properties if isinstance(n, int)})
    for name, count in sorted(counts.items()):
        terminalreporter.write_line(f"{count:6} {name}")
