"""Reading the objects of a repository: what is there, what differs, what was done before."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from backport.checkout.git import Git
from backport.checkout.history import History
from backport.checkout.object_store import Store
from backport.checkout.objects import Commit, Entry, parse_commit, parse_entry
from backport.checkout.remote import Promisor

#: Paths on one command line: the system takes some two million bytes (execve(2)).
_AT_ONCE = 400


class Reader:
    """Questions to the repository in ``folder``, in object ids and bytes. For one thread only.

    All methods raise :class:`~backport.checkout.git.GitFailedError` where git breaks.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git = Git(folder, folder)
        self._store = Store(self.git, folder)
        self._history: History | None = None
        self.history_folder: Path | None = None  # what was read of a history is kept there
        self.promisor: Promisor | None = None  # what the checkout lacks can be had from there
        self.tips: Callable[[], Iterable[str]] = tuple  # of the branches that the checkout knows

    def close(self) -> None:
        """End the git processes that wait for questions; the next question starts them anew."""
        self._store.close()

    @property
    def why_missing(self) -> str:
        """A word on why a commit or a file may not be there; "" where nothing accounts for it."""
        cut = self.is_shallow
        return " (history is cut off: a shallow clone; git fetch --unshallow)" if cut else ""

    @property
    def is_shallow(self) -> bool:
        """Whether history is cut off."""
        return (self.folder / "shallow").exists()

    def resolve(self, rev: str) -> str | None:
        """Return the commit that a hash (or a unique prefix of one) names; None: there is none."""
        if not re.fullmatch("[0-9a-f]{4,64}", rev):
            return None
        stored = self._store.read(rev + "^{commit}")
        return stored.id if stored else None

    def full_ids(self, blobs: Iterable[str]) -> dict[str, str]:
        """Map ids of blobs, or unique prefixes, to the whole ids of those that are there."""
        found = {blob: self._store.read(f"{blob}^{{blob}}") for blob in blobs}
        return {short: stored.id for short, stored in found.items() if stored}

    def commit(self, commit_id: str) -> Commit:
        """Read a commit."""
        return parse_commit(commit_id, self._store.get(commit_id + "^{commit}").data)

    def tree(self, rev: str) -> str:
        """Return the tree of a commit."""
        return self._store.get(rev + "^{tree}").id

    def blob(self, blob_id: str) -> bytes:
        """Read a blob; the id may be shortened."""
        return self._store.get(blob_id).data

    def entries(self, tree: str, paths: Iterable[str]) -> dict[str, Entry]:
        """Return the entries of ``tree`` at ``paths``; a folder is one, too."""
        found = ((path, self._store.find(tree, path)) for path in paths)
        return {path: hit[1] for path, hit in found if hit and hit[0] == path}

    def below(self, tree: str, prefixes: Iterable[str]) -> dict[str, Entry]:
        """Return the files of ``tree`` in some folders, and those that are such a path itself."""
        names = [prefix.rstrip("/") for prefix in prefixes]
        found = (self._store.reach(tree, name) for name in names if self.entries(tree, [name]))
        return {path: entry for files in found for path, entry in files}

    def files(self, tree: str) -> dict[str, Entry]:
        """Return all files of ``tree``."""
        fields = self.git.run("ls-tree", "-r", "-z", "--full-tree", tree).fields
        return dict(parse_entry(field) for field in fields)

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

    def commits_between(self, base: str, tip: str, *, merges: bool = False) -> list[str]:
        """List the commits that ``tip`` has and ``base`` has not, the oldest first.

        With :meth:`commit` of each, whole messages are read by the one git that stays.
        """
        how = ("--reverse", "--topo-order", *([] if merges else ["--no-merges"]))
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
        """Find what messages up to ``tip`` say of where commits come from.

        :param needles: texts of Change-Ids, of provenance, of reverts
        :returns: pairs (id of the commit, line of its message), the newest first
        """
        if self._history is None:
            self._history = History(self.git, None if self.is_shallow else self.history_folder)
        return self._history.find(tip, needles)

    def messages(
        self, tips: Sequence[str], known: Sequence[str]
    ) -> dict[str, tuple[list[str], str]]:
        """Read the commits that ``tips`` have and ``known`` have not.

        :returns: by a commit's id its parents and its message, the newest first
        """
        how = ("log", "-z", "--format=%H%n%P%n%B")
        done = self.git.run(*how, *tips, *(f"^{tip}" for tip in known), "--")
        parts = (field.split("\n", 2) for field in done.fields)
        return {part[0]: (part[1].split(), part[2]) for part in parts}

    def bringing(self, word: str, path: str, tip: str, base: str) -> str | None:
        """Find the first commit of ``tip``, missing from ``base``, that brought a word to a path.

        A file that is not there was brought with all its words. None: there is none.
        """
        how = ("--reverse", "--no-merges", "--format=%H", f"-S{word}")
        found = self.git.run("log", *how, tip, f"^{base}", "--", path).text.split()
        return found[0] if found else None

    def taking(self, path: str, word: str, tip: str, base: str) -> str | None:
        """Find the last commit of ``tip``, missing from ``base``, that took a text out of a file.

        :param word: the text; "" is the file itself
        """
        what = (f"-S{word}",) if word else ("--diff-filter=D", "--no-renames")
        how = ("-1", "--no-merges", "--format=%H", *what)
        return self.git.run("log", *how, tip, f"^{base}", "--", path).text or None

    def adding(self, path: str, tip: str, base: str) -> list[str]:
        """List the commits of ``tip``, missing from ``base``, that added a file."""
        how = ("--diff-filter=A", "--no-renames", "--format=%H")
        return self.git.run("log", *how, tip, f"^{base}", "--", path).text.split()

    def blame(self, path: str, tip: str, base: str, first: int, last: int) -> dict[int, str]:
        """Map lines of a file of ``tip`` to the commits that wrote them, and ``base`` lacks."""
        how = ("--porcelain", f"-L{first},{last}", tip, f"^{base}", "--", path)
        done = self.git.run("blame", *how, ok=(0, 128))
        heads = re.findall(r"^([0-9a-f]{40,64}) \d+ (\d+)", done.text, re.M)
        old = set(re.findall(r"^([0-9a-f]{40,64}) (?:.*\n(?!\t))+?boundary$", done.text, re.M))
        return {int(line): commit for commit, line in heads if commit not in old}

    def line_history(self, path: str, tip: str, base: str, first: int, last: int) -> list[str]:
        """List the commits of ``tip``, missing from ``base``, that touched lines of a file."""
        how = (f"-L{first},{last}:{path}", "--no-patch", "--format=%H")
        return self.git.run("log", *how, tip, f"^{base}", ok=(0, 128)).text.split()

    def size(self, commit_id: str) -> tuple[int, int, int]:
        """Return the files that a commit changes, and the lines that it adds and takes out."""
        rows = self.git.run("diff-tree", "-r", "--numstat", "--no-commit-id", commit_id).text
        counts = [line.split("\t")[:2] for line in rows.splitlines()]
        added, gone = (sum(int(row[at]) for row in counts if row[at] != "-") for at in (0, 1))
        return len(counts), added, gone

    def in_order(self, commits: Sequence[str]) -> list[str]:
        """Sort commits such that none comes before one of its ancestors."""
        wanted = dict.fromkeys(commits)
        parents = [parent for one in wanted for parent in self.commit(one).parents]
        root = self.git.run("merge-base", "--octopus", *parents, ok=(0, 1)).text if parents else ""
        how = ("--topo-order", "--reverse", *wanted, *([f"^{root}"] if root else []))
        return [one for one in self.git.run("rev-list", *how, "--").text.split() if one in wanted]

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

    def fork(self, one: str, other: str) -> str | None:
        """Return the last commit that two have in common; None: there is none."""
        return self.git.run("merge-base", one, other, ok=(0, 1)).text.strip() or None

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
