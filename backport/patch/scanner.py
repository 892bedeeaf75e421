"""Finding the files of a patch amid the noise that people have around it.

A patch file may be ``git diff``, ``git format-patch``, ``git show`` or a mail: this tells the
lines that git would read from those that it would skip, and refuses what git would skip in
silence (such as lines beyond a hunk's count), because it may be a lost change.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from backport.errors import ManifestError, Problem

HUNK = re.compile(rb"@@ -(\d{1,10})(?:,(\d{1,10}))? \+(\d{1,10})(?:,(\d{1,10}))? @@(?: (.*))?$")
_MAX_LINE = 2**31 - 1
_MAX_NAMES = 4 * 2 * 4096  # bytes: two names as long as PATH_MAX, every byte of them escaped
_EXTENDED = re.compile(
    rb"(old mode|new mode|deleted file mode|new file mode|similarity index|dissimilarity index"
    rb"|rename from|rename to|copy from|copy to|index) (.*)"
)
_BINARY_FILES = re.compile(rb"Binary files (.+) and (.+) differ$")
# The date is git's constant, put there to tell its mails from others (git-format-patch(1)).
_MAIL = re.compile(rb"From [0-9a-f]{40,64} Mon Sep 17 00:00:00 2001$")
_SHOWN = re.compile(rb"commit [0-9a-f]{40,64}\b")  # git show, if what follows is one of these
_UNDER_SHOWN = (b"Author:", b"Merge: ", b"Commit:")
_NOT_CARRIED = (
    (re.compile(rb"Only in [^:]+: "), "a file that is named and not carried (diff -r without -N)"),
    (re.compile(rb"Submodule .+[:.]"), "the summary of a submodule, which is no patch of it"),
    (_BINARY_FILES, "a binary file that is named and not carried"),
)


@dataclass
class Section:
    """The lines about one file. Indexes into the patch's lines count from 0."""

    start: int
    git: bytes | None = None  # what follows "diff --git "; None in a plain diff
    extended: dict[bytes, bytes] = field(default_factory=dict)
    minus: bytes | None = None  # what follows "--- "
    plus: bytes | None = None
    hunks: list[tuple[int, int]] = field(default_factory=list)  # half-open, from the @@ line on
    binary: tuple[int, int] | None = None  # half-open, after "GIT binary patch"
    binary_names: bool = False  # "Binary files … differ": no data

    @property
    def line(self) -> int:
        """Its first line, from 1."""
        return self.start + 1

    @property
    def says_new(self) -> bool:
        """Whether it says that the file was not there before."""
        return b"new file mode" in self.extended or _is_nowhere(self.minus)

    @property
    def says_gone(self) -> bool:
        """Whether it says that the file is not there afterwards."""
        return b"deleted file mode" in self.extended or _is_nowhere(self.plus)


def _is_nowhere(name: bytes | None) -> bool:
    return name is not None and name.split(b"\t")[0] == b"/dev/null"


def fault(where: Path, line: int, message: str, hint: str = "") -> ManifestError:
    """Put what is wrong with a patch into the one clear line (must 7)."""
    return ManifestError([Problem(where, line, message)], hint)


def scan_patch(lines: list[bytes], where: Path) -> list[Section]:
    """Find the files of a patch, in order; maybe none.

    :param lines: without their newlines
    :raises ManifestError: for what looks like a change and could not be applied
    """
    return _Scanner(lines, where).sections()


