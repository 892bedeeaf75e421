"""``backport continue``: on with a run that stopped, by what a person has made of the conflict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from backport.apply.outcome import Conflict, Resolution, Word
from backport.conflict.pending import Pending
from backport.conflict.state import State
from backport.errors import ConflictError, ExitCode
from backport.pipeline import Findings, apply, carry_out, series_digest
from backport.progress import Progress, Silent
from backport.request import RunRequest
from backport.series.manifest import find_series
from backport.series.model import Series
from backport.series.save import Saved, save_resolutions
from backport.session import Places, Session, open_session


def resume(
    places: Places,
    waiting: Pending,
    said: Sequence[tuple[Word, str]],
    save: bool,
    findings: Findings,
    progress: Progress,
) -> None:
    """Go on after a conflict with what a person has made of it: see ``backport continue --help``.

    The state stays until all is done, so that a resolution whose tests fail can be mended.

    :param said: what files of the conflict were named with
    """
    state = waiting.read()
    request = findings.request = RunRequest.model_validate(state.request)
    progress.step("load", request.series)
    series = findings.series = find_series(request.series, places.patches)
    progress.step("locate", state.checkout)
    where = None if state.built_in else state.checkout
    waiting.save = save or state.save
    with open_session(places, series.branch, where, state.base, progress) as session:
        resolutions: dict[int, Resolution] = {}
        if not _is_saved(series, state):
            resolutions = waiting.resolutions()
            conflict = _meet_again(session, series, request, resolutions, state)
            resolved = waiting.resolution(session.scratch, conflict, said)
            waiting.remember(resolved)
            resolutions = {**resolutions, state.change: resolved}
        carry_out(session, series, request, resolutions, waiting, findings, progress)
        if findings.exit_code is ExitCode.DONE:
            if waiting.save and resolutions:
                _save(series, resolutions, waiting, findings, progress)
            waiting.forget()


def _is_saved(series: Series, state: State) -> bool:
    """Whether an earlier continue --save was ended when all was done but to forget the conflict."""
    files = {change.number: change.patch_file for change in series.changes}
    named = {number: file.name for number, file in files.items() if file}
    return bool(state.saved) and state.saved.items() <= named.items()


def _save(
    series: Series,
    resolutions: Mapping[int, Resolution],
    waiting: Pending,
    findings: Findings,
    progress: Progress,
) -> None:
    """Keep resolutions in the series, last of all: what was tried is what is written."""
    progress.step("save", str(series.folder))
    applied = findings.outcome.applied if findings.outcome else ()
    left_out = {one.change.number: [hunk.path for hunk in one.left_out] for one in applied}
    saved = {
        number: Saved(one.patch, [*one.words], left_out.get(number, ()))
        for number, one in resolutions.items()
    }
    old = [series.changes[number - 1].patch_file for number in saved]
    written = save_resolutions(series, saved, waiting.note_saved)
    findings.saved = (
        *(f"written: {path}" for path in written),
        *(f"kept as it was: {path}" for path in old if path and path not in written),
    )
    for line in findings.saved:
        progress.note(line)


def _meet_again(
    session: Session,
    series: Series,
    request: RunRequest,
    resolutions: dict[int, Resolution],
    state: State,
) -> Conflict:
    """Make the objects of the conflict once more, and see that it is the same conflict."""
    outcome = None
    if series_digest(series) == state.digest:
        outcome = apply(session, series, request, resolutions, Silent())
    if not outcome or not outcome.conflict or outcome.conflict.tree != state.tree:
        raise ConflictError(
            f"the series {series.name} has changed since the conflict",
            "Your work is in the files of the pending conflict (backport status); "
            "to begin anew type: backport abort",
        )
    return outcome.conflict
