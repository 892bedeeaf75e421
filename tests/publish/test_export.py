"""``backport export``: what is written comes back as it was, by the reader of those who get it."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from gitrepo import make_repo
from project import Project
from released import begin, change_id

BRANCH = "backport/ocata/bug-1"

#: Messages that git am is known to read otherwise, if it is not asked rightly.
TRAPS = {
    "a tag": "[stable only] Fix it",
    "a tag of mails": "[PATCH 1/2] Fix it",
    "from": "Fix it\n\nFrom here on it holds.\n>From there, too.\n\nFrom: the text <a@b>",
    "hash": "Fix it\n\n# no comment\n#1 is not, either",
    "indented": "Fix it\n\nas in\n\n    a = 1\n\tb",
    "non-ASCII": "Fix “it” für Zoë\n\n→ ñ 漢字",
    "indented first": "Fix it\n\n  above\nbelow",
    "long": "Fix it" + " and all of its kind" * 6,
    "two-line subject": "Fix it\nand go on",
    "scissors": "Fix it\n\n-- >8 --\nbelow",
    "index": "Fix it\n\nIndex of it: 1",
}
CUT = {
    "three dashes": "Fix it\n\nabove\n---\nbelow",
    "dashes with a name": "Fix it\n\n--- a/file\nbelow",
    "subject line": "Fix it\n\nSubject: not this one\nDate: never",
    "signature": "Fix it\n\n-- \nAnn",
    "empty lines": "Fix it\n\nabove\n\n\nbelow",
    "blanks at an end": "Fix it\n\nabove  \nbelow",
    "a diff": "Fix it\n\ndiff -u a b\nbelow",
}


def make(project: Project, text: str, author: str = "Jim Müller, Jr. <jr@example.org>") -> str:
    """Make a branch of two commits, the first with the message; return the base."""
    begin(project)
    repo = project.repo
    base = repo.git("rev-parse", "HEAD")
    repo.git("checkout", "-q", "-b", BRANCH)
    files: dict[str, bytes | str | None] = {
        "small/crlf.txt": b"one\r\ntwo\r\n", "small/latin.txt": b"caf\xe9\n",
        "small/no end": b"x", "small/api.py": "a = 2\nFrom x\n",
    }  # fmt: skip
    repo.write(files)
    repo.git("add", "--all")
    message = f"{text}\n\nChange-Id: {change_id(1)}\n"
    how = ("commit", "-q", "--cleanup=verbatim", "--author", author, "-F", "-")
    repo.git(*how, stdin=message.encode())
    repo.commit(f"[stable only] Second\n\nChange-Id: {change_id(2)}", {"small/api.py": "a = 3\n"})
    repo.git("checkout", "-q", "stable/ocata")
    project.series([{"patch": "1.patch"}], {"1.patch": _patch(project, base)})
    return base


def _patch(project: Project, base: str) -> bytes:
    return project.repo.diff(base, BRANCH)


def export(project: Project, form: str) -> tuple[int, list[str], str, str]:
    where = ("--checkout", str(project.repo.path), "--output", str(project.root / "out"))
    ran = project.run("export", "ocata/bug-1", "--format", form, *where)
    *files, how = ran.out.splitlines() or [""]
    return ran.code, files, how.removeprefix("apply with: "), ran.err


def told(path: Path, revs: str) -> bytes:
    """Authors, messages and trees of a range, byte for byte."""
    how = ["git", "log", "--reverse", "--format=%an%n%ae%n%ad%n%B%n%T", revs]
    return subprocess.run(how, cwd=path, capture_output=True, check=True).stdout


@pytest.mark.parametrize("form", ["mbox", "patch"])
@pytest.mark.parametrize("trap", TRAPS)
def test_git_am_gives_it_back_byte_for_byte(project: Project, form: str, trap: str) -> None:
    base = make(project, TRAPS[trap])
    code, files, how, said = export(project, form)
    if trap == "two-line subject":  # a mail has one line there: said, not lost
        assert (code, "git am reads otherwise" in said) == (2, True), said
        return
    assert code == 0, said
    repo = project.repo
    repo.git("checkout", "-q", "-b", "applied", base)
    command = how.split(" ")[: how.split(" ").index("--patch-format=mboxrd") + 1]
    repo.git(*command[1:], *files)
    assert told(repo.path, f"{base}..applied") == told(repo.path, f"{base}..{BRANCH}")


@pytest.mark.parametrize("trap", CUT)
def test_what_a_mail_cannot_carry_is_refused_and_a_bundle_carries_it(
    project: Project, trap: str
) -> None:
    base = make(project, CUT[trap])
    code, _, _, said = export(project, "mbox")
    assert (code, "--format bundle" in said) == (2, True), said
    assert not (project.root / "out").exists()
    code, (bundle,), how, _ = export(project, "bundle")
    assert base[:12] in how
    other = make_repo(project.root / "other")
    other.git("fetch", "-q", str(project.repo.path), "stable/ocata")
    other.git("fetch", "-q", bundle, "refs/heads/*:refs/heads/*")
    assert other.git("rev-parse", BRANCH) == project.repo.git("rev-parse", BRANCH)


def test_a_quilt_stack_applies_with_patch_in_order(project: Project, tmp_path: Path) -> None:
    base = make(project, CUT["three dashes"])
    code, files, _, said = export(project, "quilt")
    assert code == 0, said
    other = make_repo(tmp_path / "tree")
    other.git("fetch", "-q", str(project.repo.path), base)
    other.git("checkout", "-q", "FETCH_HEAD")
    out = Path(files[0]).parent
    for name in (out / "series").read_text().split():
        subprocess.run(
            [*shlex.split("patch -p1 --binary --fuzz=0 -s -i"), str(out / name)],
            cwd=other.path,
            check=True,
        )
    other.git("add", "--all")
    assert other.git("write-tree") == project.repo.git("rev-parse", f"{BRANCH}^{{tree}}")


def test_a_binary_file_is_nothing_for_quilt(project: Project) -> None:
    make(project, "Fix it")
    repo = project.repo
    repo.git("checkout", "-q", BRANCH)
    repo.commit("More", {"small/x.bin": b"\0\1"})
    repo.git("checkout", "-q", "stable/ocata")
    code, _, _, said = export(project, "quilt")
    assert (code, "binary" in said) == (2, True)
    assert export(project, "mbox")[0] == 0


def test_without_the_branch_it_says_how_to_make_it(project: Project) -> None:
    make(project, "Fix it")
    project.repo.git("branch", "-D", BRANCH)
    code, _, _, said = export(project, "mbox")
    assert (code, "backport run ocata/bug-1" in said) == (2, True)
