"""Python source as logical lines: what all Pythons, old and new, have in common.

The tokens are those of ``parso``, whose tokenizer takes Python 2 as well: what it does not
know there (``0777``, ``10L``, ``ur""``, backquotes) falls into tokens that it does know.
"""

from __future__ import annotations

import codecs
import io
import keyword
import re
import tokenize
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from parso.python.token import PythonTokenTypes
from parso.python.tokenize import PythonToken, tokenize_lines
from parso.utils import parse_version_string


def same_code(before: bytes, after: bytes) -> bool:
    """Whether two versions of a source differ at most in comments, blank lines and docstrings.

    Told by the tokens, which all Pythons share. Where that cannot be told, it is False: other
    quotes, brackets, or a line that is no Python, and tabs mixed with blanks.
    """
    if before == after:
        return True
    (old, old_encoding), (new, new_encoding) = decode(before), decode(after)
    if old_encoding != new_encoding or _doubtful(before) or _doubtful(after):
        return False
    code = _code(old)
    return code is not None and code == _code(new)


def decode(source: bytes) -> tuple[str, str]:
    r"""Return the text and the encoding, by PEP 263; its lines are those of git.

    A lone CR ends a line for Python but not for git, so it is blanked out, and so is what
    ``\r\r\n`` has too many. Where the encoding does not hold, every byte is a character.
    """
    try:
        encoding = tokenize.detect_encoding(io.BytesIO(source).readline)[0]
        text = source.decode(encoding)
    except (SyntaxError, UnicodeError, LookupError):
        encoding, text = "unknown", source.removeprefix(codecs.BOM_UTF8).decode("latin-1")
    if text.count("\n") != source.count(b"\n"):
        encoding, text = "unknown", source.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", " "), encoding


@dataclass(frozen=True)
class LogicalLine:
    """A logical line: its tokens, and how many blocks it is in."""

    depth: int
    tokens: tuple[PythonToken, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The tokens as written."""
        return tuple(token.string for token in self.tokens)

    @property
    def first(self) -> int:
        """The number of its first line in the source, from 1."""
        return int(self.tokens[0].start_pos[0])

    @property
    def last(self) -> int:
        """The number of its last line."""
        return int(self.tokens[-1].end_pos[0])


_LAYOUT = (
    PythonTokenTypes.INDENT,
    PythonTokenTypes.DEDENT,
    PythonTokenTypes.NEWLINE,
    PythonTokenTypes.ENDMARKER,
)


def logical_lines(text: str) -> list[LogicalLine] | None:
    """Cut source into logical lines; None where there is a token that no Python has."""
    lines: list[LogicalLine] = []
    tokens: list[PythonToken] = []
    depth = 0
    physical = [line + "\n" for line in text.split("\n")]
    for token in tokenize_lines(physical, version_info=parse_version_string("3.12")):
        kind = token.type
        if kind in (PythonTokenTypes.ERRORTOKEN, PythonTokenTypes.ERROR_DEDENT):
            return None
        if kind not in _LAYOUT:
            tokens.append(token)
        elif tokens:
            lines.append(LogicalLine(depth, tuple(tokens)))
            tokens = []
        depth += (kind is PythonTokenTypes.INDENT) - (kind is PythonTokenTypes.DEDENT)
    return lines


_INDENTATION = re.compile(r"^[ \t\f]+", re.MULTILINE)


def expand_indentation(text: str) -> str:
    """Make it blanks: a tab reaches to the next multiple of 8, a form feed to column 0."""
    if "\t" not in text and "\f" not in text:
        return text
    return _INDENTATION.sub(lambda match: match[0].rpartition("\f")[2].expandtabs(8), text)


_DOUBTFUL = re.compile(rb"\f|\r(?!\n)")


def _doubtful(source: bytes) -> bool:
    """Whether layout depends on how wide a tab is, or on what ends a line."""
    tabs, blanks = re.search(rb"^\t", source, re.M), re.search(rb"^ ", source, re.M)
    return bool(tabs and blanks) or bool(_DOUBTFUL.search(source))


_WORDS = frozenset([*keyword.kwlist, *keyword.softkwlist, "print", "exec"])
_STRINGS = (PythonTokenTypes.STRING, PythonTokenTypes.FSTRING_START)
_OPERANDS = (PythonTokenTypes.NAME, PythonTokenTypes.NUMBER, *_STRINGS)
_BEGINNINGS = frozenset([*"([{`@-+~*", "..."])
_PAIRS = {")": "(", "]": "[", "}": "{"}


def malformed(line: LogicalLine) -> bool:
    """Whether no Python has such a line: brackets open or crossed, operands side by side."""
    first = line.tokens[0]
    if first.type is PythonTokenTypes.OP and first.string not in _BEGINNINGS:
        return True
    opened: list[str] = []
    for token in line.tokens:
        if token.type is PythonTokenTypes.OP and token.string in _PAIRS.values():
            opened.append(token.string)
        elif (token.type is PythonTokenTypes.OP and token.string in _PAIRS) and (
            not opened or opened.pop() != _PAIRS[token.string]
        ):
            return True
    pairs = zip(line.tokens, line.tokens[1:], strict=False)
    return bool(opened) or any(_apart(left, right) for left, right in pairs) or not _header_ok(line)


def _apart(left: PythonToken, right: PythonToken) -> bool:
    """Whether something is missing between two tokens, as in prose."""
    if right.type not in _OPERANDS or {left.string, right.string} & _WORDS:
        return False
    if left.type in _STRINGS and right.type in _STRINGS:
        return False
    # Python 2's 0777, 10L and ur"" are each two tokens of Python 3, with nothing in between.
    if left.end_pos == right.start_pos and left.type is PythonTokenTypes.NUMBER:
        return False
    if left.string.lower() == "ur" and right.type in _STRINGS:
        return False
    return left.type in _OPERANDS or left.string in _PAIRS


def header_of(words: Sequence[str]) -> tuple[str, ...]:
    """Return what a class or function begins with, from "class" or "def" on; () for others."""
    words = words[1:] if words[0] == "async" else words
    return tuple(words) if words and words[0] in ("class", "def") else ()


def _header_ok(line: LogicalLine) -> bool:
    header = header_of(line.words)
    return (
        not header
        or (len(header) > 3 and header[1].isidentifier() and header[2] in "([:" and ":" in header)
        or header[2:] == (":",)
    )


@lru_cache(maxsize=8)  # one side is the same for all hunks of a file
def _code(text: str) -> list[tuple[int, tuple[str, ...]]] | None:
    """Return the logical lines without docstrings; None where they cannot be relied upon."""
    logical = logical_lines(text)
    if logical is None or any(map(malformed, logical)):
        return None
    before: Iterable[LogicalLine | None] = [None, *logical]
    return [
        (line.depth, line.words)
        for previous, line in zip(before, logical, strict=False)
        if not _is_docstring(previous, line)
    ]


def _is_docstring(previous: LogicalLine | None, line: LogicalLine) -> bool:
    if any(token.type is not PythonTokenTypes.STRING for token in line.tokens):
        return False
    return previous is None or (bool(header_of(previous.words)) and line.depth > previous.depth)
