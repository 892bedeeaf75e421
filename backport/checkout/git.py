"""All of git: every call goes through GitPython, with nothing of the user's settings in it.

git's exit codes that are relied upon were observed with git 2.39.5; the oldest
git that has all of it is 2.38 (``merge-tree --write-tree``).
"""

from __future__ import annotations

import logging
import os
import re
import signal
import tempfile
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE
from typing import TYPE_CHECKING, BinaryIO, cast

from backport.errors import CannotTellError
from backport.workspace import writing

if TYPE_CHECKING:
    import git as gitpython

_LOG = logging.getLogger("backport.git")
OLDEST_GIT = (2, 38)
_REMEDY = "Install git 2.38 or newer, and see that it is on the PATH."

#: What may stay of GIT_* in the environment: who commits, and how a remote is reached.
_KEPT = re.compile(
    r"GIT_((AUTHOR|COMMITTER)_(NAME|EMAIL)|SSH|SSH_COMMAND|SSH_VARIANT|ASKPASS|SSL_.*|PROXY_SSL_.*"
    r"|HTTP_PROXY_AUTHMETHOD|EXEC_PATH|TEMPLATE_DIR|PYTHON_.*)\Z"
)

#: Settings of the user, the system and the environment that would take part are cut off …
_NO_SETTINGS = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_CONFIG_GLOBAL": "/dev/null",
}
_HERMETIC = {
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "LANGUAGE": "C",
    "LC_ALL": "C",
}

#: … and what a checkout's own configuration could make git execute is overruled.
_OVERRULED = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.attributesFile=/dev/null",
    "core.quotePath=false",
    "core.alternateRefsCommand=true",
    "core.pager=cat",
    # gpg.program of the checkout would be run for each signed commit that log shows.
    "log.showSignature=false",
    "protocol.ext.allow=never",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
    # Only reading is done in a checkout, and nothing of its configuration is
    # executed, so that another owner's checkout may be read (git 2.35.3 on).
    "safe.directory=*",
)


class GitFailedError(CannotTellError):
    """git ended with a status that nothing here expects: a broken repository, a full disk."""


@dataclass(frozen=True)
class Result:
    """What a git command left: its exit status, its output as bytes, its complaints as text."""

    status: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        """The output as text, without the newline at its end."""
        return self.out.decode("utf-8", "surrogateescape").removesuffix("\n")

    @property
    def why(self) -> str:
        """On one line, why git failed: what it calls errors, else the last that it said."""
        lines = [line.strip() for line in self.err.splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith(("fatal: ", "error: "))]
        said = [line.partition(": ")[2] for line in errors[-3:]] or lines[-1:]
        return "; ".join(dict.fromkeys(said)) or "no reason given"

    @property
    def fields(self) -> list[str]:
        """The fields of an output that was asked for with ``-z``."""
        text = self.out.decode("utf-8", "surrogateescape")
        return text.removesuffix("\0").split("\0") if text else []


def scrub(environ: MutableMapping[str, str]) -> None:
    """Take out of ``environ`` every GIT_* variable that could change what git does.

    GitPython hands the whole environment of the process to git, and can add to it but
    not take away. So the command line does this once, first of all.
    """
    for name in [name for name in environ if name.startswith("GIT_") and not _KEPT.match(name)]:
        del environ[name]


def git_version() -> tuple[int, int]:
    """Return the version of the git on the PATH.

    :raises CannotTellError: there is no git, or it is too old
    """
    text = Git(Path("/")).run("version").text
    found = re.match(r"git version (\d+)\.(\d+)", text)
    version = (int(found[1]), int(found[2])) if found else (0, 0)
    if version < OLDEST_GIT:
        raise CannotTellError(f"{text!r} is too old", "git 2.38 or newer is needed.")
    return version


def quoted(path: Path) -> str:
    """Return a path for git's lists of object folders, where a quote begins C's escapes (2.11 on).

    So that a name with a colon or a newline can stand there (git(1),
    GIT_ALTERNATE_OBJECT_DIRECTORIES; gitrepository-layout(5), objects/info/alternates).
    """
    escaped = os.fspath(path).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _start() -> gitpython.Git:
    """Load GitPython, which runs ``git version`` when it is loaded, and cannot be without a git."""
    try:
        import git as gitpython

        return gitpython.Git()
    except ImportError as error:
        raise CannotTellError("git does not answer", _REMEDY) from error


