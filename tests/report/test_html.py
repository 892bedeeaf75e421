"""The page: well-formed, accessible, self-contained, and deaf to whatever the tests print."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

import report_samples as samples
from backport.report.document import NextStep, Report
from backport.report.render import render
from backport.runner.results import Cell, CellKind, Guard, Proof, Status, TestResult, Verdict
from page_checks import page_text, read_page

HOSTILE = (
    "</pre></details><script>alert(1)</script><img src=x onerror=alert(2)>"
    "\x1b[31mred\x1b[0m \x00 \udcff \ud800 \u202e <!-- ]]> {{ 7*7 }} {% raw %} &amp; \"'`"
)


def hostile() -> Report:
    """A report in which every text of other people's is hostile."""
    report = samples.unproven()
    assert report.proof is not None
    assert report.checkout is not None

    def poison(value: object) -> object:
        if isinstance(value, dict):
            return {key: poison(each) for key, each in value.items()}
        if isinstance(value, list):
            return [poison(each) for each in value]
        fixed = ("backport-report/1", "2025-")
        if isinstance(value, str) and not value.startswith(fixed) and value not in ENUMS:
            return value[:60] + HOSTILE
        return value

    return Report.model_validate(poison(report.model_dump(mode="json", by_alias=True)))


ENUMS = {
    *("green", "red", "flip", "whole", "base", "none", "unproven", "regression-test", "fix"),
    *(guard.value for guard in Guard),
    *(status.value for status in Status),
    *("exact", "three-way"),
}


@pytest.mark.parametrize("kind", samples.EVERY_KIND)
def test_every_page_is_well_formed_and_accessible(kind: str) -> None:
    page = read_page(render(samples.EVERY_KIND[kind](), "report.html"))
    assert page.faults == []
    assert [name for name, count in page.ids.items() if count > 1] == []
    assert page.unscoped == 0
    assert all(page.tables)
    assert set(page.labelled_by) <= set(page.ids)
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)
    assert page.tags["main"] == page.tags["h1"] == page.tags["nav"] == page.tags["title"] == 1


@pytest.mark.parametrize("kind", samples.EVERY_KIND)
def test_headings_go_down_by_one_level_at_a_time(kind: str) -> None:
    headings = read_page(render(samples.EVERY_KIND[kind](), "report.html")).headings
    assert headings[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(headings))


@pytest.mark.parametrize("kind", samples.EVERY_KIND)
def test_the_page_needs_no_script_and_no_network(kind: str) -> None:
    html = render(samples.EVERY_KIND[kind](), "report.html")
    page = read_page(html)
    assert page.tags["script"] == page.tags["img"] == page.tags["iframe"] == 0
    assert "url(" not in html
    assert "@import" not in html
    assert "default-src 'none'" in html
    away = [link for link in page.links if not link.startswith("#")]
    assert all(link == "https://bugs.launchpad.net/bugs/1783613" for link in away)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("proven", ["Proven", "All 714 targeted tests", "712", "as it must", "3 of 3 guarded"]),
        ("broken", ["Broken", "not as it must", "2 tests ended in an error"]),
        ("unproven", ["Unproven", "none of 8 fails, and one must", "unguarded", "a comment"]),
        ("could-not-tell", ["Could not tell", "ImportError: no module quota", "not blamed on"]),
        (
            "conflict",
            ["Conflict", "belongs in API._delete", "build/conflicts", "backport continue"],
        ),
        ("already-in", ["Already in", "recognised by Change-Id", "a5512ba1dd"]),
        ("not-tested", ["Not tested", "--skip-tests was given", "backport verify"]),
        ("no-environment", ["Could not tell", "no working Python 2.7", "--python PATH"]),
    ],
)
def test_the_page_tells_what_a_manager_has_to_know(kind: str, words: list[str]) -> None:
    text = page_text(render(samples.EVERY_KIND[kind](), "report.html"))
    for each in words:
        assert each in text


def test_the_page_has_commits_environment_and_commands() -> None:
    report = samples.proven()
    text = page_text(render(report, "report.html"))
    assert report.proof is not None
    for change in report.changes:
        assert change.message.rstrip("\n") in text
        assert change.commit in text
        assert change.tree in text
    for cell in report.proof.cells:
        assert cell.command in text
        assert cell.tree in text
    assert report.environments[0].lock_sha256 in text
    assert "self.assertNotEqual(before, self._usage())" in text
    assert "3 hunks moved by −1 line" in text
    assert "testtools.matchers._impl.MismatchError: (0, 0) != (1, 2)" in text


