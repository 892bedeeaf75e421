"""The built-in checkout: a release from the package index, as a repository, the fix taken out.

Two commits on the branch: the release as it is, tagged with its version, then the
rewind. Dates and identity are its own, so that it is the same commits everywhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock

from backport.checkout.git import Git
from backport.checkout.objects import Entry, Signed
from backport.checkout.repository import Checkout, open_checkout
from backport.checkout.scratch import Scratch
from backport.download.checksum_store import Store
from backport.download.pip_settings import IndexSettings
from backport.download.requirement import Wanted
from backport.download.unpack import unpack
from backport.errors import CannotTellError, UsageError
from backport.progress import Progress
from backport.series.model import Branch, Embedded, Person
from backport.series.rewind import Rewind, RewindFile, rewrite
from backport.workspace import workspace

#: Commits of the built-in checkout carry an identity of its own: no machine needs one for it.
IDENTITY = Person("Built-in checkout", "backport@localhost")
_DATE = "1538697600 +0000"  # 2018-10-05, the day that 15.1.5 was tagged; any fixed one would do
_RECIPE = "backport.recipe"  # in the checkout's configuration: what it was made from
_FORM = 1  # of the recipe; goes up when the same data would give another checkout


def embedded_checkout(
    folder: Path,
    branch: Branch,
    rewind: Rewind | None,
    unpack: Callable[[Path], None],
    progress: Progress,
) -> Checkout:
    """Open the built-in checkout at ``folder``, and make it first where it is not there.

    :param unpack: fetches the release and unpacks it into a new folder
    :raises UsageError: what is at ``folder`` was not made by this recipe
    :raises CannotTellError: the release is not what the rewind expects
    """
    assert branch.embedded is not None
    recipe = _recipe(branch, branch.embedded, rewind)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        if not folder.exists():
            progress.update(f"making a checkout of {branch.project} {branch.embedded.version}")
            _make(folder, branch, branch.embedded, rewind, unpack, recipe)
    try:
        checkout = open_checkout(folder)
        made_by = checkout.git.run("config", "--get", _RECIPE, ok=(0, 1)).text
    except UsageError:  # it is damaged, or something else; nobody named it
        made_by = ""
    if made_by != recipe:
        raise UsageError(
            f"{folder} is no built-in checkout of this version of the tool",
            "If nothing in it is yours, type: make clean; it is then made anew.",
        )
    return checkout


def _recipe(branch: Branch, embedded: Embedded, rewind: Rewind | None) -> str:
    said = repr((_FORM, branch.branch, embedded.version, embedded.sha256, rewind))
    return hashlib.sha256(said.encode()).hexdigest()


def _make(
    folder: Path,
    branch: Branch,
    embedded: Embedded,
    rewind: Rewind | None,
    unpack: Callable[[Path], None],
    recipe: str,
) -> None:
    """Make it beside its final name, and rename it last: half a checkout is never taken for one."""
    with workspace(folder.parent) as beside:
        half = beside / "checkout"
        unpack(half)
        git = Git(half)
        git.run("init", "--quiet", "--template=", f"--initial-branch={branch.branch}")
        for name, value in _settings(recipe):
            git.run("config", name, value)
        tip = _commits(Scratch(half / ".git"), half, branch, embedded, rewind)
        git.run("update-ref", f"refs/heads/{branch.branch}", tip)
        git.run("read-tree", "--reset", "-u", tip)
        half.rename(folder)


def _settings(recipe: str) -> list[tuple[str, str]]:
    return [
        ("user.name", IDENTITY.name),
        ("user.email", IDENTITY.email),
        ("core.autocrlf", "false"),
        (_RECIPE, recipe),
    ]


def _commits(
    objects: Scratch, folder: Path, branch: Branch, embedded: Embedded, rewind: Rewind | None
) -> str:
    git = Git(folder)
    # Everything of the release belongs to it, also what its .gitignore names.
    git.run("add", "--all", "--force", ".")
    tree = git.run("write-tree").text
    who = Signed(IDENTITY, _DATE)
    message = f"{branch.project} {embedded.version}, as released"
    tip = objects.make_commit(tree, (), message, who, who)
    git.run("update-ref", f"refs/tags/{embedded.version}", tip)
    if rewind is None:
        return tip
    tree = take_back(objects, tree, rewind, embedded.version)
    message = f"Rewind {embedded.version} to before the fix\n\n{rewind.why.strip()}"
    return objects.make_commit(tree, (tip,), message, who, who)


def take_back(objects: Scratch, tree: str, rewind: Rewind, version: str) -> str:
    """Return ``tree`` with the fix taken out.

    :raises CannotTellError: a blob is not the one that is expected, before or after
    """
    here = objects.entries(tree, [file.path for file in rewind.files])
    entries = {
        file.path: _rewound(objects, here.get(file.path), file, version) for file in rewind.files
    }
    return objects.update(tree, entries)


def _rewound(objects: Scratch, entry: Entry | None, file: RewindFile, version: str) -> Entry | None:
    if entry is None or entry.blob != file.expects:
        found = entry.blob if entry else "not there"
        raise _mismatch(file, version, f"expected to be blob {file.expects}, but is {found}")
    if file.yields is None:
        return None
    try:
        blob = objects.write_blob(rewrite(objects.blob(entry.blob), file.edits))
    except ValueError as error:
        raise _mismatch(file, version, f"the edits do not fit it ({error})") from error
    if blob != file.yields:
        raise _mismatch(file, version, f"should become blob {file.yields}, but becomes {blob}")
    return Entry(entry.mode, blob)


def _mismatch(file: RewindFile, version: str, what: str) -> CannotTellError:
    return CannotTellError(
        f"the fix cannot be taken out of {version}: {file.path} is {what}",
        "The rewind file and the release do not go together; neither was changed.",
    )


# -- the release itself: fetched, checked, unpacked; no code of it is run ------------------


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
