"""The checkout: the user's repository. It is only read here; see ``transaction.py``."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from backport.checkout.git import Git, GitFailedError
from backport.checkout.remote import Promisor, read_promisor
from backport.checkout.scratch import Scratch, create_scratch
from backport.errors import UsageError
from backport.series.model import Person

_IDENTITY = re.compile(r"(.*?) ?<(.*)> (\d+ [-+]\d{4})", re.DOTALL)


@dataclass(frozen=True)
class Identities:
    """Who writes and who commits, by git's own rule."""

    author: Person
    committer: Person


class Checkout:
    """A git repository of the user's, whatever its kind: clone, bare, linked worktree, shallow …

    :param folder: where git is asked: the work tree's top, or the git directory
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git = Git(folder)
        what = ("--show-object-format", "--is-bare-repository", "--absolute-git-dir")
        told = self.git.run("rev-parse", *what).text.split("\n", 2)
        self.object_format, self.is_bare = told[0], told[1] == "true"
        self.git_dir = Path(told[2])
        self.common_dir = (folder / self.git.run("rev-parse", "--git-common-dir").text).resolve()

    @property
    def objects(self) -> Path:
        """The folder of the object database."""
        return self.common_dir / "objects"

    @property
    def is_shallow(self) -> bool:
        """Whether history has been cut off."""
        return (self.common_dir / "shallow").exists()

    @property
    def promisor(self) -> Promisor | None:
        """The remote that has what this repository lacks, where it is a partial clone."""
        return read_promisor(self.git, self.folder, self.objects)

    @property
    def kind(self) -> str:
        """A word or two for the report."""
        words = [
            "bare repository" if self.is_bare else "clone",
            "linked worktree" if self.git_dir != self.common_dir else "",
            "shallow" if self.is_shallow else "",
            "partial" if self.promisor else "",
        ]
        return ", ".join(filter(None, words))

    def scratch(self, folder: Path) -> Scratch:
        """Make a scratch repository on top of this one in a new ``folder``."""
        shallow = (self.common_dir / "shallow").read_bytes() if self.is_shallow else b""
        scratch = create_scratch(folder, self.objects, self.object_format, shallow)
        scratch.promisor = self.promisor
        return scratch

    def resolve(self, rev: str) -> str | None:
        """Return the commit that ``rev`` means; None where it means none."""
        how = ("--verify", "--quiet", "--end-of-options")
        found = self.git.run("rev-parse", *how, rev + "^{commit}", ok=(0, 1, 128))
        return found.text if found.status == 0 else None

    def refs(self, *patterns: str) -> dict[str, str]:
        """Map the refs that match (git-for-each-ref(1)) to the commits that they hold."""
        how = "--format=%(refname)%00%(objectname)%00%(*objectname)"
        lines = self.git.run("for-each-ref", how, *patterns).text.splitlines()
        fields = (line.split("\0") for line in lines)
        return {name: peeled or direct for name, direct, peeled in fields}

    def symbolic(self, name: str) -> str | None:
        """Return the ref that a ref stands for; None where it holds a commit itself."""
        done = self.git.run("symbolic-ref", "--quiet", name, ok=(0, 1))
        return done.text or None

    def push_url(self, remote: str) -> str | None:
        """Return where a push to a remote goes; None: there is no such remote."""
        done = self.git.run("remote", "get-url", "--push", "--", remote, ok=(0, 2))
        return done.text or None

    def setting(self, name: str) -> str | None:
        """Return what the user's configuration says, the checkout's and all others."""
        asked = Git(self.folder, user_settings=True)
        return asked.run("config", "--get", name, ok=(0, 1)).text or None

    def has_remote(self, name: str) -> bool:
        """Whether a remote is called so."""
        return name in self.git.run("remote").text.splitlines()

    def describe(self, commit_id: str) -> str | None:
        """Return the commit in words such as ``15.1.3-5-g77ece76a70``, where a tag is near."""
        done = self.git.run("describe", "--tags", commit_id, ok=(0, 128))
        return done.text if done.status == 0 else None

    def one_line(self, commit_id: str) -> str:
        """Return a commit's short hash, subject and date, for people."""
        how = "--format=%h “%s”, made %ci"
        return self.git.run("log", "-1", how, "--end-of-options", commit_id).text

    def dates(self, begin: str, tip: str) -> dict[str, str]:
        """Map the commits of a range to when they were committed, as people read it (%ci)."""
        lines = self.git.run("log", "--format=%H %ci", tip, f"^{begin}", "--").text.splitlines()
        return dict(line.split(" ", 1) for line in lines)

    def plain_list(self, begin: str, tip: str) -> str:
        """List a range as openstack/releases does (tools/list_unreleased_changes.sh)."""
        how = ("--no-color", "--no-merges", "--format=%h %ci %s", "--graph")
        return self.git.run("log", *how, tip, f"^{begin}", "--").text

    def diffstat(self, old: str, new: str) -> str:
        """Return how much each file changed, without docs and tests (as announce.sh has it)."""
        apart = (":(exclude,glob)**/tests/**", ":(exclude)doc", ":(exclude)releasenotes")
        how = ("--stat", "--no-color", "--no-ext-diff", "--no-textconv", old, new, "--", ".")
        env = {"GIT_LITERAL_PATHSPECS": "0"}
        return self.git.run("diff", *how, *apart, env=env).text

    def direct_refs(self, *patterns: str) -> dict[str, str]:
        """Map the refs that match to what they hold: of an annotated tag, the tag object."""
        how = "--format=%(refname) %(objectname)"
        lines = self.git.run("for-each-ref", how, *patterns).text.splitlines()
        return dict(line.split(" ", 1) for line in lines)

    def tags_below(self, commit_id: str) -> dict[str, str]:
        """Map the tags that a commit is, or has before it, to their commits."""
        found = self.refs(f"--merged={commit_id}", "refs/tags/")
        return {name.removeprefix("refs/tags/"): commit for name, commit in found.items()}

    def first_tags(self, commits: Collection[str]) -> dict[str, str]:
        """Map commits to the first tag that has them, of those that begin with a number."""
        if not commits:
            return {}
        how = ("--tags", "--refs=[0-9]*", "--annotate-stdin")
        stdin = "".join(f"{commit}\n" for commit in commits).encode()
        lines = self.git.run("name-rev", *how, stdin=stdin).text.splitlines()
        named = (re.fullmatch(r"([0-9a-f]+) \((?:tags/)?([^~^)]+).*\)", line) for line in lines)
        return {match[1]: match[2] for match in named if match}

    def check_branch_name(self, name: str) -> None:
        """Refuse what is no name for a branch.

        :raises UsageError: git-check-ref-format(1) does not take it
        """
        done = self.git.run("check-ref-format", f"refs/heads/{name}", ok=(0, 1))
        # What check-ref-format --branch refuses besides, with the status of a broken git.
        if done.status or name.startswith("-") or name == "HEAD":
            raise UsageError(f"{name!r} is no name for a branch", "See git-check-ref-format(1).")

    def identities(self) -> Identities:
        """Ask git who writes and commits here, with the user's own settings.

        :raises UsageError: nobody told git (status 128 of ``git var``, git 2.39.5)
        """
        return Identities(self._identity("AUTHOR"), self._identity("COMMITTER"))

    def holders(self, ref: str) -> list[Path]:
        """List the worktrees that have the branch checked out, or in the middle of a rebase."""
        fields = self.git.run("worktree", "list", "--porcelain", "-z").fields
        found = []
        where = Path()
        for field in fields:
            if field.startswith("worktree "):
                where = Path(field.removeprefix("worktree "))
            elif field == f"branch {ref}":
                found.append(where)
        return found + [path for path in self._rebasing(ref) if path not in found]

    # -- inside ----------------------------------------------------------------------------

    def _identity(self, role: str) -> Person:
        asked = Git(self.folder, user_settings=True)
        done = asked.run("var", f"GIT_{role}_IDENT", ok=(0, 128))
        found = _IDENTITY.fullmatch(done.text)
        if done.status or not found:
            raise UsageError(
                f"git does not know who you are in {self.folder}: {done.why}",
                'Tell it:  git config --global user.name "Your Name"\n'
                "          git config --global user.email you@example.org",
            )
        return Person(found[1], found[2])

    def _rebasing(self, ref: str) -> list[Path]:
        # A rebase detaches HEAD, and moves the branch at its end; git branch -f
        # refuses such a branch as well.
        states = [self.common_dir, *(self.common_dir / "worktrees").glob("*")]
        rebases = [state / kind for state in states for kind in ("rebase-merge", "rebase-apply")]
        heads = [rebase / "head-name" for rebase in rebases]
        return [h.parent for h in heads if h.is_file() and h.read_text().strip() == ref]


