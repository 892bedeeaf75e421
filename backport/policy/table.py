"""The table of the rules, and the one function that asks them."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping

from backport.errors import UsageError
from backport.policy import conflict_rules as conflicts
from backport.policy import content_rules as content
from backport.policy import identity_rules as identity
from backport.policy import provenance_rules as provenance
from backport.policy import text_rules as text
from backport.policy.exempt import by_bot, is_infra, is_revert
from backport.policy.model import Facts, Finding, Range, Rule, Severity
from backport.series.model import Branch

_GUIDE = "project team guide, stable branches"
_CHECKER = "nova, tools/check-cherry-picks.sh"
_CONTRIBUTOR = "contributor guide, git commit messages"
_GERRIT = "Gerrit, Change-Ids: one, in the last paragraph"
_JEEPYB = "jeepyb, update_bug.py"
_E, _W = Severity.ERROR, Severity.WARNING

#: Every rule, in the order in which they are told.
RULES: tuple[Rule, ...] = (
    Rule(
        "no-provenance", _E, "no commit that it was picked from, and no stable-only tag",
        "A fix goes to master first, then back branch by branch. Bots, infrastructure, reverts "
        "and release notes are exempt.",
        f"{_GUIDE}: cherry-pick -x is required; {_CHECKER}",
        "Pick it with git cherry-pick -x; or, where newer branches have no such bug, put the "
        "stable-only tag in front of the subject and say why in the body.",
        provenance.no_provenance, spares=True,
    ),
    Rule(
        "provenance-form", _E, "a line of provenance that tools do not see",
        "Typed by hand: “cherry-picked”, a shortened hash, no bracket at the end.",
        f"git cherry-pick -x; {_CHECKER}",
        "Write it as git does: (cherry picked from commit HASH), the hash in full.",
        provenance.provenance_form,
    ),
    Rule(
        "unknown-commit", _E, "a cited commit that does not exist",
        "Most often a patch set that was rebased in review before it merged.",
        _CHECKER,
        "Cite the commit that merged: look for the Change-Id on that branch. If it is there, "
        "fetch the branch.",
        provenance.unknown_commit,
    ),
    Rule(
        "not-on-newer-branch", _E, "a cited commit that no newer branch holds",
        "It may be on the branch itself, on an older one, or on nobody's.",
        f"{_GUIDE}: a change must be in all newer branches first",
        "Cite the commit of the newer branch; wait until it has merged there.",
        provenance.not_on_newer_branch,
    ),
    Rule(
        "provenance-order", _E, "cited commits in another order than they were picked in",
        "git appends one line a hop: master's on top, the nearest branch's last.",
        "git cherry-pick -x; so in 1,284 of 1,290 backports of nova",
        "Sort the lines: master first, then from the newest branch to the oldest.",
        provenance.provenance_order,
    ),
    Rule(
        "chain-incomplete", _W, "a branch in between has the change, and is not cited",
        "What people adapted on that branch may be missing here.",
        f"{_GUIDE}: from the newest branch to the oldest",
        "Pick from the nearest newer branch that has the change.",
        provenance.chain_incomplete,
    ),
    Rule(
        "missing-on-newer-branch", _E, "a newer branch has it, one in between has not",
        "Who upgrades would lose the fix.",
        f"{_GUIDE}: a change must be in all newer branches first; so in all 1,314 of nova's",
        "Bring it to those branches first.",
        provenance.missing_on_newer_branch, spares=True,
    ),
    Rule(
        "change-id-changed", _E, "another Change-Id than what was picked",
        "By it Gerrit, and people, find a change on all its branches.",
        f"{_GUIDE}: keep the Change-Id",
        "Put the Change-Id of the picked commit back.",
        identity.change_id_changed,
    ),
    Rule(
        "change-id-count", _E, "no Change-Id, or more than one",
        "Gerrit refuses a change without (requireChangeId).",
        _GERRIT,
        "Keep the one of the picked commit; Gerrit's commit-msg hook makes one for a new change.",
        identity.change_id_count, spares=True,
    ),
    Rule(
        "change-id-place", _E, "a Change-Id above the last paragraph",
        "Gerrit does not see it there.",
        _GERRIT,
        "Move what stands below it above the paragraph with the Change-Id.",
        identity.change_id_place,
    ),
    Rule(
        "subject-changed", _W, "another subject than what was picked",
        "Tags such as [stable only] may be put in front.",
        f"{_GUIDE}: keep the message",
        "Put the subject back.",
        identity.subject_changed,
    ),
    Rule(
        "author-changed", _W, "another author than what was picked",
        "Who picks a change back commits it; who wrote it stays the author.",
        "git cherry-pick; so in 1,258 of 1,313 backports of nova",
        "git commit --amend --author='NAME <MAIL>'",
        identity.author_changed,
    ),
    Rule(
        "conflicts-missing", _E, "the pick conflicts, and no section says so",
        "The pick is done once more, by git's merge. Reviewers look first at what was resolved "
        "by hand.",
        f"{_GUIDE}: keep the Conflicts lines",
        "List the paths under “Conflicts:” above the Change-Id, and say why in a NOTE.",
        conflicts.conflicts_missing,
    ),
    Rule(
        "conflicts-stale", _W, "a section on a pick that is clean here",
        "It is left of an earlier hop, and sends reviewers looking for nothing.",
        f"{_GUIDE}: drop Conflicts lines that are no longer valid on the branch",
        "Take the section out, and its NOTE.",
        conflicts.conflicts_stale,
    ),
    Rule(
        "conflicts-files", _W, "the section lists other files than those that conflict",
        "Compared with the pick, done once more by git's merge.",
        f"{_GUIDE}: Conflicts lines are those of this pick",
        "List the paths that conflict on this branch, one a line.",
        conflicts.conflicts_files,
    ),
    Rule(
        "conflicts-place", _E, "a section below the Change-Id",
        "It breaks the last paragraph, which trailers are read from.",
        _GERRIT,
        "Move the section above the paragraph with the Change-Id.",
        conflicts.conflicts_place,
    ),
    Rule(
        "adapted-without-note", _W, "the pick is clean, the commit another, and no NOTE says why",
        "A backport matches what was picked unless there is a serious need.",
        f"{_GUIDE}: no changes beyond what the branch needs",
        "Say in a NOTE(nick): what was adapted, and why.",
        conflicts.adapted_without_note,
    ),
    Rule(
        "bug-trailer", _E, "Launchpad will do something else to the bug than the trailer says",
        "The first line that ends in “bug N” decides, with its first word: a subject such as "
        "“Reproduce bug N” does; and “Closes-Bug: #N.” is not seen at all.",
        _JEEPYB,
        "Write Closes-Bug: #N, Partial-Bug: #N or Related-Bug: #N, one bug a line, nothing "
        "behind it; and no line above that ends in “bug N” after a single word.",
        content.bug_trailer,
    ),
    Rule(
        "forbidden-path", _E, "changes what a stable branch must not",
        "Versions of the HTTP API, RPC, the form of objects: running services of two releases "
        "would not understand each other.",
        f"{_GUIDE}: forbidden; 1 in 1,402 commits of nova",
        "Fix it without, or ask the stable team for an exception.",
        content.forbidden_path,
    ),
    Rule(
        "suspicious-path", _W, "changes what a stable branch seldom does",
        "Configuration, the database's schema, notifications, policies, requirements: deployers "
        "may have to act.",
        f"{_GUIDE}: appropriate fixes",
        "Say in the message why it is safe; write a release note.",
        content.suspicious_path, spares=True,
    ),
    Rule(
        "release-note-missing", _W, "a release note is needed, or was lost in the pick",
        "For upgrades, configuration and security; a note is picked as the same file.",
        "nova, contributor/releasenotes.rst; reno, updating stable branch release notes",
        "Pick the note along, or write one: reno new SLUG.",
        content.release_note_missing, spares=True,
    ),
    Rule(
        "test-without-fix", _W, "a test that shows a bug, without the fix behind it",
        "It passes as long as the bug is there, and asserts the wrong.",
        "nova, functional/regressions/README.rst; 95 pairs in its stable branches",
        "Pick the fix as well, right behind the test.",
        content.test_without_fix,
    ),
    Rule(
        "fix-before-test", _W, "a test that shows a bug, behind the fix",
        "On fixed code it cannot pass; and that the test catches the bug cannot be shown.",
        "nova, functional/regressions/README.rst; 95 pairs in its stable branches",
        "Put the test before the fix.",
        content.fix_before_test,
    ),
    Rule(
        "subject-width", _W, "a subject of more than 72 characters",
        "It is cut off in lists; about 50 is best.",
        f"{_CONTRIBUTOR}; 97.4 % of nova's are shorter",
        "Shorten it; that of a picked commit stays as it is.",
        text.subject_width,
    ),
    Rule(
        "subject-too-long", _E, "a subject of more than 79 characters",
        "No backport of nova's stable/ocata has one.",
        _CONTRIBUTOR,
        "Shorten it; that of a picked commit stays as it is.",
        text.subject_too_long,
    ),
    Rule(
        "subject-period", _W, "a subject that ends in a period",
        "It is a title.",
        _CONTRIBUTOR,
        "Take it off.",
        text.subject_period,
    ),
    Rule(
        "second-line", _E, "no empty line below the subject",
        "git takes the whole first paragraph for the subject.",
        f"{_CONTRIBUTOR}; so in all of nova's",
        "Put an empty line there.",
        text.second_line,
    ),
    Rule(
        "body-empty", _W, "a message that does not say why",
        "Of picked commits the message is kept as it is.",
        _CONTRIBUTOR,
        "Say what is wrong, and how this mends it.",
        text.body_empty, spares=True,
    ),
    Rule(
        "body-width", _W, "lines of more than 72 characters",
        "Code, URLs and what cannot be broken are spared, and what came with the picked commit.",
        f"{_CONTRIBUTOR}; 97.8 % of nova's lines are shorter",
        "Wrap at 72.",
        text.body_width,
    ),
)  # fmt: skip
_KNOWN = {rule.name: rule for rule in RULES}


def severities(branch: Branch) -> dict[str, Severity]:
    """Return the severities that a branch wants otherwise than the table.

    :raises UsageError: it names rules that there are not; with all of them
    """
    wrong = []
    file = branch.folder / "branch.yaml"
    for name, _, line in branch.lint:
        if name not in _KNOWN:
            close = difflib.get_close_matches(name, _KNOWN, n=1)
            guess = f"; did you mean {close[0]!r}?" if close else ""
            wrong.append(f"{file}:{line}: there is no rule {name!r}{guess}")
    if wrong:
        raise UsageError("\n".join(wrong), "Type: backport lint --list")
    return {name: Severity(how) for name, how, _ in branch.lint}


def judge(around: Range, wanted: Mapping[str, Severity]) -> list[Finding]:
    """Ask all rules of all commits.

    :param wanted: by a rule's name, where a branch wants another than the table's
    """
    return [finding for facts in around.commits for finding in _of_one(facts, around, wanted)]


def _of_one(facts: Facts, around: Range, wanted: Mapping[str, Severity]) -> Iterator[Finding]:
    if by_bot(facts):
        return
    spared = is_infra(facts) or is_revert(facts)
    for rule in RULES:
        severity = wanted.get(rule.name, rule.severity)
        if severity is Severity.OFF or (spared and rule.spares):
            continue
        for hit in rule.check(facts, around):
            yield Finding(
                name=rule.name,
                severity=severity,
                commit=facts.id,
                subject=facts.subject,
                path=hit.path,
                line=hit.line,
                reason=hit.reason,
                source=rule.source,
                remedy=hit.remedy or rule.remedy,
            )
