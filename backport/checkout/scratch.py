"""The scratch repository: where all objects are made, and nothing of the user's takes part.

A bare git directory of the tool's own, with the checkout's objects as an alternate
(gitrepository-layout(5)): reading finds everything that the checkout has, writing
stays here. There is no work tree; trees are made in temporary index files.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from backport.checkout.git import Git, GitFailedError
from backport.checkout.objects import (
    NOBODY,
    Attempt,
    Entry,
    Merge,
    Signed,
    encode_commit,
    parse_merge,
)
from backport.checkout.reader import Reader
from backport.workspace import writing

#: What decides how a merge comes out stands here, not in anybody's configuration.
_MERGE_SETTINGS = (
    "merge.conflictStyle=diff3",
    "merge.renames=true",
    # A file that a patch adds goes where the patch says, even where the other
    # side has moved the rest of the folder: anything else would be a guess.
    "merge.directoryRenames=false",
    "merge.renameLimit=0",
    "diff.renames=true",
)

#: Files are written and read back as they are stored, whatever .gitattributes of the tree says:
#: nothing else must change in a resolution than what a person edits (gitattributes(5); a file
#: of the repository's own goes before those of the tree).
_ATTRIBUTES = "* -text -ident -filter !eol !working-tree-encoding\n"


class Scratch(Reader):
    """Plumbing on the scratch repository in ``folder``; see :func:`create_scratch`.

    All methods take and give object ids and bytes, and raise
    :class:`~backport.checkout.git.GitFailedError` where git breaks. Those that only ask are
    :class:`~backport.checkout.reader.Reader`'s.
    """

    def __init__(self, folder: Path, object_format: str = "sha1") -> None:
        super().__init__(folder)
        self._id_length = {"sha1": 40, "sha256": 64}[object_format]
        self._numbers = itertools.count()
        self._indexes: dict[str, Path] = {}  # by the tree that they hold

    # -- making trees ----------------------------------------------------------------------

    def write_blob(self, data: bytes) -> str:
        """Store a blob and return its id."""
        return self.git.run("hash-object", "-w", "--stdin", stdin=data).text

    def update(self, tree: str | None, entries: Mapping[str, Entry | None]) -> str:
        """Return ``tree`` (None: the empty one) with some entries set, or taken out (None)."""
        null = "0" * self._id_length
        lines = (
            f"{entry.mode} {entry.blob}\t{path}\0" if entry else f"0 {null}\t{path}\0"
            for path, entry in entries.items()
        )
        env = self._index(tree)
        stdin = "".join(lines).encode("utf-8", "surrogateescape")
        self.git.run("update-index", "-z", "--replace", "--index-info", stdin=stdin, env=env)
        return self._write(env)

    def overlay(self, code_tree: str, tests_tree: str, prefixes: Sequence[str]) -> str:
        """Return ``code_tree`` with everything under ``prefixes`` as it is in ``tests_tree``."""
        there = self.entries(code_tree, prefixes, recurse=True)
        wanted = self.entries(tests_tree, prefixes, recurse=True)
        gone: dict[str, Entry | None] = {path: None for path in there if path not in wanted}
        changed = {path: entry for path, entry in wanted.items() if there.get(path) != entry}
        return self.update(code_tree, gone | changed)

    def apply(self, tree: str, patch: bytes, strip: int = 1, reverse: bool = False) -> Attempt:
        """Apply a patch to ``tree``, all its context in place; offsets are followed.

        Exit status 1 of git apply is "does not apply"; 128 is "no patch at all", or a git that
        breaks, or a file where the tree has a folder, or the other way round (git 2.39.5).
        """
        env = self._index(tree)
        how = ["--reverse"] if reverse else []
        done = self.git.run(
            *("apply", "--cached", "--whitespace=nowarn", f"-p{strip}", *how, "-"),
            stdin=patch,
            ok=(0, 1, 128),
            env=env,
        )
        if done.status == 128 and "unable to add cache entry" not in done.err:
            raise GitFailedError(f"git apply failed with status 128: {done.why}")
        if done.status == 0:
            return Attempt(self._write(env))
        self._keep(tree, env)  # git apply is atomic: the index is as it was
        said = [line.removeprefix("error: ") for line in done.err.splitlines()]
        return Attempt(None, tuple(said))

    def merge(self, base: str, ours: str, theirs: str) -> Merge:
        """Merge three trees.

        ``merge-tree --merge-base`` came with git 2.40; commits made up for the
        purpose give 2.38 the base all the same.
        """
        root = self.make_commit(base, (), "base", NOBODY, NOBODY)
        # The names of the sides stand behind the conflict markers.
        for name, tree in (("branch", ours), ("change", theirs)):
            side = self.make_commit(tree, (root,), name, NOBODY, NOBODY)
            self.git.run("update-ref", f"refs/heads/{name}", side)
        done = self.git.run(
            *("merge-tree", "--write-tree", "-z", "--name-only", "--messages", "branch", "change"),
            ok=(0, 1),
            settings=_MERGE_SETTINGS,
        )
        return parse_merge(done.fields, clean=done.status == 0)

    def make_commit(
        self, tree: str, parents: Sequence[str], message: str, author: Signed, committer: Signed
    ) -> str:
        """Store a commit, exactly as given, and return its id.

        Not by git commit-tree, which strips dots and other "crud" from the ends of
        names (ident.c): "Jr." would lose its dot.
        """
        raw = encode_commit(tree, parents, message, author, committer)
        return self.git.run("hash-object", "-t", "commit", "-w", "--stdin", stdin=raw).text

    # -- handing over ----------------------------------------------------------------------

    def export(self, tree: str, folder: Path) -> None:
        """Write the files of a tree into an existing, empty folder."""
        env = self._index(tree) | {"GIT_WORK_TREE": str(folder)}
        self.git.run("checkout-index", "--all", "--quiet", env=env)
        self._keep(tree, env)

    def read_work_tree(self, tree: str, folder: Path, new_paths: Sequence[str]) -> str:
        """Return the tree that ``folder``, into which ``tree`` was exported, holds now.

        :param new_paths: files that ``tree`` may lack; whatever else was put there
            (an editor's backups, bytecode) does not count
        """
        env = self._index(tree) | {"GIT_WORK_TREE": str(folder)}
        self.git.run("add", "--update", "--", ".", env=env | {"GIT_LITERAL_PATHSPECS": "0"})
        there = [path for path in new_paths if os.path.lexists(folder / path)]
        if there:
            stdin = "\0".join(there).encode("utf-8", "surrogateescape")
            how = ("--force", "--pathspec-from-file=-", "--pathspec-file-nul")
            self.git.run("add", *how, stdin=stdin, env=env)
        return self._write(env)

    def pack(self, tips: Sequence[str], base: str) -> bytes:
        """Return a pack of all objects of ``tips`` that ``base`` does not have."""
        stdin = "".join(f"{tip}\n" for tip in tips) + f"^{base}\n"
        return self.git.run("pack-objects", "--revs", "--stdout", "-q", stdin=stdin.encode()).out

    # -- inside ----------------------------------------------------------------------------

    def _index(self, tree: str | None) -> dict[str, str]:
        """Return the variable that names an index which holds ``tree``.

        One that holds it already is taken over: a series goes from tree to tree, and
        reading all of a tree anew for each of its changes would be most of the work.
        """
        index = self._indexes.pop(tree, None) if tree else None
        env = {"GIT_INDEX_FILE": str(index or self.folder / f"index-{next(self._numbers)}")}
        if not index:
            self.git.run("read-tree", tree or "--empty", env=env)
        return env

    def _write(self, env: Mapping[str, str]) -> str:
        tree = self.git.run("write-tree", env=env).text
        self._keep(tree, env)
        return tree

    def _keep(self, tree: str | None, env: Mapping[str, str]) -> None:
        if tree:
            self._indexes[tree] = Path(env["GIT_INDEX_FILE"])


def create_scratch(
    folder: Path, objects: Path, object_format: str = "sha1", shallow: bytes = b""
) -> Scratch:
    """Make a scratch repository in a new ``folder`` on top of another repository's ``objects``.

    :param object_format: ``sha1`` or ``sha256``, the other repository's
    :param shallow: the other repository's list of commits whose parents it lacks
    """
    how = ("--bare", "--template=", f"--object-format={object_format}")
    with writing(folder):
        folder.mkdir(parents=True)
        Git(folder).run("init", "--quiet", *how, ".")
        _arrange(folder, objects, shallow)
    return Scratch(folder, object_format)


def _arrange(folder: Path, objects: Path, shallow: bytes) -> None:
    # A line that begins with a quote is unquoted by git as C does it (2.11.1 on),
    # so that a path with a newline can stand there.
    alternate = str(objects).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    info = folder / "objects" / "info"
    info.mkdir(exist_ok=True)
    (info / "alternates").write_bytes(f'"{alternate}"\n'.encode("utf-8", "surrogateescape"))
    (folder / "info").mkdir(exist_ok=True)
    (folder / "info" / "attributes").write_text(_ATTRIBUTES)
    if shallow:
        (folder / "shallow").write_bytes(shallow)
