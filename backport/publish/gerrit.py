"""To Gerrit: what it would refuse, where it is, and the push to ``refs/for/``.

By git-review's conventions (git-review(1), ``.gitreview``): the remote ``gerrit``, else what the
file names; the topic ``bug/N``.
"""

from __future__ import annotations

import configparser
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from urllib.parse import quote

from backport.checkout.git import Git
from backport.checkout.objects import Commit
from backport.checkout.remote import check_url, is_url, without_password
from backport.checkout.repository import Checkout
from backport.checkout.scratch import Scratch
from backport.errors import CannotTellError, RefusedError, UsageError
from backport.series.message import change_ids


class Sent(str, Enum):
    """What the push came to."""

    SENT = "sent"
    NOTHING_NEW = "nothing-new"


@dataclass(frozen=True)
class Review:
    """Where and as what the commits go: a URL, and a refspec's right side."""

    url: str
    tip: str
    ref: str

    @property
    def command(self) -> str:
        """The push, to be read by people."""
        return f"git push {without_password(self.url)} '{self.tip}:{self.ref}'"


def read_gitreview(data: bytes | None) -> dict[str, str]:
    """Return what ``.gitreview`` says; nothing where there is none, or it is no such file."""
    parser = configparser.ConfigParser()
    try:
        parser.read_string((data or b"").decode("utf-8", "replace"))
    except configparser.Error:
        return {}
    return dict(parser["gerrit"]) if "gerrit" in parser else {}


def problems(commits: Sequence[Commit], branch: str, said: dict[str, str]) -> Iterator[str]:
    """Yield what Gerrit would refuse, or take for something else (its error messages' manual)."""
    target = said.get("defaultbranch", branch)
    if target != branch:
        yield f".gitreview sends to {target}, and the series is for {branch}"
    seen: dict[str, str] = {}
    for commit in commits:
        name = f"{commit.id[:10]} “{commit.message.partition(chr(10))[0]}”"
        if len(commit.parents) != 1:
            yield f"{name} is a merge"
            continue
        ids = change_ids(commit.message)
        last = re.split(r"\n(?:[ \t]*\n)+", commit.message.rstrip())[-1]
        if not ids:
            yield f"{name} has no Change-Id"
        elif not re.search(rf"^Change-Id: {ids[-1]}$", last, re.M):
            yield f"{name} has its Change-Id above the last paragraph"
        elif len(set(ids)) > 1:
            yield f"{name} has several Change-Ids"
        elif ids[-1] in seen:
            yield f"{name} has the Change-Id of {seen[ids[-1]]}"
        seen.update({ids[-1]: name} if ids else {})


def review(
    checkout: Checkout, said: dict[str, str], tip: str, branch: str, options: Sequence[str]
) -> Review:
    """Work out where it goes.

    :raises UsageError: there is no remote ``gerrit``, and ``.gitreview`` names no host
    """
    url = checkout.push_url("gerrit") or _named(checkout, said)
    if is_url(url):
        check_url(url)
    more = f"%{','.join(options)}" if options else ""
    return Review(url, tip, f"refs/for/{branch}{more}")


def topic(bug: int | None, series: str) -> str:
    """Return the option for the topic, as git-review names it for a bug."""
    return f"topic={quote(f'bug/{bug}' if bug else series, safe='/')}"


def push(scratch: Scratch, asked: Review) -> tuple[Sent, str]:
    """Send it, and return what the server said.

    One push is all or nothing; where the connection is lost nobody knows, and a second run is
    right either way: Gerrit knows the commits again.

    :raises RefusedError: the server does not take it
    :raises CannotTellError: it cannot be reached, or was lost in the middle
    """
    # The user's settings count here: keys, credentials, proxies, url.insteadOf.
    git = Git(scratch.folder, scratch.folder, user_settings=True)
    done = git.run("push", "--porcelain", "--no-verify", "--", asked.url,
                   f"{asked.tip}:{asked.ref}", ok=range(256))  # fmt: skip
    lines = [line.split("\t") for line in done.text.splitlines()]
    said = "\n".join(
        line.removeprefix("remote: ").rstrip()
        for line in done.err.splitlines()
        if line.startswith("remote: ") and line[8:].strip()
    )
    if done.status == 0:
        return Sent.SENT, said
    refused = [fields[-1] for fields in lines if fields[0] == "!" and "rejected" in fields[-1]]
    if any("no new changes" in line for line in refused):
        return Sent.NOTHING_NEW, said
    if refused:
        raise RefusedError(f"{without_password(asked.url)} did not take it: {refused[0]}", said)
    raise CannotTellError(
        f"cannot push to {without_password(asked.url)}: {without_password(done.why)}",
        "Whether it has arrived is not known. Run it again: what is there is not sent twice.",
    )


def _named(checkout: Checkout, said: dict[str, str]) -> str:
    if "host" not in said or "project" not in said:
        raise UsageError(
            f"{checkout.folder} has no remote called gerrit, and no .gitreview that names a host",
            "Add it:  git remote add gerrit ssh://USER@HOST:29418/PROJECT",
        )
    user = checkout.setting("gitreview.username")
    host = f"{user}@{said['host']}" if user else said["host"]
    return f"ssh://{host}:{said.get('port', '29418')}/{said['project']}"
