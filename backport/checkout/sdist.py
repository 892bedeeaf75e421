"""A release as it was published: fetched, checked, unpacked. No code of it is run."""

from __future__ import annotations

from pathlib import Path

from backport.download.checksum_store import Store
from backport.download.pip_settings import IndexSettings
from backport.download.requirement import Wanted
from backport.download.unpack import unpack
from backport.errors import CannotTellError
from backport.progress import Progress
from backport.workspace import workspace


def fetch_sdist(
    project: str,
    version: str,
    sha256: str,
    cache: Path,
    settings: IndexSettings,
    progress: Progress,
) -> Path:
    """Return a release's source archive out of the cache, fetched if it is not in there.

    :param sha256: its checksum, in hexadecimal; made sure of at each use
    :param cache: the folder for what can be had again
    :raises CannotTellError: it is not to be had, or has another checksum (nothing is kept then)
    """
    store = Store(cache / "files")
    if kept := store.kept(sha256.lower()):
        return kept
    # The library takes a third of a second to import, which a warm run need not pay.
    from backport.download.fetch import Fetcher

    wanted = Wanted(project, version, frozenset([sha256.lower()]))
    progress.update(f"fetching {wanted}")
    try:
        with (
            workspace(cache / "partial") as scratch,
            Fetcher(settings, store, scratch) as fetcher,
        ):
            return fetcher.fetch(wanted)
    except OSError as error:
        raise CannotTellError(f"{wanted} cannot be kept in {cache}: {error}") from error


def unpack_sdist(archive: Path, folder: Path) -> None:
    """Unpack a source archive into a folder, without the folder at its top.

    :param folder: is made; it must not be there yet
    :raises ArchiveError: it is damaged or hostile, see :mod:`backport.download.unpack`
    """
    unpack(archive, folder)
