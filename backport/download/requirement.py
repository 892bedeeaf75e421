"""What is asked for of a package index: a value."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Wanted:
    """A release, and the SHA-256 checksums of those of its files that will do."""

    name: str
    version: str
    sha256: frozenset[str]  # hexadecimal, lower case

    def __str__(self) -> str:
        return f"{self.name} {self.version}"
