"""Where the data folders are: at the top of a source tree, or inside an installed package."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def data_folder(name: str) -> Path:
    """Return the folder ``templates`` or ``patches`` of this installation."""
    inside = _PACKAGE / "_data" / name
    return inside if inside.is_dir() else _PACKAGE.parent / name


def source_folder(name: str) -> Path | None:
    """Return a folder at the top of the source tree; None where the tool is installed."""
    return _PACKAGE.parent / name if (_PACKAGE.parent / "pyproject.toml").is_file() else None
