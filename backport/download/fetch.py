"""Fetches released files by their checksums, from where the user's pip would; runs none of them.

The checksum decides, not the file's name: what has another one is never kept. Files stay
in a folder of the user's cache under their checksum, which is made sure of at each use.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from packaging.tags import Tag
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import InvalidVersion, Version
from unearth.collector import collect_links_from_location, is_secure_origin
from unearth.finder import PackageFinder
from unearth.link import Link

from backport.download.checksum_store import Store
from backport.download.network import (
    BusyError,
    Session,
    StoppedError,
    UnreachableError,
    refuse_bad_status,
)
from backport.download.pip_settings import IndexSettings, redact
from backport.download.requirement import Wanted
from backport.errors import CannotTellError

_CHUNK = 1 << 16
_SOURCES = (".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar", ".zip")
_NETWORK = "The network, a proxy or pip's settings may be the reason: pip config list"


@dataclass
class _Search:
    """What looking for one release brought up."""

    matching: list[Link] = field(default_factory=list)  # the place says: one of the checksums
    unknown: list[Link] = field(default_factory=list)  # the name fits, the place gives no checksum
    others: dict[str, str] = field(default_factory=dict)  # file name → a checksum not wanted
    problems: list[str] = field(default_factory=list)


class Fetcher:
    """Fetches files; may be used from several threads.

    :param settings: the user's pip's
    :param store: keeps what was fetched
    :param scratch: a folder on the same file system for files that are not whole yet
    """

    def __init__(self, settings: IndexSettings, store: Store, scratch: Path) -> None:
        self._store, self._scratch = store, scratch
        self._stop = threading.Event()
        self._session = Session(settings, self._stop)
        self._dead: dict[str, str] = {}  # host → why it is not asked again
        default = PackageFinder().sources[0]["url"]  # no index named: the library's own default
        first = settings.index_url or default
        self.indexes = () if settings.no_index else (first, *settings.extra_index_urls)
        self.find_links = settings.find_links

    def __enter__(self) -> Fetcher:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._session.close()

    def stop(self) -> None:
        """Make all fetches that are under way end soon, with :class:`StoppedError`."""
        self._stop.set()

    def fetch(self, wanted: Wanted, tags: Mapping[Tag, int] | None = None) -> Path:
        """Return the file that fits best, fetched if need be.

        :param tags: the wheels that will do, and how well (0 is best); without it only sources do
        :raises CannotTellError: it is not to be had, or its checksum is none of the wanted
        """
        if len(wanted.sha256) == 1 and (kept := self._store.kept(*wanted.sha256)):
            return kept
        search = self._search(wanted, tags or {})
        for link in search.matching[:1]:
            return self._store.kept(_declared(link) or "?") or self._received(link, wanted, search)
        for link in search.unknown:
            if file := self._tried(link, wanted, search):
                return file
        raise self._not_found(wanted, search)

    def _search(self, wanted: Wanted, ranks: Mapping[Tag, int]) -> _Search:
        """Look through all places; the links come out best first."""
        search = _Search()
        name = canonicalize_name(wanted.name)
        for url in self.indexes:
            self._look(f"{url.rstrip('/')}/{name}/", False, wanted, search)
        for place in self.find_links:
            url = place if "://" in place else Path(os.path.abspath(place)).as_uri()
            self._look(url, True, wanted, search)
        for links in (search.matching, search.unknown):
            fitting = [(rank, link) for link in links if (rank := _rank(link, ranks)) is not None]
            links[:] = [link for _, link in sorted(fitting, key=lambda pair: pair[0])]
        return search

    def _look(self, url: str, expand: bool, wanted: Wanted, search: _Search) -> None:
        host = ""
        try:
            place = Link(url)
            host = place.parsed.netloc
            if host in self._dead:
                raise UnreachableError(self._dead[host])
            if not is_secure_origin(self._session, place):
                raise UnreachableError("plain http, and not among pip's trusted-host")
            # Read to the end here: the pages are asked for as the links are taken.
            for link in collect_links_from_location(self._session, place, expand=expand):
                _sort_in(link, wanted, search)
        except (UnreachableError, OSError, ValueError) as error:
            if isinstance(error, BusyError):
                self._dead[host] = str(error)
            search.problems.append(f"{redact(url)}: {error}")

    def _received(self, link: Link, wanted: Wanted, search: _Search) -> Path:
        if file := self._tried(link, wanted, search):
            return file
        raise self._not_found(wanted, search)

    def _tried(self, link: Link, wanted: Wanted, search: _Search) -> Path | None:
        """Fetch a file and keep it, if its checksum is one of the wanted."""
        partial = self._scratch / f"{threading.get_ident()}-{link.filename}"
        digest = self._receive(link, partial)
        if digest not in wanted.sha256:
            partial.unlink()
            search.others[link.filename] = digest
            return None
        return self._store.keep(partial, digest, link.filename)

    def _receive(self, link: Link, partial: Path) -> str:
        """Write what the link leads to into a file; return its checksum."""

        def attempt() -> str:
            digest = hashlib.sha256()
            url = link.url_without_fragment
            with self._session.get_stream(url) as response, partial.open("wb") as file:
                refuse_bad_status(response)
                for chunk in response.iter_raw(_CHUNK):
                    if self._stop.is_set():
                        raise StoppedError
                    digest.update(chunk)
                    file.write(chunk)
            return digest.hexdigest()

        try:
            return self._session.retrying(attempt)
        except UnreachableError as error:
            raise CannotTellError(
                f"cannot fetch {redact(link.url_without_fragment)}: {error}", _NETWORK
            ) from error

    def _not_found(self, wanted: Wanted, search: _Search) -> CannotTellError:
        asked = ", ".join(redact(place) for place in (*self.indexes, *self.find_links))
        if search.others:
            name, digest = next(iter(search.others.items()))
            allowed = " or ".join(sorted(wanted.sha256))
            return CannotTellError(
                f"{name} has the sha256 checksum {digest}, not {allowed}; it was not kept",
                f"Somebody else's file may be at {asked}. Look at pip's settings: pip config list",
            )
        if search.problems:
            return CannotTellError(
                f"cannot fetch {wanted}: " + "; ".join(search.problems), _NETWORK
            )
        return CannotTellError(
            f"no file of {wanted} that fits is at {asked or 'any place that pip is told of'}",
            "Look at pip's settings: pip config list",
        )


def _sort_in(link: Link, wanted: Wanted, search: _Search) -> None:
    """Put a link where it belongs, by its checksum first and by its name where it has none."""
    digest = _declared(link)
    if digest in wanted.sha256:
        search.matching.append(link)
    elif _is_of(link.filename, wanted):
        if digest is None:
            search.unknown.append(link)
        elif not link.is_wheel:
            search.others[link.filename] = digest


def _declared(link: Link) -> str | None:
    digests = (link.hash_option or {}).get("sha256")
    return digests[0] if digests else None


def _rank(link: Link, ranks: Mapping[Tag, int]) -> int | None:
    """Return how well a file fits, 0 is best: wheels by tags, then sources; None: not at all."""
    if not link.filename.isprintable():
        return None
    if not link.is_wheel:
        return len(ranks) if link.filename.endswith(_SOURCES) else None
    try:
        tags = parse_wheel_filename(link.filename)[-1]
    except (InvalidWheelFilename, InvalidVersion):
        return None
    return min((ranks[tag] for tag in tags if tag in ranks), default=None)


def _is_of(filename: str, wanted: Wanted) -> bool:
    """Whether a file's name says that it is of the release.

    Versions of old sources may hold a dash (functools32-3.2.3-2.tar.gz), so every dash is tried.
    """
    if filename.endswith(".whl"):
        name, _, rest = filename.partition("-")
        return _same(name, rest.partition("-")[0], wanted)
    stem = next((filename[: -len(end)] for end in _SOURCES if filename.endswith(end)), "")
    dashes = [at for at, letter in enumerate(stem) if letter == "-"]
    return any(_same(stem[:at], stem[at + 1 :], wanted) for at in dashes)


def _same(name: str, version: str, wanted: Wanted) -> bool:
    if canonicalize_name(name) != canonicalize_name(wanted.name):
        return False
    try:
        return Version(version) == Version(wanted.version)
    except InvalidVersion:
        return version == wanted.version
