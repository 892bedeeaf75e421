"""A small project that has released 1.1.0 from stable/ocata, and what came after."""

from __future__ import annotations

from typing import Any

from project import Project

GITREVIEW = "[gerrit]\nhost=localhost\nport=29418\nproject=openstack/small.git\n"
GITREVIEW += "defaultbranch=stable/ocata\n"


def change_id(number: int) -> str:
    return "I" + f"{number:040x}"


def message(subject: str, number: int, *trailers: str) -> str:
    last = "\n".join([f"Change-Id: {change_id(number)}", *trailers])
    return f"{subject}\n\nWhy it is done.\n\n{last}\n"


def begin(project: Project) -> None:
    """Release 1.1.0, and branch stable/pike off before it."""
    repo = project.repo
    files = {".gitreview": GITREVIEW, "small/api.py": "a = 1\n", "requirements.txt": "a>=1\n"}
    repo.commit("Begin", dict(files))
    repo.git("branch", "stable/pike")
    repo.commit("Release it", {"small/api.py": "a = 2\n"})
    repo.git("tag", "-a", "-m", "small 1.1.0 release", "1.1.0")


def fix(project: Project, number: int = 1) -> str:
    """Fix a bug on the branch."""
    words = message(f"Fix thing {number}", number, f"Closes-Bug: #{1000 + number}")
    return project.repo.commit(words, {f"small/fix{number}.py": f"{number}\n"})


def run_json(project: Project, command: str, *more: str, code: int = 0) -> dict[str, Any]:
    """Run a command on the checkout and give what ``--json`` prints."""
    ran = project.run(command, "--checkout", str(project.repo.path), "--json", *more)
    assert ran.code == code, ran.err
    return ran.report
