"""An environment is whole or not there: built once, also when runs are killed, doubled, or fail."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from backport.environment.environment import describe, ensure_environment
from backport.environment.interpreter import Interpreter, find_interpreter
from backport.errors import CannotTellError, ExitCode, ManifestError
from backport.process import Command, run
from backport.progress import Silent
from backport.runner.results import Environment
from localindex import make_index, make_sdist, make_wheel, pip_env, serving, sha256

OWN = f"{sys.version_info.major}.{sys.version_info.minor}"
# virtualenv 20.21 brings a setuptools along that 3.12 and later cannot run.
BUILDS = pytest.mark.skipif(sys.version_info >= (3, 12), reason="no setuptools for this Python")
HELLO = "[console_scripts]\nhello = hello:main\n"
NOTE = "open({path!r}, 'a').write('built\\n')\n"


@dataclass
class Listener(Silent):
    """Keeps what it hears."""

    updates: list[tuple[str, int, int]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def update(self, detail: str, done: int = 0, total: int = 0) -> None:
        self.updates.append((detail, done, total))

    def note(self, text: str) -> None:
        self.notes.append(text)


@dataclass
class Bench:
    """A lock, an index, a cache, and a Python: all that an environment is built from."""

    root: Path
    interpreter: Interpreter
    files: list[Path] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)
    folder: str = "cache"

    @property
    def lock(self) -> Path:
        return self.root / "lock.txt"

    @property
    def cache(self) -> Path:
        return self.root / self.folder

    def add(self, *files: Path) -> None:
        """Put files on the index and into the lock."""
        self.files += files
        lines = [f"{pinned(file)} --hash=sha256:{sha256(file)}\n" for file in self.files]
        self.lock.write_text("".join(lines))
        self.env = pip_env(
            self.root, index_url=make_index(self.root / "index", *files), retries="0"
        )

    def ensure(self, listener: Silent | None = None) -> Environment:
        return ensure_environment(
            self.lock, self.interpreter, self.cache, self.env, listener or Silent()
        )

    def left(self) -> list[str]:
        """Return what lies about in the cache that is no environment."""
        return [path.name for path in (self.cache / "building").glob("run-*")]

    def environments(self) -> list[Path]:
        return [path.parent for path in (self.cache / "environments").glob("*/*.json")]


def pinned(file: Path) -> str:
    name, _, rest = file.name.partition("-")
    return f"{name}=={rest.removesuffix('.tar.gz').partition('-py2')[0]}"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Interpreter:
    env = pip_env(tmp_path_factory.mktemp("home"))
    return find_interpreter(OWN, Path(sys.executable), env)


@pytest.fixture
def bench(tmp_path: Path, own: Interpreter) -> Bench:
    """Give a lock with one wheel that has a script."""
    made = Bench(tmp_path, own)
    code = "VERSION = '1.0'\n\ndef main():\n    print('hello from', VERSION)\n"
    made.add(make_wheel(tmp_path / "made", "hello", "1.0", {"hello.py": code}, HELLO))
    return made


def say(environment: Environment, code: str) -> str:
    """Run a line of Python in the environment."""
    return execute(environment.python, "-c", code)


def execute(program: Path, *args: str) -> str:
    ended = run(Command((str(program), *args), Path("/"), {"PATH": os.environ["PATH"]}), timeout=60)
    assert ended.ok, ended.text
    return ended.text.strip()


def test_the_packages_of_the_lock_are_there_and_scripts_work_at_the_final_place(
    bench: Bench,
) -> None:
    made = bench.ensure()
    assert say(made, "import hello; print(hello.VERSION)") == "1.0"
    assert execute(made.folder / "bin" / "hello") == "hello from 1.0"
    assert execute(made.folder / "bin" / "pip", "--version").startswith("pip ")
    assert made.version == bench.interpreter.version
    assert made.python == made.folder / "bin" / "python"
    assert bench.left() == []


@pytest.mark.parametrize("name", ["with a space", "long" * 40])
def test_scripts_work_wherever_the_cache_is(bench: Bench, name: str) -> None:
    bench.folder = name
    made = bench.ensure()
    assert execute(made.folder / "bin" / "hello") == "hello from 1.0"
    assert execute(made.folder / "bin" / "pip", "--version").startswith("pip ")


@BUILDS
def test_what_is_installed_is_named_by_version_and_not_by_a_path(bench: Bench) -> None:
    bench.add(noted(bench))
    made = bench.ensure()
    assert execute(made.python, "-m", "pip", "freeze").splitlines() == ["built==1.0", "hello==1.0"]
    assert list(made.folder.rglob("direct_url.json")) == []


def test_a_lock_may_hold_what_virtualenv_brings_along(bench: Bench) -> None:
    names = ("pip", "setuptools", "wheel")
    code = "print('the one of the lock')"
    bench.add(*(make_wheel(bench.root / "made", f, "99.0", {f"{f}.py": code}) for f in names))
    made = bench.ensure()
    for name in names:
        assert say(made, f"import {name}") == "the one of the lock"
        infos = made.folder.glob(f"lib*/python*/site-packages/{name}-*.dist-info")
        assert [info.name for info in infos] == [f"{name}-99.0.dist-info"]


def test_it_is_described_by_what_it_is(bench: Bench) -> None:
    known = describe(bench.ensure())
    assert known.packages == 1
    assert known.sqlite == bench.interpreter.sqlite
    assert known.version == bench.interpreter.version
    assert known.lock == "lock.txt"
    assert known.lock_sha256 == sha256(bench.lock)


def test_a_second_call_builds_nothing(bench: Bench) -> None:
    made = bench.ensure()
    before = made.folder.stat().st_mtime_ns
    record = made.folder / "backport-environment.json"
    os.utime(record, (0, 0))
    listener = Listener()
    assert bench.ensure(listener) == made
    assert listener.updates == []
    assert record.stat().st_mtime > 0  # it is known to be in use
    assert made.folder.stat().st_mtime_ns == before


def test_progress_counts_the_packages(bench: Bench) -> None:
    bench.add(make_wheel(bench.root / "made", "other", "2.0", {"other.py": ""}))
    listener = Listener()
    bench.ensure(listener)
    assert [done for _, done, _ in listener.updates] == [0, 1, 2]
    assert {total for _, _, total in listener.updates} == {2}


def test_another_interpreter_is_another_environment(bench: Bench) -> None:
    first = bench.ensure()
    bench.interpreter = replace(bench.interpreter, identity="rebuilt with another SQLite")
    second = bench.ensure()
    assert first.key != second.key
    assert len(bench.environments()) == 2


def test_of_several_files_the_one_that_fits_is_taken(bench: Bench) -> None:
    wheel = make_wheel(bench.root / "made", "both", "1.0", {"both.py": "KIND = 'wheel'"})
    source = make_sdist(bench.root / "made", "both", "1.0", {"both.py": "KIND = 'source'"})
    bench.add(wheel, source)
    hashes = " ".join(f"--hash=sha256:{sha256(file)}" for file in (source, wheel))
    bench.lock.write_text(f"both==1.0 {hashes}\n")
    assert say(bench.ensure(), "import both; print(both.KIND)") == "wheel"


def test_a_package_that_is_for_another_python_is_left_out(bench: Bench) -> None:
    marked = "".join(f"{line} ; python_version < '2'\n" for line in ["nothere==1.0"])
    bench.lock.write_text(bench.lock.read_text() + marked.rstrip() + " --hash=sha256:" + "0" * 64)
    assert describe(bench.ensure()).packages == 1


def damage_record(made: Environment) -> None:
    (made.folder / "backport-environment.json").write_text("{")


def damage_packages(made: Environment) -> None:
    info = next(made.folder.glob("lib*/python*/site-packages/hello-*.dist-info"))
    info.rename(made.folder / "elsewhere")


def damage_python(made: Environment) -> None:
    made.python.unlink()
    made.python.symlink_to("/nonexistent/python")


@pytest.mark.parametrize("damage", [damage_record, damage_packages, damage_python])
def test_one_that_was_damaged_is_built_anew(
    bench: Bench, damage: Callable[[Environment], None]
) -> None:
    damage(bench.ensure())
    assert say(bench.ensure(), "import hello; print(hello.VERSION)") == "1.0"


def test_a_folder_of_its_name_that_is_none_is_replaced(bench: Bench) -> None:
    made = bench.ensure()
    for path in list(made.folder.iterdir()):
        path.rename(bench.root / f"gone-{path.name}")
    assert say(bench.ensure(), "import hello; print(hello.VERSION)") == "1.0"


def test_a_damaged_file_of_the_cache_is_fetched_again(bench: Bench) -> None:
    bench.ensure()
    kept = next((bench.cache / "files").rglob("*.whl"))
    kept.write_bytes(b"PK rubbish")
    bench.lock.write_text(bench.lock.read_text() + "# again\n")
    assert say(bench.ensure(), "import hello; print(hello.VERSION)") == "1.0"


# --- building from sources ---------------------------------------------------------------------


def noted(bench: Bench, name: str = "built", extra: str = "") -> Path:
    """Make a source archive whose build leaves a line in ``ROOT/log``."""
    setup = NOTE.format(path=str(bench.root / "log")) + extra
    setup += (
        f"from setuptools import setup\nsetup(name={name!r}, version='1.0', py_modules=[{name!r}])"
    )
    return make_sdist(bench.root / "made", name, "1.0", {"setup.py": setup})


def times_built(bench: Bench) -> int:
    log = bench.root / "log"
    return len(log.read_text().splitlines()) if log.exists() else 0


@BUILDS
def test_what_has_no_wheel_is_built_once(bench: Bench) -> None:
    bench.add(noted(bench))
    bench.ensure()
    assert say(bench.ensure(), "import built; print(built.VERSION)") == "1.0"
    assert times_built(bench) == 1


@BUILDS
def test_a_build_finds_the_wheels_of_the_lock(bench: Bench) -> None:
    bench.add(noted(bench, extra="import hello\n"))
    assert say(bench.ensure(), "import built; print(built.VERSION)") == "1.0"


@BUILDS
def test_a_project_without_setup_py_is_built_too(bench: Bench) -> None:
    project = "[build-system]\nrequires = ['setuptools']\nbuild-backend = 'setuptools.build_meta'\n"
    project += (
        "[project]\nname = 'modern'\nversion = '1.0'\n[tool.setuptools]\npy-modules = ['modern']"
    )
    archive = make_sdist(bench.root / "made", "modern", "1.0", {"pyproject.toml": project})
    drop_member(archive, "setup.py")
    bench.add(archive)
    assert say(bench.ensure(), "import modern; print(modern.VERSION)") == "1.0"


def drop_member(archive: Path, name: str) -> None:
    import tarfile

    with tarfile.open(archive) as old:
        members = [(one, old.extractfile(one)) for one in old.getmembers()]
        kept = [(one, file.read()) for one, file in members if file and not one.name.endswith(name)]
    with tarfile.open(archive, "w:gz") as new:
        import io

        for one, content in kept:
            new.addfile(one, io.BytesIO(content))


@BUILDS
def test_a_build_fetches_nothing_that_the_lock_does_not_hold(bench: Bench) -> None:
    setup = "from setuptools import setup\nsetup(name='wanting', setup_requires=['extra>=1'])"
    wanting = make_sdist(bench.root / "made", "wanting", "1.0", {"setup.py": setup})
    with serving(bench.root / "index") as server:
        bench.add(wanting)
        bench.env["PIP_INDEX_URL"] = server.url
        with pytest.raises(CannotTellError, match=r"wanting 1\.0 cannot be built: it wants extra"):
            bench.ensure()
        assert not [path for path in server.requests if "extra" in path]


@BUILDS
def test_a_build_that_fails_names_the_package_and_keeps_the_log(bench: Bench) -> None:
    bench.add(
        noted(bench, "failing", "print('before')\nraise SystemExit('error: the last word')\n")
    )
    with pytest.raises(CannotTellError) as caught:
        bench.ensure()
    assert caught.value.message == "failing 1.0 cannot be built: error: the last word"
    log = Path(caught.value.hint.removeprefix("The whole log: "))
    assert "before" in log.read_text()
    assert bench.environments() == []
    assert bench.left() == []


# --- what goes wrong ------------------------------------------------------------------------------


def test_a_wrong_checksum_names_both(bench: Bench) -> None:
    right = sha256(bench.files[0])
    bench.lock.write_text(bench.lock.read_text().replace(right, "0" * 64))
    make_index(bench.root / "index", bench.files[0], checksums=False)
    with pytest.raises(CannotTellError) as caught:
        bench.ensure()
    assert right in caught.value.message
    assert "0" * 64 in caught.value.message
    assert caught.value.exit_code == ExitCode.CANNOT_TELL


def test_a_package_that_is_not_there_is_named(bench: Bench) -> None:
    bench.lock.write_text(f"absent==3.0 --hash=sha256:{'0' * 64}\n")
    with pytest.raises(CannotTellError, match=r"absent 3\.0"):
        bench.ensure()
    assert bench.environments() == []
    assert bench.left() == []


def test_a_network_that_is_down_is_told(bench: Bench) -> None:
    bench.env["PIP_INDEX_URL"] = "http://127.0.0.1:9/simple"
    with pytest.raises(CannotTellError, match=r"cannot fetch hello 1\.0"):
        bench.ensure()


def test_a_file_that_is_no_wheel_is_told(bench: Bench) -> None:
    broken = bench.root / "made" / "broken-1.0-py2.py3-none-any.whl"
    broken.write_bytes(b"this is no wheel")
    bench.add(broken)
    with pytest.raises(CannotTellError, match=r"cannot be installed: .*broken"):
        bench.ensure()
    assert bench.environments() == []


def test_a_wheel_that_would_write_elsewhere_is_refused(bench: Bench) -> None:
    evil = make_wheel(bench.root / "made", "evil", "1.0", {"../../../../../evil.txt": "x"})
    bench.add(evil)
    with pytest.raises(CannotTellError, match="cannot be installed"):
        bench.ensure()
    assert not list(bench.root.rglob("evil.txt"))


def test_a_cache_that_cannot_be_written_is_told(bench: Bench) -> None:
    bench.cache.write_text("a file where the folder should be")
    with pytest.raises(CannotTellError, match="cannot be kept in"):
        bench.ensure()


def test_a_lock_that_is_not_there_or_not_meant_so_is_told(bench: Bench) -> None:
    bench.lock.write_text("hello\nother>=1\n")
    with pytest.raises(ManifestError) as caught:
        bench.ensure()
    assert [problem.line for problem in caught.value.problems] == [1, 2]
    bench.lock.unlink()
    with pytest.raises(CannotTellError, match="cannot be read"):
        bench.ensure()


# --- killed, doubled, interrupted -----------------------------------------------------------------

CHILD = """
import os, signal, sys
from pathlib import Path
from backport.errors import CannotTellError
from backport.progress import Silent
from backport.environment.environment import ensure_environment
from backport.environment.interpreter import find_interpreter

