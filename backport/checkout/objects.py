"""What git stores, as values: entries of trees, commits, merges, and how git writes them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backport.checkout.git import GitFailedError
from backport.series.model import Person

FOLDER = "040000"  # the mode of a tree within a tree


@dataclass(frozen=True)
class Entry:
    """A file in a tree: its mode in git's six octal digits, and its blob."""

    mode: str
    blob: str


@dataclass(frozen=True)
class Signed:
    """Who, and when: ``date`` is ``SECONDS +HHMM``, as a commit object has it."""

    person: Person
    date: str


@dataclass(frozen=True)
class Commit:
    """A commit as it is stored."""

    id: str
    tree: str
    parents: tuple[str, ...]
    author: Signed
    committer: Signed
    message: str


@dataclass(frozen=True)
class Attempt:
    """What came of applying a patch: the new tree, or (None) what git said against it."""

    tree: str | None
    complaints: tuple[str, ...] = ()


@dataclass(frozen=True)
class Merge:
    """A three-way merge of trees. ``conflicts``: what git says of each path; empty: clean."""

    tree: str
    conflicts: Mapping[str, tuple[str, ...]]


#: Signs the commits that only exist to be merged.
NOBODY = Signed(Person("backport", "backport@localhost"), "0 +0000")


def parse_commit(commit_id: str, raw: bytes) -> Commit:
    """Take a commit object apart (git's pack format), in the encoding that it names.

    What that encoding cannot be is kept byte for byte, as surrogates.
    """
    head, _, message = raw.partition(b"\n\n")
    said = re.search(rb"^encoding (.*)$", head, re.MULTILINE)
    encoding = said[1].decode("ascii", "replace") if said else "utf-8"
    lines = _decode(head, encoding).split("\n")
    fields = [line.partition(" ")[::2] for line in lines if not line.startswith(" ")]
    first = dict(reversed(fields))
    return Commit(
        commit_id,
        first["tree"],
        tuple(value for name, value in fields if name == "parent"),
        _signed(first["author"]),
        _signed(first["committer"]),
        _decode(message, encoding),
    )


def _decode(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except (LookupError, UnicodeError):
        return data.decode("utf-8", "surrogateescape")


def _signed(text: str) -> Signed:
    found = re.fullmatch(r"(.*?) ?<(.*)> (-?\d+ [-+]\d+)", text, re.DOTALL)
    if not found:
        raise GitFailedError(f"a commit is signed in a way that git does not write: {text!r}")
    return Signed(Person(found[1], found[2]), found[3])


def encode_commit(
    tree: str, parents: Sequence[str], message: str, author: Signed, committer: Signed
) -> bytes:
    """Write a commit object; the message ends in exactly one newline."""
    head = [f"tree {tree}", *(f"parent {parent}" for parent in parents)]
    head += [_signature("author", author), _signature("committer", committer)]
    text = "\n".join(head) + "\n\n" + message.rstrip("\n") + "\n"
    return text.encode("utf-8", "surrogateescape")


def _signature(role: str, signed: Signed) -> str:
    return f"{role} {signed.person} {signed.date}"


def parse_entry(field: str) -> tuple[str, Entry]:
    """Read a record of ``ls-tree -z``: the path, and what is there."""
    head, _, path = field.partition("\t")
    mode, _, blob = head.split(" ")
    return path, Entry(mode, blob)


def parse_stage(field: str) -> tuple[str, Entry]:
    """Read a record of ``ls-files --stage -z``: the path, and what the index has there."""
    head, _, path = field.partition("\t")
    mode, blob, _ = head.split(" ")
    return path, Entry(mode, blob)


def parse_merge(fields: list[str], clean: bool) -> Merge:
    """Read what ``merge-tree -z --name-only --messages`` prints (git-merge-tree(1), OUTPUT).

    The tree; the conflicted paths and an empty field; then per message the number of
    its paths, the paths, the kind of message, the message.
    """
    if clean:
        return Merge(fields[0], {})
    end = fields.index("", 1)
    conflicts: dict[str, tuple[str, ...]] = dict.fromkeys(fields[1:end], ())
    rest = iter(fields[end + 1 :])
    for count in rest:
        paths = [next(rest) for _ in range(int(count))]
        kind, message = next(rest), next(rest)
        if kind.startswith("CONFLICT"):
            for path in paths:
                conflicts[path] = (*conflicts.get(path, ()), message.strip())
    return Merge(fields[0], conflicts)
