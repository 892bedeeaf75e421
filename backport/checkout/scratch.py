"""The scratch repository: where all objects are made, and nothing of the user's takes part.

A bare git directory of the tool's own, with the checkout's objects as an alternate
(gitrepository-layout(5)): reading finds everything that the checkout has, writing
stays here. There is no work tree; trees are made in temporary index files.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from backport.checkout.git import GitFailedError, quoted
from backport.checkout.objects import (
    NOBODY,
    Attempt,
    Entry,
    Merge,
    Signed,
    encode_commit,
    parse_merge,
    parse_stage,
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

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._numbers = itertools.count()

    # -- making trees ----------------------------------------------------------------------

    def write_blob(self, data: bytes) -> str:
        """Store a blob and return its id."""
        return self._store.write("blob", data)

    def update(self, tree: str | None, entries: Mapping[str, Entry | None]) -> str:
        """Return ``tree`` (None: the empty one) with some entries set, or taken out (None)."""
        return self._store.update(tree, entries.items())

    def overlay(self, code_tree: str, tests_tree: str, prefixes: Sequence[str]) -> str:
        """Return ``code_tree`` with everything under ``prefixes`` as it is in ``tests_tree``."""
        there, wanted = self.below(code_tree, prefixes), self.below(tests_tree, prefixes)
        gone: dict[str, Entry | None] = {path: None for path in there if path not in wanted}
        changed = {path: entry for path, entry in wanted.items() if there.get(path) != entry}
        return self.update(code_tree, gone | changed)

    def apply(
        self, tree: str, patch: bytes, paths: Iterable[str], reverse: bool = False
    ) -> Attempt:
        """Apply a patch to ``tree``, all its context in place; offsets are followed.

        :param paths: all those that the patch names; git need not look at any others
        """
        here = dict(hit for path in paths for hit in self._store.reach(tree, path))
        after, complaints = self.patched(here, patch, reverse)
        if after is None:
            return Attempt(None, complaints)
        gone: dict[str, Entry | None] = {path: None for path in here if path not in after}
        fresh = {path: entry for path, entry in after.items() if here.get(path) != entry}
        return Attempt(self.update(tree, gone | fresh))

    def patched(
        self, files: Mapping[str, Entry], patch: bytes, reverse: bool = False
    ) -> tuple[dict[str, Entry] | None, tuple[str, ...]]:
        """Apply a patch to some files.

        Exit status 1 of git apply is "does not apply"; 128 is "no patch at all", or a git that
        breaks, or a file where the tree has a folder, or the other way round (git 2.39.5).

        :returns: the files then, or (None) what git said against it
        """
        env = {"GIT_INDEX_FILE": str(self._new_index())}
        lines = (f"{entry.mode} {entry.blob}\t{path}\0" for path, entry in files.items())
        stdin = "".join(lines).encode("utf-8", "surrogateescape")
        if stdin:
            self.git.run("update-index", "-z", "--replace", "--index-info", stdin=stdin, env=env)
        how = ["--reverse"] if reverse else []
        done = self.git.run(
            *("apply", "--cached", "--whitespace=nowarn", *how, "-"),
            stdin=patch,
            ok=(0, 1, 128),
            env=env,
        )
        if done.status == 128 and "unable to add cache entry" not in done.err:
            raise GitFailedError(f"git apply failed with status 128: {done.why}")
        if done.status:
            return None, tuple(line.removeprefix("error: ") for line in done.err.splitlines())
        fields = self.git.run("ls-files", "--stage", "-z", env=env).fields
        return dict(parse_stage(field) for field in fields), ()

    def merge(self, base: str, ours: str, theirs: str) -> Merge:
        """Merge three trees.

        ``merge-tree --merge-base`` came with git 2.40; commits made up for the
        purpose give 2.38 the base all the same.
        """
        root = self.make_commit(base, (), "base", NOBODY, NOBODY)
        sides = []
        # The names of the sides stand behind the conflict markers.
        for name, tree in (("branch", ours), ("change", theirs)):
            side = self.make_commit(tree, (root,), name, NOBODY, NOBODY)
            sides.append(f"update refs/heads/{name} {side}\n")
        self.git.run("update-ref", "--stdin", stdin="".join(sides).encode())
        done = self.git.run(
            *("merge-tree", "--write-tree", "-z", "--name-only", "--messages", "branch", "change"),
            ok=(0, 1),
            settings=_MERGE_SETTINGS,
        )
        return parse_merge(done.fields, clean=done.status == 0)

    def merge_file(self, base: bytes, ours: bytes, theirs: bytes) -> bytes:
        """Merge three versions of a file, with markers (diff3) where they conflict.

        git merge-tree aligns by the histogram of lines (merge-ort.c), git merge-file as git diff
        does: each finds conflicts where the other has none, or smaller ones.
        """
        files = []
        for name, data in (("branch", ours), ("base", base), ("change", theirs)):
            files.append(self.folder / f"merge-{name}")
            files[-1].write_bytes(data)
        labels = ("-L", "branch", "-L", "base", "-L", "change")
        how = ("merge-file", "--stdout", "--quiet", "--diff3", *labels)
        # Its exit status is the number of conflicts, up to 127 (git-merge-file(1)).
        return self.git.run(*how, *map(str, files), ok=range(128)).out

    def merge_files(self, base: str | None, ours: str, theirs: str, favour: str) -> bytes:
        """Merge three blobs; where both sides changed the same lines, one of them is taken.

        :param favour: ``ours`` or ``theirs``
        """
        place = self._new_index()
        names = [f"{place.name}-{side}" for side in ("ours", "base", "theirs")]
        with writing(self.folder):
            for name, blob in zip(names, (ours, base, theirs), strict=True):
                (self.folder / name).write_bytes(self.blob(blob) if blob else b"")
        return self.git.run("merge-file", "-p", f"--{favour}", *names).out

    def make_commit(
        self, tree: str, parents: Sequence[str], message: str, author: Signed, committer: Signed
    ) -> str:
        """Store a commit, exactly as given, and return its id.

        Not by git commit-tree, which strips dots and other "crud" from the ends of
        names (ident.c): "Jr." would lose its dot.
        """
        raw = encode_commit(tree, parents, message, author, committer)
        return self._store.write("commit", raw)

    def make_tag(self, name: str, commit: str, message: str, tagger: Signed) -> str:
        """Store an annotated tag of a commit, and return its id."""
        head = f"object {commit}\ntype commit\ntag {name}\ntagger {tagger.person} {tagger.date}"
        raw = f"{head}\n\n{message}".encode("utf-8", "surrogateescape")
        return self._store.write("tag", raw)

    # -- handing over ----------------------------------------------------------------------

    def export(self, tree: str, folder: Path) -> None:
        """Write the files of a tree into an existing, empty folder."""
        env = self._index(tree) | {"GIT_WORK_TREE": str(folder)}
        self.git.run("checkout-index", "--all", "--quiet", env=env)

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
        return self.git.run("write-tree", env=env).text

    def pack(self, tips: Sequence[str], base: str) -> bytes:
        """Return a pack of all objects of ``tips`` that ``base`` does not have."""
        stdin = "".join(f"{tip}\n" for tip in tips) + f"^{base}\n"
        return self.git.run("pack-objects", "--revs", "--stdout", "-q", stdin=stdin.encode()).out

    # -- inside ----------------------------------------------------------------------------

    def _index(self, tree: str) -> dict[str, str]:
        """Return the variable that names a new index which holds ``tree``."""
        env = {"GIT_INDEX_FILE": str(self._new_index())}
        self.git.run("read-tree", tree, env=env)
        return env

    def _new_index(self) -> Path:
        return self.folder / f"index-{next(self._numbers)}"


def create_scratch(
    folder: Path, objects: Path, object_format: str = "sha1", shallow: bytes = b""
) -> Scratch:
    """Make a scratch repository in a new ``folder`` on top of another repository's ``objects``.

    :param object_format: ``sha1`` or ``sha256``, the other repository's
    :param shallow: the other repository's list of commits whose parents it lacks
    """
    with writing(folder):
        for name in ("refs", "info", "objects/info"):
            (folder / name).mkdir(parents=True)
        _arrange(folder, objects, object_format, shallow)
    return Scratch(folder)


#: What git init writes (gitrepository-layout(5), git-config(1)), and that objects are as they are:
#: what is made here is packed anew when it is handed over, or thrown away.
_CONFIG = "[core]\n\trepositoryformatversion = {version}\n\tbare = true\n\tlooseCompression = 0\n"


def _arrange(folder: Path, objects: Path, object_format: str, shallow: bytes) -> None:
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    config = _CONFIG.format(version=0 if object_format == "sha1" else 1)
    if object_format != "sha1":
        config += f"[extensions]\n\tobjectFormat = {object_format}\n"
    (folder / "config").write_text(config)
    line = (quoted(objects) + "\n").encode("utf-8", "surrogateescape")
    (folder / "objects/info/alternates").write_bytes(line)
    (folder / "info/attributes").write_text(_ATTRIBUTES)
    if shallow:
        (folder / "shallow").write_bytes(shallow)
