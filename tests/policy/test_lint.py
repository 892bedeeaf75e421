"""The policy on small histories: what each rule must find, and the neighbour that is right."""

from __future__ import annotations

import pytest

from project import Project
from stable import BODY, CODE, ID, OTHER_ID, Stable, message

X = "(cherry picked from commit {master})\n"
Y = "(cherry picked from commit {pike})\n"
FIX = ("line 20\n", "the fix\n")


@pytest.fixture
def stable(project: Project) -> Stable:
    """Give the fix on master and pike, and an ocata that lacks it."""
    found = Stable(project)
    found.begin()
    found.on_both()
    return found


# What is picked to ocata: the message. Its tree is what a clean pick makes.
MESSAGES: dict[str, tuple[str, list[str]]] = {
    "as it should be": (message(trailers=X + Y), []),
    "the trailers of nova's other order": (
        message(body=BODY + "\nCloses-Bug: #1783613", trailers=X + Y),
        [],
    ),
    "no provenance": (message(), ["no-provenance"]),
    "a tag in place of provenance": (message("[stable only] Fix", change_id=OTHER_ID), []),
    "a tag of the series": (message("ocata-only: Fix", change_id=OTHER_ID), []),
    "stable and only in prose": (
        message("Fix", "This is for stable branches only.\n", change_id=OTHER_ID),
        ["no-provenance"],
    ),
    "typed by hand": (
        message(trailers=X + "(cherry-picked from commit {pike})\n"),
        ["provenance-form"],
    ),
    "no bracket at the end": (
        message(trailers=X + "(cherry picked from commit {pike}\n"),
        ["provenance-form"],
    ),
    "a patch set that never merged": (
        message(trailers=f"(cherry picked from commit {'0' * 39}1)\n" + Y),
        ["unknown-commit"],
    ),
    "a commit of ocata itself": (
        message(trailers=X + Y + "(cherry picked from commit {base})\n"),
        ["not-on-newer-branch", "subject-changed"],
    ),
    "pike above master": (message(trailers=Y + X), ["provenance-order"]),
    "straight from master past pike": (message(trailers=X), ["chain-incomplete"]),
    "another Change-Id": (message(trailers=X + Y, change_id=OTHER_ID), ["change-id-changed"]),
    "no Change-Id": (message(trailers=X + Y, change_id=""), ["change-id-count"]),
    "two of them": (
        message(trailers=f"Change-Id: {ID}\n" + X + Y),
        ["change-id-count"],
    ),
    "a shortened one": (
        message(trailers=X + Y, change_id="I1234"),
        ["change-id-count"],
    ),
    "above the last paragraph": (
        message(body=f"Change-Id: {ID}\n", trailers=X + Y, change_id=""),
        ["change-id-place"],
    ),
    "another subject": (message("Handle a race", trailers=X + Y), ["subject-changed"]),
    "a tag in front of the subject": (
        message("[stable only] Handle the race", trailers=X + Y),
        [],
    ),
    "a stale section": (
        message(body=f"{BODY}\nConflicts:\n      {CODE}\n", trailers=X + Y),
        ["conflicts-stale"],
    ),
    "conflicts that are told of in prose": (
        message(body=BODY + "Conflicts are none.\n", trailers=X + Y),
        [],
    ),
    "a section at the end": (
        message(trailers=X + Y) + f"\nConflicts:\n      {CODE}\n",
        ["change-id-place", "conflicts-stale", "conflicts-place"],
    ),
    "the wrong word": (message(trailers="Close-Bug: #1783613\n" + X + Y), ["bug-trailer"]),
    "a dot behind the number": (
        message(trailers="Closes-Bug: #1783613.\n" + X + Y),
        ["bug-trailer"],
    ),
    "two bugs on a line": (
        message(trailers="Closes-Bug: #1783613, #1784705\n" + X + Y),
        ["bug-trailer", "bug-trailer"],
    ),
    "two bugs on two lines": (
        message(trailers="Closes-Bug: #1783613\nRelated-Bug: #1784705\n" + X + Y),
        [],
    ),
    "lower case, no sign": (message(trailers="Closes-bug: 1783613\n" + X + Y), []),
    "a line of the body that closes": (
        message(body=BODY + "bug #1783613\n", trailers=X + Y),
        ["bug-trailer"],
    ),
    "a bug in prose": (message(body=BODY + "This is not bug 1783613\n", trailers=X + Y), []),
    "a wide line": (
        message(body="word " * 16 + "\n", trailers=X + Y),
        ["body-width"],
    ),
    "a wide line that cannot be broken": (
        message(body="[1] " + "x" * 90 + "\n", trailers=X + Y),
        [],
    ),
    "text right below the subject": (
        message(trailers=X + Y).replace("\n\n", "\n", 1),
        ["subject-changed", "second-line"],
    ),
    "a subject of 73": (
        message("[stable only] " + "x" * 59, change_id=OTHER_ID),
        ["subject-width"],
    ),
    "a subject of 72": (message("[stable only] " + "x" * 58, change_id=OTHER_ID), []),
    "a subject of 80": (
        message("[stable only] " + "x" * 66, change_id=OTHER_ID),
        ["subject-too-long"],
    ),
    "a period": (message("[stable only] Fix.", change_id=OTHER_ID), ["subject-period"]),
    "nothing but a title": (message("[stable only] Fix", "", change_id=OTHER_ID), ["body-empty"]),
}


