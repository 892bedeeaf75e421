"""A real repository to compare with: nothing of the machine's or the user's git setup gets in."""

from __future__ import annotations

import subprocess
from pathlib import Path

ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "A U Thor",
    "GIT_AUTHOR_EMAIL": "author@example.com",
    "GIT_AUTHOR_DATE": "1700000000 +0100",
    "GIT_COMMITTER_NAME": "C O Mitter",
    "GIT_COMMITTER_EMAIL": "committer@example.com",
    "GIT_COMMITTER_DATE": "1700000000 +0100",
}

Tree = dict[bytes, tuple[str, str]]  # path: (mode, blob)


class GitRepo:
    """A bare repository, worked with by plumbing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {**ENVIRONMENT, "HOME": str(folder)}
        self.git("init", "-q", "--bare", ".")

    def git(self, *arguments: str, data: bytes = b"", index: str = "index") -> bytes:
        """Run git and return its output; an error of git's is an error of the test's."""
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.folder,
            input=data,
            capture_output=True,
            env={**self.environment, "GIT_INDEX_FILE": str(self.folder / index)},
        )
        assert done.returncode == 0, (arguments, done.stderr)
        return done.stdout

    def word(self, *arguments: str, data: bytes = b"") -> str:
        """Run git and return the one word that it prints."""
        return self.git(*arguments, data=data).decode().strip()

    def blob(self, content: bytes) -> str:
        """Store a file's content."""
        return self.word("hash-object", "-w", "--stdin", data=content)

    def tree(self, files: Tree) -> str:
        """Store a tree."""
        lines = b"".join(
            b"%s %s\t%s\0" % (mode.encode(), blob.encode(), path)
            for path, (mode, blob) in files.items()
        )
        self.git("read-tree", "--empty")
        self.git("update-index", "-z", "--index-info", data=lines)
        return self.word("write-tree")

    def commit(self, tree: str, message: bytes, *parents: str) -> str:
        """Store a commit, its message as it is."""
        flags = [flag for parent in parents for flag in ("-p", parent)]
        return self.word("commit-tree", tree, *flags, "-F", "-", data=message)

    def diff(self, old: str, new: str, *options: str) -> bytes:
        """Return a patch."""
        return self.git("diff", *options, old, new)

    def applied(self, tree: str, patch: bytes, *options: str) -> str:
        """Return the tree that a patch makes of another."""
        self.git("read-tree", tree)
        self.git("apply", "--cached", "--whitespace=nowarn", *options, "-", data=patch)
        return self.word("write-tree")
