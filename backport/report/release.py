"""What is unreleased, and what a release comes to: as lines of text, as Markdown, as data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from backport.policy.bugs import Effect
from backport.release.model import Check, Decision, Group, Notes, State, Unreleased
from backport.report.lint import one_line_of
from backport.report.phrases import short
from backport.report.render import code, prose
from backport.report.text import joined, plural

_SCHEMA = "backport-unreleased/1"
_EFFECTS = {
    Effect.CLOSES: "closes", Effect.PARTIAL: "partial", Effect.RELATED: "related",
    Effect.COMMENT: "names",
}  # fmt: skip


def state_as_json(state: State, groups: Sequence[Group]) -> dict[str, Any]:
    """Return all of it as plain data."""
    return {
        "schema": _SCHEMA,
        "project": state.project,
        "branch": state.branch,
        "since": state.since,
        "tip": state.tip,
        "merges": state.merges,
        "newer_branches": list(state.newer),
        "groups": [
            {"title": group.title, "bug": group.bug, "changes": [c.commit for c in group.changes]}
            for group in groups
        ],
        "changes": [_change_as_json(change) for change in state.changes],
    }


def _change_as_json(change: Unreleased) -> dict[str, Any]:
    return {
        "commit": change.commit,
        "subject": change.subject,
        "author": change.author,
        "date": change.date,
        "bugs": {str(bug): effect.value for bug, effect in change.bugs.items()},
        "stable_only": change.stable_only,
        "ci_only": change.ci_only,
        "tests_only": change.tests_only,
        "impacts": [
            {"area": impact.area, "what": impact.what, "step": impact.step.name.lower()}
            for impact in change.impacts
        ],
        "release_notes": list(change.notes),
        "elsewhere": {each.branch: [each.commit, each.tag] for each in change.elsewhere},
        "missing": list(change.missing),
        "findings": [
            {"name": each.name, "severity": each.severity.value, "reason": each.reason}
            for each in change.findings
        ],
    }


def state_lines(state: State, groups: Sequence[Group]) -> Iterator[str]:
    """Yield what is unreleased for the terminal."""
    yield f"{state.project} {state.branch}: {_count(state)}"
    for group in groups:
        yield ""
        yield group.title
        for change in group.changes:
            yield f"  {short(change.commit)} {change.subject}"
            yield from (f"      {line}" for line in _about(change, group))


def state_markdown(state: State, groups: Sequence[Group]) -> str:
    """Return the same as Markdown: a heading for each group, a list of its changes."""
    parts = [f"# {prose(state.project)} {code(state.branch)}: {prose(_count(state))}"]
    for group in groups:
        title = group.title
        if group.bug:
            title = f"[bug {group.bug}](https://bugs.launchpad.net/bugs/{group.bug})"
        parts.append(f"## {title}")
        parts.append("\n".join(_item(change, group) for change in group.changes))
    return "\n\n".join(parts) + "\n"


def _item(change: Unreleased, group: Group) -> str:
    lines = [f"* {code(short(change.commit))} {code(change.subject)}"]
    return "\n".join([*lines, *(f"  * {prose(line)}" for line in _about(change, group))])


def _count(state: State) -> str:
    if state.since is None:
        return f"no release is below {state.tip_name}"
    merged = f" in {plural(state.merges, 'merge')}" if state.merges else ""
    changes = plural(len(state.changes), "change")
    return f"{changes}{merged} since {state.since}, up to {short(state.tip)} ({state.tip_name})"


def _about(change: Unreleased, group: Group) -> Iterator[str]:
    kind = [word for said, word in _kinds(change) if said]
    bugs = [f"{_EFFECTS[effect]} bug {bug}" for bug, effect in change.bugs.items()]
    if kind or bugs:
        yield ", ".join([*bugs, *kind])
    for impact in change.impacts:
        yield f"{impact.area}: {impact.what}"
    for note in change.notes:
        yield f"release note: {note}"
    yield from _elsewhere(change)
    yield from (one_line_of(finding) for finding in change.findings)


def _kinds(change: Unreleased) -> tuple[tuple[bool, str], ...]:
    return (
        (change.stable_only, "stable only"),
        (change.tests_only, "tests only"),
        (change.ci_only, "CI only"),
    )


def _elsewhere(change: Unreleased) -> Iterator[str]:
    if not change.elsewhere:
        return
    first = change.elsewhere[0]
    released = f"first released in {first.tag}" if first.tag else "not released there"
    if change.missing:
        yield f"not on {joined(list(change.missing))}; on {first.branch}, {released}"
    else:
        yield f"on every newer branch; on {first.branch}, {released}"
    if change.unreleased_before:
        yield f"warning: {first.branch} has not released it yet; newer branches go first"


def release_as_json(
    state: State, decision: Decision, checks: Sequence[Check], notes: Notes, made: dict[str, str]
) -> dict[str, Any]:
    """Return a release as plain data; ``made``: the entry, the request and the tag."""
    return {
        "schema": "backport-release/1",
        "project": state.project,
        "branch": state.branch,
        "version": decision.version,
        "previous": decision.previous,
        "commit": state.tip,
        "reason": decision.reason,
        "changes": [
            {
                "commit": each.commit,
                "subject": each.subject,
                "step": each.step.name.lower(),
                "why": each.why,
            }
            for each in decision.reasons
        ],
        "checks": [{"name": c.name, "ok": c.ok, "said": c.said} for c in checks],
        "notes": list(notes.files),
        "notes_report": notes.report,
        "note_drafts": dict(notes.drafts),
        **made,
    }


def release_lines(
    state: State, decision: Decision, checks: Sequence[Check], notes: Notes, made: dict[str, str]
) -> Iterator[str]:
    """Yield a release for the terminal."""
    yield f"{state.project} {decision.version}, after {decision.previous}: {decision.reason}"
    for reason in decision.reasons:
        yield f"  {reason.step.name.lower():5}  {short(reason.commit)} {reason.subject}"
        yield f"         {reason.why}"
    yield ""
    yield f"Release notes: {plural(len(notes.files), 'note')}"
    yield from (f"  {name}" for name in notes.files)
    yield from (f"  draft: {name}" for name in notes.drafts)
    yield ""
    words = {True: "ok", False: "FAILS", None: "not asked"}
    yield from (f"{words[c.ok]:9}  {c.name}: {c.said}" for c in checks)
    yield ""
    yield from made["entry"].rstrip().split("\n")
    yield from (f"{what}: {made[what]}" for what in ("request", "tag") if made[what])
