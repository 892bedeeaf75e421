"""Binary data in a patch: whether it is whole, before git sees it. It is never kept unpacked.

The form is that of git's diff.c, emit_binary_diff_body: ``literal N`` or ``delta N``, then lines
of base 85 that begin with their length (A–Z: 1–26, a–z: 27–52), deflated to N bytes in all.
"""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Iterable, Iterator

_BLOCK = re.compile(rb"(?:literal|delta) (\d{1,10})$")
_MAX_SIZE = 1 << 30  # bytes, unpacked


def binary_fault(lines: Iterable[bytes]) -> str:
    """Say what is wrong with the lines after ``GIT binary patch``; "" where nothing is."""
    blocks = list(_blocks(lines))
    if len(blocks) not in (1, 2):
        return "binary data that is cut off"
    return next((fault for block in blocks if (fault := _block_fault(block))), "")


def _blocks(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    block: list[bytes] = []
    for line in (*lines, b""):
        if line:
            block.append(line)
        elif block:
            yield block
            block = []


def _block_fault(block: list[bytes]) -> str:
    head = _BLOCK.match(block[0])
    if not head or int(head[1]) > _MAX_SIZE:
        return "binary data without a size that can be meant"
    size, unpack = int(head[1]), zlib.decompressobj()
    try:
        # One byte more than there should be, so that a deflate bomb ends here.
        data = unpack.decompress(b"".join(map(_decoded, block[1:])), size + 1)
    except (ValueError, zlib.error):
        return "binary data that is damaged"
    return "" if len(data) == size and unpack.eof else "binary data that is not as long as it says"


def _decoded(line: bytes) -> bytes:
    """Decode one line; the last group of five is padded.

    :raises ValueError: for what is no such line
    """
    length = line[0] - (64 if line[:1].isupper() else 70)
    if not 0 < length <= 52 or len(line) != 1 + 5 * -(-length // 4):
        raise ValueError(line)
    return base64.b85decode(line[1:])[:length]
