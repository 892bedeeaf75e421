"""Commit messages, built from values and read as values; text is never edited by pattern.

What ends up in a commit is decided here alone (must 4): git gets the message as it is, without
clean-up, so ``#`` lines, ``---``, ``From `` and a ``[tag]`` in the subject survive.
"""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache

from jinja2 import FileSystemLoader, StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from backport.errors import UsageError
from backport.patch.writer import quote
from backport.resources import data_folder
from backport.series.conflicts_section import Section, find_sections, with_paths
from backport.series.model import KEEP_SECTION, Change, Kind, Series
from backport.series.trailers import parse_trailers, trailer_lines

__all__ = [
    "Message", "change_ids", "full_subject", "parse_trailers", "provenance", "render_message",
    "stable_only", "subject_without_tags", "tagged",
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
    note: str = ""


@dataclass(frozen=True)
class Written:
    """A message as text, and what a person should know of how it came about."""

    text: str
    notes: tuple[str, ...] = ()


def render_message(change: Change, series: Series) -> str:
    """Return the message of a change that has no commit to be picked; it ends in one newline."""
    return write_message(change, series).text


def write_message(change: Change, series: Series, conflicts: Sequence[str] = ()) -> Written:
    """Write the message of a change that has none yet.

    :param conflicts: paths that were resolved by hand
    """
    listed = _in_conflict(change, conflicts) if change.conflicts_section else ()
    message = Message(
        subject=full_subject(change, series),
        description=change.description.strip("\n"),
        bug=series.bug,
        change_id=change.change_id,
        trailers=change.trailers,
        provenance=change.provenance,
        conflicts=listed,
        note=_as_note(change.note),
    )
    return Written(_render(change.kind, message), _about_id(change, series))


def pick_message(
    change: Change, original: str, picked: str, conflicts: Sequence[str] = ()
) -> Written:
    """Write the message of a change that is picked: the original, byte for byte, and added to.

    That is what the stable-branch policy wants. The one thing that is taken out is a
    ``Conflicts:`` section, with its NOTE, that does not hold here.

    :param picked: the full id of the commit, for one more line of provenance, put where
        ``git cherry-pick -x`` puts it
    :param conflicts: paths that were resolved by hand
    """
    message, notes = _conflicts_told(change, original, _in_conflict(change, conflicts))
    message = _with_note(message, _as_note(change.note))
    own = () if change_ids(original) or not change.change_id else (("Change-Id", change.change_id),)
    for token, value in own + change.trailers_add:
        message = _with_trailer(message, f"{token}: {value}")
    return Written(_with_provenance(message, picked), notes)


def named_by(change: Change, original: str) -> Change:
    """Give a change the subject and the Change-Id of the commit that it is picked from.

    :raises UsageError: the series says that it has another Change-Id
    """
    ids = change_ids(original)
    if change.change_id and ids and change.change_id not in ids:
        file, line = change.source
        raise UsageError(
            f"{file}:{line}: the commit {change.commit} has the Change-Id {ids[-1]}, and the "
            f"series says {change.change_id}",
            "A backport keeps the Change-Id (Gerrit knows it by that): leave the key out.",
        )
    subject = " ".join(_PARAGRAPH.split(original.lstrip("\n"), maxsplit=1)[0].split())
    own = change.change_id or (ids[-1] if ids else "")
    return replace(change, subject=subject or "(no subject)", change_id=own)


def made_change_id(series: str, number: int) -> str:
    """Make the Change-Id of a change that has none: the same on every run, whatever its patch."""
    return "I" + hashlib.sha1(f"backport {series} {number}".encode()).hexdigest()


def full_subject(change: Change, series: Series) -> str:
    """Return the subject with the branch's tag, if the series is stable-only and lacks it."""
    return tagged(change.subject, series.branch.stable_only_tag if series.stable_only else "")


def tagged(subject: str, tag: str) -> str:
    """Put a tag in front of a subject, unless it says so already, in whatever spelling."""
    has_one = _STABLE_ONLY.match(subject) or subject.lower().startswith(tag.lower())
    return subject if not tag or has_one else f"{tag} {subject}"


def stable_only(subject: str) -> bool:
    """Whether a subject says that the change is for stable branches only, in any spelling."""
    return _STABLE_ONLY.match(subject) is not None


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


def _with_trailer(message: str, trailer: str) -> str:
    """Add a line to the trailers, above the provenance that ends them, unless it is there."""
    message = message.rstrip("\n") + "\n"
    at = _change_id_paragraph(message)  # one with a line that git does not know included
    if f"{trailer}\n" in message[at:]:
        return message
    if not at or _PARAGRAPH.search(message, at):
        return f"{message}\n{trailer}\n"
    cited = re.search(r"(?:^[ \t]*\(cherry[ -]picked from [^\n]*\n)+\Z", message, re.M | re.I)
    at = cited.start() if cited else len(message)
    return f"{message[:at]}{trailer}\n{message[at:]}"


def _in_conflict(change: Change, conflicts: Sequence[str]) -> tuple[str, ...]:
    """List what was in conflict: in this run, and when the resolution in the series was made."""
    before = () if change.conflicts == KEEP_SECTION else change.conflicts or ()
    return tuple(dict.fromkeys(map(_printable, (*before, *conflicts))))


def _conflicts_told(
    change: Change, message: str, conflicts: tuple[str, ...]
) -> tuple[str, tuple[str, ...]]:
    """Let the ``Conflicts:`` section say what was in conflict here, and nothing else.

    A resolution in the series that does not say of what it is one leaves the section as it is.
    """
    unknown = change.patch and change.conflicts is None and not conflicts
    keep = unknown or change.conflicts == KEEP_SECTION
    wanted = conflicts if change.conflicts_section else ()
    notes: list[str] = []
    for section in [] if keep else reversed(list(find_sections(message))):
        here = [path for path in section.paths if path in conflicts]
        if len(here) < len(section.paths):
            notes.append(_about_section(section, message, here))
            message = with_paths(message, section, here)
    left = list(find_sections(message))
    missing = [path for path in wanted if not any(path in each.paths for each in left)]
    if missing and left and not keep:
        return with_paths(message, left[-1], [*left[-1].paths, *missing]), tuple(notes)
    return _with_conflicts(message, missing) if missing else message, tuple(notes)


def _about_section(section: Section, message: str, left: Sequence[str]) -> str:
    gone = ", ".join(path for path in section.paths if path not in left)
    note = " ".join(message[section.end : section.note_end].split())
    said = f", and with it: {note}" if note and not left else ""
    return f"no conflict here in {gone}: taken out of the Conflicts section{said}"


def _about_id(change: Change, series: Series) -> tuple[str, ...]:
    if not change.change_id_made:
        return ()
    return (
        f"Change-Id {change.change_id} made from the series' name and the change's place in it; "
        f"to keep it when changes move: backport show {shlex.quote(series.name)} --write-ids",
    )


def _with_conflicts(message: str, conflicts: Sequence[str]) -> str:
    """Add a ``Conflicts:`` section (project team guide, stable branches) of its own."""
    lines = "".join(f"      {path}\n" for path in conflicts)
    return _with_paragraph(message, f"Conflicts:\n{lines}")


def _with_paragraph(message: str, paragraph: str) -> str:
    """Add a paragraph above the Change-Id's, or else at the end.

    Gerrit wants the Change-Id in the last paragraph.
    """
    message = message.rstrip("\n") + "\n"
    at = _change_id_paragraph(message)
    if at:
        return f"{message[:at]}{paragraph}\n{message[at:]}"
    return f"{message}\n{paragraph}"


def _as_note(text: str) -> str:
    text = text.strip("\n")
    return text if not text or text.startswith("NOTE") else f"NOTE: {text}"


def _with_note(message: str, note: str) -> str:
    """Put a NOTE below the last ``Conflicts:`` section and its NOTE, or else above the trailers."""
    *_, section = [None, *find_sections(message)]
    if not note or f"\n{note}\n" in message:
        return message
    if section is None:
        return _with_paragraph(message, f"{note}\n")
    before, after = message[: section.note_end], message[section.note_end :]
    gap = "" if after.startswith("\n") or not after else "\n"
    return f"{before}\n{note}\n{gap}{after}"


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
