"""Makes text of any origin fit to be shown: test output, patches, other people's names."""

from __future__ import annotations

import re
from datetime import datetime

# ECMA-48: CSI sequences (ESC [ or 0x9b), OSC (ESC ] … BEL or ST), DCS/SOS/PM/APC (… ST), and the
# two-character escapes. Every part is a single run, so hostile input costs linear time.
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"
    r"|\x1b[PX^_][^\x1b]*\x1b\\"
    r"|\x1b[ -/]*[0-~]"
)
_NEWLINES = re.compile(r"\r\n?")
# What XML 1.0 (section 2.2, Char) and HTML forbid, and C1: everything but tab and newline.
_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff]")
# "Trojan Source" (CVE-2021-42574): these make a line read otherwise than it is.
_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_TRACEBACK = 30_000  # characters at the end of a test's output, where its traceback is
_EXCEPTION = 300  # characters of the line that names the exception
_BYTES_AS_SURROGATES = range(0xDC80, 0xDD00)  # PEP 383


def _escaped(match: re.Match[str]) -> str:
    point = ord(match[0])
    return f"\\x{point - 0xDC00:02x}" if point in _BYTES_AS_SURROGATES else f"\\u{point:04x}"


def unicode_only(text: str) -> str:
    r"""Return ``text`` with lone surrogates as ``\xNN`` (an undecodable byte) or ``\uNNNN``.

    They have no encoding in UTF-8, so JSON, HTML and files would refuse them.
    """
    return _SURROGATES.sub(_escaped, text)


def decoded(data: bytes | str) -> str:
    r"""Return ``data`` as text: UTF-8, and ``\xNN`` for each byte that is none."""
    return unicode_only(data if isinstance(data, str) else data.decode("utf-8", "backslashreplace"))


def clean(text: str) -> str:
    """Return ``text`` as it can be shown anywhere.

    Terminal escapes and control characters are gone (tab and newline stay), a carriage
    return is a newline, bytes that are no text and bidirectional overrides are written out.
    """
    text = _ESCAPES.sub("", text)
    text = _FORBIDDEN.sub("", _NEWLINES.sub("\n", text))
    return unicode_only(_BIDI.sub(_escaped, text))


def one_line(text: str) -> str:
    """Return ``text`` clean and on one line, its white space single blanks."""
    return " ".join(clean(text).split())


def shorten(text: str, limit: int) -> str:
    """Return at most about ``limit`` characters of ``text``: its start (a third) and its end.

    What is left out is said in its place. The end of a test's output tells more than its start.
    """
    if len(text) <= limit:
        return text
    head, tail = text[: limit // 3], text[len(text) - (limit - limit // 3) :]
    head, tail = head.rpartition("\n")[0] or head, tail.partition("\n")[2] or tail
    left_out = len(text) - len(head) - len(tail)
    return f"{head}\n[… {left_out:,} characters left out …]\n{tail}"


def seconds(value: float) -> str:
    """Return a duration as people say it: ``40 ms``, ``0.4 s``, ``12 s``, ``3 min 05 s``."""
    if value < 0.095:
        return f"{round(value * 1000)} ms"
    if value < 9.95:
        return f"{value:.1f} s"
    whole = round(value)
    if whole < 100:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def when(moment: datetime) -> str:
    """Return a moment as ``1 December 2025, 09:30 UTC``."""
    return f"{moment.day} {moment:%B %Y, %H:%M %Z}".rstrip()


def plural(count: int, one: str, many: str = "") -> str:
    """Return ``1 hunk`` or ``2 hunks``; ``many`` is the plural where it is no ``s``."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def joined(parts: list[str]) -> str:
    """Return ``a``, ``a and b`` or ``a, b and c``."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def exception_line(detail: str) -> str:
    """Return the line of a traceback that names the exception, or "" where there is none.

    It is the first line after the last traceback's header that is not indented deeper.
    """
    before, header, after = clean(detail[-_TRACEBACK:]).rpartition(
        "Traceback (most recent call last):"
    )
    if not header:
        return ""
    indent = len(before) - len(before.rstrip(" "))
    for line in after.split("\n")[1:]:
        if line.strip() and len(line) - len(line.lstrip(" ")) <= indent:
            line = line.strip()
            return line if len(line) <= _EXCEPTION else f"{line[:_EXCEPTION]}…"
    return ""
