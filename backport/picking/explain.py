"""Why a pick conflicts: the commits of the newer branch, missing here, whose lines it leans on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from backport.apply.engine import Signing
from backport.apply.outcome import Conflict
from backport.checkout.scratch import Scratch
from backport.patch.model import FilePatch, Hunk
from backport.patch.reader import parse_diff
from backport.picking.lines import Lines
from backport.picking.model import Cause, Explained, Explanation, Grade, HunkExplained
from backport.picking.trial import try_changes
from backport.series.message import change_ids, subject_without_tags
from backport.series.model import Series
from backport.source.outline import outline

_MOST = 4  # causes of one hunk that are looked into; the strongest come first


def explain(
    scratch: Scratch, lines: Lines, series: Series, base: str, name: str, signing: Signing
) -> Explanation:
    """Explain every change of a series that conflicts on ``base``, each without the ones before.

    :param name: of the base, for people
    """
    return Explanation(
        series.name,
        name,
        tuple(
            _explained(scratch, lines, series, tried.result, signing.committer.email)
            for tried in try_changes(scratch, series, base, signing)
            if isinstance(tried.result, Conflict)
        ),
    )


def _explained(
    scratch: Scratch, lines: Lines, series: Series, conflict: Conflict, mail: str
) -> Explained:
    change = conflict.change
    picked = scratch.resolve(change.commit or "")
    if not picked:
        remark = "it is a patch: which commits it was made upon, nobody knows"
        return Explained(change.number, change.subject, "", (), remark=remark)
    commit = scratch.commit(picked)
    parent = commit.parents[0]
    paths = {file.path for file in conflict.files}
    patch = parse_diff(scratch.diff(parent, picked), Path(picked[:12]))
    causes = _Causes(scratch, lines, conflict.parent, parent)
    hunks = tuple(
        hunk
        for file in patch.files
        if paths & {file.path, file.old_path}
        for hunk in causes.of_file(file)
    )
    subject = subject_without_tags(commit.message)
    note = _note(hunks, series.branch.name, mail)
    return Explained(change.number, subject, picked, hunks, note)


def _note(hunks: tuple[HunkExplained, ...], branch: str, mail: str) -> str:
    """Write the line that nova's backports have below their list of conflicts."""
    causes = [cause for hunk in hunks for cause in hunk.causes if cause.change_id]
    strong = [cause.change_id for cause in causes if cause.grade is Grade.PREREQUISITE]
    ids = [*dict.fromkeys(strong or [cause.change_id for cause in causes])]
    if not ids:
        return ""
    many = len({hunk.path for hunk in hunks}) > 1
    said = " and ".join([", ".join(ids[:-1]), ids[-1]] if len(ids) > 1 else ids)
    start = "conflicts are" if many else "conflict is"
    word = "changes" if len(ids) > 1 else "change"
    nick = mail.partition("@")[0]
    return f"NOTE({nick}): The {start} due to not having {word} {said} in {branch.capitalize()}."


class _Causes:
    """Looks for causes between the base and the parent of a picked commit."""

    def __init__(self, scratch: Scratch, lines: Lines, base: str, parent: str) -> None:
        self._scratch = scratch
        self._lines = lines
        self._base = base
        self._parent = parent
        self._known: dict[str, Cause | None] = {}

    def of_file(self, file: FilePatch) -> Iterator[HunkExplained]:
        """Explain the hunks of a file that do not fit."""
        path = file.old_path or file.path
        here = self._scratch.file(self._base, path)
        before = self._scratch.file(self._parent, path)
        if here is None and file.old_path:
            brought = self._scratch.adding(path, self._parent, self._base)
            causes = self._causes(Counter(brought), set(brought), "it brought the file")
            yield HunkExplained(path, 0, 0, "", f"the branch does not have {path}", causes)
            return
        homes = outline(before or b"")
        for hunk in file.hunks:
            if b"".join(hunk.side(old=True)) in (here or b""):
                continue
            first, last = hunk.old_start, hunk.old_start + max(hunk.old_count, 1) - 1
            middle = first + hunk.leading
            home = homes.home(middle) if homes else ""
            causes = self._of_lines(path, hunk, first, last) if before else ()
            yield HunkExplained(path, first, last, home, "its lines are others here", causes)

    def _of_lines(self, path: str, hunk: Hunk, first: int, last: int) -> tuple[Cause, ...]:
        wrote = self._scratch.blame(path, self._parent, self._base, first, last)
        changed = set()
        line = first
        for text in hunk.lines:
            if text[:1] == b"-" and wrote.get(line):
                changed.add(wrote[line])
            line += text[:1] in (b" ", b"-")
        counts = Counter(wrote.values())
        for commit in self._scratch.line_history(path, self._parent, self._base, first, last):
            counts.setdefault(commit, 0)
        return self._causes(counts, changed, "it wrote lines that the pick changes")

    def _causes(self, counts: Counter[str], strong: set[str], why: str) -> tuple[Cause, ...]:
        """Grade commits, the strongest first."""
        order = sorted(counts, key=lambda one: (one not in strong, -counts[one]))
        found = []
        for commit in order[:_MOST]:
            grade = Grade.PREREQUISITE if commit in strong else Grade.INCIDENTAL
            words = why if commit in strong else "it wrote or took out lines beside"
            cause = self._cause(commit, grade, words, counts[commit])
            if cause:
                found.append(cause)
        return tuple(found)

    def _cause(self, commit_id: str, grade: Grade, why: str, lines: int) -> Cause | None:
        """Describe a commit; None where the branch has the change under another hash."""
        commit = self._scratch.commit(commit_id)
        change_id = next(iter(change_ids(commit.message)), "")
        if change_id and self._scratch.search(self._base, [change_id]):
            return None
        found = self._lines.by_change_id(change_id) if change_id else iter(())
        above = commit.parents[0] if len(commit.parents) == 1 else None
        trees = (self._scratch.tree(one) for one in (above or "", self._base, commit_id) if one)
        files, insertions, deletions = self._scratch.size(commit_id)
        return Cause(
            commit=commit_id,
            subject=subject_without_tags(commit.message),
            change_id=change_id,
            grade=grade,
            why=why,
            lines=lines,
            files=files,
            insertions=insertions,
            deletions=deletions,
            picks=not self._scratch.merge(*trees).conflicts if above else None,
            on=tuple(line.name for line, _ in found),
        )
