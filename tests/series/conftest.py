from __future__ import annotations

import pytest

from plumbing import GitRepo


@pytest.fixture(scope="session")
def plumbing(tmp_path_factory: pytest.TempPathFactory) -> GitRepo:
    return GitRepo(tmp_path_factory.mktemp("repository"))
