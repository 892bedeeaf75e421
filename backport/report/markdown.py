"""``report.md``: short enough for a comment on a review.

Gerrit shows comments as Markdown since 3.7 and knew only lists, quotes and indented blocks
before, as OpenStack's did; so there are only lists and paragraphs here, and backticks, which
read well either way. What others wrote stands in backticks, where nothing in it is markup.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from backport.report import wording
from backport.report.document import CellFacts, ChangeFacts, ProofFacts, Report, TestFacts
from backport.report.text import one_line, plural, seconds
from backport.runner.results import Guard, Status

_MOST = 8  # entries of a list


def render_markdown(report: Report) -> str:
    """Return the comment; paragraphs are parted by empty lines."""
    return "\n\n".join(part for part in _parts(report) if part) + "\n"


def code(text: str) -> str:
    """Return ``text`` in backticks, on one line; backticks of its own become quotes."""
    return f"`{one_line(text).replace('`', chr(39)) or ' '}`"


def prose(text: str) -> str:
    """Return a sentence on one line, in which nothing starts a link, an image or a tag."""
    return one_line(text).replace("](", "] (").replace("<", "‹").replace("`", "'")


def _parts(report: Report) -> Iterator[str]:
    yield f"{wording.TITLES[report.result]}: {prose(report.sentence)}"
    if report.problem and report.proof:
        yield f"But: {prose(report.problem.message)}"
    yield _where(report)
    if report.conflict:
        yield "In conflict:\n\n" + _list(
            f"{code(file.path)}: {prose('; '.join(file.reasons))}" for file in report.conflict.files
        )
    if report.changes:
        yield "Commits:\n\n" + _list(_change(change) for change in report.changes)
    if report.proof:
        yield from _proof(report.proof)
    else:
        yield prose(wording.why_no_proof(report))
    yield _environment(report)


def _where(report: Report) -> str:
    onto = ""
    if report.checkout:
        base = report.checkout.described or wording.short(report.checkout.base)
        onto = f", on {code(base)}"
    name = report.branch.name
    branch = f" Branch {code(name)}: {prose(wording.branch_words(report.branch))}." if name else ""
    if report.series is None:
        return "No series was read."
    return f"Series {code(report.series.name)} for {code(report.series.branch)}{onto}.{branch}"


def _list(entries: Iterable[str]) -> str:
    listed = list(entries)
    rest = [f"and {len(listed) - _MOST} more"] if len(listed) > _MOST + 1 else []
    return "\n".join(f"* {entry}" for entry in (listed[:_MOST] + rest if rest else listed))


def _change(change: ChangeFacts) -> str:
    found = change.already_in
    commit = found.commit if found else change.commit
    how = prose(wording.how_applied(change))
    notes = "".join(f"; {prose(note)}" for note in change.notes)
    return f"{code(wording.short(commit) or '-')} {code(change.subject)}: {how}{notes}"


def _proof(proof: ProofFacts) -> Iterator[str]:
    if proof.cells:
        yield "Proof (tests of a change / code of a change):\n\n" + _list(map(_cell, proof.cells))
    if notes := Counter(note for cell in proof.cells for note in cell.notes):
        of = len(proof.cells)
        yield "\n".join(
            f"In {plural(count, 'cell')} of {of}: {prose(note)}." for note, count in notes.items()
        )
    bad = [test.id for cell in proof.cells for test in _blamed(cell)]
    if bad:
        yield "Not passing:\n\n" + _list([code(test) for test in dict.fromkeys(bad)])
    if proof.failing_on_base:
        count = plural(len(proof.failing_on_base), "test")
        yield f"{count} failing on the base too, and not blamed."
    yield _hunks(proof)


def _cell(cell: CellFacts) -> str:
    wants = "" if cell.ok else "NOT AS IT MUST BE: "
    cut = ", cut to the tests of the fix" if cell.cut else ""
    took = "kept from before" if cell.reused else seconds(cell.seconds)
    return f"{cell.label}: {wants}{prose(wording.cell_sentence(cell))} ({took}{cut})"


def _blamed(cell: CellFacts) -> list[TestFacts]:
    if cell.ok or wording.must_fail(cell):
        return []
    return [t for t in cell.tests if not t.status.passed and t.status is not Status.SKIPPED]


def _hunks(proof: ProofFacts) -> str:
    if not proof.hunks:
        return ""
    number, of = wording.guarded(proof.hunks)
    loose = [hunk for hunk in proof.hunks if hunk.guard in (Guard.UNGUARDED, Guard.CANNOT_TELL)]
    listed = _list(f"{hunk.guard.value}: {code(f'{hunk.path} {hunk.header}')}" for hunk in loose)
    return f"Hunks of the fix guarded by a test: {number} of {of}." + f"\n\n{listed}" * bool(loose)


def _environment(report: Report) -> str:
    ran = [
        f"{prose(each.version)}, {code(each.lock)} (sha256 {code(each.lock_sha256[:12])})"
        for each in report.environments
    ]
    made = f"Made by {report.tool.name} {prose(report.tool.version)} in {seconds(report.seconds)}"
    return f"{made}{'; ' if ran else ''}{'; '.join(ran)}."