def open_checkout(folder: Path) -> Checkout:
    """Open the repository at ``folder``: the top of a work tree, or a git directory.

    :raises UsageError: there is none; a folder *within* a repository is none either, so
        that a mistyped path never ends up in a repository that happens to lie around it
    """
    if not os.path.isdir(folder):  # pathlib's would raise where a name is too long
        what = (
            f"{folder} is no folder" if os.path.lexists(folder) else f"there is no folder {folder}"
        )
        raise UsageError(what, "Give a clone's path, or a URL.")
    try:
        checkout = Checkout(folder)
    except GitFailedError as error:
        raise UsageError(
            f"{folder} is no git repository: {error.message}",
            "Give the top folder of a clone, or a bare repository.",
        ) from error
    if not _is_top(folder, checkout.git_dir):
        above = checkout.git_dir.parent
        raise UsageError(
            f"{folder} lies within the repository {above}", f"Say {above} if you mean it."
        )
    return checkout


def _is_top(folder: Path, git_dir: Path) -> bool:
    """Whether git found the repository in ``folder`` itself; ``core.worktree`` may be elsewhere.

    Only a folder with a colon in its name is looked above (see :func:`checkout.git._ceiling`).
    A file ``.git`` that leads nowhere is an error to git.
    """
    here = folder / ".git"
    return here.is_file() or git_dir.resolve() in (folder.resolve(), here.resolve())
