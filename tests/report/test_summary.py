"""What the terminal says at the end of a run, and for ``show`` and ``status``."""

from __future__ import annotations

import io

import pytest
from rich.cells import cell_len
from rich.console import Console

import report_samples as samples
from backport.report.document import NextStep
from backport.report.pending import PendingFacts, PendingFileFacts, PlaceFacts, show_pending
from backport.report.plan import show_plan
from backport.report.summary import summary
from backport.series.message import Written


def console(width: int = 100, color: bool = False, terminal: bool = True) -> Console:
    """A console that keeps what it is given."""
    return Console(
        file=io.StringIO(),
        width=width,
        force_terminal=color or terminal,
        no_color=not color,
        color_system="standard" if color else None,
        _environ={},
    )


def written(which: Console) -> str:
    """What has come out."""
    assert isinstance(which.file, io.StringIO)
    return which.file.getvalue()


def summed(kind: str, width: int = 100, terminal: bool = True) -> str:
    """The end of a run of that kind."""
    target = console(width, terminal=terminal)
    summary(samples.EVERY_KIND[kind](), target)
    return written(target)


def test_the_end_of_a_proven_run() -> None:
    assert summed("proven").splitlines() == [
        "",
        " ✓ Proven  All 714 targeted tests hold with the fix, and the 8 that cover it fail"
        " without it.",
        "",
        " commits  3f2a91c04b  [stable only] Add functional regression test for bug 1783613",
        "          a81be0c511  [stable only] Handle quota usage during create/delete races",
        "          nova/compute/api.py: three-way, 3 hunks moved by −1 line",
        "",
        " proof    ✓ green 1/1  2 passed  5.2 s",
        "          ✓ green 2/2  712 passed, 2 skipped  11 s",
        "          ✓ red 2/1    8 of 8 fail, as they must  5.1 s, cut to the tests of the fix",
        "          ✓ flip 1/2   2 of 2 fail, as they must  5.0 s",
        "",
        " hunks    3 of 3 guarded by a test",
        "",
        " branch   backport/ocata/bug-1783613  created, in /home/ana/src/nova",
        "",
        " report   build/report/report.html",
        "",
        " next     read the commits",
        "   git -C /home/ana/src/nova log --patch --reverse 77ece76a70..backport/ocata/bug-1783613",
        "          send them to review",
        "   git -C /home/ana/src/nova push gerrit"
        " backport/ocata/bug-1783613:refs/for/stable/ocata%topic=bug/1783613",
        "",
    ]


@pytest.mark.parametrize(
    ("kind", "lines"),
    [
        (
            "broken",
            [
                " ✗ Broken  2 of the 714 targeted tests",
                "ComputeAPIUnitTestCase.test_",
                "MismatchError",
            ],
        ),
        (
            "unproven",
            ["! Unproven", "✗ red 2/1    none of 8 fails, and one must", "unguarded: nova/compute"],
        ),
        (
            "could-not-tell",
            ["! Could not tell", "cannot be imported", "1 test failing on the base"],
        ),
        (
            "conflict",
            [
                " ! Conflict  Change 2 does not apply",
                "belongs in API._delete",
                "to be resolved in build/conflicts/ocata-bug-1783613",
                "backport abort",
            ],
        ),
        ("already-in", [" ✓ Already in  Both", "already in as a5512ba1dd, known by its Change-Id"]),
        ("not-tested", [" · Not tested", "The tests did not run: --skip-tests was given."]),
        ("no-environment", [" ! Could not tell  no working Python 2.7", " Install Python 2.7,"]),
    ],
)
def test_every_other_end(kind: str, lines: list[str]) -> None:
    text = summed(kind)
    for line in lines:
        assert line in text


@pytest.mark.parametrize("kind", samples.EVERY_KIND)
def test_forty_columns_are_enough(kind: str) -> None:
    rows = summed(kind, width=40).splitlines()
    commands = {step.command for step in samples.EVERY_KIND[kind]().next_steps}
    # Commands are never broken, so that they can be copied; the terminal wraps them.
    # Nor are words: a path, an id or a hash that is cut cannot be copied.
    words = {word for row in rows for word in row.split() if cell_len(word) > 20}
    assert all(
        cell_len(row) <= 40 or row.strip() in commands or words.intersection(row.split())
        for row in rows
    )
    assert all(row == row.rstrip() for row in rows)


