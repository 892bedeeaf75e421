"""``make bench-pairs NOVA=PATH``: the proof on history's own pairs, as they merged.

A pair is a commit that changes tests alone and says ``Related-Bug``, and the first one after it
that says ``Closes-Bug`` of the same bug. Each is taken as a series of two changes, picked onto the
parent of the first; a pair that comes out other than proven is a fault of the tool's, or says why.
BUG="NUMBER …" takes those alone.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from backport.workspace import remove
from bench.stand import Stand, run
from bench.table import Section
from bench.timing import spent

_RANGE = "15.0.0..ocata-eol"
_TRAILER = re.compile(r"^(Related|Closes)-Bug: *#?(\d+)", re.M | re.I)
_LINE = "{:8} {:16} {:>5} {:>7} {:>7}  {:16} {}"


@dataclass(frozen=True)
class Pair:
    """A bug's recreate test and its fix, by the ids of their commits."""

    bug: str
    test: str
    fix: str


def measure(stand: Stand) -> list[Section]:
    """Prove each pair, and tell of each when it is done."""
    stand.provide_environment()
    wanted = stand.own.environ.get("BUG", "").split()
    lines = [_LINE.format("bug", "verdict", "tests", "s", "CPU s", "trees", "commits; reason")]
    for pair in pairs(stand):
        if not wanted or pair.bug in wanted:
            lines.append(_proven(stand, pair))
            stand.say(lines[-1])
    lines.append(
        "“first as merged”: other commits lie between the two, so the second tree cannot be"
    )
    return [Section(f"Pairs of {_RANGE}", notes=tuple(lines))]


def pairs(stand: Stand) -> Iterator[Pair]:
    """Find the pairs, the oldest fix first."""
    waiting: dict[str, str] = {}
    how = ("log", "--reverse", "--topo-order", "--no-merges", "--format=%H%x00%B%x01", _RANGE)
    for record in _git(stand, *how).split("\x01\n"):
        commit, _, message = record.partition("\0")
        for word, bug in dict.fromkeys(_TRAILER.findall(message)):
            if word.lower() == "closes" and bug in waiting:
                yield Pair(bug, waiting.pop(bug), commit)
            elif word.lower() == "related" and _only_tests(stand, commit):
                waiting[bug] = commit


def _only_tests(stand: Stand, commit: str) -> bool:
    paths = _git(stand, "diff-tree", "-r", "--no-commit-id", "--name-only", commit).split()
    tests = stand.series.branch.tests
    return tests is not None and all(path.startswith(tests.paths) for path in paths)


def _proven(stand: Stand, pair: Pair) -> str:
    """Take a pair as a series, and return its line of the table."""
    copy = stand.copy()
    where = ("--checkout", str(copy), "--onto", f"{pair.test}^", "--dry-run")
    series = str(_series(stand, pair))
    taken = spent(partial(stand.backport, "run", series, *where, ok=(0, 1, 3, 4)))
    remove(copy.parent)
    report = json.loads((stand.folder / "report" / "report.json").read_text())
    proof = report["proof"] or {"cells": (), "reason": report["problem"]}
    tests = {test["id"] for cell in proof["cells"] for test in cell["tests"]}
    trees = _compared(stand, pair, report["changes"])
    commits = f"{pair.test[:10]} {pair.fix[:10]}"
    said = "" if report["result"] == "proven" else f": {proof['reason']}"
    figures = (len(tests), f"{taken.wall:.0f}", f"{taken.cpu:.0f}")
    return _LINE.format(pair.bug, report["result"], *figures, trees, commits + said)


def _series(stand: Stand, pair: Pair) -> Path:
    """Write the series: the two commits, and nothing else."""
    branch = stand.series.branch
    above = stand.new_folder("pair") / branch.name
    shutil.copytree(branch.folder, above, ignore=shutil.ignore_patterns("bug-*"))
    folder = above / f"bug-{pair.bug}"
    folder.mkdir()
    kinds = {"regression-test": pair.test, "fix": pair.fix}
    said = {
        "title": f"As it merged: bug {pair.bug}",
        "bug": int(pair.bug),
        "changes": [{"commit": commit, "kind": kind} for kind, commit in kinds.items()],
    }
    (folder / "series.yaml").write_text(yaml.safe_dump(said, sort_keys=False))
    return folder


def _compared(stand: Stand, pair: Pair, changes: list[dict[str, Any]]) -> str:
    """Say which trees are the merged ones."""
    merged = [_git(stand, "rev-parse", f"{commit}^{{tree}}") for commit in (pair.test, pair.fix)]
    if [change["tree"] for change in changes] == merged:
        return "as merged"
    beside = _git(stand, "rev-parse", f"{pair.fix}^") == pair.test
    first = [change["tree"] for change in changes[:1]] == merged[:1]
    return "first as merged" if first and not beside else "other"


def _git(stand: Stand, *args: str) -> str:
    git_dir = str(stand.origin.common_dir)
    return run(["git", f"--git-dir={git_dir}", *args], stand.git_env).strip()