@pytest.mark.parametrize("case", MESSAGES)
def test_what_a_message_says(stable: Stable, case: str) -> None:
    text, names = MESSAGES[case]
    stable.edit("stable/ocata", text, *FIX)
    assert stable.names() == names


# What is committed on ocata beside the code's fix: files; what is found.
PATHS: dict[str, tuple[dict[str, str], list[str]]] = {
    "code": ({"small__manager.py": "x\n"}, []),
    "the API's version": ({"small__api__api_version_request.py": "x\n"}, ["forbidden-path"]),
    "RPC": (
        {"small__compute__rpcapi.py": "    version = '5.1'\n"},
        ["forbidden-path", "suspicious-path"],
    ),
    "RPC, and no version of it": (
        {"small__compute__rpcapi.py": "LOG.debug('x')\n"},
        ["suspicious-path"],
    ),
    "RPC's test": ({"small__compute__test_rpcapi.py": "x\n"}, []),
    "an object's form": (
        {"small__tests__test_objects.py": "    'Flavor': '1.2-" + "a" * 32 + "',\n"},
        ["forbidden-path"],
    ),
    "an object's test": ({"small__tests__test_objects.py": "    'Flavor': '1.2',\n"}, []),
    "an option": ({"small__conf__api.py": "x\n"}, ["suspicious-path", "release-note-missing"]),
    "an option with its note": (
        {"small__conf__api.py": "x\n", "releasenotes__notes__a-1.yaml": "fixes: []\n"},
        ["suspicious-path"],
    ),
    "a requirement": ({"requirements.txt": "x\n"}, ["suspicious-path"]),
    "a test's requirement": ({"test-requirements.txt": "x\n"}, []),
    "a migration": (
        {"small__db__migrate_repo__versions__001_a.py": "x\n"},
        ["suspicious-path"],
    ),
}


@pytest.mark.parametrize("case", PATHS)
def test_what_a_commit_changes(stable: Stable, case: str) -> None:
    files, names = PATHS[case]
    text = message("[stable only] Fix", change_id=OTHER_ID)
    stable.commit("stable/ocata", text, **files, code="1\n")
    found = stable.lint()["findings"]
    assert [finding["name"] for finding in found] == names
    paths = [name.replace("__", "/") for name in files]
    assert all(finding["path"] in paths for finding in found)


SECTION = "\nConflicts:\n      {paths}\n\nNOTE(ann): pike has another line there.\n"
# The message's body, when ocata has another line where the fix goes; what is found.
CONFLICTS = {
    "told of": (SECTION.replace("{paths}", CODE), []),
    "with a tab, and a blank in front": (f"\n Conflicts:\n\t{CODE}\n", []),
    "told of in prose": (f"\nConflicts:\n\n{CODE}: ocata has another line there.\n", []),
    "not told of": ("", ["conflicts-missing"]),
    "another file": (SECTION.replace("{paths}", "other.py"), ["conflicts-files"]),
    "one file too many": (
        SECTION.replace("{paths}", f"{CODE}\n      other.py"),
        ["conflicts-files"],
    ),
}


@pytest.mark.parametrize("case", CONFLICTS)
def test_a_pick_that_conflicts(stable: Stable, case: str) -> None:
    body, names = CONFLICTS[case]
    tagged = message("[stable only] Ocata's own", change_id=OTHER_ID)
    stable.edit("stable/ocata", tagged, "line 20\n", "of ocata\n")
    text = message(body=BODY + body, trailers=X + Y)
    stable.edit("stable/ocata", text, "of ocata\n", "the fix, and ocata\n")
    assert stable.names() == names


