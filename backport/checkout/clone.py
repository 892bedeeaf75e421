"""A checkout that is given as a URL: cloned once, into the cache."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from filelock import FileLock

from backport.checkout.git import Git, GitFailedError
from backport.checkout.repository import Checkout, open_checkout
from backport.errors import CannotTellError, UsageError
from backport.progress import Progress
from backport.workspace import remove

# What git itself can reach. Not here: ext:: and fd::, which run a command (git-remote-ext(1)).
_URL = re.compile(r"(https?|ssh|git|file|git\+ssh)://[^-/]?\S+")
_SCP = re.compile(r"[A-Za-z0-9_][\w.-]*@[A-Za-z0-9][\w.-]*:\S+")
_LOOKS_LIKE_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(:|//)")


def is_url(where: str) -> bool:
    """Whether ``where`` is meant as a URL (of whatever scheme) and not as a path."""
    return bool(_LOOKS_LIKE_URL.match(where) or _SCP.fullmatch(where))


def clone_once(url: str, cache: Path, progress: Progress) -> Checkout:
    """Clone a repository into ``cache``, where it is not there yet, and open it.

    Made beside its final name and then renamed, under a lock: half a clone is never used.

    :raises UsageError: the URL is of a kind that is not taken
    :raises CannotTellError: git could not clone it
    """
    if not (_URL.fullmatch(url) or _SCP.fullmatch(url)):
        raise UsageError(
            f"{url!r} is no URL that is cloned from",
            "https://, ssh://, git:// and file:// URLs are, and user@host:path.",
        )
    name = re.sub(r"[^A-Za-z0-9]+", "-", url.rsplit("/", 1)[-1].removesuffix(".git"))
    folder = cache / "clones" / f"{name}-{hashlib.sha256(url.encode()).hexdigest()[:12]}.git"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        if not folder.is_dir():
            _clone(url, folder, progress)
    return open_checkout(folder)


def _clone(url: str, folder: Path, progress: Progress) -> None:
    progress.update(f"cloning {url}")
    half = folder.with_suffix(".part")
    remove(half)
    # The user's settings count here, and only here: proxies, credentials, url.insteadOf.
    git = Git(folder.parent, user_settings=True)
    try:
        git.run("clone", "--quiet", "--bare", "--template=", "--", url, str(half))
    except GitFailedError as error:
        remove(half)
        raise CannotTellError(f"cannot clone {url}: {error.message}", error.hint) from error
    half.rename(folder)
