"""The table of the rules, and what is made from it."""

from __future__ import annotations

from pathlib import Path

from backport.policy.bugs import Effect, effects
from backport.policy.table import RULES
from backport.report.lint import rules_as_markdown
from project import Project

PAGE = Path(__file__).parents[2] / "docs/lint.md"


def test_the_page_is_the_table() -> None:
    assert PAGE.read_text() == rules_as_markdown(RULES)


def test_names_are_unique_and_every_rule_explains_itself() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)
    assert all(rule.title and rule.why and rule.source and rule.remedy for rule in RULES)


def test_the_list_has_every_rule(project: Project) -> None:
    told = project.run("lint", "--list")
    assert told.code == 0
    assert all(f"{rule.name} ({rule.severity.value})" in told.out for rule in RULES)
    rows = project.run("lint", "--list", "--json").report["rules"]
    assert [row["name"] for row in rows] == [rule.name for rule in RULES]


def test_the_grammar_is_that_of_launchpad() -> None:
    """The forms that were tried with jeepyb's own expression."""
    table = {
        "Closes-Bug: #12": Effect.CLOSES,
        "closes-bug: 12": Effect.CLOSES,
        "Closes-Bug:#12": Effect.CLOSES,
        "Closes-Bug : #12": Effect.CLOSES,
        "Closes-Bug: LP#12": Effect.CLOSES,
        "Fixes: bug #12": Effect.CLOSES,
        "bug 12": Effect.CLOSES,
        "lp: 12": Effect.CLOSES,
        "Closes-Bug:\n12": Effect.CLOSES,
        "Partial-Bug: #12": Effect.PARTIAL,
        "Related-Bug: #12": Effect.RELATED,
        "Impacts-Bug: #12": Effect.RELATED,
        "Reproduce bug 12": Effect.COMMENT,
        "Fix bug 12": Effect.COMMENT,
        "Partially-Fixes-Bug: 12": Effect.COMMENT,
        "Closes-Bug: #12.": None,
        "Closes-Bug: #12, #13": None,
        "Closes-Bugs: #12": None,
        "* Closes-Bug: #12": None,
        "Add recreate test for bug 12": None,
    }
    found = {text: said.effect if (said := effects(text).get(12)) else None for text in table}
    assert found == table