class _Scanner:
    """Reads a patch top down, one line of look-ahead at most."""

    def __init__(self, lines: list[bytes], where: Path) -> None:
        self.lines = lines
        self.where = where
        self.at = 0
        self.found: list[Section] = []
        self.tail = False  # right behind a file's lines: what comes here may be a lost change
        self.commits = 0

    def sections(self) -> list[Section]:
        """Read all of it."""
        while self.at < len(self.lines):
            if self.peek().startswith(b"diff --git "):
                self.keep(self.git_section())
            elif self.plain_header():
                self.keep(self.plain_section())
            else:
                self.noise()
                self.at += 1
        return self.found

    def peek(self, ahead: int = 0) -> bytes:
        """Return a line of a header, without the CR that a mail program may have put there."""
        at = self.at + ahead
        return self.lines[at].rstrip(b"\r") if at < len(self.lines) else b""

    def fault(self, message: str, at: int | None = None, hint: str = "") -> ManifestError:
        """Refuse, at a line's index; the current one if none is given."""
        return fault(self.where, (self.at if at is None else at) + 1, message, hint)

    def keep(self, section: Section) -> None:
        self.found.append(section)
        self.tail = True

    def plain_header(self) -> bool:
        """Whether a file begins here without a ``diff --git`` line. A lone ``---`` is prose."""
        return (
            self.peek().startswith(b"--- ")
            and self.peek(1).startswith(b"+++ ")
            and self.peek(2).startswith(b"@@ ")
        )

    def noise(self) -> None:
        """Look at a line that git would skip."""
        line = self.peek()
        if line.startswith((b"diff --cc ", b"diff --combined ", b"@@@ ")):
            hint = "Take the diff against one parent: git diff COMMIT^1 COMMIT."
            raise self.fault("the combined diff of a merge, which cannot be applied", hint=hint)
        if HUNK.match(line):
            raise self.fault("a hunk without the name of a file above it")
        if _MAIL.match(line) or (_SHOWN.match(line) and self.peek(1)[:7] in _UNDER_SHOWN):
            self.another_commit()
        if self.tail and line.strip():
            self.behind_a_file(line)

    def another_commit(self) -> None:
        self.commits += 1
        self.tail = False
        if self.commits > 1:
            hint = "One change is one commit: write one patch each, and list them in series.yaml."
            raise self.fault("a second commit begins here", hint=hint)

    def behind_a_file(self, line: bytes) -> None:
        """Tell a mail's signature from lines that a hunk's count has lost."""
        for pattern, message in _NOT_CARRIED:
            if pattern.match(line):
                raise self.fault(message)
        self.tail = False
        signature = line in (b"-- ", b"--")
        if not signature and line.startswith((b"+", b"-", b" ", b"\\")):
            raise self.fault("more lines than the hunk above says that it has")

    def git_section(self) -> Section:
        section = Section(self.at, git=self.peek()[len(b"diff --git ") :])
        if len(self.peek()) > _MAX_NAMES:
            raise self.fault("a file name that is too long for any file system")
        self.at += 1
        while match := _EXTENDED.match(self.peek()):
            if match[1] in section.extended:
                raise self.fault(f"{match[1].decode()!r} twice for one file")
            section.extended[match[1]] = match[2]
            self.at += 1
        self.content(section)
        return section

    def content(self, section: Section) -> None:
        """Read what follows a git header: hunks, binary data, or nothing."""
        line = self.peek()
        if line.startswith(b"--- "):
            self.names_and_hunks(section)
        elif line == b"GIT binary patch":
            self.at += 1
            section.binary = (self.at, self.binary_end())
        elif _BINARY_FILES.match(line):
            self.at += 1
            section.binary_names = True

    def plain_section(self) -> Section:
        section = Section(self.at)
        self.names_and_hunks(section)
        return section

    def names_and_hunks(self, section: Section) -> None:
        section.minus = self.peek()[len(b"--- ") :]
        if not self.peek(1).startswith(b"+++ "):
            raise self.fault("a '---' line without the '+++' line below: the patch is cut off")
        section.plus = self.peek(1)[len(b"+++ ") :]
        self.at += 2
        while self.peek().startswith(b"@@ "):
            section.hunks.append((self.at, self.hunk_end()))
        if not section.hunks:
            raise self.fault("no hunk where one must be: the patch is cut off", self.at - 1)

    def hunk_end(self) -> int:
        """Go behind a hunk, by its counts."""
        start, lines = self.at, self.lines
        old, new = self.counts()
        self.at += 1
        while old > 0 or new > 0:
            sign = lines[self.at][:1] if self.at < len(lines) else None
            if sign in (b" ", b"", b"\r"):  # GNU diff and editors leave blank context empty
                old, new = old - 1, new - 1
            elif sign == b"-":
                old -= 1
            elif sign == b"+":
                new -= 1
            elif sign != b"\\":
                raise self.fault(f"a hunk that ends {max(old, new)} lines before its counts", start)
            if old < 0 or new < 0:
                raise self.fault("a hunk whose lines do not match its counts", start)
            self.at += 1
        if self.at < len(lines) and lines[self.at].startswith(b"\\ "):
            self.at += 1
        return self.at

    def counts(self) -> tuple[int, int]:
        """Read how many old and new lines a hunk says it has."""
        match = HUNK.match(self.peek())
        if not match:
            raise self.fault("a line that begins like a hunk and is none")
        old, new = (int(count) if count else 1 for count in (match[2], match[4]))
        if max(int(match[1]) + old, int(match[3]) + new) > _MAX_LINE:
            raise self.fault("a hunk at a line that no file has")
        if max(old, new) > len(self.lines) - self.at:
            raise self.fault(f"a hunk of {max(old, new)} lines in a patch that ends before")
        return old, new

    def binary_end(self) -> int:
        """Go behind binary data: one or two blocks, each ended by an empty line."""
        blocks = 0
        while blocks < 2 and self.peek().startswith((b"literal ", b"delta ")):
            while self.peek():
                self.at += 1
            self.at += 1
            blocks += 1
        return self.at
