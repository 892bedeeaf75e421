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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from backport.checkout.objects import Entry
from backport.verify.results import Environment
from backport.verify.trees import Trees

_MANY = 20  # blobs; more are exported at once, fewer are read one by one


@dataclass(frozen=True)
class TreeFolder:
    """A tree, laid out in a folder."""

    tree: str
    folder: Path
    files: Mapping[str, Entry]

    def changed(self) -> tuple[str, ...]:
        """Return the files that something has written into since, by their times."""
        return tuple(
            path
            for path, entry in self.files.items()
            if _is_plain(entry) and _time_of(self.folder / path) not in (None, stamp(entry.blob))
        )


def stamp(blob: str) -> int:
    """Return the modification time (seconds since 1970) of a file with this blob."""
    return 2**30 + int(blob[:7], 16)


class Store:
    """The kept files. ``folder`` should be on the file system that trees are laid out on."""

    def __init__(self, folder: Path) -> None:
        self._files = folder / "files"
        self._bytecode = folder / "bytecode"

    def lay_out(
        self,
        source: Trees,
        tree: str,
        folder: Path,
        environment: Environment,
        private: bool = False,
    ) -> TreeFolder:
        """Make the folder of a tree, bytecode included where it is known.

        :param folder: is made
        :param private: copies instead of links, for tests that write into their tree
        """
        files = source.files(tree)
        self._complete(source, tree, files)
        folder.mkdir(parents=True)
        for parent in sorted({os.path.dirname(path) for path in files} - {""}):
            (folder / parent).mkdir(parents=True, exist_ok=True)
        for path, entry in files.items():
            target = folder / path
            if _is_plain(entry):
                _place(self._kept(entry), target, private)
            elif entry.mode == "120000":
                target.symlink_to(os.fsdecode(source.blob(entry.blob)))
            else:  # a submodule: there is nothing to take it from
                target.mkdir(exist_ok=True)
        for target, kept in self._bytecodes(folder, files, environment):
            if kept.exists():
                target.parent.mkdir(exist_ok=True)
                _place(kept, target, private)
        return TreeFolder(tree, folder, files)

    def keep_bytecode(self, laid: TreeFolder, environment: Environment) -> None:
        """Keep the bytecode that Python has written beside the sources, for the next folder."""
        changed = set(laid.changed())
        files = {path: entry for path, entry in laid.files.items() if path not in changed}
        for made, kept in self._bytecodes(laid.folder, files, environment):
            if kept.exists() or not made.exists():
                continue
            if _names_time(made, stamp(kept.stem)):
                kept.parent.mkdir(parents=True, exist_ok=True)
                _copy(made, kept)

    def _kept(self, entry: Entry) -> Path:
        name = entry.blob + ("x" if entry.mode == "100755" else "")
        return self._files / name[:2] / name

    def _complete(self, source: Trees, tree: str, files: Mapping[str, Entry]) -> None:
        """Fetch what is missing, or was written into by some test since."""
        missing = {
            self._kept(entry): (path, entry)
            for path, entry in files.items()
            if _is_plain(entry) and _time_of(self._kept(entry)) != stamp(entry.blob)
        }
        for folder in {kept.parent for kept in missing}:
            folder.mkdir(parents=True, exist_ok=True)
        if len(missing) > _MANY:
            with tempfile.TemporaryDirectory(dir=self._files) as fresh:
                source.export(tree, Path(fresh))
                for kept, (path, entry) in missing.items():
                    _adopt(Path(fresh) / path, kept, entry)
        else:
            for kept, (_, entry) in missing.items():
                fresh_file = _beside(kept)
                fresh_file.write_bytes(source.blob(entry.blob))
                _adopt(fresh_file, kept, entry)

    def _bytecodes(
        self, folder: Path, files: Mapping[str, Entry], environment: Environment
    ) -> Iterator[tuple[Path, Path]]:
        """Yield where the bytecode of each source belongs, and where it is kept."""
        kept_in = self._bytecode / environment.key
        tag = "cpython-" + "".join(environment.version.split(".")[:2])
        for path, entry in files.items():
            if path.endswith(".py") and _is_plain(entry):
                source = folder / path
                if environment.version.startswith("2."):
                    place = source.with_name(source.name + "c")
                else:
                    place = source.parent / "__pycache__" / f"{source.stem}.{tag}.pyc"
                yield place, kept_in / entry.blob[:2] / f"{entry.blob}.pyc"


def _is_plain(entry: Entry) -> bool:
    return entry.mode.startswith("100")


def _time_of(path: Path) -> float | None:
    try:
        return os.lstat(path).st_mtime
    except OSError:
        return None


def _adopt(fresh: Path, kept: Path, entry: Entry) -> None:
    """Move a file to where it is kept, in one step, with its mode and its time."""
    fresh.chmod(0o755 if entry.mode == "100755" else 0o644)
    os.utime(fresh, (stamp(entry.blob), stamp(entry.blob)))
    os.replace(fresh, kept)


def _place(kept: Path, target: Path, private: bool) -> None:
    if not private:
        try:
            os.link(kept, target)
            return
        except OSError:  # another file system, or more links than it takes
            pass
    shutil.copy2(kept, target)


def _copy(made: Path, kept: Path) -> None:
    fresh = _beside(kept)
    shutil.copyfile(made, fresh)
    os.replace(fresh, kept)


def _beside(kept: Path) -> Path:
    handle, name = tempfile.mkstemp(dir=kept.parent)
    os.close(handle)
    return Path(name)


def _names_time(bytecode: Path, seconds: int) -> bool:
    """Whether bytecode is of a source of that time.

    The header is: magic (4 bytes), since Python 3.7 flags (4 bytes, 0: by time; PEP 552),
    time (4 bytes, little-endian). While Python 2 is still writing, the time is 0.
    """
    with bytecode.open("rb") as file:
        header = file.read(12)
    time = seconds.to_bytes(4, "little")
    return header[4:8] == time or (header[4:8] == bytes(4) and header[8:12] == time)
