"""What a test process finds around it: environment variables, and the project's entry points."""

from __future__ import annotations

import configparser
import email.message
import os
import shlex
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from backport.kept import digest
from backport.runner.results import Environment
from backport.selection.test_names import shortest
from backport.series.model import TestSettings

_VERSION = "0.0.1"  # of the project, where neither it nor the branch's data says
#: All that is taken over from outside: the rest would make a run depend on who runs it.
_TAKEN_OVER = ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT")


@dataclass(frozen=True)
class Surroundings:
    """The variables of a run; ``home`` is a throwaway folder, made for it."""

    variables: Mapping[str, str]
    home: Path

    def by_hand(self, prelude: str, tree: Path, runner: str, selection: Sequence[str]) -> str:
        """Return the shell command by which a person runs the same tests.

        :param prelude: shell commands that put the tree into the current folder; may be empty
        :param runner: the module that runs tests, such as ``testtools.run``
        """
        own = {"HOME": '"$PWD/.home"', "TMPDIR": '"$PWD/.home/tmp"'}
        said = {
            name: own.get(name) or _quoted(value, tree)
            for name, value in sorted(self.variables.items())
        }
        variables = " ".join(f"{name}={value}" for name, value in said.items())
        python = shlex.quote(str(Path(self.variables["VIRTUAL_ENV"]) / "bin" / "python"))
        start = f'cd "$(mktemp -d)" && {prelude}' if prelude else f"cd {shlex.quote(str(tree))}"
        tests = " ".join(shlex.quote(name) for name in shortest(selection))
        return f"{start} && mkdir -p .home/tmp && env -i {variables} {python} -m {runner} {tests}"


def _quoted(value: str, tree: Path) -> str:
    parts = (shlex.quote(part) if part else "" for part in value.split(str(tree)))
    return '"$PWD"'.join(parts) or "''"


def surroundings(
    base: Mapping[str, str],
    environment: Environment,
    tree: Path,
    entry_points: Path | None,
    home: Path,
    settings: TestSettings,
) -> Surroundings:
    """Make the surroundings of a run.

    :param base: the environment of the command, as its caller found it
    :param entry_points: the folder that :func:`entry_points_folder` made
    :param home: an existing, empty folder
    """
    (home / "tmp").mkdir()
    path = [str(environment.python.parent), *filter(None, [base.get("PATH", os.defpath)])]
    tail = [str(entry_points)] if entry_points else []
    variables = {name: base[name] for name in _TAKEN_OVER if name in base}
    variables |= {
        "PATH": os.pathsep.join(path),
        "HOME": str(home),
        "TMPDIR": str(home / "tmp"),
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "PYTHONPATH": os.pathsep.join([str(tree), *tail]),
        "PYTHONHASHSEED": "0",
        "VIRTUAL_ENV": str(environment.folder),
        # pbr asks git for the version otherwise, and there is no git here.
        "PBR_VERSION": project_version(tree),
    }
    return Surroundings({**variables, **dict(settings.environment)}, home)


def entry_points_folder(tree: Path, cache: Path) -> Path | None:
    """Return a folder that, on the path, stands in for an installation of the project.

    stevedore finds drivers by entry points, so nova does not even import without them.
    ``setup.cfg`` has them, and the project's name, as pbr reads it. One folder serves all
    trees that say the same.

    :returns: None where ``setup.cfg`` names no project
    """
    config = _setup_cfg(tree)
    name = config.get("metadata", "name", fallback="").strip()
    if not name:
        return None
    info = email.message.Message()
    info["Metadata-Version"] = "1.1"
    info["Name"] = name
    info["Version"] = project_version(tree)
    points = "".join(
        f"[{group}]\n{value.strip()}\n\n"
        for group, value in (config.items("entry_points") if "entry_points" in config else ())
    )
    files = {"PKG-INFO": info.as_string(), "entry_points.txt": points}
    folder = cache / digest(*files.values())[:16]
    if not folder.is_dir():
        _write(folder, f"{name.replace('-', '_')}.egg-info", files)
    return folder


def project_version(tree: Path) -> str:
    """Return the version that ``setup.cfg`` or a release's ``PKG-INFO`` states, or one made up."""
    stated = _setup_cfg(tree).get("metadata", "version", fallback="").strip()
    if stated and ":" not in stated:  # setuptools' "attr:" and "file:"
        return stated
    try:
        text = (tree / "PKG-INFO").read_text("utf-8", "replace")
    except OSError:
        return _VERSION
    return email.message_from_string(text).get("Version", _VERSION)


def _setup_cfg(tree: Path) -> configparser.ConfigParser:
    # pbr's files have "=" in values, "%" in messages, and sometimes a key twice.
    config = configparser.ConfigParser(interpolation=None, strict=False, delimiters=("=",))
    config.optionxform = str  # type: ignore[assignment,method-assign]
    try:
        config.read_string((tree / "setup.cfg").read_text("utf-8", "replace"))
    except (OSError, configparser.Error):
        return configparser.ConfigParser()
    return config


def _write(folder: Path, name: str, files: Mapping[str, str]) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(dir=folder.parent))
    (fresh / name).mkdir()
    for file, text in files.items():
        (fresh / name / file).write_text(text, "utf-8")
    try:
        fresh.rename(folder)
    except OSError:  # another run was faster
        for file in files:
            (fresh / name / file).unlink()
        (fresh / name).rmdir()
        fresh.rmdir()
