"""The function that a hunk belongs in, where the branch knows it under another name.

A name proves nothing: the bodies have to be alike, and no other function of the file as like.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from operator import itemgetter

from backport.source.outline import Scope

#: How much of the two bodies must be the same. git takes a file for another's at 0.5, of whole
#: files; a function is short, and half of a short one is boilerplate (decorators, logging,
#: the same five calls), so more is asked for.
LIKENESS = 0.6
#: By how much it must be more like than the next function of the file. A pair of twins (``_get_x``
#: and ``_get_y``) is told apart by nothing but its names, and a person has to look.
MARGIN = 0.2
#: Lines that a body must have: of two or three, likeness says nothing.
FEWEST = 5

Lines = Sequence[bytes]


def find_renamed(
    scope: Scope,
    origin: tuple[Sequence[Scope], Sequence[bytes]],
    target: tuple[Sequence[Scope], Sequence[bytes]],
) -> Scope | None:
    """Return the function that is ``scope`` under another name; None where none surely is.

    Each must be by far the most like the other: a function that the file which the patch was
    made from has as well is itself, and no other.

    :param scope: a function of ``origin`` that the target has not
    :param origin: the scopes and the lines of the file that the patch was made from
    :param target: those of the branch's file
    """
    body = _body(scope, origin[1])
    found = _most_like(body, *target) if len(body) >= FEWEST else None
    if not found or found.name.rpartition(".")[0] != scope.name.rpartition(".")[0]:
        return None
    return found if _most_like(_body(found, target[1]), *origin) == scope else None


def _most_like(body: Lines, scopes: Sequence[Scope], lines: Lines) -> Scope | None:
    """Return the function whose body is like another; None where there are two, or none."""
    functions = [scope for scope in scopes if scope.kind == "function"]
    likeness = [_likeness(body, _body(scope, lines)) for scope in functions]
    ranked = sorted(zip(likeness, functions, strict=True), key=itemgetter(0), reverse=True)
    second = ranked[1][0] if ranked[1:] else 0.0
    sure = ranked and ranked[0][0] >= LIKENESS and ranked[0][0] - second >= MARGIN
    return ranked[0][1] if sure else None


def _body(scope: Scope, lines: Lines) -> list[bytes]:
    """Return the lines that say something, without the header and its decorators."""
    return [line.strip() for line in lines[scope.def_line : scope.last_line] if line.strip()]


def _likeness(one: Lines, other: Lines) -> float:
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    # The upper bounds are quick, and most functions of a file are nothing alike.
    if min(matcher.real_quick_ratio(), matcher.quick_ratio()) < LIKENESS - MARGIN:
        return 0.0
    return matcher.ratio()
