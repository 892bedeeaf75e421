"""``make bench-replay NOVA=clone``: the engine against all backports that a branch ever took.

Each non-merge commit of ``15.0.0..ocata-eol`` (BRANCH=pike, queens … does the same with those)
that cites a commit which is there is imported from the last commit that it cites, and applied to
its real parent; what comes out is compared with what merged. Beside it, in the same run, plain
``git cherry-pick -x``. It prints the figures and a line for each commit, and writes them into
``build/bench/replay.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import backport
from backport.apply.engine import Options, Signing, apply_series
from backport.apply.outcome import AppliedChange, Conflict
from backport.checkout.objects import Commit
from backport.checkout.repository import open_checkout
from backport.checkout.scratch import Scratch
from backport.errors import BackportError
from backport.picking.missing_names import missing_names
from backport.series.manifest import load_branch
from backport.series.message import provenance
from backport.series.model import Branch, Change, Kind, Series

PATCHES = Path(backport.__file__).parents[1] / "patches"
#: The first tag of a branch: OpenStack's releases count from 12 (liberty) on, one a branch.
FIRST = dict(
    zip(("newton", "ocata", "pike", "queens", "rocky", "stein"), range(14, 20), strict=True)
)
_SECTION = re.compile(r"^[ #]*Conflicts:[ \t]*\n((?:#?[ \t]+\S.*\n?)+)", re.M)
_NOTE = re.compile(r"^(?:NOTE|FIXME|TODO)\b.*?(?:\n\n|\Z)", re.M | re.S)


@dataclass(frozen=True)
class Case:
    """A backport as it merged."""

    commit: str
    parent: str
    source: str
    message: str

    @property
    def recorded(self) -> frozenset[str]:
        """The files that its ``Conflicts:`` section lists."""
        lines = "".join(_SECTION.findall(self.message)).splitlines()
        return frozenset(line.strip(" #\t") for line in lines)


@dataclass(frozen=True)
class Result:
    """What one way made of a case: ``equal``, ``adapted`` (clean, and another tree), ``conflict``.

    :param rules: by which files were resolved, and whether they are as they merged
    :param flagged: names that the branch does not have, found after a clean pick
    """

    came: str
    message: str = ""  # "equal", "but for notes", "differs"
    files: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    flagged: tuple[str, ...] = ()
    seconds: float = 0.0


def main(argv: Sequence[str]) -> int:
    """Replay a branch; 2: there is no such clone or branch."""
    parser = argparse.ArgumentParser(prog="make bench-replay NOVA=…", description=__doc__)
    parser.add_argument("clone", type=Path, metavar="NOVA")
    parser.add_argument("branch", nargs="?", default="ocata", choices=sorted(FIRST))
    parser.add_argument("--only", metavar="SHA,…", help="these commits alone")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--output", type=Path, default=Path("build/bench/replay.json"))
    asked = parser.parse_args(argv)
    try:
        cases = list(find_cases(asked.clone, asked.branch))
    except BackportError as error:
        print(f"{error.message}\n{error.hint}", file=sys.stderr)
        return 2
    if asked.only:
        cases = [case for case in cases if case.commit.startswith(tuple(asked.only.split(",")))]
    shares = [share for n in range(asked.jobs) if (share := cases[n :: asked.jobs])]
    done: dict[str, list[Result]] = {}
    with ProcessPoolExecutor(asked.jobs) as pool:
        for name, way in (("ours", replay_ours), ("git", replay_git)):
            parts = list(pool.map(partial(way, asked.clone, asked.branch), shares))
            done[name] = [parts[n % len(shares)][n // len(shares)] for n in range(len(cases))]
    for n, case in enumerate(cases):
        print(_line(case, done["ours"][n], done["git"][n]))
    figures = {name: _figures(cases, results) for name, results in done.items()}
    for name, values in figures.items():
        print(name, json.dumps(values))
    rows = [
        asdict(case) | {name: asdict(results[n]) for name, results in done.items()}
        for n, case in enumerate(cases)
    ]
    asked.output.parent.mkdir(parents=True, exist_ok=True)
    document = {"branch": asked.branch, **figures, "commits": rows}
    asked.output.write_text(json.dumps(document, indent=1) + "\n")
    return 0


def find_cases(clone: Path, branch: str) -> Iterator[Case]:
    """Yield the backports of a branch whose last cited commit is in the clone, the oldest first."""
    checkout = open_checkout(clone)
    tip = _first(
        checkout.resolve(name) for name in (f"{branch}-eol", f"stable/{branch}", f"origin/{branch}")
    )
    with TemporaryDirectory() as folder, closing(checkout.scratch(Path(folder) / "git")) as scratch:
        start = checkout.resolve(f"{FIRST[branch]}.0.0")
        for commit in map(scratch.commit, scratch.commits_between(start or "", tip)):
            cited = provenance(commit.message)
            source = scratch.resolve(cited[-1]) if cited else None
            if source and len(scratch.commit(source).parents) == 1:
                yield Case(commit.id, commit.parents[0], source, commit.message)


def replay_ours(clone: Path, branch: str, cases: Sequence[Case]) -> list[Result]:
    """Import and apply each by the tool."""
    known = load_branch(PATCHES / "ocata")
    known = replace(known, name=branch, branch=f"stable/{branch}")
    with (
        TemporaryDirectory(dir=_memory()) as folder,
        closing(open_checkout(clone).scratch(Path(folder) / "git")) as scratch,
    ):
        scratch.history_folder = Path(folder)
        return [_timed(partial(_replay, scratch, known, case)) for case in cases]


def _replay(scratch: Scratch, branch: Branch, case: Case) -> Result:
    merged = scratch.commit(case.commit)
    change = Change(1, Kind.OTHER, "", "", "", commit=case.source, conflicts_section=True)
    series = Series(f"{branch.name}/replay", Path(), "", None, None, branch, (change,))
    signing = Signing(merged.committer.person, merged.committer.person, merged.committer.date)
    try:
        outcome = apply_series(scratch, series, case.parent, signing, Options(doubts=missing_names))
    except BackportError as error:
        return Result("conflict", files=(f"refused: {error.message}",))
    if outcome.conflict:
        return _conflict(outcome.conflict)
    return _clean(scratch, merged, outcome.applied[0])


def _conflict(conflict: Conflict) -> Result:
    return Result("conflict", files=tuple(sorted(file.path for file in conflict.files)))


def _clean(scratch: Scratch, merged: Commit, applied: AppliedChange) -> Result:
    ruled = [file for file in applied.files if file.rules]
    paths = [file.path for file in ruled]
    mine, theirs = scratch.entries(applied.tree, paths), scratch.entries(merged.id, paths)
    rules = [
        f"{rule}: {'as merged' if mine.get(file.path) == theirs.get(file.path) else 'otherwise'}"
        for file in ruled
        for rule in sorted(set(file.rules))
    ]
    return Result(
        "equal" if applied.tree == scratch.tree(merged.id) else "adapted",
        compare_messages(applied.message, merged.message),
        tuple(sorted(file.path for file in applied.files if file.was_in_conflict)),
        tuple(rules),
        _missing(scratch, merged.parents[0], applied.tree),
    )


def _missing(scratch: Scratch, before: str, after: str) -> tuple[str, ...]:
    changed = scratch.changed_paths(before, after)
    found = missing_names(scratch, scratch.tree(before), after, changed)
    return tuple(sorted({one.name for one in found}))


def replay_git(clone: Path, _branch: str, cases: Sequence[Case]) -> list[Result]:
    """Cherry-pick each with git, in a work tree."""
    with TemporaryDirectory(dir=_memory()) as folder:
        _git(folder, "clone", "-q", "--shared", "--no-checkout", str(clone.resolve()), ".")
        return [_timed(partial(_cherry_pick, folder, case)) for case in cases]


def _cherry_pick(folder: str, case: Case) -> Result:
    _git(folder, "checkout", "-q", "--force", "--detach", case.parent)
    who = ("-c", "user.name=Bench", "-c", "user.email=bench@localhost")
    done = _git(folder, *who, "cherry-pick", "-x", "--allow-empty", case.source, ok=(0, 1))
    if done.returncode:
        files = _git(folder, "diff", "--name-only", "--diff-filter=U", "-z").stdout.split("\0")
        _git(folder, "cherry-pick", "--abort", ok=(0, 1, 128))
        return Result("conflict", files=tuple(sorted(filter(None, files))))
    trees = _git(folder, "rev-parse", "HEAD^{tree}", f"{case.commit}^{{tree}}").stdout.split()
    message = _git(folder, "log", "-1", "--format=%B").stdout
    came = "equal" if trees[0] == trees[1] else "adapted"
    return Result(came, compare_messages(message, case.message))


def compare_messages(ours: str, merged: str) -> str:
    """Compare byte for byte; then without the notes and sections that people wrote."""
    if ours.rstrip("\n") == merged.rstrip("\n"):
        return "equal"
    return "but for notes" if _plain(ours) == _plain(merged) else "differs"


def _plain(message: str) -> list[str]:
    text = _NOTE.sub("", _SECTION.sub("", message))
    return [line for line in text.splitlines() if line.strip()]


def _timed(work: Callable[[], Result]) -> Result:
    begun = time.monotonic()
    result = work()
    return replace(result, seconds=round(time.monotonic() - begun, 3))


def _figures(cases: Sequence[Case], results: Sequence[Result]) -> dict[str, object]:
    """Count: how it came, the messages, and per rule how often the tree is what merged."""
    came = Counter(result.came for result in results)
    messages = Counter(result.message for result in results if result.came == "equal")
    pairs = list(zip(cases, results, strict=True))
    recorded = [
        set(result.files) == case.recorded
        for case, result in pairs
        if result.came == "conflict" and case.recorded
    ]
    rules = Counter(rule for result in results for rule in result.rules)
    flagged = Counter(r.came for r in results if r.flagged)
    return {
        "equal": came["equal"],
        "adapted": came["adapted"],
        "conflict": came["conflict"],
        "message_equal": messages["equal"],
        "message_equal_but_for_notes": messages["equal"] + messages["but for notes"],
        "conflict_files_as_recorded": f"{sum(recorded)} of {len(recorded)}",
        "rules": dict(sorted(rules.items())),
        "needs_adapting": dict(flagged),
        "seconds": round(sum(result.seconds for result in results), 1),
    }


def _line(case: Case, ours: Result, git: Result) -> str:
    parts = [case.commit[:10], case.source[:10], f"{ours.came:8}", f"{git.came:8}"]
    more = [ours.message, *ours.rules, *(f"! {name}" for name in ours.flagged)]
    files = ours.files if ours.came == "conflict" else ()
    return "  ".join([*parts, f"{ours.seconds:5.2f} s", *filter(None, more), *files])


def _first(found: Iterator[str | None]) -> str:
    tip = next(filter(None, found), None)
    if tip is None:
        raise BackportError("the clone has no such branch", "Name a full clone of nova.")
    return tip


def _memory() -> str | None:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def _git(folder: str, *args: str, ok: Sequence[int] = (0,)) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    env |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_EDITOR": "true"}
    command = ["git", "-c", "advice.detachedHead=false", "-c", "core.hooksPath=/dev/null", *args]
    done = subprocess.run(
        command,
        cwd=folder,
        env=env,
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",
    )
    if done.returncode not in ok:
        raise BackportError(f"git {args[0]} failed: {done.stderr.strip()}", "")
    return done


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
