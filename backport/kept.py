"""What is kept from run to run, and may be lost: JSON with a checksum; damaged, it is not used."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any


def digest(*parts: str) -> str:
    """Return a key for the parts, in their order."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


def write_checked(path: Path, value: Any) -> None:
    """Write JSON with its checksum, in one step; a full disk leaves nothing behind.

    That a thing could not be kept is no failure of what was to be found out, so it is not raised.
    """
    said = json.dumps(value, sort_keys=True)
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        try:
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(digest(said) + "\n" + said)
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise


def read_checked(path: Path) -> Any:
    """Read what :func:`write_checked` wrote; None where there is nothing, or it is damaged."""
    try:
        checksum, _, said = path.read_text(encoding="ascii").partition("\n")
        if checksum == digest(said):
            return json.loads(said)
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        pass
    with suppress(OSError):
        path.unlink()
    return None
