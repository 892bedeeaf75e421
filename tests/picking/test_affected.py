"""How branches stand to a change: each state, and by what it is known."""

from __future__ import annotations

import pytest

from newer import API, TEST, History, make_history


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> History:
    made = make_history(tmp_path_factory.mktemp("history"))
    # A branch after master, where the code is gone.
    made.repo.git("checkout", "--quiet", "master")
    made.repo.commit("Take show out", {API: "LIMIT = 1\n", TEST: None})
    made.repo.git("checkout", "--quiet", "stable/ocata")
    return made


# The commit, and the states of master, queens, pike, ocata.
STATES = {
    "fix": ["has-it", "has-it", "has-it", "needs-it-conflicts"],
    "test": ["has-it", "has-it", "has-it", "cannot-tell"],
    "stats": ["has-it", "has-it", "has-it", "does-not-have-the-code"],
}


@pytest.mark.parametrize("name", STATES)
def test_each_branch_is_told(made: History, name: str) -> None:
    made.run("import", str(getattr(made, name)), "--series", f"of-{name}", "--as-named")
    ran = made.run("affected", f"ocata/of-{name}", "--json")
    found = {one["name"]: one["changes"][0]["state"] for one in ran.report["branches"]}
    names = ["master", "origin/unmaintained/queens", "pike-eol", "stable/ocata"]
    assert [found[one] for one in names] == STATES[name], ran.out


def test_master_does_not_have_the_code_of_a_stable_only_fix(made: History) -> None:
    made.repo.write({API: made.repo.show("HEAD", API).decode().replace("[key]", ".get(key)")})
    patch = made.repo.git("diff", "--full-index").encode() + b"\n"
    made.repo.git("checkout", "--quiet", "--", ".")
    series = made.project.patch_series(patch, name="only", **{"stable-only": "it is so"})
    ran = made.run("affected", series, "--json")
    states = {one["name"]: one["changes"][0] for one in ran.report["branches"]}
    assert states["master"]["state"] == "does-not-have-the-code"
    assert "show is not in small/api.py" in states["master"]["detail"]
    assert states["master"]["commit"] == made.repo.git("rev-parse", "master")
    assert states["stable/ocata"]["state"] == "needs-it-applies"


def test_branches_older_than_the_series_own_are_told_of_too(made: History) -> None:
    repo = made.repo
    root = repo.git("rev-list", "--max-parents=0", "stable/ocata")
    repo.git("tag", "newton-eol", root)
    repo.git("update-ref", "refs/heads/stable/zed", "master")  # newer, and not listed
    made.run("import", made.fix, "--series", "of-old", "--as-named")
    ran = made.run("affected", "ocata/of-old", "--json")
    names = [one["name"] for one in ran.report["branches"]]
    assert names[-1] == "newton-eol"
    assert "stable/zed" not in names
