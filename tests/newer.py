"""A small history in the shape of nova's: ocata, pike and queens cut off master, in that order."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gitrepo import Repo
from project import Project, Ran, make_project

BUG = 1682693
TEST_ID, FIX_ID, STATS_ID = "I" + "a1" * 20, "I" + "b2" * 20, "I" + "c3" * 20
API = "small/api.py"
HEAD = "import os\n\nLIMIT = 1\n\n\n"
LIST = "def list_all(found):\n    found = dict(found)\n    return sorted(found)\n\n\n"
SHOW = "def show(found, key):\n    return found[key]\n"
TEST = "small/tests/test_bug_1682693.py"
RECREATE = (
    "import unittest\n\nfrom small import api\n\n\nclass Filters(unittest.TestCase):\n"
    "    def test_tags(self):\n        self.assertEqual([], api.list_all({}))\n"
)


@dataclass(frozen=True)
class History:
    """The commits that tests name."""

    project: Project
    test: str  # on master, before pike
    fix: str
    stats: str  # on master, after pike was cut off
    pike_stats: str  # the same, picked back to pike: it leans on what only pike and master have
    merge: str  # into master

    @property
    def repo(self) -> Repo:
        return self.project.repo

    def run(self, *args: str) -> Ran:
        return self.project.run(*args, "--checkout", str(self.repo.path))


def message(subject: str, change_id: str, *trailers: str) -> str:
    return "\n".join([subject, "", f"Change-Id: {change_id}", *trailers]) + "\n"


def make_history(root: Path) -> History:
    """Make it; the branches are named as in a clone of today: a tag, and ``unmaintained``."""
    project = make_project(root)
    repo = project.repo
    project.branch_yaml(
        newer_branches=["stable/pike", "stable/queens", "master"],
        tests={
            "python": ["2.7"],
            "requirements": "requirements.txt",
            "paths": ["small/tests/"],
        },
    )
    (project.root / "patches/ocata/requirements.txt").write_text("")
    repo.commit(
        "Begin", {API: HEAD + LIST + SHOW, "small/__init__.py": "", "small/tests/__init__.py": ""}
    )
    repo.git("checkout", "--quiet", "-b", "master")
    test = repo.commit(
        message("Recreate bug 1682693", TEST_ID, f"Related-Bug: #{BUG}"), {TEST: RECREATE}
    )
    fix = repo.commit(
        message("Copy the filters", FIX_ID, f"Closes-Bug: #{BUG}"),
        {
            API: HEAD + LIST.replace("dict(found)", "dict(found, copied=True)") + SHOW,
            TEST: RECREATE.replace("[], api", "['copied'], api"),
        },
    )
    repo.commit(
        message("Count what is shown", "I" + "d4" * 20),
        {
            API: HEAD
            + "STATS = {}\n\n\n"
            + LIST.replace("dict(found)", "dict(found, copied=True)")
            + "def show(found, key):\n    STATS[key] = STATS.get(key, 0) + 1\n"
            "    return found[key]\n"
        },
    )
    repo.git("tag", "cut")
    stats = repo.commit(
        message("Count by node", STATS_ID, "Closes-Bug: #1784705"),
        {
            API: repo.show("HEAD", API)
            .decode()
            .replace("STATS[key] = STATS.get(key, 0) + 1", "STATS[key] = STATS.get(key, 0) + 2")
        },
    )
    repo.git("checkout", "--quiet", "-b", "topic")
    repo.commit(message("On a topic", "I" + "e5" * 20), {"small/topic.py": "TOPIC = 1\n"})
    repo.git("checkout", "--quiet", "master")
    repo.git("merge", "--quiet", "--no-ff", "-m", "Merge topic", "topic")
    merge = repo.git("rev-parse", "HEAD")
    repo.git("checkout", "--quiet", "-b", "pike", "cut")
    repo.git("cherry-pick", "-x", stats)
    pike_stats = repo.git("rev-parse", "HEAD")
    repo.git("tag", "pike-eol")
    repo.git("checkout", "--quiet", "-b", "queens", "cut")
    repo.git("cherry-pick", "-x", stats)
    repo.git("update-ref", "refs/remotes/origin/unmaintained/queens", "HEAD")
    repo.git("checkout", "--quiet", "stable/ocata")
    repo.git("branch", "-D", "pike", "queens", "topic")
    return History(project, test, fix, stats, pike_stats, merge)
