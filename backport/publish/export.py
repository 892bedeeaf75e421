"""What others can apply: mails, files, a bundle, a quilt stack; each read back before it is given.

``git am`` is a trap for messages: it cuts them at ``---``, takes tags out of subjects, splits at
``From ``. So whatever is written is taken apart again by git's own reader, and must come to the
same author, message and tree, byte for byte; if it cannot, that is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path

from backport.checkout.objects import Commit
from backport.checkout.scratch import Scratch
from backport.errors import UsageError

AM = "git am --keep --keep-cr --patch-format=mboxrd"
_MAIL = ("--keep-subject", "--pretty=mboxrd", "--full-index", "--binary", "--no-stat")
_MORE = ("--no-signature", "--no-color", "--no-ext-diff", "--no-textconv", "--always")


class Format(str, Enum):
    """What is written."""

    MBOX = "mbox"
    BUNDLE = "bundle"
    PATCH = "patch"
    QUILT = "quilt"


def export(
    scratch: Scratch, folder: Path, name: str, base: str, tip: str, form: Format
) -> Mapping[str, bytes]:
    """Return the files of an export, by name.

    :param folder: a new one, for what is made on the way
    :param name: of the series, such as ``ocata/bug-1``
    :raises UsageError: the format cannot carry one of the commits
    """
    commits = [scratch.commit(each) for each in scratch.commits_between(base, tip)]
    stem = name.replace("/", "-")
    if form is Format.BUNDLE:
        return {f"{stem}.bundle": _bundle(scratch, name, base, tip)}
    if form is Format.QUILT:
        return _quilt(scratch, commits)
    if form is Format.MBOX:
        mails = scratch.git.run("format-patch", *_MAIL, *_MORE, "--stdout", f"{base}..{tip}").out
        _read_back(scratch, folder, mails, commits)
        return {f"{stem}.mbox": mails}
    scratch.git.run("format-patch", *_MAIL, *_MORE, "-o", str(folder / "out"), f"{base}..{tip}")
    files = {file.name: file.read_bytes() for file in sorted((folder / "out").iterdir())}
    _read_back(scratch, folder, b"".join(files.values()), commits)
    return files


def how_to_apply(form: Format, names: Sequence[str], base: str) -> str:
    """Return the command for whoever gets the files."""
    return {
        Format.MBOX: f"{AM} {names[0]}",
        Format.PATCH: f"{AM} {' '.join(names)}",
        Format.BUNDLE: f"git fetch {names[0]} 'refs/heads/*:refs/heads/*'   (needs {base[:12]})",
        Format.QUILT: "QUILT_PATCHES=. quilt push -a",
    }[form]


def _bundle(scratch: Scratch, name: str, base: str, tip: str) -> bytes:
    ref = f"refs/heads/backport/{name}"
    scratch.git.run("update-ref", ref, tip)
    return scratch.git.run("bundle", "create", "-q", "-", f"^{base}", ref).out


def _quilt(scratch: Scratch, commits: Sequence[Commit]) -> Mapping[str, bytes]:
    files: dict[str, bytes] = {}
    for number, commit in enumerate(commits, 1):
        how = ("-p", "-r", "--no-renames", "--full-index", "--binary", "--no-ext-diff")
        patch = scratch.git.run("diff-tree", *how, commit.parents[0], commit.id).out
        if b"\nGIT binary patch\n" in patch:
            raise _cannot(commit, "has a binary file, which quilt cannot apply")
        _check_tree(scratch, commit, patch)
        # As Debian has it (DEP-3): indented, no line of a message looks like a patch.
        subject, _, body = commit.message.rstrip("\n").partition("\n")
        lines = [f"Description: {subject}", *(f" {line or '.'}" for line in body.split("\n"))]
        head = "\n".join([*lines, f"Author: {commit.author.person}", "", ""])
        files[f"{number:04}.patch"] = head.encode("utf-8", "surrogateescape") + patch
    return {**files, "series": "".join(f"{name}\n" for name in files).encode()}


def _read_back(scratch: Scratch, folder: Path, mails: bytes, commits: Sequence[Commit]) -> None:
    """Take the mails apart as git am does, and compare.

    :raises UsageError: one does not come to what was committed
    """
    (folder / "mails").mkdir(parents=True)
    where = f"-o{folder / 'mails'}"
    scratch.git.run("mailsplit", "--keep-cr", "--mboxrd", where, stdin=mails)
    found = sorted((folder / "mails").iterdir())
    if len(found) != len(commits):
        raise _cannot(commits[0], f"comes to {len(found)} mails of {len(commits)}")
    for mail, commit in zip(found, commits, strict=True):
        message, patch = folder / "message", folder / "patch"
        how = ("-k", "--encoding=UTF-8", str(message), str(patch))
        head = scratch.git.run("mailinfo", *how, stdin=mail.read_bytes()).out
        read = _as_committed(scratch, head, message.read_bytes())
        if read != _told(commit):
            raise _cannot(commit, "has a message or an author that git am reads otherwise")
        _check_tree(scratch, commit, patch.read_bytes())


def _as_committed(scratch: Scratch, head: bytes, body: bytes) -> tuple[bytes, bytes, bytes]:
    """Put together what mailinfo has taken apart, as git am does it (builtin/am.c)."""
    fields = dict(line.split(b": ", 1) for line in head.splitlines() if b": " in line)
    subject = fields.get(b"Subject", b"")
    message = subject + b"\n\n" + body if body else subject
    message = scratch.git.run("stripspace", stdin=message).out
    return fields.get(b"Author", b""), fields.get(b"Email", b""), message.rstrip(b"\n")


def _told(commit: Commit) -> tuple[bytes, bytes, bytes]:
    person = commit.author.person
    texts = (person.name, person.email, commit.message.rstrip("\n"))
    name, email, message = (text.encode("utf-8", "surrogateescape") for text in texts)
    return name, email, message


def _check_tree(scratch: Scratch, commit: Commit, patch: bytes) -> None:
    before = scratch.tree(commit.parents[0])
    if before == commit.tree:
        raise _cannot(commit, "changes nothing, and only a bundle can carry it")
    paths = scratch.changed_paths(before, commit.tree)
    done = scratch.apply(before, patch, paths)
    if done.tree != commit.tree:
        raise _cannot(commit, "does not come to the same files")


def _cannot(commit: Commit, why: str) -> UsageError:
    subject = commit.message.partition("\n")[0]
    return UsageError(
        f"{commit.id[:10]} “{subject}” {why}",
        "Use --format bundle: it carries the commits as they are.",
    )