class Git:
    """Runs git in one folder, on one repository.

    :param folder: where git is started
    :param git_dir: the repository; None lets git look for it in ``folder`` and not above
    :param user_settings: with the user's own settings, which only the question who the
        user is needs
    """

    def __init__(
        self, folder: Path, git_dir: Path | None = None, user_settings: bool = False
    ) -> None:
        self.folder = folder
        self._git = _start()
        place = {"GIT_DIR": str(git_dir)} if git_dir else _ceiling(folder)
        settings = {} if user_settings else _NO_SETTINGS
        self._git.update_environment(**_HERMETIC, **settings, **place)

    def run(
        self,
        *args: str,
        stdin: bytes | None = None,
        ok: Sequence[int] = (0,),
        env: Mapping[str, str] | None = None,
        settings: Sequence[str] = (),
        apart: int | None = None,
    ) -> Result:
        """Run ``git ARGS`` and return what came of it.

        :param stdin: what git reads; None is nothing
        :param ok: the exit statuses that mean something to the caller
        :param env: variables on top of the hermetic ones
        :param settings: further ``name=value`` settings
        :param apart: a file descriptor that git inherits; it gets a session of its own, so that
            what ends this process and its group (Ctrl-C too) lets git come to its end
        :raises GitFailedError: any other status
        """
        _LOG.debug("%s  (in %s)", " ".join(args), self.folder)
        with writing(Path(tempfile.gettempdir())), tempfile.TemporaryFile() as source:
            source.write(stdin or b"")
            source.seek(0)
            command = self._command(args, settings)
            status, out, err = self._execute(command, cast("BinaryIO", source), env, apart)
        done = Result(status, out, err)
        if status not in ok:
            raise GitFailedError(
                f"git {args[0]} {_how(status)}: {done.why}",
                f"It was run in {self.folder}.",
            )
        return done

    def talk(self, *args: str) -> Talk:
        """Start a ``git ARGS`` that answers for as long as it is asked (``--batch``)."""
        with _starting():
            process = self._git.execute(self._command(args), istream=PIPE, as_process=True)
        return Talk(args[0], process)

    def _execute(
        self,
        command: list[str],
        source: BinaryIO,
        env: Mapping[str, str] | None,
        apart: int | None,
    ) -> tuple[int, bytes, str]:
        with _starting():
            status, out, err = self._git.execute(
                command,
                istream=source,
                env=env,
                with_extended_output=True,
                with_exceptions=False,
                stdout_as_string=False,
                strip_newline_in_stdout=False,
                start_new_session=apart is not None,
                pass_fds=() if apart is None else (apart,),
            )
        return status, out, err

    def _command(self, args: Sequence[str], settings: Sequence[str] = ()) -> list[str]:
        # Not by Git(folder): GitPython (3.1.43) fills in what looks like a variable in its name.
        flags = [flag for item in (*_OVERRULED, *settings) for flag in ("-c", item)]
        return ["git", "-C", str(self.folder), *flags, *args]


class Talk:
    """A git that goes on answering: a process for each question would be most of the work.

    It ends when its input does, and so with this process, whatever ends that.
    """

    def __init__(self, name: str, process: gitpython.Git.AutoInterrupt) -> None:
        self._name = name
        self._process = process  # ends it when it is thrown away
        self._ask: BinaryIO = process.stdin
        self._answer: BinaryIO = process.stdout
        self._complaints: BinaryIO = process.stderr

    def ask(self, question: bytes) -> bytes:
        """Return the line that answers a question, without its end.

        :raises GitFailedError: git has ended instead
        """
        try:
            self._ask.write(question)
            self._ask.flush()
            line = self._answer.readline()
        except BrokenPipeError:
            line = b""
        if not line.endswith(b"\n"):
            raise self._failed()
        return line[:-1]

    def read(self, size: int) -> bytes:
        """Return that many bytes which follow the answer."""
        data = self._answer.read(size)
        if len(data) != size:
            raise self._failed()
        return data

    def close(self) -> None:
        """Let it end."""
        with suppress(BrokenPipeError):
            self._ask.close()
        self._answer.close()
        self._complaints.close()
        self._status()

    def _failed(self) -> GitFailedError:
        said = self._complaints.read().decode("utf-8", "replace")
        done = Result(self._status(), b"", said)
        return GitFailedError(f"git {self._name} {_how(done.status)}: {done.why}")

    def _status(self) -> int:
        assert self._process.proc is not None  # GitPython gives it up in __del__ only
        return self._process.proc.wait()


@contextmanager
def _starting() -> Iterator[None]:
    """Say in our own words why git could not be started."""
    from git.exc import GitCommandNotFound  # loaded by now, see _start

    try:
        yield
    except (GitCommandNotFound, OSError) as error:
        raise CannotTellError(f"git cannot be started: {error}", _REMEDY) from error
    except ValueError as error:  # a NUL in an argument
        raise GitFailedError(f"git cannot be asked so: {error}") from error


def _how(status: int) -> str:
    """Say how git ended: Python gives the number of the signal that ended a process, negative."""
    if status >= 0:
        return f"failed with status {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"


def _ceiling(folder: Path) -> dict[str, str]:
    # A colon parts the entries of this list; a folder with one in its name then
    # has no ceiling, and what git finds above it is told apart by the caller.
    return {"GIT_CEILING_DIRECTORIES": str(folder.resolve().parent)}
