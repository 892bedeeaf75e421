"""Messages: built as the design says, kept as they were, added to as git does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from backport.errors import UsageError
from backport.series.message import (
    change_ids,
    full_subject,
    named_by,
    parse_trailers,
    pick_message,
    provenance,
    render_message,
    subject_without_tags,
    write_message,
)
from backport.series.model import KEEP_SECTION, Branch, Change, Kind, Series
from plumbing import GitRepo

ID = "Ib65b0c7c5b83c53edf63f23fa522334c6a666ae4"
SHA, OTHER = "a" * 40, "b" * 40
BRANCH = Branch(
    name="ocata",
    folder=Path("patches/ocata"),
    project="openstack/nova",
    branch="stable/ocata",
    eol_tag=None,
    release_line="15.1",
    stable_only_tag="[stable only]",
    newer_branches=(),
    tests=None,
    embedded=None,
)
CHANGE = Change(1, Kind.REGRESSION_TEST, "Add functional regression test for bug 1783613", "", ID)

PICK = Change(1, Kind.FIX, "", "", "", commit=OTHER, source=(Path("series.yaml"), 3))


def series_of(*changes: Change, stable_only: str | None = "not on master") -> Series:
    folder = Path("patches/ocata/bug-1783613")
    return Series("ocata/bug-1783613", folder, "A title", 1783613, stable_only, BRANCH, changes)


def render(stable_only: str | None = "not on master", **values: object) -> str:
    change = replace(CHANGE, **values)  # type: ignore[arg-type]
    return render_message(change, series_of(change, stable_only=stable_only))


def test_the_regression_test_has_exactly_this_message() -> None:
    assert render() == (
        "[stable only] Add functional regression test for bug 1783613\n"
        "\n"
        "Related-Bug: #1783613\n"
        "\n"
        f"Change-Id: {ID}\n"
    )


def test_the_fix_has_exactly_this_message() -> None:
    message = render(
        kind=Kind.FIX,
        subject="Handle quota usage during create/delete races",
        description="First.\n\nSecond:\n\n  * one\n",
    )
    assert message == (
        "[stable only] Handle quota usage during create/delete races\n"
        "\n"
        "First.\n\nSecond:\n\n  * one\n"
        "\n"
        "Closes-Bug: #1783613\n"
        "\n"
        f"Change-Id: {ID}\n"
    )


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        (Kind.REGRESSION_TEST, "\nRelated-Bug: #1783613\n"),
        (Kind.FIX, "\nCloses-Bug: #1783613\n"),
        (Kind.PARTIAL_FIX, "\nPartial-Bug: #1783613\n"),
        (Kind.OTHER, ""),
    ],
)
def test_the_kind_decides_the_bug_trailer(kind: Kind, line: str) -> None:
    assert render(kind=kind, subject="S", stable_only=None) == f"S\n{line}\nChange-Id: {ID}\n"
    assert (f"\n{kind.trailer}: #" in line) == (kind.trailer is not None)


def test_trailers_and_provenance_follow_the_change_id_without_a_gap() -> None:
    message = render(
        kind=Kind.OTHER,
        stable_only=None,
        trailers=(("Co-Authored-By", "J. Doe Jr. <j@example.org>"), ("Depends-On", ID)),
        provenance=(SHA, OTHER),
    )
    assert message.endswith(
        f"\n\nChange-Id: {ID}\n"
        "Co-Authored-By: J. Doe Jr. <j@example.org>\n"
        f"Depends-On: {ID}\n"
        f"(cherry picked from commit {SHA})\n"
        f"(cherry picked from commit {OTHER})\n"
    )


def test_conflicts_stand_above_the_change_id() -> None:
    change = replace(CHANGE, description="Text.")
    paths = ("nova/x.py", "nova/ä y.py", "n\nl")
    message = write_message(replace(change, conflicts_section=True), series_of(), paths).text
    again = replace(change, conflicts=paths, conflicts_section=True)
    assert write_message(again, series_of()).text == message
    assert message.endswith(
        "\n\nText.\n\nRelated-Bug: #1783613\n\n"
        'Conflicts:\n      nova/x.py\n      nova/ä y.py\n      "n\\nl"\n\n'
        f"Change-Id: {ID}\n"
    )


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        ("Fix x", "[stable only] Fix x"),
        ("[stable only] Fix x", "[stable only] Fix x"),
        ("[Stable Only] Fix x", "[Stable Only] Fix x"),
        ("[stable-only] Fix x", "[stable-only] Fix x"),
        ("[ocata-only] Fix x", "[ocata-only] Fix x"),
        ("ocata-only: Fix x", "ocata-only: Fix x"),
        ("[libvirt] Fix x", "[stable only] [libvirt] Fix x"),
        ("read-only: Fix x", "[stable only] read-only: Fix x"),
        ("stable only things", "[stable only] stable only things"),
    ],
)
def test_the_tag_is_put_once(subject: str, expected: str) -> None:
    change = replace(CHANGE, subject=subject)
    assert full_subject(change, series_of()) == expected
    assert full_subject(change, series_of(stable_only=None)) == subject
    assert subject_without_tags(expected) == subject_without_tags(subject)


HOSTILE = [
    "{{ 7 * 7 }} {% for x in range(10**9) %}{{ x }}{% endfor %}",
    "{# not a comment #}",
    "# not a comment",
    "---\nnot the end",
    "From a Mon Sep 17 00:00:00 2001",
    "diff --git a/x b/x\n--- a/x\n+++ b/x",
    "From: Someone Else <x@example.org>",
    "<b>&amp;</b>",
    "trailing blank   \n\n\n\n  indented",
    "# ------------------------ >8 ------------------------",
    "\x0c\x85\u2028",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_text_of_the_user_is_data_to_the_templates(text: str) -> None:
    message = render(description=text, subject=text.split("\n")[0], kind=Kind.FIX)
    assert f"\n\n{text}\n\nCloses-Bug: #1783613\n" in message
    assert message.startswith(f"[stable only] {text.splitlines()[0]}"[:30])


ORIGINALS = {
    "Change-Id last": f"S\n\nBody.\n\nCloses-Bug: #1\nChange-Id: {ID}\n",
    "Change-Id first": f"S\n\nBody.\n\nChange-Id: {ID}\nCloses-Bug: #1\n",
    "picked before": f"S\n\nB\n\nChange-Id: {ID}\n(cherry picked from commit {SHA})\n",
    "picked by hand": f"S\n\nB\n\nChange-Id: {ID}\n(cherry-picked from commit {SHA})\n",
    "prose at the end": f"S\n\nChange-Id: {ID}\n\nThe end.\n",
    "subject only": "S\n",
    "subject like a trailer": "Fix: it\n",
    "no newline": f"S\n\nChange-Id: {ID}",
    "conflicts": f"S\n\nConflicts:\n      nova/x.py\n\nNOTE(me): why\n\nChange-Id: {ID}\n",
    "mixed paragraph": f"S\n\nBody\nConflicts:\n  x\nSigned-off-by: A <a>\nChange-Id: {ID}\n",
    "folded": f"S\n\nChange-Id: {ID}\nNote: long\n  line\n",
    "URL at the end": "S\n\nBody\n\nhttp://example.org/: x\n",
    "hash lines": f"S\n\n# a line\n#another\n\nChange-Id: {ID}\n",
    "divider": f"S\n\nBody\n---\nmore\n\nChange-Id: {ID}\n",
    "tags": f"[a][b] S\n\nFrom x\n\nSigned-off-by: J. Doe Jr. <j@example.org>\nChange-Id: {ID}\n",
    "comment at the end": f"S\n\nChange-Id: {ID}\n# comment\n",
    "old conflicts block at the end": f"S\n\nChange-Id: {ID}\n\nConflicts:\n\tx\n\ty\n",
    "one trailer in four": "S\n\na\nb\nc\nSigned-off-by: A <a>\n",
    "one trailer in five": "S\n\na\nb\nc\nd\nSigned-off-by: A <a>\n",
    "not ASCII": "S\n\nÄ: x\n",
    "two subject lines": f"S\nmore\n\nChange-Id: {ID}\n",
}


def picked_as(original: str, *conflicts: str, commit: str = OTHER, **values: Any) -> str:
    """Pick a message; ``values`` are the change's."""
    return pick_message(replace(PICK, **values), original, commit, conflicts).text


