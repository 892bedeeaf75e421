"""README.md has a table of all keys, made from the schema; what it gives as examples is taken."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic.fields import FieldInfo

from backport.series.schema import (
    BranchKeys,
    ChangeKeys,
    ConfigKeys,
    EmbeddedKeys,
    KeepKeys,
    Keys,
    SeriesKeys,
    TestsKeys,
)

README = Path(__file__).parents[2] / "README.md"
TABLES: dict[str, type[Keys]] = {
    "`series.yaml`": SeriesKeys,
    "Each of `changes`": ChangeKeys,
    "`branch.yaml`": BranchKeys,
    "`tests` of `branch.yaml`": TestsKeys,
    "Each of `keep` of `tests`": KeepKeys,
    "`embedded` of `branch.yaml`": EmbeddedKeys,
    "`backport.yaml`, `config.yaml`": ConfigKeys,
}


def table(title: str) -> Iterator[str]:
    yield f"| {title} | meaning | default | example |\n|---|---|---|---|"
    for name, field in TABLES[title].model_fields.items():
        example = str((field.examples or [""])[0])
        shown = example if example.startswith("(") else f"`{example}`"
        yield f"| `{field.alias or name}` | {field.description} | {default(field)} | {shown} |"


def default(field: FieldInfo) -> str:
    if field.is_required():
        return "needed"
    value = field.default
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`" if value else "none"


@pytest.mark.parametrize("title", TABLES)
def test_the_readme_has_the_table_of_all_keys(title: str) -> None:
    fields = TABLES[title].model_fields.values()
    assert all(field.description and field.examples for field in fields)
    assert "\n".join(table(title)) + "\n" in README.read_text(), "\n".join(table(title))
