"""Finds the interpreter that a branch's tests run under. A candidate is run before it is believed.

On a PATH there are programs of the right name that do not work: pyenv's shims answer for
versions that are not active (exit status 127), and a build without the right headers
lacks ``sqlite3`` or ``ssl``.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import shutil
import sysconfig
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backport.errors import CannotTellError
from backport.kept import digest, read_checked, write_checked
from backport.process import Command, StartError, run

if TYPE_CHECKING:
    from packaging.tags import Tag

_PATIENCE = 15.0  # seconds; a start takes well under one, also on a busy machine
_NEEDED = ("ssl", "zlib", "sqlite3")  # nova's tests migrate SQLite; setuptools needs the others
_IDENTITY = ("build", "implementation", "soabi", "flags", "platform", "prefix", "sqlite", "openssl")
_KNOWN = {  # the last release, and who still packages it
    "2.7": ("2.7.18", "python2.7-dev; Debian up to 11, Ubuntu up to 22.04"),
    "3.5": ("3.5.10", "python3.5-dev; Debian 9, Ubuntu 16.04"),
}
# Where else interpreters are put: pyenv, asdf, mise, uv, Python's own make install, and images.
_PLACES = (
    "{pyenv}/versions/{version}*/bin/python{version}",
    "{home}/.asdf/installs/python/{version}*/bin/python{version}",
    "{home}/.local/share/mise/installs/python/{version}*/bin/python{version}",
    "{home}/.local/share/uv/python/cpython-{version}*/bin/python{version}",
    "/usr/local/bin/python{version}",
    "/opt/python*{version}*/bin/python{version}",
    "/opt/python/*{nodot}*/bin/python{version}",
)
# Runs under any Python from 2.6 on, and prints one line of JSON.
_PROBE = """
import json, os, platform, sys
try:
    import sysconfig
except ImportError:
    sysconfig = None
lacking, sqlite, openssl = [], "", ""
for name in sys.argv[1:]:
    try:
        __import__(name)
    except ImportError:
        lacking.append(name)
if "sqlite3" not in lacking:
    import sqlite3
    sqlite = sqlite3.sqlite_version
if "ssl" not in lacking:
    import ssl
    openssl = getattr(ssl, "OPENSSL_VERSION", "")
