"""Installs wheels for an interpreter that is not the tool's own."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

from installer import install
from installer.destinations import SchemeDictionaryDestination
from installer.exceptions import InstallerError
from installer.records import InvalidRecordEntry
from installer.sources import WheelFile

from backport.errors import CannotTellError

_WRONG = (InstallerError, InvalidRecordEntry, zipfile.BadZipFile, zlib.error, ValueError, KeyError)
_ALGORITHM = re.compile(r",SHA(\d+)=")


class _Wheel(WheelFile):
    """A wheel, also one that a Python 2.7 on OpenSSL 3 made: there ``hashlib`` says "SHA256"."""

    def read_dist_info(self, filename: str) -> str:
        text = super().read_dist_info(filename)
        return _ALGORITHM.sub(r",sha\1=", text) if filename == "RECORD" else text


def install_wheel(wheel: Path, schemes: Mapping[str, str], python: Path) -> None:
    """Install a wheel. A file that is there already is overwritten, as by pip.

    :param schemes: where things go: purelib, platlib, scripts, data, headers (PEP 491)
    :param python: the interpreter that scripts name
    :raises CannotTellError: it is no wheel, or damaged
    """
    destination = SchemeDictionaryDestination(
        dict(schemes), interpreter=str(python), script_kind="posix", overwrite_existing=True
    )
    try:
        with _Wheel.open(wheel) as source:
            install(source, destination, {"INSTALLER": b"backport\n"})
    except _WRONG as error:
        raise CannotTellError(f"{wheel.name} cannot be installed: {error}") from error


def is_whole(wheel: Path) -> bool:
    """Whether a wheel's files are what it says itself that they are."""
    try:
        with _Wheel.open(wheel) as source:
            source.validate_record(validate_contents=True)
    except (*_WRONG, OSError):
        return False
    return True
