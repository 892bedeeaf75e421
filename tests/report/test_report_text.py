"""Text of any origin, made fit to be shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backport.report.text import (
    clean,
    decoded,
    exception_line,
    joined,
    one_line,
    plural,
    seconds,
    shorten,
    unicode_only,
)

ANYTHING = st.text(st.characters(), max_size=60)  # lone surrogates and all


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain", "plain"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;a title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPqsixel\x1b\\after", "after"),
        ("\x9b31mC1", "C1"),
        ("\x1b(Bcharset", "charset"),
        ("\x1b[unfinished", "nfinished"),  # u ends a CSI sequence
        ("nul\x00bell\x07back\x08del\x7f", "nulbellbackdel"),
        ("10%\r20%\r\n", "10%\n20%\n"),
        ("byte \udcff", "byte \\xff"),
        ("lone \ud800", "lone \\ud800"),
        ("right\u202eto left\u2069", "right\\u202eto left\\u2069"),
        ("no\ufffe\uffff\ufdd0 characters", "no characters"),
        ("ünïcödé 日本 🎉", "ünïcödé 日本 🎉"),
    ],
)
def test_clean_keeps_what_can_be_read(raw: str, shown: str) -> None:
    assert clean(raw) == shown


@given(ANYTHING)
def test_clean_text_is_xml_text_and_stays_as_it_is(text: str) -> None:
    shown = clean(text)
    assert clean(shown) == shown
    shown.encode("utf-8")
    assert not {c for c in shown if ord(c) < 32 and c not in "\t\n"}


@given(ANYTHING)
def test_one_line_is_one_line(text: str) -> None:
    assert len(one_line(text).splitlines()) <= 1


def test_bytes_that_are_no_text_are_written_out() -> None:
    assert decoded(b"caf\xe9 \xf0\x9f\x8e\x89") == "caf\\xe9 🎉"
    assert unicode_only("caf\udce9") == "caf\\xe9"


@pytest.mark.parametrize("piece", ["\x1b]", "\x1b[", "\x1bP", "\x1b[0;", "\x1bX", "\r", "\x9b"])
def test_megabytes_of_unfinished_escapes_are_no_trouble(piece: str) -> None:
    # With a pattern that looks back and forth, this would take hours.
    text = piece * 400_000
    assert "\x1b" not in clean(text)
    assert exception_line(text) == ""


def test_shortened_text_keeps_both_ends_and_says_what_is_gone() -> None:
    text = "\n".join(f"line {number}" for number in range(10_000))
    short = shorten(text, 900)
    assert len(short) < 1000
    assert short.startswith("line 0\n")
    assert short.endswith("line 9999")
    assert "characters left out" in short
    assert shorten("short", 900) == "short"


def test_shortening_needs_no_line_breaks() -> None:
    assert len(shorten("x" * 100_000, 300)) < 400


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.0, "0 ms"),
        (0.04, "40 ms"),
        (5.24, "5.2 s"),
        (11.4, "11 s"),
        (99.4, "99 s"),
        (185, "3 min 05 s"),
        (7620, "2 h 07 min"),
    ],
)
def test_durations_read_as_people_say_them(value: float, words: str) -> None:
    assert seconds(value) == words


def test_words_for_numbers_and_lists() -> None:
    assert plural(1, "hunk") == "1 hunk"
    assert plural(2000, "hunk") == "2,000 hunks"
    assert plural(2, "more", "more") == "2 more"
    assert joined([]) == ""
    assert joined(["a"]) == "a"
    assert joined(["a", "b", "c"]) == "a, b and c"


@pytest.mark.parametrize(
    ("detail", "line"),
    [
        ("no traceback", ""),
        ("", ""),
        ('Traceback (most recent call last):\n  File "x"\nKeyError: 1\n', "KeyError: 1"),
        (
            "Traceback (most recent call last):\n  one\nA: first\n\nlog\n"
            'Traceback (most recent call last):\n  File "x"\n    code\nB: last\n}}}',
            "B: last",
        ),
        ("  Traceback (most recent call last):\n    File\n  Indented: yes\n", "Indented: yes"),
        ("Traceback (most recent call last):\n  cut off", ""),
    ],
)
def test_the_exception_of_the_last_traceback_is_named(detail: str, line: str) -> None:
    assert exception_line(detail) == line
