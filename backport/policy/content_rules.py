"""What a commit changes, and what that needs: paths, release notes, a test and its fix."""

from __future__ import annotations

import re
from collections.abc import Iterator

from backport.policy.bugs import Effect, effects, meanings
from backport.policy.model import Facts, Hit, Range

_API_VERSION = re.compile(r"(.*/)?api_version_request\.py\Z")
_RPC = re.compile(r"(.*/)?rpcapi\.py\Z")
# A version, its history in the docstring, an alias: time-outs and log messages are no such thing.
_RPC_VERSION = re.compile(r"""[^#]*['"]\d+\.\d+['"]|\s*\*\s+\d+\.\d+\s+-\s""")
_SUSPICIOUS = (
    (re.compile(r"[^/]+/conf/"), "configuration options"),
    (re.compile(r".*/api_migrations/"), "the API database's schema"),
    (re.compile(r".*/(migrate_repo|migrations)/versions/"), "the database's schema"),
    (re.compile(r"doc/notification_samples/"), "notifications"),
    (re.compile(r"[^/]+/policies/"), "policy rules"),
    (re.compile(r"requirements\.txt\Z"), "requirements"),
    (_RPC, "how RPC is called"),
)
#: Files whose added lines the rules read.
READ = re.compile(r"(.*/)?(test_objects|rpcapi)\.py\Z")
_FINGERPRINT = re.compile(r"\s*['\"](\w+)['\"]: *['\"](\d+\.\d+)-[0-9a-f]{32}['\"]")
_IMPACT = re.compile(r"^\s*(SecurityImpact|UpgradeImpact)\b|\b(CVE-\d{4}-\d+|OSSA-\d{4}-\d+)", re.M)
_RECREATE = re.compile(r"\b(recreat|reproduc|regression|functional)", re.I)
_SHOWS_BUG = re.compile(r"\b(recreat|reproduc)", re.I)


def bug_trailer(facts: Facts, around: Range) -> Iterator[Hit]:
    """What Launchpad's integration will do to a bug is not what the trailer says."""
    done = effects(facts.message)
    meant: dict[int, Effect] = {}
    for said in meanings(facts.message):
        if said.bug in meant:
            continue
        meant[said.bug] = said.effect
        real = done.get(said.bug)
        if real is None:
            yield Hit(f"“{said.text}” does nothing to bug {said.bug}", line=said.line)
        elif real.effect is not said.effect:
            words = f"“{said.text}”, but “{real.text.strip()}” on line {real.line} decides what"
            yield Hit(f"{words} happens to bug {said.bug}: {real.effect.value}", line=said.line)
    for bug, real in done.items():
        if bug not in meant and real.effect is not Effect.COMMENT and _is_bare(real.text):
            reason = f"“{real.text.strip()}” by itself closes bug {bug} when this merges"
            yield Hit(reason, line=real.line)


def _is_bare(text: str) -> bool:
    return re.match(r"[\t ]*(bug|lp)\b", text, re.I) is not None


def forbidden_path(facts: Facts, around: Range) -> Iterator[Hit]:
    """What a stable branch must not change: the API, RPC, the form of objects."""
    for touched in facts.touched:
        code = not around.is_test(touched.path)
        if code and _API_VERSION.match(touched.path):
            yield Hit("changes the versions of the HTTP API", touched.path)
        if code and _RPC.match(touched.path):
            versions = [number for number, line in touched.lines if _RPC_VERSION.match(line)]
            if versions:
                yield Hit("changes the versions of the RPC API", touched.path, versions[0])
            continue
        for number, line in touched.lines:
            found = _FINGERPRINT.match(line)
            if found:
                reason = f"changes the form of the object {found[1]} ({found[2]}), sent over RPC"
                yield Hit(reason, touched.path, number)


def suspicious_path(facts: Facts, around: Range) -> Iterator[Hit]:
    """What a stable branch changes seldom, and with a reason."""
    told = set()
    for path in facts.paths:
        what = next((what for pattern, what in _SUSPICIOUS if pattern.match(path)), "")
        if what and what not in told:
            yield Hit(f"changes {what}", path)
            told.add(what)


def release_note_missing(facts: Facts, around: Range) -> Iterator[Hit]:
    """The note of the picked commit was lost; or what users must know of has none."""
    if _has_note(facts.paths):
        return
    if facts.original:
        notes = [each.path for each in facts.original.paths if each.how == "A"]
        if _has_note(notes):
            yield Hit(f"{facts.original.text[:12]} has a release note, which was not picked along")
        return
    impact = _IMPACT.search(facts.message)
    option = next((path for path in facts.paths if _SUSPICIOUS[0][0].match(path)), None)
    if impact or option:
        why = f"“{impact[0].strip()}”" if impact else "changes configuration options"
        yield Hit(f"{why}, and there is no release note", option)


def _has_note(paths: list[str]) -> bool:
    return any(path.startswith("releasenotes/notes/") for path in paths)


def test_without_fix(facts: Facts, around: Range) -> Iterator[Hit]:
    """A test that shows a bug, and passes as long as it is there, without the fix behind it."""
    for bug in _shown(facts, around):
        if not _fixes(bug, around):
            yield Hit(f"shows bug {bug}, and none of these commits fixes it")


def fix_before_test(facts: Facts, around: Range) -> Iterator[Hit]:
    """A test that is to show a bug, behind the commit that fixes it."""
    for bug in _shown(facts, around):
        fixes = _fixes(bug, around)
        here = around.place[facts.id]
        if fixes and max(fixes) < here and _SHOWS_BUG.search(facts.subject):
            fix = around.commits[max(fixes)]
            yield Hit(f"is to show bug {bug}, which {fix.id[:12]} has fixed before it")


def _shown(facts: Facts, around: Range) -> Iterator[int]:
    """The bugs that a commit recreates: tests only, Related-Bug, named so (95 pairs of nova's)."""
    if not facts.paths or not all(map(around.is_test, facts.paths)):
        return
    meant = list(meanings(facts.message))
    if any(said.effect is not Effect.RELATED for said in meant):
        return
    for said in meant:
        named = f"test_bug_{said.bug}.py"
        new = any(t.how == "A" and t.path.endswith(named) for t in facts.touched)
        if new or (_RECREATE.search(facts.subject) and str(said.bug) in facts.subject):
            yield said.bug


def _fixes(bug: int, around: Range) -> list[int]:
    """The places of the commits that fix a bug, in part or whole."""
    return [
        place
        for place, each in enumerate(around.commits)
        if not all(map(around.is_test, each.paths))
        and any(s.bug == bug and s.effect is not Effect.RELATED for s in meanings(each.message))
    ]
