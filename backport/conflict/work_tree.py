"""The folder in which a person resolves a conflict: a git work tree of its own.

So git diff, git mergetool and editors show the conflict as they do any other. Its git directory
borrows the checkout's objects (gitrepository-layout(5), alternates) and has its own for the rest.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from backport.apply.markers import marked_side
from backport.apply.outcome import ConflictFile
from backport.checkout.git import Git, GitFailedError
from backport.checkout.objects import Entry
from backport.checkout.scratch import Scratch
from backport.patch.model import GITLINK, LINK


def make_work_tree(
    scratch: Scratch, folder: Path, tree: str, parent: str, files: Sequence[ConflictFile]
) -> None:
    """Write a tree into a new ``folder``, on top of the commit ``parent``.

    The index has three stages of each file that is in conflict (gitrevisions(7), ``:1:`` to
    ``:3:``): what the change was made from, the branch's, the change's.
    """
    git_dir = folder / ".git"
    shutil.copytree(scratch.folder / "objects", git_dir / "objects")
    shutil.copytree(scratch.folder / "info", git_dir / "info")
    (git_dir / "refs").mkdir()
    for name in ("config", "shallow"):
        if (scratch.folder / name).exists():
            shutil.copy(scratch.folder / name, git_dir / name)
    config = (git_dir / "config").read_text().replace("bare = true", "bare = false")
    (git_dir / "config").write_text(config)
    (git_dir / "HEAD").write_text(parent + "\n")
    git = Git(folder, git_dir)
    env = {"GIT_WORK_TREE": str(folder)}
    git.run("read-tree", tree, env=env)
    git.run("checkout-index", "--all", "--quiet", "--index", env=env)
    rows = [row for file in files for row in _rows(scratch, file)]
    stdin = "".join(f"{row}\0" for row in rows).encode("utf-8", "surrogateescape")
    git.run("update-index", "-z", "--index-info", stdin=stdin, env=env)
    for file in (*git_dir.glob("objects/*/*"), git_dir / "config"):
        os.chmod(file, os.stat(file).st_mode | stat.S_IWUSR)


def _rows(scratch: Scratch, file: ConflictFile) -> list[str]:
    """Return what git update-index --index-info takes for a file in conflict."""
    base, change = file.base, file.change
    written = file.written.get(file.path)
    if not file.known and file.branch and written and written != file.branch:
        # All that is known of the other two is what the hunks say of them.
        data = scratch.blob(written.blob)
        base, change = (
            Entry(written.mode, scratch.write_blob(marked_side(data, side)))
            for side in (True, False)
        )
    stages = [(n, entry) for n, entry in enumerate((base, file.branch, change), 1) if entry]
    if not stages:
        return []
    gone = "0" * len(stages[0][1].blob)
    rows = [f"{entry.mode} {entry.blob} {n}\t{file.path}" for n, entry in stages]
    return [f"0 {gone}\t{path}" for path in file.written] + rows


@dataclass(frozen=True)
class Index:
    """What the index of the work tree says, which a person may have changed by git's commands.

    :param unmerged: paths that have more than one side still
    """

    entries: dict[str, Entry]
    unmerged: frozenset[str]


def read_index(folder: Path) -> Index | None:
    """Read the work tree's index; None where a person has done away with it."""
    if not (folder / ".git/index").is_file():
        return None
    git = Git(folder, folder / ".git")
    try:
        fields = git.run("ls-files", "--stage", "-z", env={"GIT_WORK_TREE": str(folder)}).fields
    except GitFailedError:
        return None
    entries: dict[str, Entry] = {}
    unmerged = set()
    for field in fields:
        head, _, path = field.partition("\t")
        mode, blob, stage = head.split(" ")
        if stage == "0":
            entries[path] = Entry(mode, blob)
        else:
            unmerged.add(path)
    return Index(entries, frozenset(unmerged))


def has_more(folder: Path) -> bool:
    """Whether files were changed or made that were not in conflict; also where nobody can tell."""
    index = read_index(folder)
    if index is None:
        return True
    git, env = Git(folder, folder / ".git"), {"GIT_WORK_TREE": str(folder)}
    found = set(git.run("ls-files", "--modified", "--others", "-z", env=env).fields)
    return bool(found - index.unmerged)


def entry_at(folder: Path, path: str, like: Entry | None) -> Entry | None:
    """Return what is at a path of the work tree, as git would store it; None: nothing.

    What lies behind a link of the tree is not in the tree. A folder is a submodule, where there
    was one: what it holds is for the index to say.

    :param like: what was there at first; its id tells the repository's hash
    """
    place = folder / path
    if not place.parent.resolve().is_relative_to(folder.resolve()):
        return None
    try:
        mode = place.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISDIR(mode):
        return like if like and like.mode == GITLINK else None
    if stat.S_ISLNK(mode):
        return Entry(LINK, _blob_id(os.fsencode(os.readlink(place)), like))
    kind = "100755" if mode & stat.S_IXUSR else "100644"
    return Entry(kind, _blob_id(place.read_bytes(), like) if stat.S_ISREG(mode) else "")


def _blob_id(data: bytes, like: Entry | None) -> str:
    how = hashlib.sha256 if like and len(like.blob) == 64 else hashlib.sha1
    return how(b"blob %d\0" % len(data) + data).hexdigest()