class Killer(Silent):
    seen = 0
    def update(self, detail, done=0, total=0):
        if Killer.seen == {at}:
            os.kill(os.getpid(), signal.SIGKILL)
        Killer.seen += 1
    def note(self, text):
        print("NOTE", text, flush=True)

if str({at}).startswith("full"):
    import resource
    limit = int(str({at})[4:])
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
if {at} == "record":
    Path.write_text = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
env = {env!r}
python = find_interpreter({version!r}, Path({python!r}), env)
try:
    made = ensure_environment(Path({lock!r}), python, Path({cache!r}), env, Killer())
    print(made.python)
except CannotTellError as error:
    print("ERROR", error.message)
"""


def child(bench: Bench, at: object = None) -> subprocess.Popen[str]:
    """Start a run of its own, that kills itself at a word of progress or before the record."""
    code = CHILD.format(
        at=repr(at),
        env=bench.env,
        version=bench.interpreter.short_version,
        python=str(bench.interpreter.path),
        lock=str(bench.lock),
        cache=str(bench.cache),
    )
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize("at", [0, 1, 2, "record"])
def test_a_killed_run_leaves_no_environment_and_the_next_one_succeeds(
    bench: Bench, at: object
) -> None:
    bench.add(make_wheel(bench.root / "made", "other", "2.0", {"other.py": ""}))
    killed = child(bench, at)
    assert killed.wait(120) == -signal.SIGKILL
    assert bench.environments() == []
    assert say(bench.ensure(), "import hello, other; print(hello.VERSION)") == "1.0"
    assert bench.left() == []


def running(*words: str) -> list[int]:
    """Return the processes whose command lines have all these words."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            leashed = "prctl" not in line  # else it is still what puts itself on the leash
            if all(word in line for word in words) and state != "Z" and leashed:
                found.append(int(entry.name))
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends what a killed run has started")
@pytest.mark.parametrize("program", ["-m virtualenv", "-m pip install"])
def test_a_killed_run_leaves_nothing_running(bench: Bench, program: str) -> None:
    words = (f"{program} ", str(bench.root))
    killed = child(bench)
    wait_for(lambda: bool(running(*words)))
    for pid in running(*words):
        os.kill(pid, signal.SIGSTOP)  # it would not end by itself any more
    killed.kill()
    killed.wait(60)
    try:
        wait_for(lambda: not running(*words))
    finally:
        for pid in running(*words):
            os.kill(pid, signal.SIGKILL)
    assert say(bench.ensure(), "import hello; print(hello.VERSION)") == "1.0"


