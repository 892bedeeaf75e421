"""``backport submit`` to a real git server that takes refs/for/ by the proc-receive hook."""

from __future__ import annotations

import sys
from pathlib import Path
from urllib.parse import quote

import pytest

from gitrepo import Repo, make_repo, snapshot
from project import Project
from released import begin, change_id

#: What Gerrit does, as far as a client sees it: a change by its Change-Id, a patch set by its
#: commit (gitprotocol-pack(5) and githooks(5), proc-receive).
HOOK = r"""#!%(python)s
import os, subprocess, sys

def read():
    head = sys.stdin.buffer.read(4)
    size = int(head or b"0000", 16)
    return sys.stdin.buffer.read(size - 4) if size else None

def write(text):
    data = text.encode() if text is not None else b""
    line = b"%%04x" %% (len(data) + 4) + data if text is not None else b"0000"
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()

mode = open("mode").read()
options = (read() or b"").partition(b"\0")[2]
while read() is not None:
    pass
write("version=1\0push-options" if b"push-options" in options else "version=1\0")
write(None)
commands = []
while (line := read()) is not None:
    commands.append(line.decode().split())
if b"push-options" in options:
    while read() is not None:
        pass
for old, new, ref in commands:
    with open("log", "a") as log:
        log.write(ref + "\n")
    if mode == "die before":
        os.kill(os.getppid(), 9)
        sys.exit(1)
    kept = "refs/changes/" + new
    known = subprocess.run(["git", "rev-parse", "-q", "--verify", kept], capture_output=True)
    if mode == "refuse":
        write("ng %%s you are not allowed to upload" %% ref)
    elif known.returncode == 0:
        write("ng %%s no new changes" %% ref)
    else:
        subprocess.run(["git", "update-ref", kept, new], check=True)
        if mode == "die after":
            os.kill(os.getppid(), 9)
        sys.stderr.write("  http://localhost/c/1 is new\n")
        write("ok %%s" %% ref)
write(None)
"""


class Server:
    """A bare repository, as Gerrit shows itself."""

    def __init__(self, project: Project) -> None:
        self.repo: Repo = make_repo(project.root / "server.git", "--bare")
        self.repo.git("config", "receive.procReceiveRefs", "refs/for")
        self.repo.git("fetch", "-q", str(project.repo.path), "stable/ocata:refs/heads/stable/ocata")
        hook = self.repo.path / "hooks/proc-receive"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(HOOK % {"python": sys.executable})
        hook.chmod(0o755)
        self.mode("take")
        project.repo.git("remote", "add", "gerrit", f"file://{quote(str(self.repo.path))}")

    def mode(self, how: str) -> None:
        (self.repo.path / "mode").write_text(how)

    @property
    def asked(self) -> list[str]:
        log = self.repo.path / "log"
        return log.read_text().splitlines() if log.exists() else []

    @property
    def kept(self) -> set[str]:
        lines = self.repo.git("for-each-ref", "--format=%(objectname)", "refs/changes/")
        return set(lines.split())


PATCH = "small/api.py"


@pytest.fixture
def submitted(project: Project) -> tuple[Project, Server]:
    begin(project)
    repo = project.repo
    (repo.path / PATCH).write_text("a = 5\n")
    patch = repo.git("diff", "--full-index").encode() + b"\n"
    repo.git("checkout", "-q", "--", PATCH)
    server = Server(project)
    trailer = {"stable-only": "it is so"}
    project.series([{"patch": "1.patch"}], {"1.patch": patch}, **trailer)
    project.apply("ocata/bug-1")
    return project, server


def submit(project: Project, *more: str) -> tuple[int, str]:
    ran = project.run("submit", "ocata/bug-1", "--checkout", str(project.repo.path), *more)
    return ran.code, ran.out + ran.err


REF = "refs/for/stable/ocata%topic=bug/1,m=not%20proven%20by%20its%20tests"


def test_new_change_nothing_new_and_a_new_patch_set(submitted: tuple[Project, Server]) -> None:
    project, server = submitted
    before = snapshot(project.repo.path)
    code, said = submit(project, "--unproven")
    assert (code, "localhost/c/1 is new" in said) == (0, True), said
    assert server.asked == [REF]
    tip = project.repo.git("rev-parse", "backport/ocata/bug-1")
    assert server.kept == {tip}
    code, said = submit(project, "--unproven")
    assert (code, "nothing new" in said) == (0, True), said
    assert snapshot(project.repo.path) == before
    message = project.repo.git("log", "-1", "--format=%B", tip)
    project.repo.git("checkout", "-q", "backport/ocata/bug-1")
    project.repo.write({PATCH: "a = 6\n"})
    project.repo.git("commit", "-q", "-a", "--amend", "-m", message)
    project.repo.git("checkout", "-q", "stable/ocata")
    assert submit(project, "--unproven")[0] == 0
    assert len(server.kept) == 2


