"""A tree of git's as a folder that tests run in, made in a tenth of a second by hard links.

The trees of one series differ in a few files, and so do those of one day's work. Each blob
is kept once, and its bytecode once per environment; a tree is laid out as links to them.

**Stale bytecode can fake a proof.** Python takes a .pyc for valid if it names the source's
modification time (Python 2: in whole seconds, and no size). So here the time *is* the
content: it is made of the blob's id, and bytecode of other content never fits.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from backport.checkout.objects import Entry
from backport.runner.results import Environment
from backport.runner.trees import Trees

_MANY = 20  # blobs; more are exported at once, fewer are read one by one


@dataclass(frozen=True)
class TreeFolder:
    """A tree, laid out in a folder. ``shared``: its files may be those of other folders too."""

    tree: str
    folder: Path
    files: Mapping[str, Entry]
    shared: bool

    def changed(self) -> tuple[str, ...]:
        """Return the files that something has written into since, by their times."""
        folder = str(self.folder)
        return tuple(
            path
            for path, entry in self.files.items()
            if _is_plain(entry)
            and _time_of(os.path.join(folder, path)) not in (None, stamp(entry.blob))
        )


def stamp(blob: str) -> int:
    """Return the modification time (seconds since 1970) of a file with this blob."""
    return 2**30 + int(blob[:7], 16)


class Store:
    """The kept files. ``folder`` should be on the file system that trees are laid out on.

    Paths are texts in here: ``pathlib`` would cost more than the links do.
    """

    def __init__(self, folder: Path) -> None:
        self._top = str(folder)
        self._files = str(folder / "files")
        os.makedirs(self._files, exist_ok=True)
        self._bytecode = str(folder / "bytecode")

    def lay_out(
        self,
        trees: Trees,
        tree: str,
        folder: Path,
        environment: Environment,
        private: bool = False,
    ) -> TreeFolder:
        """Make the folder of a tree, bytecode included where it is known.

        :param folder: is made
        :param private: copies instead of links, for tests that write into their tree
        """
        files = trees.files(tree)
        self._complete(trees, tree, files)
        folder.mkdir(parents=True)
        top = str(folder)
        place = _copy if private else self._linking(folder)
        for parent in sorted(_parents(files)):
            os.mkdir(os.path.join(top, parent))
        for path, entry in files.items():
            target = os.path.join(top, path)
            if _is_plain(entry):
                place(self._kept(entry), target)
            elif entry.mode == "120000":
                os.symlink(trees.blob(entry.blob), os.fsencode(target))
            else:  # a submodule: there is nothing to take it from
                os.makedirs(target, exist_ok=True)
        for target, kept in self._bytecodes(top, files, environment):
            if os.path.exists(kept):
                os.makedirs(os.path.dirname(target), exist_ok=True)
                place(kept, target)
        return TreeFolder(tree, folder, files, not private)

    def keep_bytecode(self, laid: TreeFolder, environment: Environment) -> None:
        """Keep the bytecode that Python has written beside the sources, for the next folder."""
        changed = set(laid.changed())
        files = {path: entry for path, entry in laid.files.items() if path not in changed}
        for made, kept in self._bytecodes(str(laid.folder), files, environment):
            if os.path.exists(kept) or not os.path.exists(made):
                continue
            if _names_time(made, stamp(os.path.basename(kept))):
                os.makedirs(os.path.dirname(kept), exist_ok=True)
                fresh = _beside(kept)
                shutil.copyfile(made, fresh)
                os.replace(fresh, kept)

    def _linking(self, folder: Path) -> Callable[[str, str], None]:
        """Return what links a kept file into a folder.

        A folder on another file system, such as in memory, gets links to copies beside it, which
        all trees beside it share: the second tree takes a quarter of the first one's time.
        """
        if os.stat(self._files).st_dev == os.stat(folder).st_dev:
            return os.link
        near = str(folder.parent / "near")
        made: set[str] = set()

        def link(kept: str, target: str) -> None:
            here = near + kept[len(self._top) :]
            if _time_of(here) != _time_of(kept):  # not there, or some test has written into it
                if (parent := os.path.dirname(here)) not in made:
                    os.makedirs(parent, exist_ok=True)
                    made.add(parent)
                with suppress(FileNotFoundError):
                    os.unlink(here)
                _copy(kept, here)
            os.link(here, target)

        return link

    def _kept(self, entry: Entry) -> str:
        runs = "x" if entry.mode == "100755" else ""
        return f"{self._files}/{entry.blob[:2]}/{entry.blob}{runs}"

    def _complete(self, trees: Trees, tree: str, files: Mapping[str, Entry]) -> None:
        """Fetch what is missing, or was written into by some test since."""
        missing = {
            kept: (path, entry)
            for path, entry in files.items()
            if _is_plain(entry) and _time_of(kept := self._kept(entry)) != stamp(entry.blob)
        }
        for folder in {os.path.dirname(kept) for kept in missing}:
            os.makedirs(folder, exist_ok=True)
        if len(missing) > _MANY:
            with tempfile.TemporaryDirectory(dir=self._files) as fresh:
                trees.export(tree, Path(fresh))
                for kept, (path, entry) in missing.items():
                    _adopt(os.path.join(fresh, path), kept, entry)
        else:
            for kept, (_, entry) in missing.items():
                fresh = _beside(kept)
                Path(fresh).write_bytes(trees.blob(entry.blob))
                _adopt(fresh, kept, entry)

    def _bytecodes(
        self, top: str, files: Mapping[str, Entry], environment: Environment
    ) -> Iterator[tuple[str, str]]:
        """Yield where the bytecode of each source belongs, and where it is kept."""
        kept_in = f"{self._bytecode}/{environment.key}"
        tag = "cpython-" + "".join(environment.version.split(".")[:2])
        for path, entry in files.items():
            if path.endswith(".py") and _is_plain(entry):
                folder, name = os.path.split(path)
                if environment.version.startswith("2."):
                    place = os.path.join(top, folder, name + "c")
                else:
                    place = os.path.join(top, folder, "__pycache__", f"{name[:-3]}.{tag}.pyc")
                yield place, f"{kept_in}/{entry.blob[:2]}/{entry.blob}.pyc"


def _parents(files: Iterable[str]) -> set[str]:
    """Return all folders that the files are in."""
    found: set[str] = set()
    for parent in {os.path.dirname(path) for path in files}:
        while parent and parent not in found:
            found.add(parent)
            parent = os.path.dirname(parent)
    return found


def _is_plain(entry: Entry) -> bool:
    return entry.mode.startswith("100")


def _time_of(path: str) -> float | None:
    try:
        return os.lstat(path).st_mtime
    except OSError:
        return None


def _adopt(fresh: str, kept: str, entry: Entry) -> None:
    """Move a file to where it is kept, in one step, with its mode and its time."""
    os.chmod(fresh, 0o755 if entry.mode == "100755" else 0o644)
    os.utime(fresh, (stamp(entry.blob), stamp(entry.blob)))
    os.replace(fresh, kept)


def _copy(kept: str, target: str) -> None:
    """Copy a small file with its mode and its time; in a third of the time of ``shutil``'s."""
    with open(kept, "rb", buffering=0) as source:
        status = os.fstat(source.fileno())
        data = source.read()
    made = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, status.st_mode & 0o777)
    try:
        while data:
            data = data[os.write(made, data) :]
        os.utime(made, ns=(status.st_mtime_ns, status.st_mtime_ns))
    finally:
        os.close(made)


def _beside(kept: str) -> str:
    handle, name = tempfile.mkstemp(dir=os.path.dirname(kept))
    os.close(handle)
    return name


def _names_time(bytecode: str, seconds: int) -> bool:
    """Whether bytecode is of a source of that time.

    The header is: magic (4 bytes), since Python 3.7 flags (4 bytes, 0: by time; PEP 552),
    time (4 bytes, little-endian). While Python 2 is still writing, the time is 0.
    """
    with open(bytecode, "rb") as file:
        header = file.read(12)
    time = seconds.to_bytes(4, "little")
    return header[4:8] == time or (header[4:8] == bytes(4) and header[8:12] == time)