@pytest.mark.parametrize("room", [100, 600, 100_000])
def test_a_full_disk_is_told_and_leaves_nothing(bench: Bench, room: int) -> None:
    large = {"large.py": f"X = {'x' * 200_000!r}\n"}
    bench.add(make_wheel(bench.root / "made", "large", "1.0", large))
    said, _ = child(bench, f"full{room}").communicate(timeout=120)
    assert said.startswith("ERROR ")
    assert bench.environments() == []
    assert bench.left() == []
    assert say(bench.ensure(), "import large; print(len(large.X))") == "200000"


@BUILDS
def test_a_run_that_is_killed_while_it_builds_does_no_harm(bench: Bench) -> None:
    bench.add(noted(bench, extra=waiting(bench)))
    killed = child(bench)
    wait_for(lambda: times_built(bench) == 1)
    killed.kill()
    killed.wait(60)
    (bench.root / "go").write_text("")
    assert bench.environments() == []
    assert say(bench.ensure(), "import built; print(built.VERSION)") == "1.0"
    assert bench.left() == []


@BUILDS
def test_an_interrupted_run_ends_its_builds_and_leaves_nothing(bench: Bench) -> None:
    end = f"import os; open({str(bench.root / 'pid')!r}, 'w').write(str(os.getpid()))\n"
    bench.add(noted(bench, extra=end + waiting(bench)))
    interrupted = child(bench)
    wait_for(lambda: (bench.root / "pid").exists() and (bench.root / "pid").read_text() != "")
    interrupted.send_signal(signal.SIGINT)
    assert interrupted.wait(60) != 0
    with pytest.raises(ProcessLookupError):
        os.kill(int((bench.root / "pid").read_text()), 0)
    assert bench.environments() == []
    assert bench.left() == []


