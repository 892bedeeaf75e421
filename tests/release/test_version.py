"""The version that follows, told by values; what is refused."""

from __future__ import annotations

import pytest

from backport.errors import UsageError
from backport.policy.model import Facts, Touched
from backport.release.impacts import impacts, requirement_changes
from backport.release.model import Impact, State, Step, Unreleased
from backport.release.version import decide
from backport.series.model import Person

MIGRATION = "nova/db/sqlalchemy/api_migrations/migrate_repo/versions/031_text.py"
VERSIONS = "nova/api/openstack/api_version_request.py"
NOTE = "releasenotes/notes/x-0123456789abcdef.yaml"


def facts(message: str = "Fix it\n", *touched: tuple[str, str]) -> Facts:
    paths = tuple(Touched(path, how) for how, path in touched)
    return Facts("a" * 40, Person("Ann", "ann@example.org"), message, paths)


def steps(one: Facts, files: dict[tuple[str, bool], bytes] | None = None) -> list[Step]:
    found = impacts(
        one, lambda path, after: (files or {}).get((path, after)), lambda path: "tests/" in path
    )
    return [impact.step for impact in found]


@pytest.mark.parametrize(
    ("touched", "step"),
    [
        (("A", MIGRATION), Step.MINOR),
        (("M", MIGRATION), Step.PATCH),  # nova's 15.0.1 and 15.0.4
        (("M", VERSIONS), Step.MINOR),
        (("M", "nova/conf/libvirt.py"), Step.PATCH),  # 15.1.1, 15.1.3, 15.1.5
        (("M", "nova/policies/servers.py"), Step.PATCH),  # 15.1.4
        (("M", "doc/notification_samples/end.json"), Step.PATCH),  # 15.1.5
        (("M", "setup.cfg"), Step.PATCH),
    ],
)
def test_paths(touched: tuple[str, str], step: Step) -> None:
    assert steps(facts("Fix it\n", touched)) == [step]


def test_tests_and_plain_code_have_no_impact() -> None:
    assert steps(facts("x\n", ("M", "nova/tests/conf/a.py"), ("M", "nova/utils.py"))) == []


@pytest.mark.parametrize(
    ("trailer", "found"),
    [
        ("Implements: blueprint x", [Step.MINOR]),
        ("Partial-Implements: bp x", [Step.MINOR]),
        ("Sem-Ver: bugfix", [Step.PATCH]),
        ("sem-ver: feature, deprecation", [Step.MINOR, Step.MINOR]),
        ("Sem-Ver: api-break", [Step.MAJOR]),
        ("Related to blueprint x", []),
    ],
)
def test_messages(trailer: str, found: list[Step]) -> None:
    assert steps(facts(f"Do it\n\nText.\n\n{trailer}\n")) == found


@pytest.mark.parametrize(
    ("note", "found"),
    [
        (b"features:\n  - a thing\n", [Step.MINOR]),
        (b"fixes:\n  - a thing\n", []),
        (b"features: []\n", []),
        (b"features: [", []),
        (b"", []),
    ],
)
def test_a_note_that_tells_of_a_feature(note: bytes, found: list[Step]) -> None:
    assert steps(facts("x\n", ("A", NOTE)), {(NOTE, True): note}) == found


@pytest.mark.parametrize(
    ("before", "after", "minor"),
    [
        ("a>=1\n", "a>=1\nb\n", [True]),
        ("a>=1.0\n", "a>=1.1\n", [True]),
        ("a\n", "a>=1\n", [True]),
        ("a>=1.10\n", "a>=1.9\n", [False]),
        ("a>=1\n", "a!=1.5,>=1 # Apache-2.0\n", [False]),  # 15.0.1, 15.0.3, 15.0.7
        ("pbr>=1.8\n", "pbr<2.0.0,>=1.8\n", [False]),  # 15.0.1
        ("a>=1\nb\n", "a>=1\n", [False]),
        ("A_b>=1\n", "a-b>=1\n", []),
        ("a>=1;python_version=='2.7'\na>=3;python_version>'3'\n", "a>=1\n", [False]),
        ("# text\n-r other.txt\n", "", []),
    ],
)
def test_requirements(before: str, after: str, minor: list[bool]) -> None:
    found = [minor for what, minor in requirement_changes(before, after)]
    assert [each for each in found if each] == [each for each in minor if each]
    assert len(found) >= len(minor)


def test_the_global_requirements_are_excepted() -> None:
    files = {("requirements.txt", False): b"a>=1\n", ("requirements.txt", True): b"a>=2\n"}
    touched = ("M", "requirements.txt")
    assert steps(facts("Raise a\n", touched), files) == [Step.MINOR]
    assert steps(facts("Updated from global requirements\n", touched), files) == [Step.PATCH]


def change(step: Step = Step.PATCH, ci: bool = False) -> Unreleased:
    found = (Impact("database", "a migration", step),) if step < Step.PATCH else ()
    return Unreleased("b" * 40, "Fix it", "2018", "Ann", {}, found, ci_only=ci)


def state(*changes: Unreleased, since: str | None = "15.1.3") -> State:
    return State("openstack/nova", "stable/ocata", "ocata", since, "a", "b", "tip", changes, 0)


@pytest.mark.parametrize(
    ("since", "changes", "wanted", "version"),
    [
        ("15.1.3", [change()], None, "15.1.4"),
        ("15.1.9", [change()], None, "15.1.10"),
        ("15.0.8", [change(), change(Step.MINOR)], None, "15.1.0"),
        ("15.1.3", [change(), change(ci=True)], None, "15.1.4"),
        ("15.1.3", [change()], "15.1.4", "15.1.4"),
        ("15.1.3", [change()], "15.2.0", "15.2.0"),
    ],
)
def test_the_version(
    since: str, changes: list[Unreleased], wanted: str | None, version: str
) -> None:
    decision = decide(state(*changes, since=since), wanted)
    assert decision.version == version
    assert len(decision.reasons) == len(changes)


@pytest.mark.parametrize(
    ("changes", "wanted", "why"),
    [
        ([], None, "nothing that 15.1.3 does not have"),
        ([change(ci=True)], None, "only changes of CI"),
        ([change(ci=True)], "15.1.4", "only changes of CI"),
        ([change(Step.MAJOR)], None, "never gets"),
        ([change()], "15.1.3", "does not come after"),
        ([change()], "15.1.2", "does not come after"),
        ([change()], "15.1.5", "leaves versions out"),
        ([change()], "15.2.1", "leaves versions out"),
        ([change()], "16.0.0", "never gets"),
        ([change(Step.MINOR)], "15.1.4", "not enough"),
        ([change()], "15.1.04", "canonical"),
        ([change()], "15.1", "canonical"),
        ([change()], "15.1.4rc1", "canonical"),
        ([change()], "v15.1.4", "canonical"),
        ([change()], "", "canonical"),
        ([change()], "15.1.4\n", "canonical"),
    ],
)
def test_what_is_refused(changes: list[Unreleased], wanted: str | None, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        decide(state(*changes), wanted)


def test_without_a_release_before_there_is_no_next_one() -> None:
    with pytest.raises(UsageError, match="no release before it"):
        decide(state(change(), since=None))
