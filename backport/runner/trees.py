"""The trees that a proof is about, as git has them; few of them are those of a commit."""

from __future__ import annotations

import base64
import shlex
from collections.abc import Mapping
from pathlib import Path

from backport.checkout.objects import Entry
from backport.checkout.scratch import Scratch


class Trees:
    """Trees in a scratch repository, named by their ids. To be used from one thread.

    :param repository: the git directory that the recipes read from
    :param recipes: how trees are made that are in the scratch repository only, by their ids
    """

    def __init__(
        self, scratch: Scratch, repository: Path, recipes: Mapping[str, str] | None = None
    ) -> None:
        self._scratch = scratch
        self._archive = f"git --git-dir={shlex.quote(str(repository))} archive"
        self._files: dict[str, Mapping[str, Entry]] = {}
        self._recipes = dict(recipes or {})

    def files(self, tree: str) -> Mapping[str, Entry]:
        """Return all files of a tree, by path."""
        if tree not in self._files:
            self._files[tree] = self._scratch.files(tree)
        return self._files[tree]

    def blob(self, blob_id: str) -> bytes:
        """Read a blob."""
        return self._scratch.blob(blob_id)

    def export(self, tree: str, folder: Path) -> None:
        """Write the files of a tree into an existing, empty folder."""
        self._scratch.export(tree, folder)

    def overlay(self, code_tree: str, tests_tree: str, prefixes: tuple[str, ...]) -> str:
        """Return ``code_tree`` with everything under ``prefixes`` as it is in ``tests_tree``."""
        tree = self._scratch.overlay(code_tree, tests_tree, prefixes)
        paths = " ".join(shlex.quote(prefix.rstrip("/")) for prefix in prefixes)
        if tree not in (code_tree, tests_tree):
            self._recipes[tree] = (
                f"{self.recipe(code_tree)} && rm -rf {paths} && mkdir .other && "
                f"(cd .other && {self.recipe(tests_tree)}) && "
                f"tar -C .other -c {paths} | tar -x && rm -rf .other"
            )
        return tree

    def diff(self, old: str, new: str) -> bytes:
        """Return the difference of two trees as a git patch with three lines of context."""
        return self._scratch.diff(old, new)

    def with_file(self, tree: str, path: str, entry: Entry | None, data: bytes) -> str:
        """Return ``tree`` with other content at ``path``; ``entry`` None: without that file."""
        fresh = Entry(entry.mode, self._scratch.write_blob(data)) if entry else None
        made = self._scratch.update(tree, {path: fresh})
        patch = base64.b64encode(self._scratch.diff(tree, made)).decode("ascii")
        if made != tree:
            apply = f"echo {patch} | base64 -d | git apply"
            self._recipes[made] = f"{self.recipe(tree)} && {apply}"
        return made

    def recipe(self, tree: str) -> str:
        """Return the shell commands that put a tree into the current, empty folder."""
        return self._recipes.get(tree, f"{self._archive} {tree} | tar -x")