def test_an_interrupted_run_does_not_wait_for_a_silent_server(bench: Bench) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        bench.env["PIP_INDEX_URL"] = f"http://127.0.0.1:{silent.getsockname()[1]}"
        bench.env["PIP_TIMEOUT"] = "600"
        interrupted = child(bench)
        silent.settimeout(60)
        with silent.accept()[0]:
            wait_for(lambda: any((bench.cache / "environments").glob("*/bin/python")))
            interrupted.send_signal(signal.SIGINT)
            assert interrupted.wait(60) != 0
    assert bench.environments() == []
    assert bench.left() == []


@BUILDS
def test_of_two_runs_at_once_one_builds_and_the_other_waits(bench: Bench) -> None:
    bench.add(noted(bench, extra=waiting(bench)))
    first = child(bench)
    wait_for(lambda: times_built(bench) == 1)
    second = child(bench)
    assert second.stdout is not None
    assert "waiting for it" in second.stdout.readline()
    (bench.root / "go").write_text("")
    one, two = first.communicate(timeout=120)[0], second.communicate(timeout=120)[0]
    assert one == two != ""
    assert times_built(bench) == 1


def waiting(bench: Bench) -> str:
    """Return code that waits until the file ROOT/go is there, half a minute at most."""
    go = str(bench.root / "go")
    return f"import os, time\nfor _ in range(600): os.path.exists({go!r}) or time.sleep(0.05)\n"


