"""The keys of ``branch.yaml``, ``series.yaml`` and a rewind, and how their faults are told.

Values come in as text (:mod:`backport.series.yaml_file`), so pydantic's lax mode makes the numbers.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from backport.series import fields as f
from backport.series.model import Kind
from backport.series.yaml_file import Document, Loc

ModelT = TypeVar("ModelT", bound="Keys")
_Seconds = Annotated[float, Field(gt=0, le=7 * 24 * 3600, allow_inf_nan=False)]


def _dashed(name: str) -> str:
    return name.rstrip("_").replace("_", "-")


class Keys(BaseModel):
    """Keys of a mapping: written with dashes, and no others."""

    model_config = ConfigDict(
        alias_generator=_dashed, extra="forbid", frozen=True, hide_input_in_errors=True
    )


def _key(meaning: str, example: str, default: Any = ..., **limits: Any) -> Any:
    """A key, as the table of all keys in README.md tells it (tests/series/test_keys.py)."""
    return Field(default, description=meaning, examples=[example], **limits)


class KeepKeys(Keys):
    """``tests.keep``: see :class:`backport.series.model.Keepsake`."""

    module: f.Dotted = _key("where test fixtures keep something costly", "nova.tests.fixtures")
    attribute: f.Identifier = _key("the name that they keep it under", "DB_SCHEMA")
    depends_on: tuple[f.TreePath, ...] = _key("the files that it is made from", "[nova/db/]", ())
    note: f.Line = _key("what a report says of a run that got it", "no migration was run", "")


def _one_lock(value: Any) -> Any:
    """``requirements: FILE`` is short for the one Python that there is."""
    return {"": value} if isinstance(value, str) else value


class TestsKeys(Keys):
    """``tests`` of branch.yaml."""

    python: tuple[f.PythonVersion, ...] = _key(
        "the interpreters of the branch's gate, the best first", '["2.7"]', min_length=1
    )
    requirements: Annotated[dict[str, f.File], BeforeValidator(_one_lock)] = _key(
        "the lock, a file of pinned versions; by version where there are several Pythons",
        "requirements-py27.txt",
    )
    paths: tuple[f.TreePath, ...] = _key(
        "where tests live; the rest is code under test", "[nova/tests/]", min_length=1
    )
    apart: tuple[f.TreePath, ...] = _key(
        "no process runs tests of two of these", "[nova/tests/unit/, nova/tests/functional/]", ()
    )
    environment: dict[f.Variable, str] = _key(
        "variables for the tests", '{OS_TEST_TIMEOUT: "160"}', {}
    )
    timeout: _Seconds = _key("seconds for one run of tests", "3600", 1800.0)
    test_timeout: _Seconds = _key("seconds for one test", "700", 160.0)
    keep: tuple[KeepKeys, ...] = _key("what is handed from run to run", "(below)", ())

    __test__ = False  # pytest: not a test class


class EmbeddedKeys(Keys):
    """``embedded`` of branch.yaml."""

    sdist: f.Sdist = _key("the release on the package index", "nova==15.1.5")
    sha256: f.Sha256 = _key("its checksum", "32af5e4e… (64 digits)")
    rewind: f.File | None = _key(
        "what takes fixes that it has back out", "rewind-15.1.5.yaml", None
    )


class BranchKeys(Keys):
    """branch.yaml."""

    project: f.Project = _key("the project, as Gerrit names it", "openstack/nova")
    branch: f.Ref = _key("the branch that is fixed", "stable/ocata")
    release_line: f.ReleaseLine = _key("what its releases begin with", '"15.1"')
    stable_only_tag: f.Line = _key(
        "goes in front of a subject that master lacks", '"[stable only]"', "[stable-only]"
    )
    eol_tag: f.Ref | None = _key("the tag that its end of life left", "ocata-eol", None)
    newer_branches: tuple[f.Ref, ...] = _key(
        "where a fix has to be before, oldest first", "[stable/pike, master]", ()
    )
    tests: TestsKeys | None = _key("how its tests are run; without it nothing is", "(below)", None)
    embedded: EmbeddedKeys | None = _key(
        "the checkout that is made where none is given", "(below)", None
    )
    lint: dict[str, Literal["error", "warning", "note", "off"]] = _key(
        "how much a rule of the policy counts (`backport lint --list`)", "{P12: off}", {}
    )


class ChangeKeys(Keys):
    """One of ``changes`` of series.yaml."""

    kind: Kind = _key("regression-test, fix, partial-fix or other: decides the bug's line", "fix")
    patch: f.File | None = _key(
        "a git diff beside series.yaml; beside commit: the resolution of its conflicts",
        "0001-fix.patch",
        None,
    )
    strip: int | None = _key(
        "leading parts of names to take off, where the patch leaves it open", "1", None, ge=0, le=20
    )
    commit: f.Commit | None = _key("a commit of a newer branch, to be picked", "0123abcd…", None)
    subject: f.Line = _key("without the tag; a pick has its own", "Fix the bounds", "")
    description: f.Description = _key("the text; a pick has its own", "\\| and lines below", "")
    change_id: f.ChangeId = _key(
        "left out: the picked commit's, or made from series and place", "Ib65b0c7c…", ""
    )
    tests: tuple[f.Test, ...] = _key(
        "to run besides those that the patch adds or changes", "[nova.tests.unit.test_x]", ()
    )
    author: f.Author | None = _key("left out: the pick's, or who runs this", "A <a@b.c>", None)
    date: f.Date | None = _key(
        "left out: the pick's, or the base's", "2018-08-06T14:32:00+00:00", None
    )
    provenance: tuple[f.FullCommit, ...] = _key(
        "for a patch that was picked: the commits, master's first", "[0123abcd…]", ()
    )
    trailers: tuple[f.Trailer, ...] = _key(
        "further ones, of a patch", '["Co-Authored-By: A <a@b.c>"]', ()
    )
    trailers_add: tuple[f.Trailer, ...] = _key(
        "further ones, of a pick", '["Depends-On: Ib65b…"]', ()
    )
    note: f.Description = _key(
        "a NOTE, below the Conflicts section or above the trailers", '"NOTE(me): no v2.53."', ""
    )
    conflicts_section: bool | None = _key(
        "list what was in conflict in the message; left out: the series'", "true", None
    )
    conflicts: f.Conflicts | None = _key(
        "what patch resolves (continue --save writes it), or keep: leave the pick's section in",
        "[nova/x.py]",
        None,
    )
    left_out: tuple[f.TreePath, ...] = _key(
        "files of which a part was left out, by a person's word (continue --save writes it)",
        "[nova/x.py]",
        (),
    )
    allow_empty: bool = _key("a commit without a change is meant", "true", False)


class SeriesKeys(Keys):
    """series.yaml."""

    title: f.Line = _key("what it is about", "Servers are rebuilt twice")
    bug: int | None = _key("the bug on Launchpad", "1783613", None, ge=1, le=10**9)
    stable_only: f.Line | None = _key(
        "why master lacks it; puts the tag in front", "not on master", None
    )
    author: f.Author | None = _key("of changes that do not say", "A <a@b.c>", None)
    date: f.Date | None = _key("of changes that do not say", "2018-08-06T14:32:00+00:00", None)
    conflicts_section: bool | None = _key(
        "of changes that do not say; left out: of those with a `commit`", "true", None
    )
    conflicts: Literal["keep"] | None = _key("of picks that do not say", "keep", None)
    changes: tuple[ChangeKeys, ...] = _key("the changes, in order", "(below)", min_length=1)


class ConfigKeys(Keys):
    """The configuration file, and backport.yaml beside a folder of series."""

    checkout: f.Line | None = _key("where --checkout is not given", "~/src/nova", None)
    patches: tuple[f.Line, ...] = _key("folders of series, too", "[~/series]", ())
    jobs: int | None = _key("test processes side by side", "4", None, ge=1, le=256)


class EditKeys(Keys):
    """One of ``edits`` of a rewind: lines to remove (``7`` or ``7-9``), and what comes there."""

    remove: Annotated[str, f.matching(r"[1-9]\d{0,8}(-[1-9]\d{0,8})?", "lines: 7, or 7-9")]
    put: str = ""


class RewindFileKeys(Keys):
    """One of ``files`` of a rewind."""

    path: f.TreePath
    expects: f.FullCommit
    yields: f.FullCommit | None = None
    remove_file: bool = False
    edits: tuple[EditKeys, ...] = ()


class RewindKeys(Keys):
    """A rewind: see :class:`backport.series.rewind.Rewind`."""

    why: str
    files: Annotated[tuple[RewindFileKeys, ...], Field(min_length=1)]


def check_keys(document: Document, model: type[ModelT]) -> ModelT | None:
    """Check a document; what is wrong is added to its problems, all of it, and None returned."""
    if document.problems and not document.data:
        return None  # it could not be read, and has said so
    try:
        return model.model_validate(document.data)
    except ValidationError as error:
        for details in error.errors(include_url=False):
            loc, kind = details["loc"], details["type"]
            if kind == "missing" and loc in document.lines:
                document.report(loc, f"the key {loc[-1]!r} has no value")
            elif not (kind == "too_short" and details["input"]):
                # To pydantic, a list whose items are all unsound is too short as well.
                document.report(loc, _words(details, model))
    return None


_WORDS = {
    "string_type": "must be text",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "must be a whole number",
    "int_type": "must be a whole number",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "finite_number": "must be a number",
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "tuple_type": "must be a list",
    "dict_type": "must hold keys and values",
    "model_type": "must hold keys and values",
    "too_short": "must not be empty",
}


def _words(details: ErrorDetails, model: type[Keys]) -> str:
    """Say what is wrong in our words, with the key in front."""
    loc, kind, value = details["loc"], details["type"], details["input"]
    names = [part for part in loc if isinstance(part, str) and part not in ("", "[key]")]
    name = names[-1] if names else ""
    if kind == "extra_forbidden":
        return f"unknown key {name!r}" + _nearest(name, _known_keys(model, loc[:-1]))
    if kind == "missing":
        return f"the key {name!r} is missing"
    if kind == "enum":
        kinds = [str(each.value) for each in Kind]
        found = _nearest(value, kinds) if isinstance(value, str) else ""
        return f"{name}: must be one of {', '.join(kinds)}{found}"
    if kind == "value_error":
        return f"{name}: {details['ctx']['error']}{_shown(value)}"
    words = _WORDS.get(kind) or details["msg"].replace("Input should be", "must be")
    return f"{name}: {words}{_shown(value)}"


def _shown(value: object) -> str:
    """The value, where it is short enough to help."""
    return f", not {value!r}" if isinstance(value, str) and 0 < len(value) <= 60 else ""


def _nearest(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _known_keys(model: type[Keys], loc: Loc) -> list[str]:
    """The keys that there are at a place."""
    for part in loc:
        field = next((field for field in model.model_fields.values() if field.alias == part), None)
        inner = _inner_model(field.annotation) if field else None
        model = inner or model
    return [field.alias or name for name, field in model.model_fields.items()]


def _inner_model(annotation: Any) -> type[Keys] | None:
    """The model in ``X``, ``X | None`` or ``tuple[X, ...]``."""
    if isinstance(annotation, type) and issubclass(annotation, Keys):
        return annotation
    return next((found for each in get_args(annotation) if (found := _inner_model(each))), None)
