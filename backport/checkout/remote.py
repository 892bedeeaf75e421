"""Remotes: which URLs are taken, and what a partial clone's has promised.

That is asked for in one go, into a folder of our own. git itself would fetch file by file, into
the user's checkout, with programs that the checkout's configuration names (git-clone(1),
--filter; gitremote-helpers(7)). Here nothing of it is taken but the remote's URL, and that only
if it is of a kind that is cloned from.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from backport.checkout.git import Git, GitFailedError
from backport.errors import UsageError

# Those that git reaches by itself, without running a command of theirs. Not here: ext:: and fd::,
# which run one (git-remote-ext(1)), and a host that ssh would take for an option
# (CVE-2017-1000117; git refuses it as well).
_URL = re.compile(
    r"(https?|ssh|git|git\+ssh)://([^@/\s]*@)?[^-/@\s][^/\s]*/\S+|file:///[^\0-\x1f]+"
)
_SCP = re.compile(r"[A-Za-z0-9_][\w.-]*@[A-Za-z0-9][\w.-]*:\S+")
_LOOKS_LIKE_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(:|//)")

_KEY = re.compile(r"remote\.(.*)\.(promisor|url)\n(.*)", re.DOTALL)

#: As git fetches what was promised (promisor-remote.c of 2.39).
_HOW = ("--no-tags", "--no-write-fetch-head", "--recurse-submodules=no")


def is_url(where: str) -> bool:
    """Whether ``where`` is meant as a URL (of whatever scheme) and not as a path."""
    return bool(_LOOKS_LIKE_URL.match(where) or _SCP.fullmatch(where))


def check_url(url: str) -> str:
    """Return a URL that may be cloned from.

    :raises UsageError: it is of a kind that is not taken
    """
    if not (_URL.fullmatch(url) or _SCP.fullmatch(url)):
        raise UsageError(
            f"{url!r} is no URL that is cloned from",
            "https://, ssh://, git:// and file:// URLs are, and user@host:path.",
        )
    return url


def without_password(url: str) -> str:
    """Return a URL that may be shown."""
    return re.sub(r"(?<=://)([^:@/]*):[^@/]*@", r"\1@", url)


@dataclass(frozen=True)
class Promisor:
    """The remote of a partial clone, and the clone's own folder."""

    url: str | None  # None: the configuration names none
    folder: Path

    def bring(self, scratch_folder: Path, commits: Collection[str]) -> None:
        """Fetch what is lacking of the files of some commits.

        :raises UsageError: their trees are lacking, too. git gc fails in such a clone once it has
            a commit of its own: nothing tells that its files were promised (repack of git 2.39)
        :raises GitFailedError: the remote does not answer, or does not have them
        """
        git = Git(scratch_folder, scratch_folder)
        for commit in commits:
            if git.run("ls-tree", "-r", "-t", "--object-only", commit, ok=(0, 1, 128)).status:
                raise UsageError(
                    f"{self.folder} is a clone without trees (--filter=tree:0): nothing can be "
                    "put onto its history",
                    f"Fetch them:  git -C {self.folder} fetch --refetch --filter=blob:none",
                )
        try:
            self._fetch(scratch_folder, _missing(git, commits))
        except GitFailedError as error:
            raise GitFailedError(
                f"{self.folder} is a partial clone, and what it lacks cannot be fetched: "
                f"{error.message}",
                f"Make it whole:  git -C {self.folder} fetch --refetch --no-filter",
            ) from error

    def bring_files(self, scratch_folder: Path, blobs: Collection[str]) -> None:
        """Fetch files by their ids, if the remote has all of them: nobody need have pushed them."""
        with suppress(GitFailedError):
            self._fetch(scratch_folder, _absent(Git(scratch_folder, scratch_folder), blobs))

    def _fetch(self, scratch_folder: Path, ids: Collection[str]) -> None:
        if not ids:
            return
        # The user's settings count here, as for clones: proxies, credentials, url.insteadOf.
        git = Git(scratch_folder, scratch_folder, user_settings=True)
        git.run(
            *("fetch", "--quiet", *_HOW, "--stdin", "--end-of-options", self._checked_url()),
            stdin=_lines(ids),
            settings=("fetch.negotiationAlgorithm=noop",),
        )

    def _checked_url(self) -> str:
        if self.url is None:
            raise GitFailedError("its configuration names no remote that has promised it")
        return check_url(self.url)


def _missing(git: Git, commits: Collection[str]) -> list[str]:
    """List the objects below ``commits`` that are not there: rev-list writes ``?ID``."""
    how = ("--objects", "--no-object-names", "--no-walk", "--missing=print", "--stdin")
    lines = git.run("rev-list", *how, stdin=_lines(commits)).text.splitlines()
    return [line[1:] for line in lines if line.startswith("?")]


def _absent(git: Git, ids: Collection[str]) -> list[str]:
    lines = git.run("cat-file", "--batch-check", stdin=_lines(ids)).text.splitlines()
    return [line.split()[0] for line in lines if line.endswith(" missing")]


def _lines(ids: Collection[str]) -> bytes:
    return "".join(f"{one}\n" for one in ids).encode()


def read_promisor(git: Git, folder: Path, objects: Path) -> Promisor | None:
    """Tell whether a repository is a partial clone, and of what.

    :param objects: its object database; a pack with promises has a ``.promisor`` file beside it
    """
    if not any((objects / "pack").glob("*.promisor")):
        return None
    keys = git.run("config", "-z", "--get-regexp", r"^remote\..*\.(promisor|url)$", ok=(0, 1))
    found = [match.groups() for field in keys.fields if (match := _KEY.fullmatch(field))]
    urls = {name: value for name, key, value in reversed(found) if key == "url"}
    names = [name for name, key, value in found if key == "promisor" and value == "true"]
    return Promisor(next((urls[name] for name in names if name in urls), None), folder)
