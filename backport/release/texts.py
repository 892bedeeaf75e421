"""The texts of a release, in the form of openstack's release tools (release.sh, announce.sh)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jinja2 import FileSystemLoader, StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from backport.release.model import Decision, State
from backport.resources import data_folder


def tag_message(state: State, version: str, release: Sequence[tuple[str, str]] = ()) -> str:
    """Return the message of the tag.

    :param release: lines about the commit that asks for it, such as ``("Change-Id", "I…")``
    """
    return _filled("tag.txt.j2", state, version, release=release)


def announcement(state: State, decision: Decision, notes: str, changes: str, diffstat: str) -> str:
    """Return the mail that announces it."""
    version, previous = decision.version, decision.previous
    return _filled(
        "announcement.txt.j2", state, version,
        previous=previous, notes=notes.strip(), changes=changes, diffstat=diffstat,
    )  # fmt: skip


def _filled(template: str, state: State, version: str, **values: Any) -> str:
    environment = ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(data_folder("templates") / "release"),
        undefined=StrictUndefined,
        autoescape=False,  # it is no markup
        trim_blocks=True,
        lstrip_blocks=True,
    )
    name = state.project.rpartition("/")[2]
    text = environment.get_template(template).render(
        name=name, series=state.series, version=version, **values
    )
    return text.rstrip("\n") + "\n"