@pytest.mark.parametrize("original", ORIGINALS.values(), ids=ORIGINALS)
def test_a_pick_is_added_where_git_cherry_pick_adds_it(original: str, picker: Picker) -> None:
    expected = picker.pick(original)
    message = picked_as(original, commit=picker.picked, conflicts=KEEP_SECTION)
    assert message == expected
    assert message.startswith(original)
    assert message.endswith(f"\n(cherry picked from commit {picker.picked})\n")


@pytest.mark.parametrize("original", ORIGINALS.values(), ids=ORIGINALS)
def test_conflicts_go_above_the_change_id_and_change_nothing_else(original: str) -> None:
    message = picked_as(original, "nova/a.py", "b", conflicts_section=True, conflicts=KEEP_SECTION)
    section = "Conflicts:\n      nova/a.py\n      b\n"
    assert message.count(section) == 1
    before, after = message.split(section)
    assert before + after.removeprefix("\n") == picked_as(original, conflicts=KEEP_SECTION)
    assert before.endswith("\n\n")
    assert change_ids(message) == change_ids(original)
    assert change_ids(after) == change_ids(original)


X, Y = "      nova/x.py\n", "      nova/y.py\n"
WHY, CP = "NOTE(me): The conflict is due to\nthat.\n", f"(cherry picked from commit {OTHER})\n"
CITED = f"Change-Id: {ID}\n{CP}"
BODY = "S\n\nBody.\n\n"
STALE = {  # what stands between the body and the trailers; each was seen in nova's history
    "section": f"Conflicts:\n{X}{Y}\n",
    "with its NOTE": f"Conflicts:\n{X}\n{WHY}\n",
    "NOTE right below": f"Conflicts:\n{X}{WHY}\n",
    "indented, tabs": f" Conflicts:\n\tnova/x.py\n\n{WHY}\n",
    "commented": "# Conflicts:\n#\tnova/x.py\n\n",
    "gap below the header": f"Conflicts:\n\n{X}\n{WHY}\n",
    "of a branch": f"Conflicts (stable/queens):\n{X}\n",
    "NOTE with a list": f"Conflicts:\n{X}\nNOTE(me): As\n\n  I1\n\nare not in.\n\n",
    "not a NOTE by name": f"Conflicts:\n{X}\nThe conflict is due to I1.\n\n",
    "of two hops": f"Conflicts:\n{X}\n{WHY}\nConflicts:\n{Y}\n{WHY}\n",
    "told per file": "Conflicts:\n  nova/x.py due to\n  I1 is not here\n\n",
}


