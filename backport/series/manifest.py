"""Loading a branch, a series and a rewind from their folders: all that is wrong, at once.

Each problem has its file and line (must 7). Nothing is loaded in part.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from backport.errors import ManifestError, UsageError
from backport.patch.reader import Patch
from backport.series.manifest_checks import check_changes, named_file, read_patches, value_at
from backport.series.message import made_change_id
from backport.series.model import (
    KEEP_SECTION,
    Branch,
    Change,
    Embedded,
    Keepsake,
    PythonLock,
    Series,
    TestSettings,
)
from backport.series.rewind import LineEdit, Rewind, RewindFile
from backport.series.schema import (
    BranchKeys,
    ChangeKeys,
    EditKeys,
    EmbeddedKeys,
    RewindFileKeys,
    RewindKeys,
    SeriesKeys,
    TestsKeys,
    check_keys,
)
from backport.series.yaml_file import Document, Loc, read_document

BRANCH_FILE, SERIES_FILE = "branch.yaml", "series.yaml"
_MAX_PROBLEMS = 50  # at once; a file with more is something else
_ValueT = TypeVar("_ValueT")


def load_branch(folder: Path, patches: Sequence[Path] = ()) -> Branch:
    """Load ``branch.yaml`` of a folder such as ``patches/ocata``.

    :param patches: where the same branch's folder may be, too: a file that it names and that is
        not beside it is looked for there
    :raises ManifestError: with all problems of it
    """
    document = read_document(folder / BRANCH_FILE)
    return _sound(_branch(document, patches), document)


def load_series(folder: Path, patches: Sequence[Path] = ()) -> Series:
    """Load the series in a folder; ``branch.yaml`` lies in the folder above it.

    :param patches: where the branch's folder is looked for if not so
    :raises ManifestError: with all problems of the series, its patches and its branch
    """
    document = read_document(folder / SERIES_FILE)
    own = _above(folder)
    places = [own, *(root / own.resolve().name for root in patches)]
    there = next((place for place in places if (place / BRANCH_FILE).is_file()), own)
    above = read_document(there / BRANCH_FILE)
    branch = _branch(above, patches)
    keys = check_keys(document, SeriesKeys)
    read = read_patches(document)
    check_changes(document, branch.stable_only_tag if branch else "")
    series = _series(keys, branch, read, document) if keys and branch else None
    return _sound(series, document, above)


def load_rewind(path: Path) -> Rewind:
    """Load a rewind, such as ``patches/ocata/rewind-15.1.5.yaml``.

    :raises ManifestError: with all problems of it
    """
    document = read_document(path)
    keys = check_keys(document, RewindKeys)
    return _sound(_rewind(keys, document) if keys else None, document)


def list_series(patches: Sequence[Path]) -> dict[str, Path]:
    """Map the names of all series to the folder like ``patches`` where each is found first."""
    files = [(file, root) for root in reversed(patches) for file in root.glob(f"*/*/{SERIES_FILE}")]
    found = {"/".join(file.parts[-3:-1]): root for file, root in files}
    return dict(sorted(found.items()))


def list_branches(patches: Sequence[Path]) -> dict[str, Path]:
    """Map the names of all branches to the folder like ``patches`` where each is found first."""
    files = [(file, root) for root in reversed(patches) for file in root.glob(f"*/{BRANCH_FILE}")]
    return dict(sorted({file.parent.name: root for file, root in files}.items()))


def find_branch(name: str, patches: Sequence[Path]) -> Branch:
    """Load a branch by its name, ``ocata``.

    :raises UsageError: there is none of that name
    :raises ManifestError: it is there, and not sound
    """
    known = list_branches(patches)
    if name not in known:
        raise UsageError(f"there is no branch {name!r}", f"There are: {', '.join(known)}")
    return load_branch(known[name] / name, patches)


def find_series(name_or_path: str, patches: Sequence[Path]) -> Series:
    """Load a series by its name (``ocata/bug-1783613``) or by the path of its folder.

    :param patches: folders like ``patches``, the first that has it wins
    :raises UsageError: there is no such series; the hint has those that there are
    :raises ManifestError: it is there, and not sound
    """
    known = list_series(patches)
    name = name_or_path.rstrip("/")  # a shell that completes names puts one there
    if name in known:
        return load_series(known[name] / name, patches)
    folder = _series_folder(name_or_path)
    if folder:
        return load_series(folder, patches)
    close = difflib.get_close_matches(name_or_path, known, n=1, cutoff=0.4)
    guess = f"Did you mean {close[0]}?\n" if close else ""
    none = f"There is none below {', '.join(map(str, patches))}."
    there = "There are: " + ", ".join(known) if known else none
    raise UsageError(f"there is no series {name_or_path!r}", guess + there)


def _series_folder(path: str) -> Path | None:
    try:
        folder = Path(path)
        return folder if path and (folder / SERIES_FILE).is_file() else None
    except (OSError, ValueError):  # a NUL in it, or longer than the system takes
        return None


def _above(folder: Path) -> Path:
    """The folder above; of ``.`` too, without following links."""
    return folder.parent if folder.name not in ("", "..") else folder / ".."


def _sound(value: _ValueT | None, *documents: Document) -> _ValueT:
    problems = [problem for document in documents for problem in document.problems]
    if value is not None and not problems:
        return value
    problems.sort(key=lambda problem: (str(problem.file), problem.line))
    more = len(problems) - _MAX_PROBLEMS
    hints = [document.hint for document in documents if document.hint]
    hints += [f"There are {more} problems more."] if more > 0 else []
    raise ManifestError(problems[:_MAX_PROBLEMS], "\n".join(hints))


def _branch(document: Document, patches: Sequence[Path]) -> Branch | None:
    keys = check_keys(document, BranchKeys)
    folder = document.path.parent
    others = [root / folder.resolve().name for root in patches]
    locks = _locks(document, others)
    rewind = named_file(document, ("embedded", "rewind"), others)
    if not keys:
        return None
    return Branch(
        name=folder.resolve().name,
        folder=folder,
        project=keys.project,
        branch=keys.branch,
        eol_tag=keys.eol_tag,
        release_line=keys.release_line,
        stable_only_tag=keys.stable_only_tag,
        newer_branches=keys.newer_branches,
        tests=_tests(keys.tests, locks, document) if keys.tests else None,
        embedded=_embedded(keys.embedded, rewind) if keys.embedded else None,
        lint=tuple((name, how, document.line(("lint", name))) for name, how in keys.lint.items()),
    )


def _locks(document: Document, others: Sequence[Path]) -> dict[str, Path | None]:
    """The files of ``tests.requirements``, by version of Python; "" where it is one file."""
    where = ("tests", "requirements")
    named = value_at(document.data, where)
    if isinstance(named, dict):
        return {version: named_file(document, (*where, version), others) for version in named}
    return {"": named_file(document, where, others)} if isinstance(named, str) else {}


def _tests(keys: TestsKeys, locks: dict[str, Path | None], document: Document) -> TestSettings:
    if "" in locks and len(keys.python) == 1:
        locks = {keys.python[0]: locks[""]}
    for version in sorted({*keys.python} ^ {*locks}):
        here = f"requirements: name a file for each Python of {', '.join(keys.python)}"
        document.report(("tests", "requirements"), f"{here}; {version or 'one file'!r} is not so")
    return TestSettings(
        pythons=tuple(
            PythonLock(version, file) for version in keys.python if (file := locks.get(version))
        ),
        paths=keys.paths,
        apart=keys.apart,
        environment=tuple(keys.environment.items()),
        keepsakes=tuple(Keepsake(k.module, k.attribute, k.depends_on, k.note) for k in keys.keep),
        timeout=keys.timeout,
        test_timeout=keys.test_timeout,
    )


def _embedded(keys: EmbeddedKeys, rewind: Path | None) -> Embedded:
    project, version = keys.sdist.split("==")
    return Embedded(project, version, keys.sha256, rewind)


def _series(
    keys: SeriesKeys, branch: Branch, patches: dict[int, tuple[Path, Patch]], document: Document
) -> Series:
    folder = document.path.parent
    name = f"{branch.name}/{folder.resolve().name}"
    return Series(
        name=name,
        folder=folder,
        title=keys.title,
        bug=keys.bug,
        stable_only=keys.stable_only,
        branch=branch,
        changes=tuple(
            _change(number, each, keys, patches.get(number - 1), name, document)
            for number, each in enumerate(keys.changes, 1)
        ),
    )


def _change(
    number: int,
    keys: ChangeKeys,
    series: SeriesKeys,
    patch: tuple[Path, Patch] | None,
    name: str,
    document: Document,
) -> Change:
    # A backport tells of its conflicts (project team guide, stable branches).
    said = (keys.conflicts_section, series.conflicts_section, keys.commit is not None)
    kept = KEEP_SECTION if series.conflicts and keys.commit else None
    made = "" if keys.change_id or keys.commit else made_change_id(name, number)
    return Change(
        number=number,
        kind=keys.kind,
        subject=keys.subject,
        description=keys.description,
        change_id=keys.change_id or made,
        change_id_made=bool(made),
        patch=patch[1].data if patch else None,
        patch_file=patch[0] if patch else None,
        commit=keys.commit,
        tests=keys.tests,
        author=keys.author or series.author,
        date=keys.date or series.date,
        provenance=keys.provenance,
        trailers=keys.trailers,
        trailers_add=keys.trailers_add,
        allow_empty=keys.allow_empty,
        left_out=keys.left_out,
        conflicts_section=next(section for section in said if section is not None),
        conflicts=kept if keys.conflicts is None else keys.conflicts,
        note=keys.note,
        source=(document.path, document.line(("changes", number - 1))),
    )


def _rewind(keys: RewindKeys, document: Document) -> Rewind:
    files = (_rewind_file(each, ("files", i), document) for i, each in enumerate(keys.files))
    return Rewind(keys.why.strip(), tuple(files))


def _rewind_file(keys: RewindFileKeys, loc: Loc, document: Document) -> RewindFile:
    sound = not (keys.yields or keys.edits) if keys.remove_file else keys.yields and keys.edits
    if not sound:
        document.report(loc, "a file needs either 'remove-file: true', or both edits and yields")
    edits = tuple(map(_line_edit, keys.edits))
    free = 1
    for number, edit in enumerate(edits):
        if not free <= edit.first <= edit.last:
            here = (*loc, "edits", number)
            document.report(here, "edits must be in ascending order, and must not overlap")
        free = edit.last + 1
    return RewindFile(keys.path, keys.expects, keys.yields, edits)


def _line_edit(keys: EditKeys) -> LineEdit:
    first, _, last = keys.remove.partition("-")
    return LineEdit(int(first), int(last or first), keys.put.encode())
