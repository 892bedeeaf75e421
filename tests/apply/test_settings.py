"""What the user, the checkout and the environment have set changes nothing, and runs nothing.

One series is applied to one repository, once as it is and once for each row with settings
that git would heed: the commits must be the same, hash for hash, the checkout untouched,
and the file that every command of a row writes must not be there.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from gitrepo import Repo, snapshot
from plainrun import BRANCH, CRLF, FIVE, IDENT, TEN, Plain, make_plain
from project import Project


@dataclass(frozen=True)
class Hostile:
    """Where a row puts what it sets; ``program`` is a command that leaves ``mark`` behind."""

    repo: Repo
    home: Path
    program: Path
    mark: Path
    setenv: Callable[[str, str], None]

    def put(self, text: str) -> str:
        """Fill in the program."""
        return text.replace("PROGRAM", str(self.program))

    def config(self, *settings: str) -> None:
        """Set it in the checkout's configuration, and in the user's."""
        for setting in settings:
            name, _, value = self.put(setting).partition("=")
            self.repo.git("config", "--add", name, value)
            self.repo.git("config", "--global", "--add", name, value)

    def attributes(self, *lines: str) -> None:
        """Set attributes for the checkout, and for all of the user's."""
        text = "".join(f"{line}\n" for line in lines)
        for path in (self.repo.path / ".git/info/attributes", self.home / ".config/git/attributes"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.config(f"core.attributesFile={self.home / '.config/git/attributes'}")


Arrange = Callable[[Hostile], None]


def config(*settings: str) -> Arrange:
    return lambda hostile: hostile.config(*settings)


def attributes(line: str, *settings: str) -> Arrange:
    def arrange(hostile: Hostile) -> None:
        hostile.attributes(line)
        hostile.config(*settings)

    return arrange


def environment(**variables: str) -> Arrange:
    def arrange(hostile: Hostile) -> None:
        for name, value in variables.items():
            hostile.setenv(name, hostile.put(value))

    return arrange


HOOKS = """applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit
prepare-commit-msg commit-msg post-commit pre-rebase post-checkout post-merge pre-push
pre-receive update proc-receive post-receive post-update reference-transaction
push-to-checkout pre-auto-gc post-rewrite sendemail-validate fsmonitor-watchman
post-index-change"""


def hooks(folder: Path, program: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in HOOKS.split():
        shutil.copy(program, folder / name)


def own_hooks(hostile: Hostile) -> None:
    hooks(hostile.repo.path / ".git/hooks", hostile.program)


def hooks_elsewhere(hostile: Hostile) -> None:
    hooks(hostile.home / "hooks", hostile.program)
    hooks(hostile.home / "template/hooks", hostile.program)
    hostile.config(
        f"core.hooksPath={hostile.home / 'hooks'}",
        f"init.templateDir={hostile.home / 'template'}",
    )
    hostile.setenv("GIT_TEMPLATE_DIR", str(hostile.home / "template"))


def replaced_commits(hostile: Hostile) -> None:
    """Let the base stand for another commit, by a replace ref, and by a graft."""
    repo = hostile.repo
    base, before = repo.git("rev-parse", "stable/ocata", "stable/ocata~1").split()
    other = repo.git("commit-tree", "-m", "another", f"{before}^{{tree}}")
    repo.git("replace", base, other)
    repo.git("replace", repo.git("rev-parse", "HEAD:merged"), repo.git("rev-parse", "HEAD:spaces"))
    (repo.path / ".git/info").mkdir(exist_ok=True)
    (repo.path / ".git/info/grafts").write_text(f"{base}\n")


def included_files(hostile: Hostile) -> None:
    """Set it in files that the configuration includes, and in one of the worktree's own."""
    text = "[core]\nfsmonitor = PROGRAM\nautocrlf = true\n[diff]\nexternal = PROGRAM\n"
    (hostile.home / "included").write_text(hostile.put(text))
    (hostile.repo.path / ".git/config.worktree").write_text(hostile.put(text))
    hostile.config(
        f"include.path={hostile.home / 'included'}",
        f"includeIf.gitdir:/.path={hostile.home / 'included'}",
        "core.repositoryFormatVersion=1",
        "extensions.worktreeConfig=true",
    )


def sparse(hostile: Hostile) -> None:
    hostile.repo.git("sparse-checkout", "set", "--no-cone", "/crlf")


def another_work_tree(hostile: Hostile) -> None:
    (hostile.home / "work").mkdir()
    hostile.repo.git("config", "core.worktree", str(hostile.home / "work"))


def stale_locks(hostile: Hostile) -> None:
    for name in ("index.lock", "HEAD.lock", "config.lock", "gc.pid", "shallow.lock"):
        (hostile.repo.path / ".git" / name).write_text("")


def other_config_files(hostile: Hostile) -> None:
    text = hostile.put("[core]\nfsmonitor = PROGRAM\n[diff]\nexternal = PROGRAM\nnoprefix = true\n")
    (hostile.home / "config").write_text(text)
    for name in ("GIT_CONFIG", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        hostile.setenv(name, str(hostile.home / "config"))
    hostile.setenv("GIT_CONFIG_NOSYSTEM", "0")
    hostile.setenv("XDG_CONFIG_HOME", str(hostile.home / "xdg"))
    (hostile.home / "xdg/git").mkdir(parents=True)
    (hostile.home / "xdg/git/config").write_text(text)


ROWS: dict[str, Arrange] = {
    "all hooks": own_hooks,
    "hooks elsewhere, and in the template": hooks_elsewhere,
    "signing": config(
        "commit.gpgSign=true", "tag.gpgSign=true", "push.gpgSign=true", "user.signingKey=ABCD",
        "gpg.program=PROGRAM", "gpg.openpgp.program=PROGRAM", "gpg.ssh.program=PROGRAM",
        "gpg.ssh.defaultKeyCommand=PROGRAM", "log.showSignature=true",
    ),
    "line ends: autocrlf": config("core.autocrlf=true", "core.eol=crlf", "core.safecrlf=true"),
    "line ends: input": config("core.autocrlf=input", "core.eol=lf", "core.safecrlf=warn"),
    "attributes: text": attributes("* text eol=crlf ident working-tree-encoding=UTF-16"),
    "attributes: auto": attributes("* text=auto whitespace=trailing-space,tab-in-indent -delta"),
    "attributes: no text": attributes("* -text -diff -merge binary conflict-marker-size=3"),
    "attributes: union": attributes("* merge=union"),
    "attributes: filter": attributes(
        "* filter=x", "filter.x.smudge=PROGRAM", "filter.x.clean=PROGRAM", "filter.x.required=true"
    ),
    "attributes: filter process": attributes(
        "* filter=x", "filter.x.process=PROGRAM", "filter.x.required=true"
    ),
    "attributes: drivers": attributes(
        "* diff=x merge=x", "diff.x.command=PROGRAM", "diff.x.textconv=PROGRAM",
        "diff.x.xfuncname=.*", "diff.x.binary=true", "merge.x.driver=PROGRAM %O %A %B %L %P",
        "merge.x.recursive=text",
    ),
    "merge driver by default": config("merge.default=x", "merge.x.driver=PROGRAM %A"),
    "file system monitor": config("core.fsmonitor=PROGRAM", "core.untrackedCache=true",
        "feature.manyFiles=true", "index.version=4", "core.splitIndex=true", "index.sparse=true"),
    "diff: external": config("diff.external=PROGRAM", "diff.trustExitCode=true",
        "diff.guitool=x", "difftool.x.cmd=PROGRAM", "interactive.diffFilter=PROGRAM"),
    "diff: no prefix": config("diff.noPrefix=true", "diff.srcPrefix=x/", "diff.dstPrefix=y/"),
    "diff: mnemonic prefix": config("diff.mnemonicPrefix=true", "diff.relative=true"),
    "diff: how": config("diff.context=0", "diff.interHunkContext=9", "diff.renames=false",
        "diff.renameLimit=1", "diff.algorithm=patience", "diff.indentHeuristic=false",
        "diff.suppressBlankEmpty=true", "diff.submodule=log", "diff.ignoreSubmodules=all",
        "diff.wordRegex=.", "diff.colorMoved=zebra", "diff.noindex=true"),
    "colour": config("color.ui=always", "color.diff=always", "color.branch=always",
        "color.status=always", "color.diff.new=red reverse"),
    "whitespace: fix": config("apply.whitespace=fix", "core.whitespace=trailing-space,cr-at-eol"),
    "whitespace: error": config("apply.whitespace=error-all", "apply.ignoreWhitespace=change",
        "core.whitespace=tab-in-indent,blank-at-eol"),
    "merging": config("merge.renames=false", "merge.directoryRenames=true", "merge.ff=only",
        "merge.renormalize=true", "merge.conflictStyle=zdiff3", "merge.renameLimit=1",
        "merge.verbosity=5", "merge.log=true"),
    "rerere": config("rerere.enabled=true", "rerere.autoUpdate=true"),
    "messages": config("commit.template=/nowhere", "commit.cleanup=scissors",
        "commit.verbose=true", "i18n.commitEncoding=iso-8859-1",
        "i18n.logOutputEncoding=utf-16", "core.commentChar=C", "trailer.separators=%"),
    "log": config("log.date=relative", "log.follow=true", "log.decorate=full", "log.mailmap=true",
        "log.showRoot=false", "format.pretty=oneline", "log.diffMerges=m", "core.abbrev=4",
        "core.notesRef=refs/notes/x", "notes.displayRef=*", "blame.ignoreRevsFile=/nowhere",
        "mailmap.file=/nowhere", "log.excludeDecoration=refs/*"),
    "commands of all kinds": config("core.pager=PROGRAM", "core.editor=PROGRAM",
        "core.askPass=PROGRAM", "core.sshCommand=PROGRAM", "core.gitProxy=PROGRAM",
        "core.alternateRefsCommand=PROGRAM", "sequence.editor=PROGRAM", "pager.log=PROGRAM",
        "credential.helper=!PROGRAM", "uploadpack.packObjectsHook=PROGRAM",
        "browser.x.cmd=PROGRAM", "remote.origin.uploadpack=PROGRAM", "remote.origin.url=ext::x",
        "trailer.x.command=PROGRAM", "trailer.x.cmd=PROGRAM", "protocol.allow=always",
        "protocol.ext.allow=always"),
    "aliases": config(*(f"alias.{name}=!PROGRAM" for name in (
        "rev-parse", "update-ref", "apply", "merge-tree", "log", "commit-tree", "init"))),
    "the file system": config("core.fileMode=false", "core.symlinks=false", "core.ignoreCase=true",
        "core.precomposeUnicode=true", "core.trustctime=false", "core.checkStat=minimal",
        "core.protectNTFS=false", "core.protectHFS=false", "core.quotePath=true"),
    "storage": config("core.compression=0", "core.bigFileThreshold=1", "pack.window=0",
        "pack.packSizeLimit=1m", "core.logAllRefUpdates=false", "transfer.unpackLimit=1",
        "transfer.fsckObjects=true", "fsck.badDate=error", "gc.auto=1", "gc.autoDetach=false",
        "maintenance.auto=true", "core.sharedRepository=0600", "repack.writeBitmaps=true",
        "core.multiPackIndex=true", "core.commitGraph=true", "core.preferSymlinkRefs=true"),
    "who": config("user.useConfigOnly=true", "safe.directory=/nowhere",
        "safe.bareRepository=explicit", "author.name=Carl Committer"),
    "replaced and grafted commits": replaced_commits,
    "included and worktree's own configuration": included_files,
    "a sparse checkout": sparse,
    "another work tree": another_work_tree,
    "stale lock files": stale_locks,
    "environment: other repositories": environment(
        GIT_DIR="/nowhere", GIT_WORK_TREE="/nowhere", GIT_INDEX_FILE="/nowhere",
        GIT_OBJECT_DIRECTORY="/nowhere", GIT_ALTERNATE_OBJECT_DIRECTORIES="/nowhere",
        GIT_COMMON_DIR="/nowhere", GIT_NAMESPACE="nowhere", GIT_CEILING_DIRECTORIES="/",
        GIT_DISCOVERY_ACROSS_FILESYSTEM="1", GIT_GRAFT_FILE="/nowhere", GIT_PREFIX="d/",
        GIT_SHALLOW_FILE="/nowhere", GIT_REPLACE_REF_BASE="refs/heads/",
    ),
    "environment: settings": environment(
        GIT_CONFIG_COUNT="2", GIT_CONFIG_KEY_0="diff.external", GIT_CONFIG_VALUE_0="PROGRAM",
        GIT_CONFIG_KEY_1="core.fsmonitor", GIT_CONFIG_VALUE_1="PROGRAM",
        GIT_CONFIG_PARAMETERS="'core.fsmonitor'='PROGRAM' 'diff.noprefix'='true'",
    ),
    "environment: configuration files": other_config_files,
    "environment: programs": environment(
        GIT_EXTERNAL_DIFF="PROGRAM", GIT_EDITOR="PROGRAM", GIT_SEQUENCE_EDITOR="PROGRAM",
        GIT_PAGER="PROGRAM", PAGER="PROGRAM", EDITOR="PROGRAM", VISUAL="PROGRAM",
        GIT_SSH="PROGRAM", GIT_SSH_COMMAND="PROGRAM", GIT_ASKPASS="PROGRAM", SSH_ASKPASS="PROGRAM",
        GIT_PROXY_COMMAND="PROGRAM",
    ),
    "environment: how": environment(
        GIT_DIFF_OPTS="-u9", GIT_MERGE_AUTOEDIT="yes", GIT_MERGE_VERBOSITY="5",
        GIT_LITERAL_PATHSPECS="0", GIT_ICASE_PATHSPECS="1", GIT_GLOB_PATHSPECS="1",
        GIT_FLUSH="1", GIT_ADVICE="1", GIT_DEFAULT_HASH="sha256", GIT_ATTR_SOURCE="HEAD",
        GIT_INDEX_VERSION="4", GIT_TEST_SPLIT_INDEX="1", GIT_OPTIONAL_LOCKS="1",
        GIT_PROTOCOL_FROM_USER="1", GIT_ALLOW_PROTOCOL="ext", GIT_NOTES_REF="refs/notes/x",
        GIT_REF_PARANOIA="0", GIT_QUARANTINE_PATH="/nowhere", GIT_REFLOG_ACTION="x",
    ),
    "environment: traces": environment(
        GIT_TRACE="1", GIT_TRACE_SETUP="1", GIT_TRACE2="1", GIT_TRACE_PACKET="1",
        GIT_TRACE2_EVENT="1", GIT_TRACE_PERFORMANCE="2", GIT_CURL_VERBOSE="1",
    ),
    "environment: dates": environment(
        GIT_AUTHOR_DATE="1 +0000", GIT_COMMITTER_DATE="1 +0000", TZ="Asia/Tokyo",
    ),
    "environment: languages": environment(
        LANG="de_DE.UTF-8", LANGUAGE="de:fr", LC_ALL="de_DE.UTF-8", LC_MESSAGES="de_DE.UTF-8",
        GIT_TEXTDOMAINDIR="/nowhere",
    ),
    "environment: no language at all": environment(LANG="C", LC_ALL="POSIX", PYTHONUTF8="0"),
}  # fmt: skip


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Plain:
    """Give a project, and what its series makes with nothing set."""
    return make_plain(tmp_path_factory)


@pytest.mark.parametrize("row", ROWS)
def test_settings_change_nothing_and_run_nothing(
    plain: Plain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: str
) -> None:
    project = plain.copy(tmp_path / "project")
    program, mark = tmp_path / "program", tmp_path / "mark"
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> {mark}\n')
    program.chmod(0o755)
    variables: dict[str, str] = {}
    home = Path(os.environ["HOME"])
    ROWS[row](Hostile(project.repo, home, program, mark, variables.__setitem__))
    mark.unlink(missing_ok=True)  # git itself may have run it while it was set
    before = snapshot(project.repo.path)
    with monkeypatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        ran = project.apply("ocata/bug-1")
    assert ran.code == 0, ran.err + ran.out
    assert not mark.exists(), mark.read_text()
    after = snapshot(project.repo.path)
    assert after.refs[BRANCH] == plain.tip
    assert after.without(BRANCH) == before


def test_no_signature_of_a_branch_is_checked(project: Project, tmp_path: Path) -> None:
    """`git log` of a branch that is in the way would, with log.showSignature."""
    repo = project.repo
    before = repo.commit("before", {"a": TEN})
    series = project.patch_series(repo.diff(before, repo.commit("one", {"a": FIVE})))
    repo.git("checkout", "-q", "-B", "stable/ocata", before)
    signed = repo.git("cat-file", "commit", before).replace(
        "\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n", 1
    )
    other = repo.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=f"{signed}\n".encode())
    repo.git("update-ref", BRANCH, other)
    program, mark = tmp_path / "program", tmp_path / "mark"
    program.write_text(f"#!/bin/sh\ntouch {mark}\n")
    program.chmod(0o755)
    repo.git("config", "gpg.program", str(program))
    repo.git("config", "log.showSignature", "true")
    ran = project.apply(series)
    assert ran.code == 5
    assert "before" in ran.out
    assert not mark.exists()


IN_TREE = {
    "union": "* merge=union\n",
    "line ends": "* text eol=crlf\nlf text eol=lf\n",
    "auto": "* text=auto\n",
    "keywords": "* ident export-subst\n",
    "encoding": "* working-tree-encoding=UTF-16 text\n",
    "filter": "* filter=x diff=x merge=x\n",
    "binary": "* binary\n",
    "left out of archives": "* export-ignore\n",
    "a macro": "[attr]x text eol=crlf ident\n* x\n",
    "marker size": "* conflict-marker-size=3\n",
}


@pytest.mark.parametrize("row", IN_TREE)
def test_attributes_in_the_tree_take_no_part(project: Project, tmp_path: Path, row: str) -> None:
    """What a commit holds is decided by the patch; a resolution changes what was edited alone."""
    repo = project.repo
    mark = tmp_path / "mark"
    for name in ("smudge", "clean", "textconv", "driver"):
        section = {"textconv": "diff", "driver": "merge"}.get(name, "filter")
        repo.git("config", f"{section}.x.{name}", f"touch {mark}")
    files: dict[str, bytes | str | None] = {
        "mixed": CRLF + TEN,
        "lf": CRLF,
        "id": "$Id: as it is $\n" + CRLF,
        "sh": "#!/bin/sh\n$Id$\n",
    }
    before = repo.commit("before", {"a": CRLF, "b": IDENT + CRLF, "c": TEN})
    one = repo.commit("one", {"a": CRLF.replace("line 5", "line V"), "c": FIVE})
    two = repo.commit("two", {"b": (IDENT + CRLF).replace("line 5", "line V")})
    series = project.patch_series(repo.diff(before, one), repo.diff(one, two))
    repo.git("checkout", "-q", "-B", "stable/ocata", before)
    # Into the object database as it is, past the attributes.
    theirs = TEN.replace("line 5", "line five")
    for name, data in {**files, "c": theirs, ".gitattributes": IN_TREE[row]}.items():
        blob = repo.git("hash-object", "-w", "--stdin", stdin=_bytes(data))
        repo.git("update-index", "--add", "--cacheinfo", f"100644,{blob},{name}")
    repo.git("commit", "-q", "-m", "base")
    mark.unlink(missing_ok=True)
    base = project.files("stable/ocata")
    assert project.apply(series).code == 3
    (work,) = (Path(os.environ["HOME"]) / ".local/state/backport/conflicts").glob("*/*/work-*")
    assert {name: (work / name).read_bytes() for name in base if name not in ("a", "c")} == {
        name: data for name, data in base.items() if name not in ("a", "c")
    }
    assert b"<<<<<<< branch\nline five\n" in (work / "c").read_bytes()
    (work / "c").write_text(FIVE)
    ran = project.run("continue", "--json")
    assert ran.code == 0, ran.err + ran.out
    wanted = {
        "a": _bytes(CRLF.replace("line 5", "line V")),
        "b": _bytes((IDENT + CRLF).replace("line 5", "line V")),
        "c": _bytes(FIVE),
    }
    assert project.files() == base | wanted
    assert not mark.exists()


def _bytes(data: bytes | str | None) -> bytes:
    return data.encode() if isinstance(data, str) else data or b""