soabi = sysconfig.get_config_var("SOABI") or "" if sysconfig else ""
flags = ("d" if hasattr(sys, "gettotalrefcount") else "")
flags += "m" if sysconfig and sysconfig.get_config_var("WITH_PYMALLOC") else ""
flags += "u" if sys.maxunicode > 65535 else ""
print(json.dumps({
    "version": "%d.%d.%d" % sys.version_info[:3], "build": sys.version, "lacking": lacking,
    "implementation": platform.python_implementation(), "soabi": soabi, "flags": flags,
    "platform": sysconfig.get_platform() if sysconfig else sys.platform,
    "prefix": getattr(sys, "real_prefix", getattr(sys, "base_prefix", sys.prefix)),
    "executable": sys.executable, "sys_platform": sys.platform, "os_name": os.name,
    "machine": platform.machine(), "system": platform.system(), "release": platform.release(),
    "sqlite": sqlite, "openssl": openssl,
}))
"""


@dataclass(frozen=True)
class Interpreter:
    """A Python that was run, and what it said of itself."""

    path: Path
    version: str  # whole: "2.7.18"
    implementation: str  # "CPython"
    abi: str  # as in a wheel's name: "cp27mu"
    platform: str  # as its sysconfig has it: "linux-x86_64"
    sqlite: str  # SQLite's version
    identity: str  # a digest: another build, or another SQLite, is another interpreter
    markers: tuple[tuple[str, str], ...]  # the environment of PEP 508

    @property
    def short_version(self) -> str:
        """Major and minor: "2.7"."""
        return ".".join(self.version.split(".")[:2])

    @cached_property
    def tags(self) -> dict[Tag, int]:
        """The wheels that it takes, and how well they fit: 0 is best."""
        from packaging.tags import compatible_tags, cpython_tags, generic_tags  # for a build only

        major, minor = (int(part) for part in self.version.split(".")[:2])
        name = {"CPython": "cp", "PyPy": "pp"}.get(self.implementation, "py") + f"{major}{minor}"
        platforms = _platforms(self.platform)
        own = (
            cpython_tags((major, minor), [self.abi], platforms)
            if self.implementation == "CPython"
            else generic_tags(name, [self.abi], platforms)
        )
        tags = [*own, *compatible_tags((major, minor), name, platforms)]
        return {tag: rank for rank, tag in reversed(list(enumerate(tags)))}


def find_interpreter(
    version: str, explicit: Path | None, env: Mapping[str, str], kept: Path | None = None
) -> Interpreter:
    """Return a working interpreter of the version.

    :param version: major and minor, as "2.7"
    :param explicit: the one that the user named; no other is looked for
    :param env: the environment, whole; PATH, HOME and PYENV_ROOT say where to look
    :param kept: the file for what did not work: it is asked last the next time, for a shim
        takes three times as long to say no as a Python to say what it is
    :raises CannotTellError: there is none; the hint says what was tried, and how to get one
    """
    candidates = list(_named(explicit, env) if explicit else _candidates(version, env))
    states = {str(candidate): _state(candidate, version, env) for candidate in candidates}
    before: dict[str, str] = (read_checked(kept) if kept else None) or {}
    refused: dict[Path, str] = {}
    for candidate in sorted(candidates, key=lambda one: before.get(str(one)) == states[str(one)]):
        try:
            found = examine(candidate, version, env)
        except CannotTellError as error:
            refused[candidate] = error.message
            continue
        news = {str(one): states[str(one)] for one in refused}
        if kept and news.items() - before.items():
            write_checked(kept, {**before, **news})
        return found
    if explicit:
        reason = next(iter(refused.values()), "there is no such program")
        raise CannotTellError(f"--python {explicit} cannot be used: {reason}", _ways(version))
    tried = ["Tried:", *(f"  {one}: {refused[one]}" for one in candidates)]
    nothing = [f"No python{version} is on the PATH."]
    raise CannotTellError(
        f"no working Python {version} was found",
        "\n".join([*(tried if refused else nothing), _ways(version)]),
    )


def _state(candidate: Path, version: str, env: Mapping[str, str]) -> str:
    """Return a digest of what could make a program that does not work one that does."""
    home = env.get("HOME", "")
    others = (f"{home}/.tool-versions", f"{home}/.config/mise/config.toml")
    said = sorted(item for item in env.items() if item[0].startswith(("PYENV_", "ASDF_", "MISE_")))
    times = []
    for file in (str(candidate), f"{_pyenv(env)}/version", *others):
        with suppress(OSError):
            status = os.stat(file)
            times.append((file, status.st_ino, status.st_size, status.st_mtime_ns))
    return digest(version, repr(said), repr(times))


def examine(path: Path, version: str, env: Mapping[str, str]) -> Interpreter:
    """Run a candidate and return what it is.

    :raises CannotTellError: it does not run, is of another version, or lacks a module
    """
    said = _ask(path, env)
    if said["version"].split(".")[:2] != version.split(".")[:2]:
        raise CannotTellError(f"is Python {said['version']}, not {version}")
    if lacking := said["lacking"]:
        raise CannotTellError(f"was built without {', '.join(lacking)}")
    path = Path(said["executable"] or path)  # a shim's is the interpreter that it stands for
    identity = json.dumps([str(path), *(said[key] for key in _IDENTITY)])
    return Interpreter(
        path=path,
        version=said["version"],
        implementation=said["implementation"],
        abi=_abi(said),
        platform=said["platform"],
        sqlite=said["sqlite"],
        identity=hashlib.sha256(identity.encode()).hexdigest(),
        markers=_markers(said),
    )


def _ask(path: Path, env: Mapping[str, str]) -> dict[str, Any]:
    # -E -s: what the user has set for the Pythons of his own is not for this one.
    command = Command((str(path), "-E", "-s", "-c", _PROBE, *_NEEDED), Path("/"), env)
    try:
        ended = run(command, timeout=_PATIENCE)
    except StartError as error:
        raise CannotTellError(f"does not start: {error.message}") from error
    if ended.timed_out:
        raise CannotTellError(f"gave no answer within {_PATIENCE:.0f} s")
    lines = ended.text.strip().splitlines() or [f"exit status {ended.status}, and no word"]
    try:
        said = json.loads(lines[-1]) if ended.ok else None
    except ValueError:
        said = None
    if not isinstance(said, dict):
        raise CannotTellError(f"does not work: {lines[0]}")
    return said


def _named(explicit: Path, env: Mapping[str, str]) -> Iterator[Path]:
    """Yield what the user named: a path, or a name on the PATH."""
    name = str(explicit)
    if os.sep not in name:
        name = shutil.which(name, path=env.get("PATH", "")) or name
    file = Path(os.path.abspath(name))
    if _is_program(file):
        yield file


def _candidates(version: str, env: Mapping[str, str]) -> Iterator[Path]:
    """Yield programs that may be the interpreter, each once, the PATH's first."""
    seen: set[str] = set()
    for file in (*_on_path(version, env), *_elsewhere(version, env)):
        real = os.path.realpath(file)
        if real not in seen and _is_program(file):
            seen.add(real)
            yield file


