"""Reading the objects of a repository: what is there, what differs, what was done before."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from backport.checkout.git import Git, GitFailedError
from backport.checkout.objects import Commit, Entry, parse_commit, parse_entry
from backport.checkout.promised import Promisor

#: Paths on one command line: the system takes some two million bytes (execve(2)).
_AT_ONCE = 400


class Reader:
    """Questions to the repository in ``folder``, in object ids and bytes.

    All methods raise :class:`~backport.checkout.git.GitFailedError` where git breaks.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git = Git(folder, folder)
        self.promisor: Promisor | None = None  # what the checkout lacks can be had from there
        self.tips: Callable[[], Iterable[str]] = tuple  # of the branches that the checkout knows

    @property
    def why_missing(self) -> str:
        """A word on why a commit or a file may not be there; "" where nothing accounts for it."""
        shallow = (self.folder / "shallow").exists()
        return " (history is cut off: a shallow clone; git fetch --unshallow)" if shallow else ""

    def resolve(self, rev: str) -> str | None:
        """Return the commit that a hash (or a unique prefix of one) names; None: there is none."""
        if not re.fullmatch("[0-9a-f]{4,64}", rev):
            return None
        return self.git.look_up([rev + "^{commit}"])[0]

    def full_ids(self, blobs: Iterable[str]) -> dict[str, str]:
        """Map ids of blobs, or unique prefixes, to the whole ids of those that are there."""
        asked = list(blobs)
        found = self.git.look_up([f"{blob}^{{blob}}" for blob in asked])
        return {short: blob for short, blob in zip(asked, found, strict=True) if blob}

    def commit(self, commit_id: str) -> Commit:
        """Read a commit."""
        raw = self.git.run("cat-file", "commit", commit_id).out
        return parse_commit(commit_id, raw)

    def tree(self, rev: str) -> str:
        """Return the tree of a commit."""
        return self.git.run("rev-parse", "--verify", "--quiet", rev + "^{tree}").text

    def blob(self, blob_id: str) -> bytes:
        """Read a blob; the id may be shortened."""
        return self.git.run("cat-file", "blob", blob_id).out

    def blobs(self, ids: Iterable[str]) -> dict[str, bytes]:
        """Read blobs, all in one process; the ids are whole ones."""
        wanted = sorted(set(ids))
        stdin = "".join(f"{one}\n" for one in wanted).encode()
        out = self.git.run("cat-file", "--batch", stdin=stdin).out if wanted else b""
        found, at = {}, 0
        for one in wanted:
            head, at = out[at : out.index(b"\n", at)], out.index(b"\n", at) + 1
            if head.endswith(b" missing"):
                raise GitFailedError(f"the repository lacks object {one}", "Try: git fsck")
            size = int(head.split()[-1])
            found[one], at = out[at : at + size], at + size + 1
        return found

    def entries(self, tree: str, paths: Iterable[str], recurse: bool = False) -> dict[str, Entry]:
        """Return the entries of ``tree`` at ``paths`` (with ``recurse``, also below them)."""
        wanted = list(paths)
        how = ["-r"] if recurse else []
        asked = (
            self.git.run("ls-tree", "-z", *how, tree, "--", *wanted[first : first + _AT_ONCE])
            for first in range(0, len(wanted), _AT_ONCE)
        )
        return dict(parse_entry(field) for done in asked for field in done.fields)

    def file(self, tree: str, path: str) -> bytes | None:
        """Read one file of a tree; None where it has none there, or no plain file."""
        entry = self.entries(tree, [path]).get(path)
        return self.blob(entry.blob) if entry and entry.mode.startswith("100") else None

    def paths(self, tree: str, prefix: str = "") -> list[str]:
        """List the files of a tree whose path begins with ``prefix``."""
        below = [prefix] if prefix else []
        fields = self.git.run("ls-tree", "-r", "-z", "--name-only", tree, "--", *below).fields
        return [field for field in fields if field.startswith(prefix)]

    def holding(self, tree: str, word: str, prefixes: Sequence[str]) -> list[str]:
        """List the files of a tree, of those under ``prefixes``, that hold a text."""
        how = ("-l", "-z", "-F", "-I", "--no-color", "--no-textconv", "--full-name")
        args = ("-e", word, tree, "--", *(prefix.rstrip("/") for prefix in prefixes))
        found = self.git.run("grep", *how, *args, ok=(0, 1))
        return [field.removeprefix(f"{tree}:") for field in found.fields]

    # -- comparing, looking for ------------------------------------------------------------

    def diff(self, old: str, new: str, context: int = 3) -> bytes:
        """Return the difference of two trees as a patch: full blob ids, binary files included."""
        how = ("-p", "-r", "-M", "--full-index", "--binary", f"-U{context}", "--no-ext-diff")
        return self.git.run("diff-tree", *how, "--no-textconv", old, new).out

    def changed_paths(self, old: str, new: str) -> list[str]:
        """List the paths at which two trees differ."""
        return self.git.run("diff-tree", "-r", "-z", "--name-only", old, new).fields

    def commits_between(self, base: str, tip: str) -> list[str]:
        """List the commits that ``tip`` has and ``base`` has not, the oldest first."""
        how = ("--reverse", "--topo-order", "--no-merges")
        return self.git.run("rev-list", *how, tip, f"^{base}", "--").text.split()

    def touched(self, commit_id: str) -> list[str]:
        """List the paths that a commit changes, against its first parent."""
        how = ("-r", "-z", "--root", "-m", "--first-parent", "--no-commit-id", "--name-only")
        return self.git.run("diff-tree", *how, commit_id).fields

    def renamed(self, old: str, new: str, similarity: int) -> dict[str, str]:
        """Map each file of ``old`` that ``new`` has elsewhere to where it is now.

        :param similarity: per cent of the file that must be the same
        """
        how = ("-r", "-z", f"-M{similarity}%", "--diff-filter=R", "--name-status", "-l0")
        fields = self.git.run("diff-tree", *how, old, new).fields
        return {before: after for _, before, after in zip(*[iter(fields)] * 3, strict=True)}

    def search(self, tip: str, needles: Sequence[str]) -> list[tuple[str, str]]:
        """Find the commits up to ``tip`` whose messages hold one of the texts.

        :returns: pairs (id, message), the newest first
        """
        greps = [f"--grep={needle}" for needle in needles]
        done = self.git.run("log", "-z", "-F", "--format=%H%n%B", *greps, tip, "--")
        found = (field.partition("\n") for field in done.fields)
        return [(commit_id, message) for commit_id, _, message in found]

    def origin(self, path: str, blob: str) -> str | None:
        """Find the last commit on any branch that has a file as it is in ``blob``; None: none."""
        tips = "".join(f"{tip}\n" for tip in dict.fromkeys(self.tips()))
        if not tips:
            return None
        how = ("-1", "--format=%H%n%P", f"--find-object={blob}", "--stdin", "--", path)
        # It is a commit that has put the file there, or the one that took it away.
        for commit in self.git.run("log", *how, stdin=tips.encode()).text.split():
            entry = self.entries(commit, [path]).get(path)
            if entry and entry.blob == blob:
                return commit
        return None

    def is_ancestor(self, commit_id: str, tip: str) -> bool:
        """Whether ``commit_id`` is ``tip`` or comes before it."""
        done = self.git.run("merge-base", "--is-ancestor", commit_id, tip, ok=(0, 1))
        return done.status == 0

    def patch_ids(self, tip: str, paths: Sequence[str], limit: int) -> dict[str, str]:
        """Map patch-ids to commits: the last ``limit`` ones up to ``tip`` that touch ``paths``.

        In a partial clone it finds none: all the files that those commits changed are needed.
        """
        if self.promisor:
            return {}
        which = ("--full-diff", "--no-merges", f"--max-count={limit}", "--format=commit %H")
        how = ("--no-ext-diff", "--no-textconv", "--binary", "--full-index")
        # A commit that does the same touches all of the paths; so some of them are enough.
        log = self.git.run("log", "-p", *which, *how, tip, "--", *paths[:_AT_ONCE])
        return self.patch_id(log.out)

    def patch_id(self, patch: bytes) -> dict[str, str]:
        """Map the patch-ids of a stream of patches to the commits it names (zeros: none)."""
        lines = self.git.run("patch-id", "--stable", stdin=patch).text.splitlines()
        return dict(line.split(" ", 1) for line in lines)
