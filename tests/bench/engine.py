"""``make bench ARGS=engine``: a series into commits, against ``git am`` of the same changes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from backport.apply.engine import Signing, apply_series
from backport.checkout.repository import open_checkout
from backport.series.model import Person, Series
from backport.workplace import LITTLE_ROOM, workplace
from backport.workspace import remove
from bench.changes import long_series
from bench.stand import BenchError, Stand, run
from bench.table import Section
from bench.timing import Figure, Spent, Way, in_turns, spent

_TURNS = 7
_MANY = 100
_SIGNING = Signing(Person("A", "a@localhost"), Person("C", "c@localhost"), "1500000000 +0000")
#: The command starts Python, takes locks and writes four reports besides: git am has no such thing.
_OURS = {"the engine in this process": ("engine", True), "the whole command": ("command", False)}
_THEIRS = {"git am with its worktree": "fresh", "git am alone": "alone"}
#: A git is asked for each object of each change.
_FEW_AIMS, _MANY_AIMS = {"fresh": 0.10, "alone": 1.0}, {"fresh": 0.15, "alone": 1.0}


@dataclass(frozen=True)
class Case:
    """A series, and the same changes as mails; ``tree`` is what must come out."""

    label: str
    series: Series
    mails: tuple[Path, ...]
    tree: str


def measure(stand: Stand) -> list[Section]:
    """Measure both series."""
    copy = open_checkout(stand.copy())
    scratch = copy.scratch(stand.new_folder("making") / "git")
    many = long_series(scratch, stand.base, stand.series, stand.folder / "patches", _MANY)
    return [_measured(stand, _case(stand, series)) for series in (stand.series, many)]


def _measured(stand: Stand, case: Case) -> Section:
    ways: dict[str, Way] = {
        "engine": partial(_engine, stand, case),
        "fresh": partial(_am, stand, case, counted=True),
        "command": partial(_command, stand, case),
        "alone": partial(_am, stand, case, counted=False),
    }
    stand.say(case.label)
    taken = in_turns(ways, stand.turns or _TURNS, stand.say, warm_up=1)
    aims = _MANY_AIMS if len(case.mails) == _MANY else _FEW_AIMS
    figures = tuple(
        Figure(ours, theirs, taken[way], taken[other], aims[other] if compared else None)
        for theirs, other in _THEIRS.items()
        for ours, (way, compared) in _OURS.items()
    )
    note = f"All four ways made tree {case.tree[:12]}, in each turn."
    return Section(f"Engine, {case.label}", figures, (note,))


def _case(stand: Stand, series: Series) -> Case:
    """Make mails of the commits that the command makes."""
    copy = stand.copy()
    _run_command(stand, series, copy)
    git = ("git", "-C", str(copy))
    span = f"{stand.base}..bench"
    folder = stand.new_folder("mails")
    made = run([*git, "format-patch", "--full-index", "-o", str(folder), span], stand.git_env)
    mails = tuple(Path(line) for line in made.splitlines())
    if len(mails) != len(series.changes):
        raise BenchError(
            f"of {series.name} {len(mails)} of {len(series.changes)} changes are not in yet; "
            "name a commit that it goes onto: ONTO=REV"
        )
    tree = run([*git, "rev-parse", "bench^{tree}"], stand.git_env).strip()
    return Case(f"{len(mails)} changes", series, mails, tree)


def _run_command(stand: Stand, series: Series, copy: Path) -> None:
    onto = ("--checkout", str(copy), "--onto", stand.base, "--branch-name", "bench")
    stand.backport("run", str(series.folder), *onto, "--skip-tests")


def _engine(stand: Stand, case: Case) -> Spent:
    copy = stand.copy()
    checkout = open_checkout(copy)
    trees: list[str] = []

    def work() -> None:
        scratch = checkout.scratch(place / "git")
        scratch.history_folder = stand.places.cache / "history"  # warm, as all is here
        outcome = apply_series(scratch, case.series, stand.base, _SIGNING)
        trees.append("a conflict" if outcome.conflict else outcome.applied[-1].tree)

    with workplace(copy.parent, LITTLE_ROOM) as place:
        return _checked(case, spent(work), trees.pop, copy)


def _command(stand: Stand, case: Case) -> Spent:
    copy = stand.copy()
    taken = spent(partial(_run_command, stand, case.series, copy))
    return _checked(case, taken, partial(_tree, stand, copy, "bench"), copy)


def _am(stand: Stand, case: Case, counted: bool) -> Spent:
    """Let git am do it, in a new work tree, which counts, or in one that is there."""
    copy = stand.copy()
    worktree = copy.parent / "worktree"
    git = ("git", "-C", str(copy))
    add = [*git, "worktree", "add", "--quiet", "--detach", str(worktree), stand.base]
    am = ["git", "-C", str(worktree), "am", "--quiet", "--keep-non-patch", *map(str, case.mails)]
    if not counted:
        run(add, stand.git_env)
        time.sleep(1.1)  # or git reads files again that are as young as its index
        run(["git", "-C", str(worktree), "status", "--short"], stand.git_env)

    def work() -> None:
        if counted:
            run(add, stand.git_env)
        run(am, stand.git_env)

    return _checked(case, spent(work), partial(_tree, stand, worktree, "HEAD"), copy)


def _tree(stand: Stand, where: Path, rev: str) -> str:
    return run(["git", "-C", str(where), "rev-parse", rev + "^{tree}"], stand.git_env).strip()


def _checked(case: Case, taken: Spent, tree: Callable[[], str], copy: Path) -> Spent:
    """Compare what was made with what must be, then throw it away."""
    found = tree()
    if found != case.tree:
        raise BenchError(f"{case.label} came to {found}, not to {case.tree}")
    remove(copy.parent)
    return taken