def _on_path(version: str, env: Mapping[str, str]) -> Iterator[Path]:
    for folder in env.get("PATH", "").split(os.pathsep):
        if os.path.isabs(folder):  # the working directory is no place to find programs in
            yield Path(folder, f"python{version}")


def _elsewhere(version: str, env: Mapping[str, str]) -> Iterator[Path]:
    home = env.get("HOME", "")
    pyenv = _pyenv(env)
    for place in _PLACES:
        pattern = place.format(
            home=home, pyenv=pyenv, version=version, nodot=version.replace(".", "")
        )
        yield from (Path(found) for found in sorted(glob.glob(pattern), reverse=True))


def _pyenv(env: Mapping[str, str]) -> str:
    return env.get("PYENV_ROOT") or env.get("HOME", "") + "/.pyenv"


def _is_program(file: Path) -> bool:
    return os.path.isfile(file) and os.access(file, os.X_OK)


def _ways(version: str) -> str:
    whole, package = _KNOWN.get(version, (version, f"python{version} and its headers"))
    return (
        f"Ways to get one: pyenv install {whole}; or your distribution's package ({package});\n"
        f"or Python {whole} built from source, with the headers of OpenSSL, zlib and SQLite.\n"
        f"If it is not found by itself then: --python /path/to/python{version}\n"
        "Or do without the tests: --skip-tests"
    )


def _abi(said: Mapping[str, Any]) -> str:
    """Return the ABI as wheels name it; of flags (PEP 425) for Python 2, which has no SOABI."""
    digits = "".join(said["version"].split(".")[:2])
    if said["implementation"] == "CPython":
        parts = said["soabi"].split("-")  # cpython-311-x86_64-linux-gnu
        return f"cp{parts[1]}" if len(parts) > 1 else f"cp{digits}{said['flags']}"
    return "_".join(said["soabi"].replace("-", "_").split("_")[:2]) or "none"


def _markers(said: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return what PEP 508's markers are asked of; no more than a lock can ask."""
    return (
        ("implementation_name", said["implementation"].lower()),
        ("implementation_version", said["version"]),
        ("os_name", said["os_name"]),
        ("platform_machine", said["machine"]),
        ("platform_python_implementation", said["implementation"]),
        ("platform_release", said["release"]),
        ("platform_system", said["system"]),
        ("platform_version", ""),
        ("python_full_version", said["version"]),
        ("python_version", ".".join(said["version"].split(".")[:2])),
        ("sys_platform", said["sys_platform"]),
    )


def _platforms(own: str) -> list[str]:
    """Return the platform tags that fit, best first.

    The tool runs on the same system, so its own tags (which C library, how old) hold for an
    interpreter of the same build; for any other, only the interpreter's very own.
    """
    from packaging.tags import platform_tags

    if own == sysconfig.get_platform():
        return list(platform_tags())
    return [own.replace("-", "_").replace(".", "_")]
