"""Every test is hermetic: its own HOME, fixed dates, no identity and no settings from outside."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitrepo import Repo, make_repo
from project import Project, make_project


@pytest.fixture(autouse=True)
def hermetic(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Cut off whatever the machine has of git settings, identities and caches."""
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(("GIT_", "XDG_", "BACKPORT_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
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
