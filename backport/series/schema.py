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


class KeepKeys(Keys):
    """``tests.keep``: see :class:`backport.series.model.Keepsake`."""

    module: f.Dotted
    attribute: f.Identifier
    depends_on: tuple[f.TreePath, ...] = ()
    note: f.Line = ""


def _one_lock(value: Any) -> Any:
    """``requirements: FILE`` is short for the one Python that there is."""
    return {"": value} if isinstance(value, str) else value


class TestsKeys(Keys):
    """``tests`` of branch.yaml."""

    python: Annotated[tuple[f.PythonVersion, ...], Field(min_length=1)]
    requirements: Annotated[dict[str, f.File], BeforeValidator(_one_lock)]
    paths: Annotated[tuple[f.TreePath, ...], Field(min_length=1)]
    apart: tuple[f.TreePath, ...] = ()
    environment: dict[f.Variable, str] = Field(default_factory=dict)
    timeout: _Seconds = 1800.0
    test_timeout: _Seconds = 160.0
    keep: tuple[KeepKeys, ...] = ()

    __test__ = False  # pytest: not a test class


class EmbeddedKeys(Keys):
    """``embedded`` of branch.yaml."""

    sdist: f.Sdist
    sha256: f.Sha256
    rewind: f.File | None = None


class BranchKeys(Keys):
    """branch.yaml."""

    project: f.Project
    branch: f.Ref
    release_line: f.ReleaseLine
    stable_only_tag: f.Line = "[stable-only]"
    eol_tag: f.Ref | None = None
    newer_branches: tuple[f.Ref, ...] = ()
    tests: TestsKeys | None = None
    embedded: EmbeddedKeys | None = None
    lint: dict[str, Literal["error", "warning", "note", "off"]] = Field(default_factory=dict)


class ChangeKeys(Keys):
    """One of ``changes`` of series.yaml."""

    kind: Kind
    patch: f.File | None = None
    strip: Annotated[int, Field(ge=0, le=20)] | None = None
    commit: f.Commit | None = None
    subject: f.Line = ""
    description: f.Description = ""
    change_id: f.ChangeId = ""
    tests: tuple[f.Test, ...] = ()
    author: f.Author | None = None
    date: f.Date | None = None
    provenance: tuple[f.FullCommit, ...] = ()
    trailers: tuple[f.Trailer, ...] = ()
    allow_empty: bool = False
    conflicts_section: bool | None = None
    conflicts: f.Conflicts | None = None
    note: f.Description = ""
    trailers_add: tuple[f.Trailer, ...] = ()


class SeriesKeys(Keys):
    """series.yaml."""

    title: f.Line
    bug: Annotated[int, Field(ge=1, le=10**9)] | None = None
    stable_only: f.Line | None = None
    author: f.Author | None = None
    date: f.Date | None = None
    conflicts_section: bool = False
    conflicts: Literal["keep"] | None = None
    changes: Annotated[tuple[ChangeKeys, ...], Field(min_length=1)]


class ConfigKeys(Keys):
    """The configuration file, and backport.yaml beside a folder of series."""

    checkout: f.Line | None = None
    patches: tuple[f.Line, ...] = ()
    jobs: Annotated[int, Field(ge=1, le=256)] | None = None


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