@pytest.mark.parametrize(
    ("note", "names"),
    [("", ["adapted-without-note"]), ("NOTE(ann): ocata needs more.\n", [])],
)
def test_a_clean_pick_that_was_adapted(stable: Stable, note: str, names: list[str]) -> None:
    text = message(body=f"{BODY}\n{note}", trailers=X + Y)
    stable.edit("stable/ocata", text, "line 20\n", "the fix\nand more\n")
    assert stable.names() == names


def test_what_never_merged_is_replayed_from_what_did(stable: Stable) -> None:
    """So 0b5006d45a of nova: the last hash is a patch set's, and the pick conflicts."""
    tagged = message("[stable only] Ocata's own", change_id=OTHER_ID)
    stable.edit("stable/ocata", tagged, "line 20\n", "of ocata\n")
    unknown = f"(cherry picked from commit {'0' * 39}1)\n"
    text = message(trailers=X + unknown)
    stable.edit("stable/ocata", text, "of ocata\n", "the fix\n")
    assert stable.names() == ["unknown-commit", "conflicts-missing"]


def test_a_branch_in_between_must_have_it(stable: Stable) -> None:
    new = "I" + "ef56" * 10
    text = message("Another fix", change_id=new)
    stable.named["late"] = stable.edit("master", text, "line 35\n", "late\n")
    picked = message("Another fix", change_id=new, trailers="(cherry picked from commit {late})\n")
    stable.edit("stable/ocata", picked, "line 35\n", "late\n")
    (finding,) = stable.lint()["findings"]
    assert finding["name"] == "missing-on-newer-branch"
    assert "stable/pike" in finding["reason"]


def test_the_tag_of_a_branch_that_is_gone_counts_as_the_branch(stable: Stable) -> None:
    stable.edit("stable/ocata", message(trailers=X + Y), *FIX)
    stable.project.repo.git("tag", "pike-eol", "stable/pike")
    stable.project.repo.git("branch", "-D", "stable/pike")
    assert stable.names() == []


@pytest.mark.parametrize(
    ("author", "subject", "path"),
    [
        ("Bot <infra-root@openstack.org>", "Update .gitreview", "code.py"),
        ("OpenStack Proposal Bot <openstack-infra@lists.openstack.org>", "Update", "a.txt"),
        ("Ann <ann@example.org>", "Drop a job", ".zuul.yaml"),
        ("Ann <ann@example.org>", 'Revert "Begin"', "code.py"),
        ("Ann <ann@example.org>", "Add a note", "releasenotes/notes/a-1.yaml"),
    ],
)
def test_who_is_exempt(stable: Stable, author: str, subject: str, path: str) -> None:
    repo = stable.project.repo
    text = message(subject, change_id=OTHER_ID)
    stable.commit("stable/ocata", text, **{path.replace("/", "__"): "1\n"})
    repo.git("commit", "--quiet", "--amend", "--no-edit", f"--author={author}")
    assert stable.names() == []


TEST = "small__tests__test_bug_1783613.py"


@pytest.mark.parametrize(
    ("order", "names"),
    [
        ("test fix", []),
        ("test", ["test-without-fix"]),
        ("fix test", ["fix-before-test"]),
        ("fix", []),
    ],
)
def test_a_test_and_its_fix(stable: Stable, order: str, names: list[str]) -> None:
    for number, what in enumerate(order.split()):
        change = f"I{number}" + "a" * 39
        if what == "test":
            subject, trailer = "Recreate bug 1783613 in a test", "Related-Bug: #1783613\n"
            files = {TEST: "1\n"}
        else:
            subject, trailer = "Fix it", "Closes-Bug: #1783613\n"
            files = {"small__fix.py": "1\n"}
        text = message(f"[stable only] {subject}", trailers=trailer, change_id=change)
        stable.commit("stable/ocata", text, **files)
    assert stable.names() == names


def test_a_finding_has_all_that_a_reader_needs(stable: Stable) -> None:
    commit = stable.edit("stable/ocata", message(trailers=X + Y.replace("y p", "y-p")), *FIX)
    report = stable.lint()
    (finding,) = report["findings"]
    assert finding["commit"] == commit
    assert (finding["severity"], finding["path"], finding["line"]) == ("error", None, 7)
    assert all(finding[key] for key in ("reason", "source", "remedy"))
    assert report["counts"] == {"error": 1, "warning": 0, "note": 0}


