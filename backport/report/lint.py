"""What the policy found: for the terminal, and as data."""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from backport.policy.model import Finding, Rule, Severity
from backport.report.console import said
from backport.report.phrases import short
from backport.report.text import plural

_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}


def findings_as_json(commits: Sequence[str], findings: Sequence[Finding]) -> dict[str, Any]:
    """Return the findings as plain data; the counts by severity, too."""
    return {
        "schema": "backport-lint/1",
        "commits": list(commits),
        "counts": _counts(findings),
        "findings": [
            {
                "name": finding.name,
                "severity": finding.severity.value,
                "commit": finding.commit,
                "subject": finding.subject,
                "path": finding.path,
                "line": finding.line,
                "reason": finding.reason,
                "source": finding.source,
                "remedy": finding.remedy,
            }
            for finding in findings
        ],
    }


def show_findings(commits: Sequence[str], findings: Sequence[Finding], console: Console) -> None:
    """Print the findings, grouped by commit, and how many there are."""
    last = ""
    for finding in findings:
        if finding.commit != last:
            last = finding.commit
            console.print(Text(short(last), "bold") + Text(" ") + said(finding.subject, console))
        head = Text("  ") + Text(finding.severity.value, _STYLES[finding.severity])
        body = f" {finding.name}: {_place(finding)}{finding.reason}"
        console.print(head + said(body, console), soft_wrap=True)
        console.print(said(f"      {finding.remedy}", console, "dim"), soft_wrap=True)
    console.print(summary_of(commits, findings))


def one_line_of(finding: Finding) -> str:
    """Return a finding on one line."""
    where = f"{short(finding.commit)} {_place(finding)}"
    return f"{finding.severity.value} {finding.name}: {where}{finding.reason}"


def summary_of(commits: Sequence[str], findings: Sequence[Finding]) -> str:
    """Return one line: how many commits, how many findings of each severity."""
    counts = _counts(findings)
    words = [plural(counts[kind], kind) for kind in counts if counts[kind]]
    return f"{plural(len(commits), 'commit')}: {', '.join(words) or 'nothing to say against them'}"


def _place(finding: Finding) -> str:
    if finding.path:
        return f"{finding.path}:{finding.line}: " if finding.line else f"{finding.path}: "
    return f"line {finding.line} of the message: " if finding.line else ""


def _counts(findings: Sequence[Finding]) -> dict[str, int]:
    found = Counter(finding.severity.value for finding in findings)
    return {kind.value: found[kind.value] for kind in Severity if kind is not Severity.OFF}


def rules_as_json(rules: Sequence[Rule]) -> str:
    """Return the rules as JSON."""
    rows = [
        {
            "name": rule.name,
            "severity": rule.severity.value,
            "title": rule.title,
            "why": rule.why,
            "source": rule.source,
            "remedy": rule.remedy,
        }
        for rule in rules
    ]
    return json.dumps({"rules": rows}, indent=2) + "\n"


def show_rules(rules: Sequence[Rule]) -> str:
    """Return the rules as text: what each finds, why, by whose word, and what to do."""
    return "\n".join(
        f"{rule.name} ({rule.severity.value})\n    {rule.title}\n"
        + "".join(
            textwrap.fill(text, 96, initial_indent="    ", subsequent_indent="    ") + "\n"
            for text in (rule.why, f"Remedy: {rule.remedy}", f"Source: {rule.source}")
        )
        for rule in rules
    )


def rules_as_markdown(rules: Sequence[Rule]) -> str:
    """Return the rules as the page ``docs/lint.md``."""
    rows = "\n".join(
        f"## {rule.name}\n\n**{rule.severity.value.capitalize()}**: {rule.title}. {rule.why}\n\n"
        f"Remedy: {rule.remedy}\n\nSource: {rule.source}\n"
        for rule in rules
    )
    return (
        "# The rules of `backport lint`\n\n"
        "Made from the table in `backport/policy/table.py` by `rules_as_markdown`. "
        "A branch sets severities of its own\nin `branch.yaml`, such as "
        "`lint: {body-width: off, chain-incomplete: error}`.\n\n" + rows
    )
