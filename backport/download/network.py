"""The way to the network for the library that reads package indexes, as pip would go it."""

from __future__ import annotations

import logging
import ssl
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from unearth.auth import MultiDomainBasicAuth
from unearth.fetchers import DEFAULT_SECURE_ORIGINS
from unearth.fetchers.sync import PyPIClient
from unearth.link import Link
from unearth.preparer import HTTPErrors

from backport.download.pip_settings import IndexSettings
from backport.errors import CannotTellError

_ABSENT = (404, 410)
_BUSY = (408, 429, 500, 502, 503, 504)
_LONGEST_PAUSE = 4.0  # seconds between two attempts
_T = TypeVar("_T")

# The library warns of each place that lacks a release; unheard, or it would go to standard error.
logging.getLogger("unearth").addHandler(logging.NullHandler())


class UnreachableError(Exception):
    """A place gave no answer, or one that says nothing about what is there."""


class BusyError(UnreachableError):
    """The trouble may pass."""


class StoppedError(Exception):
    """Fetching was given up because the work that asked for it has ended."""


class Session:
    """What the library calls a ``Fetcher``, with retries, a way to stop, and clear errors.

    :raises CannotTellError: certificates or a proxy that pip's settings name cannot be used
    """

    def __init__(self, settings: IndexSettings, stop: threading.Event) -> None:
        self._settings, self._stop = settings, stop
        self._trusted = frozenset(settings.trusted_hosts)
        self._checked = self._client(_verification(settings))
        # Of its own, so that a trusted host is reached through the proxy too.
        self._unchecked = self._client(False) if self._trusted else self._checked

    def _client(self, verify: object) -> PyPIClient:
        settings = self._settings
        urls = [url for url in (settings.index_url, *settings.extra_index_urls) if url]
        auth = MultiDomainBasicAuth(prompting=False, index_urls=urls)
        try:
            client = PyPIClient(
                verify=verify,  # type: ignore[arg-type]
                timeout=settings.timeout,
                proxy=settings.proxy,
                follow_redirects=True,
            )
        except (ValueError, ImportError) as error:  # no URL; a SOCKS proxy without socksio
            raise CannotTellError(
                f"the proxy that pip's settings or the environment name cannot be used: {error}",
                "Look at proxy in: pip config list; and at HTTPS_PROXY, ALL_PROXY",
            ) from error
        client.auth = auth
        return client

    def close(self) -> None:
        """End all connections."""
        self._checked.close()
        self._unchecked.close()

    def get(self, url: str, *, headers: Mapping[str, str] | None = None) -> Any:
        """Return a page, or the answer that there is none.

        :raises UnreachableError: any other answer, or none
        """

        def attempt() -> Any:
            response = self._of(url).get(url, headers=headers)
            if response.status_code not in _ABSENT:
                refuse_bad_status(response)
            return response

        return self.retrying(attempt)

    def head(self, url: str, *, headers: Mapping[str, str] | None = None) -> Any:
        """Return the head of a page."""
        return self.retrying(lambda: self._of(url).head(url, headers=headers))

    def get_stream(
        self, url: str, *, headers: Mapping[str, str] | None = None
    ) -> AbstractContextManager[Any]:
        """Return the answer, whose content is yet to be read."""
        # As pip does: the file as it lies there, so that its checksum is the file's own.
        return self._of(url).get_stream(url, headers={"Accept-Encoding": "identity"})

    def iter_secure_origins(self) -> Iterable[tuple[str, str, str]]:
        """Say which places are safe to ask: scheme, host, port; ``*`` is any."""
        yield from DEFAULT_SECURE_ORIGINS
        for trusted in self._trusted:
            host, _, port = trusted.partition(":")
            yield ("*", host, port or "*")

    def retrying(self, attempt: Callable[[], _T]) -> _T:
        """Do it, again and again while the trouble may pass, as often as pip would.

        :raises BusyError: the trouble did not pass
        """
        for number in range(self._settings.retries + 1):
            if number and self._stop.wait(min(0.25 * 2**number, _LONGEST_PAUSE)):
                raise StoppedError
            try:
                return attempt()
            except BusyError as error:
                trouble = str(error)
            except HTTPErrors as error:
                trouble = str(error) or type(error).__name__
                if "CERTIFICATE_VERIFY_FAILED" in trouble:
                    break
        raise BusyError(trouble)

    def _of(self, url: str) -> PyPIClient:
        parsed = Link(url).parsed
        known = {parsed.hostname or "", f"{parsed.hostname}:{parsed.port}"}
        return self._unchecked if known & self._trusted else self._checked


def _verification(settings: IndexSettings) -> ssl.SSLContext | bool:
    """Return how certificates are checked; True is the library's own way.

    :raises CannotTellError: pip's settings name certificates that cannot be read
    """
    if not settings.cert and not settings.client_cert:
        return True
    try:
        folder = bool(settings.cert and settings.cert.is_dir())
        context = ssl.create_default_context(
            cafile=None if folder else settings.cert, capath=settings.cert if folder else None
        )
        if settings.client_cert:
            context.load_cert_chain(settings.client_cert)
    except (OSError, ssl.SSLError) as error:
        named = ", ".join(str(path) for path in (settings.cert, settings.client_cert) if path)
        raise CannotTellError(
            f"the certificates that pip's settings name cannot be read: {named}: {error}",
            "Look at cert and client-cert in: pip config list",
        ) from error
    return context


def refuse_bad_status(response: Any) -> None:
    """Raise for what is no answer to the question.

    :raises BusyError: asking again may help
    :raises UnreachableError: it will not
    """
    status = response.status_code
    if status >= 400:
        kind = BusyError if status in _BUSY else UnreachableError
        raise kind(f"the server says {status} {response.reason_phrase}".rstrip())