def test_text_of_others_is_never_markup() -> None:
    report = samples.proven()
    evil = "[bold]x[/bold] [/] [link=http://x]y[/link] :bomb: \x1b[31m\x00 \u202e"
    change = report.changes[0].model_copy(update={"subject": evil})
    step = NextStep(command=f"echo '{evil}'", why=evil)
    report = report.model_copy(
        update={"changes": (change,), "sentence": evil, "next_steps": (step,)}
    )
    target = console()
    summary(report, target)
    text = written(target)
    assert text.count("[bold]x[/bold] [/] [link=http://x]y[/link] :bomb:") == 4
    assert "\x1b" not in text
    assert "\x00" not in text
    assert "\u202e" not in text


@pytest.mark.parametrize("kind", samples.EVERY_KIND)
def test_a_pipe_gets_no_wrapping_and_a_terminal_no_broken_word(kind: str) -> None:
    piped = summed(kind, width=40, terminal=False)
    assert piped == summed(kind, width=100, terminal=False)
    assert set(summed(kind, width=40).split()) == set(piped.split())


@pytest.mark.parametrize("encoding", ["ascii", "iso-8859-1"])
@pytest.mark.parametrize("kind", samples.EVERY_KIND)
def test_the_summary_needs_no_utf8(kind: str, encoding: str) -> None:
    raw = io.BytesIO()
    target = Console(
        file=io.TextIOWrapper(raw, encoding=encoding, errors="strict"), width=80, _environ={}
    )
    summary(samples.EVERY_KIND[kind](), target)
    target.file.flush()
    assert raw.getvalue().decode(encoding).strip()


def test_colours_are_only_where_they_are_wanted() -> None:
    plain, coloured = console(), console(color=True)
    for target in (plain, coloured):
        summary(samples.proven(), target)
    assert "\x1b" not in written(plain)
    assert "\x1b[1;32m" in written(coloured)


def test_a_plan_has_the_messages_to_the_letter() -> None:
    series = samples.series()
    messages = [samples.message(change) for change in series.changes]
    target = console()
    show_plan(series, [Written(message, ("a note",)) for message in messages], target)
    text = written(target)
    for message in messages:
        indented = "\n".join(f"{' ' * 14}{line}" if line else "" for line in message.splitlines())
        assert indented in text
    assert text.count("a note") == len(messages)
    assert "stable only: the bug does not exist on master" in text
    assert "stable/ocata of openstack/nova" in text
    assert "backport run ocata/bug-1783613" in text


def test_a_plan_needs_as_many_messages_as_changes() -> None:
    with pytest.raises(ValueError, match="shorter"):
        show_plan(samples.series(), [], console())


def pending(*files: PendingFileFacts) -> PendingFacts:
    """A pending conflict with those files."""
    return PendingFacts(
        series="ocata/bug-1783613",
        change=2,
        subject="Handle [stable only] races",
        checkout="/home/ana/src/nova",
        base=samples.BASE,
        work_tree="/state/conflicts/work 2",
        files=files,
        next=(NextStep(command="backport continue", why="go on"),),
    )


def test_a_pending_conflict_shows_all_sides_of_what_is_left_and_what_to_type() -> None:
    place = PlaceFacts(
        line=1762,
        branch="    quotas.commit()\n",
        base="    x\n",
        change="    if found:\n\tcaf\xe9\n",
    )
    empty = PlaceFacts(line=1800, branch="", change="x\n" * 30)
    target = console()
    show_pending(
        pending(
            PendingFileFacts(
                path="nova/compute/api.py",
                decided=False,
                reasons=("the branch has changed the same lines",),
                markers=(1762, 1800),
                places=(place, empty),
                ways=(NextStep(command="backport continue --leave-out x", why="without it"),),
            ),
            PendingFileFacts(path="nova/quota.py", decided=True, deed="edited"),
        ),
        target,
    )
    text = written(target)
    assert text.splitlines()[:3] == [
        "",
        " ! Conflict pending  in change 2: 1 file of 2 undecided",
        " Handle [stable only] races",
    ]
    for line in (
        " ! nova/compute/api.py: undecided: markers at 1762, 1800",
        "   the branch has changed the same lines",
        "   line 1762",
        "     the branch has:",
        "           quotas.commit()",
        "     the change was made from:",
        "     the change has:",
        "           if found:",
        "     the branch has nothing here",
        "       and 16 more lines",
        "   backport continue --leave-out x",
        " ✓ nova/quota.py: edited",
        " onto     77ece76a70 in /home/ana/src/nova",
        "   cd '/state/conflicts/work 2'",
        "   backport continue",
    ):
        assert line in text.splitlines(), line
