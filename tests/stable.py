"""A small project with branches: master, pike and ocata, and what a person picks back wrongly."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from project import Project

ID = "I" + "ab12" * 10
OTHER_ID = "I" + "cd34" * 10
BODY = "Boot and delete race, and the loser's quota stays.\n"
CODE = "small/api.py"


def message(
    subject: str = "Handle the race", body: str = BODY, trailers: str = "", change_id: str = ID
) -> str:
    """Write a message as nova does: Change-Id first in the last paragraph."""
    first = f"Change-Id: {change_id}\n" if change_id else ""
    return f"{subject}\n\n{body}\n{first}{trailers}"


@dataclass
class Stable:
    """The project's clone: commits on master, on pike, on ocata; which is judged."""

    project: Project
    named: dict[str, str] = field(default_factory=dict)

    def begin(self) -> None:
        """Make the history that the branches share, and each branch's own."""
        repo = self.project.repo
        lines = "".join(f"line {n}\n" for n in range(40))
        base = repo.commit("Begin", {CODE: lines, "small/tests/test_api.py": "a = 1\n"})
        repo.git("branch", "stable/pike", base)
        repo.git("branch", "master", base)
        self.named["base"] = base

    def commit(self, branch: str, text: str, **files: str | None) -> str:
        """Commit on a branch; ``{name}`` in the message is a commit that was named before."""
        repo = self.project.repo
        repo.git("checkout", "-q", branch)
        found = {name.replace("__", "/"): data for name, data in files.items()}
        return repo.commit(text.format(**self.named), dict(found))

    def edit(self, branch: str, text: str, old: str, new: str) -> str:
        """Commit an edit of the code."""
        repo = self.project.repo
        repo.git("checkout", "-q", branch)
        code = (repo.path / CODE).read_text()
        assert old in code
        return repo.commit(text.format(**self.named), {CODE: code.replace(old, new)})

    def on_both(self) -> None:
        """The fix on master, and on pike as it was picked: ``{master}`` and ``{pike}``."""
        self.named["master"] = self.edit("master", message(), "line 20\n", "the fix\n")
        self.commit("stable/pike", "Something of pike's own\n", other="1\n")
        cited = message(trailers="(cherry picked from commit {master})\n")
        self.named["pike"] = self.edit("stable/pike", cited, "line 20\n", "the fix\n")

    def lint(self, words: str = "", *more: str) -> dict[str, Any]:
        """Judge what ocata has above the base, and give what ``--json`` prints."""
        repo = self.project.repo
        repo.git("checkout", "-q", "stable/ocata")
        words = words or f"{self.named['base']}..stable/ocata"
        ran = self.project.run("lint", words, "--checkout", str(repo.path), "--json", *more)
        assert ran.code in (0, 1), ran.err
        report = ran.report
        assert ran.code == int(any(f["severity"] == "error" for f in report["findings"]))
        return report

    def names(self, words: str = "") -> list[str]:
        """The names of what is found."""
        return [finding["name"] for finding in self.lint(words)["findings"]]
