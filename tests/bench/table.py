"""The table at the end: a line a figure, its aim beside it."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.table import Table

from bench.timing import Figure, wall

_COLUMNS = ("ours", "against", "median", "turns", "CPU", "aim", "")


@dataclass(frozen=True)
class Section:
    """What a part of the bench came to; ``notes`` say what the figures do not."""

    title: str
    figures: tuple[Figure, ...] = ()
    notes: tuple[str, ...] = ()


def row(figure: Figure) -> tuple[str, ...]:
    """Return the cells of a figure's line."""
    unit = " s" if figure.how is operator.sub else ""
    low, high = min(figure.turns), max(figure.turns)
    return (
        f"{figure.what}: {wall(figure.ours):.2f} s",
        f"{figure.against}: {wall(figure.theirs):.2f} s",
        f"{figure.value:.3f}{unit}",
        f"{low:.3f}–{high:.3f}",
        f"{figure.cpu:.3f}",
        *(
            ("", "")
            if figure.aim is None
            else (f"≤ {figure.aim:.2f}{unit}", "met" if figure.met else "missed")
        ),
    )


def show(sections: Sequence[Section], console: Console) -> None:
    """Print the sections."""
    for section in sections:
        turns = len(section.figures[0].ours) if section.figures else 0
        title = section.title + (f" ({turns} turns)" if turns else "")
        console.print(f"\n{title}", style="bold", markup=False)
        if section.figures:
            console.print(_table(section.figures))
        for note in section.notes:
            console.print(f"  {note}", soft_wrap=True, markup=False)


def _table(figures: Sequence[Figure]) -> Table:
    table = Table(box=box.SIMPLE, pad_edge=False)
    for number, name in enumerate(_COLUMNS):
        table.add_column(name, justify="left" if number < 2 else "right", no_wrap=number > 1)
    for figure in figures:
        table.add_row(*row(figure))
    return table