def test_hostile_text_comes_out_as_text() -> None:
    html = render(hostile(), "report.html")
    page = read_page(html)
    assert page.faults == []
    assert page.tags["script"] == page.tags["img"] == 0
    assert "<script>alert(1)</script><img src=x onerror=alert(2)>red" in page_text(html)
    assert "{{ 7*7 }} {% raw %}" in page_text(html)
    assert not {c for c in html if ord(c) < 32 and c not in "\n\t"}
    assert "\u202e" not in html
    assert "\\u202e" in html
    html.encode("utf-8")


def test_hostile_text_cannot_leave_its_attribute() -> None:
    for tag, attributes in read_page(render(hostile(), "report.html")).attributes:
        known = {
            *("class", "id", "href", "lang", "charset", "name", "content", "datetime", "scope"),
            *("tabindex", "role", "open", "rel", "http-equiv", "data-n", "focusable", "d", "fill"),
            *("aria-label", "aria-labelledby", "aria-hidden", "x", "width", "height", "viewbox"),
            *("stroke", "stroke-width", "stroke-linecap", "stroke-linejoin", "cx", "cy", "r"),
            "preserveaspectratio",
        }
        assert set(attributes) <= known, tag


def test_seven_hundred_passing_tests_make_a_small_page() -> None:
    html = render(samples.proven(), "report.html")
    assert len(html.encode()) < 150_000
    assert html.count("<li>test_") > 700


def test_seven_hundred_failing_tests_with_much_to_say_stay_below_three_megabytes() -> None:
    noise = "\n".join(f"line {number} of the output" for number in range(1_000))
    results = tuple(
        TestResult(f"pkg.Class.test_{number}", Status.FAILED, 0.1, noise + f"\nEND {number}")
        for number in range(714)
    )
    cell = replace(samples.cells()[1], ok=False, run=samples.run("0" * 40, 9.0, results, "pkg"))
    html = render(samples.of_proof(Proof(Verdict.BROKEN, "no", (cell,))), "report.html")
    assert len(html.encode()) < 3_000_000
    assert "END 713" in html
    assert "characters left out" in html


def test_a_huge_diff_is_cut_and_says_so() -> None:
    body = "".join(f"+line {number}\n" for number in range(50_000))
    diff = f"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1,50000 @@\n{body}"
    changes = (samples.proven().changes[0].model_copy(update={"diff": diff}),)
    html = render(samples.proven().model_copy(update={"changes": changes}), "report.html")
    assert len(html.encode()) < 400_000
    assert "lines left out" in html


def _cell(kind: CellKind, tests_of: int, code_of: int) -> Cell:
    return replace(samples.cells()[0], kind=kind, tests_of=tests_of, code_of=code_of)


def test_many_changes_make_a_list_since_they_make_no_picture() -> None:
    cells = tuple(_cell(CellKind.GREEN, number, number) for number in range(1, 101))
    page = read_page(render(samples.of_proof(Proof(Verdict.PROVEN, "so", cells)), "report.html"))
    assert page.faults == []
    assert page.tags["th"] < 500
    assert len([link for link in page.links if link.startswith("#run-")]) == 100


def test_two_cells_in_one_field_of_the_matrix_are_both_there() -> None:
    cells = (_cell(CellKind.RED, 1, 0), _cell(CellKind.BASE, 1, 0), _cell(CellKind.WHOLE, 2, 2))
    page = read_page(render(samples.of_proof(Proof(Verdict.PROVEN, "so", cells)), "report.html"))
    assert page.faults == []
    assert [link for link in page.links if link.startswith("#run-")] == [
        "#run-0",
        "#run-1",
        "#run-2",
    ]
    assert "all targeted" in "".join(page.text)


def test_each_interpreter_gets_a_matrix_and_ids_stay_unique() -> None:
    second = tuple(
        replace(cell, run=replace(cell.run, interpreter="python3.5", environment="py35"))
        for cell in samples.cells()
    )
    html = render(
        samples.of_proof(Proof(Verdict.PROVEN, "so", samples.cells() + second)), "report.html"
    )
    page = read_page(html)
    assert [name for name, count in page.ids.items() if count > 1] == []
    assert html.count('class="matrix scroll"') == 2


def test_a_next_step_that_holds_markup_is_text() -> None:
    step = NextStep(command="echo '<b>'", why="<i>why</i>")
    html = render(samples.proven().model_copy(update={"next_steps": (step,)}), "report.html")
    assert "echo &#39;&lt;b&gt;&#39;" in html
    assert "<i>why" not in html
