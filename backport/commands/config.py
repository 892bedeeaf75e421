"""The configuration: what a person, or a folder of series, wants where a command does not say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from backport.errors import ManifestError, Problem
from backport.series.schema import ConfigKeys, check_keys
from backport.series.yaml_file import Document, read_document


@dataclass(frozen=True)
class Config:
    """Defaults: of ``--checkout``, of ``--patches`` (several), of ``--jobs``."""

    checkout: str | None = None
    patches: tuple[Path, ...] = ()
    jobs: int | None = None


def read_config(files: Sequence[Path]) -> Config:
    """Read what there is of some files; what one says counts before what a later one says.

    Paths in a file are seen from its folder, and ``~`` is the home of who runs this.

    :raises ManifestError: with all problems of all files
    """
    documents = [read_document(file) for file in files if file.exists()]
    keys = [check_keys(document, ConfigKeys) for document in documents]
    problems: list[Problem] = [problem for document in documents for problem in document.problems]
    if problems:
        raise ManifestError(problems, "")
    pairs = [(key, document) for key, document in zip(keys, documents, strict=True) if key]
    checkouts = [_place(key.checkout, document) for key, document in pairs if key.checkout]
    jobs = [key.jobs for key, _ in pairs if key.jobs]
    return Config(
        checkouts[0] if checkouts else None,
        tuple(Path(_place(one, document)) for key, document in pairs for one in key.patches),
        jobs[0] if jobs else None,
    )


def _place(text: str, document: Document) -> str:
    is_url = "://" in text or (":" in text and "/" not in text.partition(":")[0])
    return text if is_url else str(document.path.parent / Path(text).expanduser())
