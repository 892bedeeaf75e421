"""Which URLs are taken: those that git reaches by itself, without running a command of theirs."""

from __future__ import annotations

import re

from backport.errors import UsageError

# Not here: ext:: and fd::, which run a command (git-remote-ext(1)), and a host that ssh would take
# for an option (CVE-2017-1000117; git refuses it as well).
_URL = re.compile(
    r"(https?|ssh|git|git\+ssh)://([^@/\s]*@)?[^-/@\s][^/\s]*/\S+|file:///[^\0-\x1f]+"
)
_SCP = re.compile(r"[A-Za-z0-9_][\w.-]*@[A-Za-z0-9][\w.-]*:\S+")
_LOOKS_LIKE_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(:|//)")


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
