"""Handing over to the checkout: the objects that were made, then the refs that are to hold them."""

from __future__ import annotations

import errno
import os
import uuid
from collections.abc import Sequence
from pathlib import Path

from backport.checkout.git import GitFailedError
from backport.checkout.objects import Signed
from backport.checkout.repository import Checkout
from backport.checkout.stale_locks import (
    QUARANTINE,
    RefUpdate,
    clear_up,
    make_note,
    noted,
    refuse_locked,
)
from backport.errors import CannotTellError, RefusedError
from backport.workspace import writing


def hand_over(
    checkout: Checkout,
    note: Path,
    pack: bytes,
    updates: Sequence[RefUpdate],
    who: Signed,
    why: str,
) -> None:
    """Take the objects over, then move the refs, in their order: all or none of them.

    However it ends, nothing else stays in the checkout; if it is killed, see
    :func:`~backport.checkout.stale_locks.clear_up`.

    :param note: a file outside of the checkout, its own, for what is about to be done
    :param pack: what :meth:`~backport.checkout.scratch.Scratch.pack` gave
    :param who: stands in the reflogs, with ``why``
    :raises CannotTellError: the objects cannot be written
    :raises RefusedError: a ref is not (any more) what its update says, or somebody locks it
    """
    refuse_locked(checkout, *(update.name for update in updates))
    about = make_note(checkout, QUARANTINE + uuid.uuid4().hex, updates)
    try:
        with noted(note, about) as held:
            _take_over(checkout, pack, checkout.objects / about.quarantine, held)
            _move(checkout, updates, who, why, held)
    finally:
        clear_up(checkout, note, lambda _: None)


def _take_over(checkout: Checkout, pack: bytes, quarantine: Path, held: int) -> None:
    """Unpack beside the objects, and rename, as git does for a push (tmp_objdir in git's source).

    So that whatever is half done lies in one folder, under a name that is known.
    """
    env = {
        "GIT_OBJECT_DIRECTORY": str(quarantine),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": _quoted(checkout.objects),
    }
    try:
        with writing(checkout.objects):
            quarantine.mkdir(mode=0o700)
        checkout.git.run("unpack-objects", "-q", stdin=pack, env=env, apart=held)
        with writing(checkout.objects):
            _migrate(quarantine, checkout.objects)
    except GitFailedError as error:
        raise CannotTellError(
            f"{checkout.objects} cannot be written: {error.message}",
            "No branch was made, and nothing else was changed.",
        ) from error


def _migrate(quarantine: Path, objects: Path) -> None:
    for folder in sorted(quarantine.glob("[0-9a-f][0-9a-f]")):
        home = objects / folder.name
        try:
            folder.rename(home)  # with the permissions that git gave it (core.sharedRepository)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            for file in folder.iterdir():
                if not (home / file.name).exists():
                    file.rename(home / file.name)


def _move(
    checkout: Checkout, updates: Sequence[RefUpdate], who: Signed, why: str, held: int
) -> None:
    null = "0" * len(updates[0].new)
    lines = [f"option no-deref\0update {up.name}\0{up.new}\0{up.old or null}\0" for up in updates]
    # One transaction, at the end of the input. With "start" and "commit" git would say that it has
    # understood, and be ended by SIGPIPE where the run that is to read it was killed.
    signed = {"GIT_COMMITTER_NAME": who.person.name, "GIT_COMMITTER_EMAIL": who.person.email}
    done = checkout.git.run(
        *("update-ref", "--stdin", "-z", "-m", why),
        stdin="".join(lines).encode(),
        ok=(0, 128),
        env=signed,
        apart=held,
    )
    if done.status:
        names = " and ".join(update.name for update in updates)
        raise RefusedError(
            f"git would not move {names}: {done.err.strip().removeprefix('fatal: ')}",
            "Somebody else may be at work in this checkout. Nothing was changed; run it again.",
        )


def _quoted(folder: Path) -> str:
    """Return an entry for a list that colons part (git(1), GIT_ALTERNATE_OBJECT_DIRECTORIES)."""
    escaped = os.fspath(folder).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