@pytest.mark.parametrize("stale", STALE.values(), ids=STALE)
def test_a_section_that_does_not_hold_here_is_taken_out_and_told(stale: str) -> None:
    original = f"{BODY}{stale}Change-Id: {ID}\n"
    written = pick_message(PICK, original, OTHER)
    assert written.text == BODY + CITED
    assert len(written.notes) == stale.count("Conflicts")
    assert all(note.startswith("no conflict here in nova/") for note in written.notes)
    assert any("NOTE(me): The" in note for note in written.notes) == (WHY in stale)
    assert picked_as(original, conflicts=KEEP_SECTION) == f"{original}{CP}"
    assert picked_as(original, patch=b"a resolution, of what nobody knows") == f"{original}{CP}"


@pytest.mark.parametrize(
    ("conflicts", "values", "section"),
    [
        (("nova/x.py", "nova/y.py"), {}, f"Conflicts:\n{X}{Y}\n{WHY}\n"),
        (("nova/x.py",), {}, f"Conflicts:\n{X}\n{WHY}\n"),
        (("nova/z.py",), {}, ""),
        (("nova/z.py",), {"conflicts_section": True}, "Conflicts:\n      nova/z.py\n\n"),
        (("nova/y.py", "z"), {"conflicts_section": True}, f"Conflicts:\n{Y}      z\n\n{WHY}\n"),
        ((), {"conflicts": ("nova/y.py",), "patch": b"x"}, f"Conflicts:\n{Y}\n{WHY}\n"),
        ((), {"conflicts": (), "patch": b"x"}, ""),
    ],
)
def test_a_section_lists_what_was_in_conflict_here(
    conflicts: tuple[str, ...], values: dict[str, Any], section: str
) -> None:
    original = f"{BODY}Conflicts:\n{X}{Y}\n{WHY}\nChange-Id: {ID}\n"
    assert picked_as(original, *conflicts, **values) == BODY + section + CITED


@pytest.mark.parametrize(
    "kept", ["NOTE(you): The test differs.\n\n", "More.\n\nNOTE(me): Conflict with I1.\n\n"]
)
def test_what_else_is_said_below_a_section_stays(kept: str) -> None:
    original = f"{BODY}Conflicts:\n{X}\n{WHY}\n{kept}Change-Id: {ID}\n"
    assert picked_as(original) == BODY + kept + CITED
    assert picked_as(f"{BODY}Conflicts:\n{X}Change-Id: {ID}\n") == BODY + CITED
    assert picked_as(f"{BODY}Change-Id: {ID}\n\nConflicts:\n{X}") == BODY + CITED
    assert picked_as(f"S\n\nConflicts: none, so\nit goes.\n\nChange-Id: {ID}\n").count("none") == 1


