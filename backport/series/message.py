"""Commit messages, built from values and read as values; text is never edited by pattern.

What ends up in a commit is decided here alone (must 4): git gets the message as it is, without
clean-up, so ``#`` lines, ``---``, ``From `` and a ``[tag]`` in the subject survive.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache

from jinja2 import FileSystemLoader, StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from backport.patch.writer import quote
from backport.resources import data_folder
from backport.series.model import Change, Kind, Series
from backport.series.trailers import parse_trailers, trailer_lines

__all__ = [
    "Message", "change_ids", "full_subject", "parse_trailers", "provenance", "render_message",
    "subject_without_tags", "tagged",
]  # fmt: skip

# Gerrit's form; its key of a change, with project and branch.
_CHANGE_ID = re.compile(r"^Change-Id:[ \t]*(I[0-9a-f]{40})[ \t]*\r?$", re.M)
# Some write the line by hand: "cherry-picked", or no bracket at the end (nova, d34222286b).
_PICKED = re.compile(
    r"^[ \t]*\(cherry[ -]picked from commit ([0-9a-f]{7,64})\)?[ \t]*\r?$", re.M | re.I
)
# Every spelling seen in nova's stable branches, newton to xena.
_ONLY = r"(?:stable|newton|ocata|pike|queens|rocky|stein|train|ussuri)[ -]only"
_STABLE_ONLY = re.compile(rf"\s*(?:\[{_ONLY}\]|{_ONLY}:)", re.I)
_TAG = re.compile(rf"\s*(?:\[[^\]\n]*\]|{_ONLY}:)\s*", re.I)
_PARAGRAPH = re.compile(r"\n(?:[ \t\r]*\n)+")


@dataclass(frozen=True)
class Message:
    """A message before it is text. The templates of ``templates/commit`` see these values."""

    subject: str  # with the branch's tag, where it has one
    description: str  # paragraphs; "" for none
    bug: int | None
    change_id: str
    trailers: tuple[tuple[str, str], ...] = ()  # below the Change-Id
    provenance: tuple[str, ...] = ()  # commits, master's first
    conflicts: tuple[str, ...] = ()  # paths that were resolved by hand


def render_message(
    change: Change,
    series: Series,
    original: str | None = None,
    conflicts: Sequence[str] = (),
    picked: str | None = None,
) -> str:
    """Return the message of a change's commit; it ends in one newline.

    :param original: the message of the commit that the change is picked from. It is kept byte
        for byte, as the stable-branch policy wants, and only added to
    :param conflicts: paths for a ``Conflicts:`` section (project team guide, stable branches)
    :param picked: the full id of the commit that it is picked from, for one more line of
        provenance, put where ``git cherry-pick -x`` puts it
    """
    if original is not None:
        kept = _with_conflicts(original, conflicts)
        return _with_provenance(kept, picked) if picked else kept
    cited = (*change.provenance, picked) if picked else change.provenance
    message = Message(
        subject=full_subject(change, series),
        description=change.description.strip("\n"),
        bug=series.bug,
        change_id=change.change_id,
        trailers=change.trailers,
        provenance=cited,
        conflicts=tuple(map(_printable, conflicts)),
    )
    return _render(change.kind, message)


def full_subject(change: Change, series: Series) -> str:
    """Return the subject with the branch's tag, if the series is stable-only and lacks it."""
    return tagged(change.subject, series.branch.stable_only_tag if series.stable_only else "")


def tagged(subject: str, tag: str) -> str:
    """Put a tag in front of a subject, unless it says so already, in whatever spelling."""
    has_one = _STABLE_ONLY.match(subject) or subject.lower().startswith(tag.lower())
    return subject if not tag or has_one else f"{tag} {subject}"


def change_ids(message: str) -> tuple[str, ...]:
    """Return the Change-Ids of the last paragraph that has any; a sound message has one."""
    for paragraph in reversed(_PARAGRAPH.split(message)):
        found = _CHANGE_ID.findall(paragraph)
        if found:
            return tuple(found)
    return ()


def provenance(message: str) -> list[str]:
    """Return the commits that a message says it was picked from, master's first."""
    return _PICKED.findall(message)


def subject_without_tags(message: str) -> str:
    """Return the subject of a message, on one line, without the ``[tags]`` in front of it."""
    subject = " ".join(_PARAGRAPH.split(message.lstrip("\n"), maxsplit=1)[0].split())
    while tag := _TAG.match(subject):
        if tag.end() == len(subject):
            break
        subject = subject[tag.end() :]
    return subject


def _render(kind: Kind, message: Message) -> str:
    values = {name: getattr(message, name) for name in asdict(message)}
    return _templates().get_template(f"{kind.value}.j2").render(values)


@lru_cache(maxsize=1)
def _templates() -> ImmutableSandboxedEnvironment:
    """Descriptions are values to the templates, never templates: a ``{% for %}`` in one is text."""
    return ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(data_folder("templates") / "commit"),
        undefined=StrictUndefined,
        autoescape=False,  # it is no markup
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _with_provenance(message: str, commit: str) -> str:
    """Add a line as ``git cherry-pick -x`` of git 2.39 does: below trailers, or with a gap."""
    message = message.rstrip("\n") + "\n"
    gap = "" if trailer_lines(message) else "\n"
    return f"{message}{gap}(cherry picked from commit {commit})\n"


def _with_conflicts(message: str, conflicts: Sequence[str]) -> str:
    """Add a ``Conflicts:`` section above the Change-Id's paragraph, or else at the end.

    Gerrit wants the Change-Id in the last paragraph, so the section goes above it.
    """
    section = "".join(f"      {_printable(path)}\n" for path in conflicts)
    if not section or f"Conflicts:\n{section}" in message:
        return message
    message = message.rstrip("\n") + "\n"
    at = _change_id_paragraph(message)
    if at:
        return f"{message[:at]}Conflicts:\n{section}\n{message[at:]}"
    return f"{message}\nConflicts:\n{section}"


def _change_id_paragraph(message: str) -> int:
    """Where the paragraph with the Change-Id begins, or that of the trailers; 0 for none."""
    starts = [0, *(gap.end() for gap in _PARAGRAPH.finditer(message))]
    ids = [match.start() for match in _CHANGE_ID.finditer(message)]
    if ids:
        return max(start for start in starts if start <= ids[-1])
    trailers = "".join(trailer_lines(message))
    return len(message) - len(trailers) if trailers and message.endswith(trailers) else 0


def _printable(path: str) -> str:
    """Write a path on one line: quoted as git does, where it has control characters in it."""
    if path.isprintable():
        return path
    return quote(path.encode("utf-8", "surrogateescape")).decode()
