"""A checkout that is given as a URL: cloned once, into the cache."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from filelock import FileLock

from backport.checkout.git import Git, GitFailedError
from backport.checkout.remote import check_url, without_password
from backport.checkout.repository import Checkout, open_checkout
from backport.errors import CannotTellError
from backport.progress import Progress
from backport.workspace import workspace


def clone_once(url: str, cache: Path, progress: Progress) -> Checkout:
    """Clone a repository into ``cache``, where it is not there yet, and open it.

    Made beside its final name and then renamed, under a lock: half a clone is never used.

    :raises UsageError: the URL is of a kind that is not taken
    :raises CannotTellError: git could not clone it
    """
    check_url(url)
    name = re.sub(r"[^A-Za-z0-9]+", "-", url.rsplit("/", 1)[-1].removesuffix(".git"))
    folder = cache / "clones" / f"{name}-{hashlib.sha256(url.encode()).hexdigest()[:12]}.git"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        if not folder.is_dir():
            _clone(url, folder, progress)
    return open_checkout(folder)


def _clone(url: str, folder: Path, progress: Progress) -> None:
    shown = without_password(url)
    progress.update(f"cloning {shown}")
    # The user's settings count here, and only here: proxies, credentials, url.insteadOf.
    git = Git(folder.parent, user_settings=True)
    # In a folder of this run's own: a clone that outlives its run, killed, goes on in another one.
    with workspace(folder.parent) as beside:
        half = beside / "half.git"
        try:
            git.run("clone", "--quiet", "--bare", "--template=", "--", url, str(half))
        except GitFailedError as error:
            reason = without_password(error.message)
            hint = "Is it there, and can this machine reach it?  git ls-remote URL"
            raise CannotTellError(f"cannot clone {shown}: {reason}", hint) from error
        half.rename(folder)