@pytest.mark.parametrize(
    ("original", "values", "expected"),
    [
        (f"{BODY}Change-Id: {ID}\n", {"note": "Why.\n"}, f"{BODY}NOTE: Why.\n\n{CITED}"),
        (f"{BODY}Change-Id: {ID}\n", {"note": WHY}, f"{BODY}{WHY}\n{CITED}"),
        (
            f"{BODY}Conflicts:\n{X}\n{WHY}\nClose.\n\nChange-Id: {ID}\n",
            {"note": "NOTE(a): b", "conflicts": KEEP_SECTION},
            f"{BODY}Conflicts:\n{X}\n{WHY}\nNOTE(a): b\n\nClose.\n\n{CITED}",
        ),
        ("S\n", {"note": "NOTE(a): b"}, f"S\n\nNOTE(a): b\n\n{CP}"),
        (
            f"{BODY}Change-Id: {ID}\n(cherry-picked from commit {SHA})\n",
            {"trailers_add": (("Depends-On", ID), ("Co-Authored-By", "C <c@d>"))},
            f"{BODY}Change-Id: {ID}\nDepends-On: {ID}\nCo-Authored-By: C <c@d>\n"
            f"(cherry-picked from commit {SHA})\n\n{CP}",
        ),
        (f"{BODY}Change-Id: {ID}\n", {"trailers_add": (("Change-Id", ID),)}, BODY + CITED),
        ("S\n", {"trailers_add": (("A", "b"),)}, f"S\n\nA: b\n{CP}"),
        ("S\n", {"change_id": ID}, f"S\n\n{CITED}"),
        (f"{BODY}Change-Id: {ID}\n", {"change_id": ID}, BODY + CITED),
    ],
)
def test_a_note_and_trailers_are_added_to_a_pick(
    original: str, values: dict[str, Any], expected: str
) -> None:
    assert picked_as(original, **values) == expected


def test_a_note_of_a_patch_stands_above_the_change_id() -> None:
    change = replace(CHANGE, note=WHY, conflicts=("nova/x.py",), conflicts_section=True)
    message = render_message(change, series_of())
    assert message.endswith(f"783613\n\nConflicts:\n{X}\n{WHY}\nChange-Id: {ID}\n")


def test_a_picked_change_is_named_by_its_commit() -> None:
    named = named_by(PICK, f"[a] S\nmore\n\nBody.\n\nChange-Id: {ID}\n")
    assert (named.subject, named.change_id) == ("[a] S more", ID)
    assert named_by(PICK, "").subject == "(no subject)"
    with pytest.raises(UsageError, match=r"yaml:3: .*has the Change-Id Ib65b.* says I4d49"):
        named_by(replace(PICK, change_id=f"I4d49{ID[5:]}"), f"S\n\nChange-Id: {ID}\n")


@pytest.mark.parametrize("original", ORIGINALS.values(), ids=ORIGINALS)
def test_trailers_are_those_that_git_sees(original: str, plumbing: GitRepo) -> None:
    assert parse_trailers(original) == git_trailers(plumbing, original)


def git_trailers(plumbing: GitRepo, message: str) -> list[tuple[str, str]]:
    options = ("interpret-trailers", "--parse", "--no-divider")
    out = plumbing.git(*options, data=message.encode()).decode()
    pairs = (line.partition(":") for line in out.split("\n")[:-1])
    return [(token, value.removeprefix(" ")) for token, _, value in pairs]


LINES = [
    "Body text", "Body: text", f"Change-Id: {ID}", "Signed-off-by: A <a@b>", "Closes-Bug : #1",
    f"(cherry picked from commit {SHA})", "", "", "  ", " folded", "\ttab", "# comment", "#",
    "Conflicts:", "\tpath", "---", "a:b", ": x", "Two words: x", "http://x", "é: x", "A-1:",
    "# ------------------------ >8 ------------------------", "\x0b", "\x0c: y",
]  # fmt: skip
messages = st.lists(st.sampled_from(LINES), max_size=9).map(
    lambda lines: "\n".join(["Subject", *lines, ""])
)
with_git = settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@with_git
@given(message=messages)
def test_any_message_has_the_trailers_that_git_sees(message: str, plumbing: GitRepo) -> None:
    assert parse_trailers(message) == git_trailers(plumbing, message)


class Picker:
    """Has the real ``git cherry-pick -x`` pick a commit with a given message."""

    def __init__(self, repository: GitRepo, folder: Path) -> None:
        self.repository = repository
        self.work_tree = ("--git-dir", str(repository.folder), "--work-tree", str(folder))
        empty = repository.tree({})
        self.base = repository.commit(empty, b"base\n")
        self.tree = repository.tree({b"f": ("100644", repository.blob(b"content\n"))})
        self.picked = ""

    def pick(self, message: str) -> str:
        """Pick, and return the new commit's message."""
        git = self.repository.git
        self.picked = self.repository.commit(self.tree, message.encode(), self.base)
        git(*self.work_tree, "checkout", "-q", "-f", "--detach", self.base)
        git(*self.work_tree, "cherry-pick", "-x", self.picked)
        return git("cat-file", "commit", "HEAD").partition(b"\n\n")[2].decode()


