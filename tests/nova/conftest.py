"""Real nova, real Python 2.7, the real package index.

The tests of this folder share one HOME, and so one cache: the environment is built once.
Where no Python 2.7 is found they are skipped with the reason; under CI=true they fail.
"""

from __future__ import annotations

import os

import pytest
from stranger import Stranger

from backport.errors import CannotTellError
from backport.verify.interpreter import find_interpreter


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