def test_what_is_not_proven_is_not_sent(submitted: tuple[Project, Server]) -> None:
    project, server = submitted
    code, said = submit(project)
    assert (code, "--unproven" in said, server.asked) == (5, True, [])


def test_a_dry_run_prints_the_push_and_sends_nothing(submitted: tuple[Project, Server]) -> None:
    project, server = submitted
    code, said = submit(project, "--dry-run")
    tip = project.repo.git("rev-parse", "backport/ocata/bug-1")
    assert (code, f"{tip}:refs/for/stable/ocata%topic=bug/1" in said) == (0, True), said
    assert server.asked == []


def test_rejected(submitted: tuple[Project, Server]) -> None:
    project, server = submitted
    server.mode("refuse")
    code, said = submit(project, "--unproven")
    assert (code, "not allowed to upload" in said) == (5, True), said


@pytest.mark.parametrize("when", ["die before", "die after"])
def test_the_connection_is_lost_in_the_middle_and_a_second_run_is_right(
    submitted: tuple[Project, Server], when: str
) -> None:
    project, server = submitted
    before = snapshot(project.repo.path)
    server.mode(when)
    code, said = submit(project, "--unproven")
    assert (code, "not known" in said) == (4, True), said
    server.mode("take")
    code, said = submit(project, "--unproven")
    assert (code, "nothing new" in said) == (0, when == "die after"), said
    assert server.kept == {project.repo.git("rev-parse", "backport/ocata/bug-1")}
    assert snapshot(project.repo.path) == before


def _merge(repo: Repo) -> None:
    repo.git("checkout", "-q", "-b", "side", "stable/ocata")
    repo.commit(f"Side\n\nChange-Id: {change_id(8)}", {"b": "1"})
    repo.git("checkout", "-q", "backport/ocata/bug-1")
    repo.git("merge", "-q", "--no-ff", "-m", f"M\n\nChange-Id: {change_id(9)}", "side")


def _twice(repo: Repo) -> None:
    repo.commit(repo.git("log", "-1", "--format=%B"), {"c": "1"})


def _without_id(repo: Repo) -> None:
    repo.commit("No id\n\nReally.", {"c": "1"})


def _above(repo: Repo) -> None:
    repo.commit(f"Above\n\nChange-Id: {change_id(7)}\n\nText behind it.", {"c": "1"})


def _more(repo: Repo) -> None:
    repo.commit(f"More\n\nIt.\n\nChange-Id: {change_id(6)}", {"c": "1"})


def _target(repo: Repo) -> None:
    text = (repo.path / ".gitreview").read_text().replace("stable/ocata", "stable/pike")
    repo.git("commit", "-q", "--amend", "--allow-empty", "-C", "HEAD")
    repo.write({".gitreview": text})
    repo.git("commit", "-q", "-a", "--amend", "-C", "HEAD")


def _unrelated(repo: Repo) -> None:
    tree = repo.git("rev-parse", "HEAD^{tree}")
    root = repo.git("commit-tree", tree, "-m", f"Root\n\nIt.\n\nChange-Id: {change_id(5)}")
    repo.git("reset", "-q", "--hard", root)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (_merge, "is a merge"),
        (_twice, "has the Change-Id of"),
        (_without_id, "has no Change-Id"),
        (_above, "above the last paragraph"),
        (_more, "Gerrit would take all of them"),
        (_target, "sends to stable/pike"),
        (_unrelated, "not based on"),
    ],
)
def test_what_gerrit_would_refuse_is_not_sent(
    submitted: tuple[Project, Server], spoil: object, said: str
) -> None:
    project, server = submitted
    project.repo.git("checkout", "-q", "backport/ocata/bug-1")
    assert callable(spoil)
    spoil(project.repo)
    project.repo.git("checkout", "-q", "stable/ocata")
    code, words = submit(project, "--unproven")
    assert (code, said in words, server.asked) == (2, True, []), words


def test_without_a_remote_gitreview_names_the_server(submitted: tuple[Project, Server]) -> None:
    project, _ = submitted
    project.repo.git("remote", "remove", "gerrit")
    project.repo.git("config", "gitreview.username", "ann")
    code, said = submit(project, "--dry-run")
    assert (code, "ssh://ann@localhost:29418/openstack/small.git" in said) == (0, True), said


def test_a_remote_that_runs_a_program_is_not_taken(
    submitted: tuple[Project, Server], tmp_path: Path
) -> None:
    project, _ = submitted
    project.repo.git("config", "remote.gerrit.url", f"ext::touch {tmp_path}/ran")
    code, said = submit(project, "--unproven")
    assert (code, "no URL" in said) == (2, True), said
    assert not (tmp_path / "ran").exists()
