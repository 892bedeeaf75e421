"""A folder of the user's cache that keeps files under their checksums: ``STORE/SHA256/NAME``."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

_CHUNK = 1 << 16


@dataclass(frozen=True)
class Store:
    """Files by their SHA-256 checksums, in hexadecimal. What was damaged is never handed out."""

    folder: Path

    def kept(self, checksum: str) -> Path | None:
        """Return the file of that checksum; one that was damaged is thrown away."""
        for file in (self.folder / checksum).glob("*"):
            if checksum_of(file) == checksum:
                return file
            file.unlink(missing_ok=True)
        return None

    def keep(self, file: Path, checksum: str, name: str) -> Path:
        """Move a file in, whose checksum was made sure of, from the same file system."""
        final = self.folder / checksum / name
        final.parent.mkdir(parents=True, exist_ok=True)
        return file.replace(final)


def checksum_of(file: Path) -> str:
    """Return a file's SHA-256 checksum, in hexadecimal."""
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
