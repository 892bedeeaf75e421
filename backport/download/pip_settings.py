"""Which package index the user's pip asks, and how: the one place that knows pip's settings.

They come from ``pip config list``, which merges pip's files and its PIP_* variables and
whose output is stable (https://pip.pypa.io/en/stable/topics/configuration/). Any pip prints
the same, so the one that virtualenv brings along does where the tool has none beside it.
"""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from backport.errors import CannotTellError
from backport.process import Command, run

_SETTING = re.compile(r"^(?P<section>:env:|[\w-]+)\.(?P<key>[\w-]+)=(?P<value>['\"].*)$")
_SECRET = re.compile(r"(?<=://)[^/?#]*@")
_TRUE = ("y", "yes", "t", "true", "on", "1")  # pip's strtobool
_PATIENCE = 60.0  # seconds for `pip config list`, which takes one or two


@dataclass(frozen=True)
class IndexSettings:
    """Where packages come from. URLs may hold credentials: show them through :func:`redact`."""

    index_url: str | None = None  # None: the default of the library that asks
    extra_index_urls: tuple[str, ...] = ()
    find_links: tuple[str, ...] = ()  # folders, files or URLs
    no_index: bool = False
    trusted_hosts: tuple[str, ...] = ()  # host or host:port, whose certificates are not checked
    proxy: str | None = None
    cert: Path | None = None  # certificates to trust, PEM
    client_cert: Path | None = None  # key and certificate to show, PEM
    timeout: float = 15.0  # seconds, for one answer of the server; pip's default
    retries: int = 5  # pip's default


def read_settings(env: Mapping[str, str], command: str = "install") -> IndexSettings:
    """Ask pip for the user's settings.

    :param env: the environment, whole; PIP_* variables, HOME and XDG_CONFIG_HOME matter
    :param command: the section of pip's configuration that goes before ``[global]``
    :raises CannotTellError: pip does not run, or a setting cannot be meant so
    """
    # -I leaves out the working directory, where a file called pip.py could stand.
    argv = (sys.executable, "-I", *_pip(), "config", "list")
    ended = run(Command(argv, Path.cwd(), env), timeout=_PATIENCE)
    if not ended.ok:
        last = (ended.text.strip().splitlines() or ["no output"])[-1]
        raise CannotTellError(f"pip's configuration cannot be read: {last}", "Try: pip config list")
    return parse_settings(ended.text, env, command)


def _pip() -> tuple[str, ...]:
    """Return what makes Python run a pip: a module, or a wheel, which runs as it is packed."""
    if importlib.util.find_spec("pip"):
        return ("-m", "pip")
    from virtualenv.seed.wheels.embed import get_embed_wheel  # type: ignore[import-untyped]

    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return (str(get_embed_wheel("pip", version).path / "pip"),)


def parse_settings(listing: str, env: Mapping[str, str], command: str) -> IndexSettings:
    """Read what ``pip config list`` printed; the order of precedence is pip's own.

    :raises CannotTellError: a time-out or a number of retries is no number
    """
    found: dict[str, str] = {}
    lines = [match for line in listing.splitlines() if (match := _SETTING.match(line))]
    for section in ("global", command, ":env:"):
        for match in lines:
            value = str(ast.literal_eval(match["value"])).strip()
            if match["section"] == section and value:
                found[match["key"]] = value
    return IndexSettings(
        index_url=found.get("index-url") or found.get("pypi-url"),
        extra_index_urls=tuple(found.get("extra-index-url", "").split()),
        find_links=tuple(_home(link, env) for link in found.get("find-links", "").split()),
        no_index=found.get("no-index", "").lower() in _TRUE,
        trusted_hosts=tuple(found.get("trusted-host", "").split()),
        proxy=found.get("proxy"),
        cert=_certificates(found, env),
        client_cert=Path(_home(found["client-cert"], env)) if "client-cert" in found else None,
        timeout=_number(found, "timeout", _number(found, "default-timeout", 15.0)),
        retries=int(_number(found, "retries", 5)),
    )


def redact(url: str) -> str:
    """Return the URL without its user and password, fit to be shown."""
    return _SECRET.sub("****@", url)


def _certificates(found: Mapping[str, str], env: Mapping[str, str]) -> Path | None:
    """Return what pip would take: its own setting, else the variables that requests reads."""
    named = found.get("cert") or env.get("REQUESTS_CA_BUNDLE") or env.get("CURL_CA_BUNDLE")
    return Path(_home(named, env)) if named else None


def _home(path: str, env: Mapping[str, str]) -> str:
    home = env.get("HOME")
    return home + path[1:] if home and path.startswith("~/") else path


def _number(found: Mapping[str, str], key: str, default: float) -> float:
    try:
        return float(found.get(key, default))
    except ValueError:
        raise CannotTellError(
            f"pip's setting {key} is no number: {found[key]}", "Try: pip config list"
        ) from None
