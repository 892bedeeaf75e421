"""Whether a hunk can be where it is, by the heading after its ``@@``: where nothing else is known.

git writes the last line above the hunk that begins a class or function where the ``python``
driver is set in gitattributes, and where it is not, the last that begins with a letter, which in
Python is the outermost class or function. Patches that git did not make have no headings.
"""

from __future__ import annotations

import re

from backport.patch.model import Hunk
from backport.placement.scopes import View, reworded
from backport.source.outline import Outline, Scope, heading

_DEFINITION = re.compile(r"\s*(?:async\s+)?(?:class|def)\s+(\w+)")


def not_under_heading(hunk: Hunk, start: int, home: str, base: View) -> tuple[str, str] | None:
    """Return where the hunk belongs and where it landed, if its heading says that these are two.

    :param start: the first line of the hunk in ``base``, the file before the change
    :param home: of its first changed line
    """
    said = hunk.heading
    there = [heading(base.source, start, python=python) for python in (False, True)]
    if not said or said in there:
        return None
    if base.outline is None:
        return None if reworded(said, there[0]) else (said, there[0])
    return _contradicts(hunk, start, home, base.outline)


def _contradicts(hunk: Hunk, start: int, home: str, outline: Outline) -> tuple[str, str] | None:
    around = [scope for scope in outline.enclosing(start) if scope.def_line < start]
    match = _DEFINITION.match(hunk.heading)
    if not match:  # code of the module, so that no class or function is open there
        return (hunk.heading, home) if around else None
    shown = [scope for scope in outline.scopes if scope.def_line >= start and _leads(scope, home)]
    if match[1] in {_simple(scope) for scope in around + _last_before(outline, start)}:
        return None
    # What the hunk itself shows the header of, outermost, is where it is, whatever comes above.
    if not around and (shown or _reaches_the_margin(hunk)):
        return None
    return ".".join([match[1], *map(_simple, shown)]), home


def _simple(scope: Scope) -> str:
    return scope.name.rpartition(".")[2]


def _leads(scope: Scope, home: str) -> bool:
    return home == scope.name or home.startswith(f"{scope.name}.")


def _last_before(outline: Outline, start: int) -> list[Scope]:
    """Return the last scope that begins above a line, and the last that is the module's own."""
    above = [scope for scope in outline.scopes if scope.def_line < start]
    return above[-1:] + [scope for scope in above if "." not in scope.name][-1:]


def _reaches_the_margin(hunk: Hunk) -> bool:
    return any(re.match(rb"[^\s#]", line) for line in hunk.side(old=True))
