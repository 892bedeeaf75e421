"""The comment for a review, JUnit's XML, and how files are written."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

import report_samples as samples
from backport.errors import CannotTellError
from backport.report.diff import cut, file_diffs
from backport.report.document import Report, from_json
from backport.report.render import VIEWS, code, prose, render, report_files, write_reports
from backport.runner.results import Proof, Status, TestResult, Verdict


def test_the_comment_is_short_and_says_all_that_counts() -> None:
    text = render(samples.proven(), "report.md")
    assert text.startswith("Proven: All 714 targeted tests hold")
    assert len(text.splitlines()) < 30
    for part in (
        "* green 2/2: 712 passed, 2 skipped (11 s)",
        "* red 2/1: 8 of 8 fail, as they must (5.1 s, cut to the tests of the fix)",
        "In 1 cell of 4: the migrated schema was kept from an earlier run",
        "Hunks of the fix guarded by a test: 3 of 3.",
        "* `a81be0c511` `[stable only] Handle quota usage during create/delete races`",
        "`requirements-py27.txt` (sha256 `6d1f0c2a9b83`)",
    ):
        assert part in text


@pytest.mark.parametrize("kind", samples.EVERY_KIND)
def test_the_comment_keeps_to_what_gerrit_has_always_known(kind: str) -> None:
    for line in render(samples.EVERY_KIND[kind](), "report.md").splitlines():
        # A leading blank would start a block of code, other signs are newer than ocata's Gerrit.
        assert not line.startswith((" ", "\t", "#", "|", "```", "- ", ">"))


def test_no_path_below_the_user_s_home_is_handed_on(tmp_path: Path) -> None:
    for file in write_reports(samples.broken(), tmp_path, home="/home/ana"):
        assert ("/home/ana" in file.read_text()) == (file.name == "report.json")
    assert "~/src/nova" in (tmp_path / "report.html").read_text()


def test_many_failing_tests_are_counted_and_not_all_listed() -> None:
    results = tuple(TestResult(f"a.B.test_{number}", Status.FAILED, 0.1) for number in range(300))
    (cell,) = samples.judged(
        replace(samples.cells()[1], run=samples.run("0" * 40, 1.0, results, "a"))
    )
    text = render(samples.of_proof(Proof(Verdict.BROKEN, "no", (cell,))), "report.md")
    assert "* `a.B.test_7`" in text
    assert "* and 292 more" in text
    assert "green 2/2: NOT AS IT MUST BE: 300 failed" in text


def test_text_of_others_is_no_markdown() -> None:
    assert code("a `b`\n* c") == "`a 'b' * c`"
    assert code("") == "` `"
    assert prose("see [x](http://y) <img src=z>\n# h") == "see [x] (http://y) ‹img src=z> # h"


def _suites(report: Report) -> dict[str, ElementTree.Element]:
    root = ElementTree.fromstring(render(report, "junit.xml"))
    assert root.tag == "testsuites"
    return {suite.get("name", "").partition(" /")[0]: suite for suite in root}


def _wrong(root: ElementTree.Element) -> int:
    return int(root.get("failures", "")) + int(root.get("errors", ""))


@pytest.mark.parametrize("kind", samples.EVERY_KIND)
def test_junit_counts_what_it_holds(kind: str) -> None:
    root = ElementTree.fromstring(render(samples.EVERY_KIND[kind](), "junit.xml"))
    for element in (root, *root.findall("testsuite")):
        cases = list(element.iter("testcase"))
        assert int(element.get("tests", "")) == len(cases) > 0
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(element.get(name, "")) == sum(case.find(tag) is not None for case in cases)
        assert all(case.get("classname") and case.get("name") for case in cases)
        assert all(float(case.get("time", "")) >= 0 for case in cases)
    for case in root.iter("testcase"):
        assert len(case) <= 1


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        ("proven", 0),
        ("broken", 3),  # two tests and their cell
        ("unproven", 2),  # the two cells
        ("could-not-tell", 2),  # the cell, and the test that does not import
        ("conflict", 1),
        ("already-in", 0),
        ("not-tested", 0),
        ("no-environment", 1),
    ],
)
def test_junit_is_all_green_only_if_every_cell_is_as_it_must_be(kind: str, wrong: int) -> None:
    assert _wrong(ElementTree.fromstring(render(samples.EVERY_KIND[kind](), "junit.xml"))) == wrong


def test_a_red_cell_that_is_red_is_passed_with_its_failures_kept() -> None:
    red = _suites(samples.proven())["red 2/1"]
    assert _wrong(red) == 0
    outputs = [case.findtext("system-out", "") for case in red.iter("testcase")]
    assert outputs[0] == "8 of 8 fail, as they must"
    assert all("MismatchError" in output for output in outputs[1:])


def test_a_red_cell_that_is_not_red_fails() -> None:
    red = _suites(samples.unproven())["red 2/1"]
    case = next(red.iter("testcase"))
    assert (case.get("classname"), case.get("name")) == (
        "backport.proof",
        "red 2/1 is as it must be",
    )
    failure = case.find("failure")
    assert failure is not None
    assert failure.get("message") == "none of 8 fails, and one must"


def test_what_fails_on_the_base_is_skipped_and_named() -> None:
    base = _suites(samples.could_not_tell())["base 2/0"]
    skipped = [case.find("skipped") for case in base.iter("testcase")]
    messages = [each.get("message", "") for each in skipped if each is not None]
    assert len(messages) == 1
    assert messages[0].startswith("fails on the base too: testtools")


def test_junit_survives_what_xml_cannot_hold() -> None:
    cell = samples.cells()[0]
    evil = "\x00\x1b[31m\udcff\ud800\ufffe ]]> <a b='c'> & \x0b end"
    results = tuple(
        replace(result, id=f"{result.id}{evil}", detail=evil, status=Status.FAILED)
        for result in cell.run.results
    )
    cell = replace(cell, ok=False, run=replace(cell.run, results=results, command=evil))
    text = render(samples.of_proof(Proof(Verdict.BROKEN, evil, (cell,))), "junit.xml")
    failures = list(ElementTree.fromstring(text.encode()).iter("failure"))
    assert failures[1].text == "\\xff\\ud800 ]]> <a b='c'> &  end"


def test_a_test_id_is_split_into_class_and_method() -> None:
    suite = _suites(samples.proven())["green 1/1"]
    case = list(suite.iter("testcase"))[1]
    assert case.get("classname") == f"{samples.FUNCTIONAL}.TestDeleteWhileBooting"
    assert case.get("name") == "test_instance_lookup_comes_back_empty"


def test_all_views_are_written_and_their_paths_returned(tmp_path: Path) -> None:
    folder = tmp_path / "build" / "report"
    report = samples.proven()
    paths = write_reports(report, folder)
    assert paths == report_files(folder)
    assert [path.name for path in paths] == ["report.html", "report.md", "report.json", "junit.xml"]
    assert sorted(path.name for path in folder.iterdir()) == sorted(path.name for path in paths)
    assert from_json((folder / "report.json").read_text(encoding="utf-8")) == report
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o644 for path in paths)


def test_a_second_report_replaces_the_first_and_leaves_other_files(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "a.log").write_text("kept")
    write_reports(samples.broken(), tmp_path)
    write_reports(samples.proven(), tmp_path)
    assert "Proven" in (tmp_path / "report.md").read_text(encoding="utf-8")
    assert (tmp_path / "logs" / "a.log").read_text() == "kept"


def test_a_report_that_cannot_be_written_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(CannotTellError, match="cannot be written") as caught:
        write_reports(samples.proven(), tmp_path / "file")
    assert "--report" in caught.value.hint


def test_a_write_that_breaks_off_leaves_the_old_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_reports(samples.broken(), tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("backport.report.render.os.replace", full)
    with pytest.raises(CannotTellError, match="No space left on device"):
        write_reports(samples.proven(), tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_diff_is_taken_apart_with_its_line_numbers() -> None:
    api, test = file_diffs(samples.FIX_DIFF)
    assert (api.path, api.added, api.removed) == ("nova/compute/api.py", 7, 3)
    assert test.path.endswith("test_bug_1783613.py")
    first = [(line.kind, line.old, line.new) for line in api.lines[:5]]
    assert first == [
        ("hunk", 0, 0),
        ("same", 62, 62),
        ("same", 63, 63),
        ("add", 0, 64),
        ("same", 64, 65),
    ]
    assert api.lines[-1].text.startswith("+                context, resource_names")


@pytest.mark.parametrize(
    ("diff", "path", "kinds"),
    [
        ("", None, []),
        ("no diff\nat all", "", ["meta", "meta"]),
        (
            "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n",
            "y",
            ["meta"] * 5,
        ),
        ("diff --git a/i.png b/i.png\nBinary files differ\n", "i.png", ["meta"] * 3),
        ("--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n", "x", ["hunk", "del"]),
        (
            "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a/trap\n+++ b/trap\n same\n",
            "x",
            ["hunk", "del", "add", "same"],
        ),
        (
            "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-@@ -1 +1 @@\n+b\n\\ No newline at end of file\n",
            "x",
            ["hunk", "del", "add", "meta"],
        ),
        ("@@ -1,99999999999 +1 @@\n+cut", "", ["hunk", "add"]),
    ],
)
def test_any_text_can_be_shown_as_a_diff(diff: str, path: str | None, kinds: list[str]) -> None:
    found = file_diffs(diff)
    assert [each.path for each in found] == ([] if path is None else [path])
    assert [line.kind for each in found for line in each.lines] == kinds


def test_a_cut_diff_says_what_is_left_out() -> None:
    (file,) = file_diffs("--- a/x\n+++ b/x\n@@ -0,0 +1,9 @@\n" + "+y\n" * 9)
    assert cut(file, 100) is file
    short = cut(file, 4)
    assert len(short.lines) == 5
    assert short.lines[-1].text == "[… 6 lines left out; git show has them …]"


def test_nothing_of_the_machine_is_asked_for_when_rendering(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(os, "getcwd", forbidden)
    monkeypatch.setattr(os, "getenv", forbidden)
    for name in VIEWS:
        assert render(samples.proven(), name) == render(samples.proven(), name)


def test_compiled_templates_are_kept_and_change_nothing(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    pages = []
    for number in range(3):
        write_reports(samples.broken(), tmp_path / f"{number}", kept)
        pages.append((tmp_path / f"{number}" / "report.html").read_bytes())
        for file in kept.iterdir() if number else ():
            file.write_bytes(b"damaged")
    write_reports(samples.broken(), tmp_path / "without", tmp_path / "not there")
    pages.append((tmp_path / "without/report.html").read_bytes())
    assert list(kept.iterdir())
    assert len(set(pages)) == 1
