"""The rules of the house: who may know whom, who may start processes, how long a piece may be."""

from __future__ import annotations

import ast
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest

import backport

PACKAGE = Path(backport.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))

# What a room may import besides itself and the values below it (errors, progress …).
ROOMS = {
    "patch": set(),
    "source": set(),
    "download": set(),
    "series": {"patch"},
    "checkout": {"series", "patch", "download"},
    "placement": {"source", "patch", "checkout", "apply"},
    "apply": {"placement", "checkout", "series", "patch"},
    "picking": {"apply", "checkout", "patch", "placement", "series", "source"},
    "conflict": {"apply", "checkout", "patch"},
    "environment": {"download", "runner"},
    "selection": {"source"},
    "runner": {"checkout", "selection", "series"},
    "proof": {
        "apply",
        "environment",
        "runner",
        "selection",
        "source",
        "checkout",
        "series",
        "patch",
    },
    "publish": {"checkout", "series"},
    "policy": {"series"},
    "release": {"checkout", "policy", "series"},
    "report": {
        *("release", "policy", "picking", "series", "patch", "apply", "conflict", "runner"),
        "placement",
    },
}
# Of these rooms, others know values only.
VALUES = {
    "report": {
        "backport.release.model",
        "backport.series.model",
        "backport.series.message",
        "backport.policy.model",
        "backport.policy.bugs",
        "backport.patch.model",
        "backport.apply.outcome",
        "backport.apply.markers",
        "backport.runner.results",
        "backport.request",
        "backport.picking.model",
    },
}
UNDER = {"request", "errors", "progress", "process", "workspace", "workplace", "kept", "resources"}
# Runs inside the branch's Python, in a process of its own.
WORKER = {"worker.py", "worker_child.py", "worker_tests.py", "worker_result.py"}


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def functions(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{path.name}:{node.name}", (node.end_lineno or 0) - node.lineno + 1


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_dependencies_point_one_way(path: Path) -> None:
    room = path.relative_to(PACKAGE).parts[0]
    if room not in ROOMS:
        return
    for name in imports(path):
        parts = name.split(".")
        if parts[0] != "backport" or len(parts) < 2:
            continue
        assert parts[1] in ROOMS[room] | UNDER | {room}, f"{module_name(path)} imports {name}"
        if room in VALUES and parts[1] in ROOMS[room] and len(parts) > 2:
            known = any(name.startswith(value) for value in VALUES[room])
            assert known, f"{path.name} imports {name}"


@pytest.mark.parametrize(
    ("module", "only"),
    [("git", "backport.checkout.git"), ("subprocess", "backport.process")],
)
def test_one_module_talks_to_git_and_one_starts_processes(module: str, only: str) -> None:
    users = {
        module_name(path) for path in FILES if path.name not in WORKER and module in starters(path)
    }
    assert users == {only}


def starters(path: Path) -> set[str]:
    """Return what a module imports; the name PIPE, which GitPython takes, starts nothing."""
    found = set(imports(path))
    return found - {"subprocess"} if "subprocess.PIPE" in found else found


def test_nothing_below_the_command_line_prints_exits_or_reads_the_environment() -> None:
    forbidden = {"print", "exit", "chdir"}
    for path in FILES:
        name = module_name(path)
        if (
            name.startswith(("backport.cli", "backport.commands", "backport.__main__"))
            or path.name in WORKER
        ):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                called = node.func
                word = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
                if word == "print" and isinstance(called, ast.Attribute):
                    continue  # a rich console that the command line gave
                assert word not in forbidden, f"{name}:{node.lineno} calls {word}"
            if isinstance(node, ast.Attribute) and node.attr in {"environ", "getenv"}:
                owner = node.value
                is_os = isinstance(owner, ast.Name) and owner.id == "os"
                assert not is_os, f"{name}:{node.lineno} reads the environment"


def test_files_and_functions_stay_short() -> None:
    long_files = [path.name for path in FILES if path.read_text().count("\n") > 350]
    long_functions = [name for path in FILES for name, length in functions(path) if length > 50]
    assert (long_files, long_functions) == ([], [])


def test_every_room_says_what_it_is_for_and_is_known_to_the_picture() -> None:
    rooms = [path.parent for path in FILES if path.name == "__init__.py" and path.parent != PACKAGE]
    picture = (PACKAGE.parent / "docs" / "architecture.md").read_text()
    for room in rooms:
        assert ast.get_docstring(ast.parse((room / "__init__.py").read_text())), room
        assert f"`{room.relative_to(PACKAGE)}/`" in picture, f"docs/architecture.md: {room.name}"


def test_the_median_function_is_short() -> None:
    lengths = [length for path in FILES for _, length in functions(path)]
    assert statistics.median(lengths) <= 10
