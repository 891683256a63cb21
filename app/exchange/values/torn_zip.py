"""Reads the members of a truncated zip archive by their own headers, as its directory is lost.

The headers are those of section 4.3.7 of PKWARE's APPNOTE.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

_HEAD = struct.Struct("<4sHHHHHIIIHH")
_SIGN = b"PK\x03\x04"
_STORED, _DEFLATED = 0, 8
_PIECE = 4096
"""Bytes that are unpacked at a time."""


def torn_members(data: bytes, most: int) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of each member; the last one can be incomplete.

    Args:
        most: Most bytes of all contents together.
    """
    place = data.find(_SIGN)
    while 0 <= place <= len(data) - _HEAD.size and most > 0:
        head = _HEAD.unpack_from(data, place)
        method, packed, name_length, more_length = head[3], head[7], head[9], head[10]
        begin = place + _HEAD.size + name_length + more_length
        name = data[place + _HEAD.size : place + _HEAD.size + name_length]
        content, end = _content(data, begin, method, packed, most)
        most -= len(content)
        yield name.decode("utf-8", "replace"), content
        place = data.find(_SIGN, max(end, place + 4))


def _content(data: bytes, begin: int, method: int, packed: int, most: int) -> tuple[bytes, int]:
    if method == _STORED:
        return data[begin : begin + min(packed, most)], begin + packed
    if method != _DEFLATED:
        return b"", begin
    unpack, pieces, place = zlib.decompressobj(-zlib.MAX_WBITS), [b""], begin
    while place < len(data) and most > 0 and not unpack.eof:
        try:
            # Unpack in pieces, so that the rest of the archive is not copied for each member.
            pieces.append(unpack.decompress(data[place : place + _PIECE], most))
        except zlib.error:
            return b"".join(pieces), begin
        place += _PIECE
        most -= len(pieces[-1])
    end = min(place, len(data)) - len(unpack.unused_data)
    return b"".join(pieces), end if unpack.eof else len(data)
