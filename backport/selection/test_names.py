"""Names of tests: a module, package or class stands for all tests below it."""

from __future__ import annotations

from collections.abc import Iterable


def covers(name: str, test: str) -> bool:
    """Whether a test is one of those that a name selects, scenarios of a test included."""
    return test == name or test.startswith((name + ".", name + "("))


def chosen(selection: Iterable[str], test: str) -> bool:
    """Whether a selection has a test."""
    return any(covers(name, test) for name in selection)


def shortest(selection: Iterable[str]) -> tuple[str, ...]:
    """Return a selection without the names that others in it cover."""
    names = tuple(dict.fromkeys(selection))
    known = set(names)
    below = {name for name in names if any(name[:at] in known for at in _dots(name))}
    return tuple(name for name in names if name not in below)


def _dots(name: str) -> list[int]:
    return [at for at, letter in enumerate(name) if letter == "."]