def test_one_commit_and_what_a_merge_brings(stable: Stable) -> None:
    repo = stable.project.repo
    first = stable.edit("stable/ocata", message(), *FIX)
    repo.git("checkout", "-q", "-b", "topic", stable.named["base"])
    repo.commit(message("Theirs", change_id=OTHER_ID), {"b": "1\n"})
    repo.git("checkout", "-q", "stable/ocata")
    repo.git("merge", "-q", "--no-ff", "-m", "Merge topic", "topic")
    assert [f["subject"] for f in stable.lint("HEAD")["findings"]] == ["Theirs"]
    assert [f["subject"] for f in stable.lint(first)["findings"]] == ["Handle the race"]


def test_a_branch_has_severities_of_its_own(stable: Stable) -> None:
    stable.edit("stable/ocata", message(trailers=X), *FIX)
    stable.project.branch_yaml(lint={"chain-incomplete": "error"})
    assert [f["severity"] for f in stable.lint()["findings"]] == ["error"]
    stable.project.branch_yaml(lint={"chain-incomplete": "off"})
    assert stable.lint()["findings"] == []


def test_a_rule_that_there_is_not_is_refused_with_its_line(stable: Stable) -> None:
    stable.edit("stable/ocata", message(), *FIX)
    stable.project.branch_yaml(lint={"no-provenence": "off"})
    ran = stable.project.run("lint", "HEAD", "--checkout", str(stable.project.repo.path))
    assert ran.code == 2
    assert "branch.yaml:10: there is no rule 'no-provenence'" in ran.err
    assert "did you mean 'no-provenance'" in ran.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("nothing..stable/ocata", "no commit 'nothing'"),
        ("no-such-thing", "no commit 'no-such-thing'"),
        ("stable/ocata..stable/ocata", "there is no commit in"),
    ],
)
def test_a_range_that_is_none(stable: Stable, words: str, said: str) -> None:
    ran = stable.project.run("lint", words, "--checkout", str(stable.project.repo.path))
    assert (ran.code, said in ran.err) == (2, True)


def test_a_series_is_judged_before_it_goes_anywhere(stable: Stable) -> None:
    repo = stable.project.repo
    series = stable.project.series([{"kind": "fix", "commit": stable.named["pike"]}])
    before = repo.git("for-each-ref")
    ran = stable.project.run("lint", series, "--checkout", str(repo.path), "--json")
    assert (ran.code, ran.report["findings"]) == (0, [])
    assert repo.git("for-each-ref") == before
    patch = repo.diff("stable/pike~1", "stable/pike")
    series = stable.project.patch_series(patch, name="bug-2")
    ran = stable.project.run("lint", series, "--checkout", str(repo.path), "--json")
    assert ran.code == 1
    assert "no-provenance" in [finding["name"] for finding in ran.report["findings"]]


def test_changes_of_a_series_that_conflict_are_judged_by_their_messages(stable: Stable) -> None:
    repo = stable.project.repo
    text = message("Their", trailers="Closes-Bug: #12.\n", change_id=OTHER_ID)
    second = stable.edit("stable/pike", text, "line 30\n", "their\n")
    tagged = message("[stable only] Ocata's own", change_id="I" + "9" * 40)
    stable.edit("stable/ocata", tagged, "line 20\n", "of ocata\n")
    picks = [{"kind": "fix", "commit": stable.named["pike"]}, {"kind": "fix", "commit": second}]
    series = stable.project.series(picks)
    ran = stable.project.run("lint", series, "--checkout", str(repo.path), "--json")
    assert ran.code == 1
    assert len(ran.report["commits"]) == 2
    assert [finding["name"] for finding in ran.report["findings"]] == ["bug-trailer"]


@pytest.mark.parametrize("moved", [False, True])
def test_a_pick_follows_a_file_that_the_branch_has_elsewhere(stable: Stable, moved: bool) -> None:
    repo = stable.project.repo
    code = repo.show("stable/ocata", CODE).decode()
    path = "small/compute_api.py" if moved else CODE
    own = message("[stable only] Move", change_id=OTHER_ID)
    stable.commit("stable/ocata", own, **{"small__api.py": None, path.replace("/", "__"): code})
    fixed = code.replace(*FIX)
    stable.commit("stable/ocata", message(trailers=X + Y), **{path.replace("/", "__"): fixed})
    assert stable.names() == []


def test_run_tells_what_the_policy_says(stable: Stable) -> None:
    repo = stable.project.repo
    series = stable.project.patch_series(repo.diff("stable/pike~1", "stable/pike"))
    ran = stable.project.apply(series)
    assert ran.code == 0
    assert "no-provenance" in ran.err