def wait_for(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


# --- Python 2.7 -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def python27() -> Iterator[Interpreter]:
    # The HOME of the machine, where pyenv's versions are; the tests get one of their own.
    env = {**os.environ, "HOME": os.path.expanduser(f"~{os.environ.get('USER', 'root')}")}
    try:
        yield find_interpreter("2.7", None, env)
    except CannotTellError as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(f"no Python 2.7: {error.hint}")


def test_python_2_gets_its_wheels_and_its_builds(tmp_path: Path, python27: Interpreter) -> None:
    bench = Bench(tmp_path, python27)
    code = "def main():\n    print 'hello from two'\n"
    bench.add(make_wheel(tmp_path / "made", "hello", "1.0", {"hello.py": code}, HELLO))
    bench.add(noted(bench, extra="import hello\n"))
    bench.add(make_wheel(tmp_path / "made", "pip", "99.0", {"pip.py": "print 'of the lock'"}))
    made = bench.ensure()
    assert say(made, "import pip") == "of the lock"
    assert list(made.folder.rglob("direct_url.json")) == []
    assert say(made, "import built, sys; print(sys.version_info[0], built.VERSION)") == "(2, '1.0')"
    assert execute(made.folder / "bin" / "hello") == "hello from two"
    assert times_built(bench) == 1