@pytest.fixture(scope="session")
def picker(tmp_path_factory: pytest.TempPathFactory) -> Picker:
    repository = GitRepo(tmp_path_factory.mktemp("picker"))
    return Picker(repository, tmp_path_factory.mktemp("work-tree"))


@settings(parent=with_git, max_examples=60)
@given(message=messages)
def test_any_pick_is_added_where_git_adds_it(message: str, picker: Picker) -> None:
    expected = picker.pick(message)
    stripped = picker.repository.git("stripspace", data=message.encode()).decode()
    # With -x, git cleans up blanks, which we do not; it also loses the place for the line
    # where blank lines follow the trailers.
    assume(stripped == message)
    assert picked_as(message, commit=picker.picked, conflicts=KEEP_SECTION) == expected


hex40 = st.text("0123456789abcdef", min_size=40, max_size=40)
word = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=12)
line = st.lists(word, min_size=1, max_size=5).map(" ".join)


@given(
    subject=line.filter(lambda text: not text.startswith("[") and "-only:" not in text.lower()),
    description=st.lists(line, max_size=5).map("\n\n".join),
    change_id=hex40.map("I{}".format),
    trailers=st.lists(st.tuples(st.sampled_from(["Co-Authored-By", "Depends-On"]), line)),
    commits=st.lists(hex40, max_size=3),
    kind=st.sampled_from(Kind),
)
def test_what_was_rendered_is_read_back(
    subject: str,
    description: str,
    change_id: str,
    trailers: list[tuple[str, str]],
    commits: list[str],
    kind: Kind,
) -> None:
    change = replace(
        CHANGE,
        kind=kind,
        subject=subject,
        description=description,
        change_id=change_id,
        trailers=tuple(trailers),
        provenance=tuple(commits),
    )
    message = render_message(change, series_of(change))
    assert subject_without_tags(message) == subject
    assert change_ids(message) == (change_id,)
    assert provenance(message) == commits
    assert parse_trailers(message) == [("Change-Id", change_id), *trailers]
    assert message.endswith("\n")
    assert not message.endswith("\n\n")


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (f"S\n\nChange-Id: {ID}\n", (ID,)),
        (f"S\n\nChange-Id: {ID}\n\nThe end.\n", (ID,)),
        (f"S\n\nChange-Id: I{SHA}\n\nChange-Id: {ID}\n", (ID,)),
        (f"S\n\nChange-Id: I{SHA}\nChange-Id: {ID}\n", ("I" + SHA, ID)),
        (f"S\r\n\r\nChange-Id: {ID}\r\n", (ID,)),
        (f"S\n\n  Change-Id: {ID}\n", ()),
        (f"S\n\nchange {ID}\n", ()),
        ("S\n\nChange-Id: Ib65b0c7\n", ()),
    ],
)
def test_change_ids_are_those_that_gerrit_would_take(
    message: str, expected: tuple[str, ...]
) -> None:
    assert change_ids(message) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"(cherry picked from commit {SHA})", [SHA]),
        (f"(cherry-picked from commit {SHA})", [SHA]),
        (f"(cherry picked from commit {SHA}", [SHA]),
        (f"  (Cherry picked from commit {SHA})  ", [SHA]),
        (f"(cherry picked from commit {SHA})\n(cherry picked from commit {OTHER})", [SHA, OTHER]),
        ("(cherry picked from commit abcdef1)", ["abcdef1"]),
        (f"see (cherry picked from commit {SHA})", []),
        ("(cherry picked from commit nothing)", []),
    ],
)
def test_provenance_tolerates_what_people_typed(text: str, expected: list[str]) -> None:
    assert provenance(f"S\n\n{text}\n") == expected


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("S", "S"),
        ("\n\nS\nmore\n\nBody", "S more"),
        ("[stable only] S\n", "S"),
        ("[Stable-Only] [PATCH 1/2] S\n", "S"),
        ("pike-only: S", "S"),
        ("[WIP]", "[WIP]"),
        ("S [x] y", "S [x] y"),
        ("", ""),
    ],
)
def test_the_subject_is_told_from_its_tags(message: str, expected: str) -> None:
    assert subject_without_tags(message) == expected
