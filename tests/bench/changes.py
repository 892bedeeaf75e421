"""A long series on the checkout's own code: a hundred changes, each to a module and its tests."""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path
from typing import Any

import yaml

from backport.checkout.objects import Entry
from backport.checkout.scratch import Scratch
from backport.series.manifest import load_series
from backport.series.model import Series
from bench.stand import BenchError

# A statement of a method: there, a line goes in.
_STATEMENT = re.compile(r"        (return|if|for|self\.\w+\(|LOG\.|raise)\b")


def long_series(scratch: Scratch, base: str, like: Series, patches: Path, count: int) -> Series:
    """Make a series of ``count`` changes in a folder such as ``patches``, and load it.

    :raises BenchError: the checkout has too few modules
    """
    shutil.copytree(like.branch.folder, patches / like.branch.name)
    folder = patches / like.branch.name / f"bench-{count}"
    folder.mkdir()
    tree = scratch.tree(base)
    there = set(scratch.paths(tree))
    modules = [path for path in sorted(there) if _is_module(path) and _edited(scratch, tree, path)]
    if len(modules) < count:
        raise BenchError(f"there are only {len(modules)} modules to change")
    chosen = [modules[number * len(modules) // count] for number in range(count)]
    changes = []
    for number, module in enumerate(chosen, 1):
        after = _change(
            scratch, tree, [path for path in (module, _test_of(module)) if path in there]
        )
        name = f"{number:04}.patch"
        (folder / name).write_bytes(scratch.diff(tree, after))
        changes.append(_keys(name, module))
        tree = after
    said = {"title": f"{count} changes", "changes": changes}
    (folder / "series.yaml").write_text(yaml.safe_dump(said, sort_keys=False))
    return load_series(folder)


def _is_module(path: str) -> bool:
    return path.startswith("nova/") and path.endswith(".py") and "/tests/" not in path


def _test_of(path: str) -> str:
    folder, _, name = path.removeprefix("nova/").rpartition("/")
    return f"nova/tests/unit/{folder}/test_{name}"


def _change(scratch: Scratch, tree: str, paths: list[str]) -> str:
    here = scratch.entries(tree, paths)
    made = {path: _edited(scratch, tree, path) for path in paths}
    return scratch.update(
        tree,
        {
            path: Entry(here[path].mode, scratch.write_blob(data))
            for path, data in made.items()
            if data
        },
    )


def _edited(scratch: Scratch, tree: str, path: str) -> bytes | None:
    """Return the file with a line more in a method near its middle; None where there is none."""
    lines = (scratch.file(tree, path) or b"").decode("utf-8", "surrogateescape").splitlines(True)
    places = [number for number, line in enumerate(lines) if _STATEMENT.match(line)]
    if not places:
        return None
    place = min(places, key=lambda number: abs(number - len(lines) // 2))
    lines.insert(place, "        # This line stands for a backported fix.\n")
    return "".join(lines).encode("utf-8", "surrogateescape")


def _keys(patch: str, module: str) -> dict[str, Any]:
    return {
        "patch": patch,
        "kind": "other",
        "subject": f"Change {Path(module).stem} as a backport would",
        "description": f"There is a line more in {module},\nand in its tests.",
        "change-id": "I" + hashlib.sha1(module.encode(), usedforsecurity=False).hexdigest(),
    }
