"""The facts in the first bytes of a picture or a sound, read before anything decodes it; pure."""

from __future__ import annotations

import struct
from typing import Final

from engines.types import MediaKind

MOST_PIXELS: Final = 64_000_000
"""The most pixels that a picture may have: each takes three bytes once decoded."""

MOST_SECONDS: Final = 3600
"""The most seconds that a sound may last: each takes 64 kB once decoded."""

LEAST_SECONDS: Final = 0.01
"""The fewest seconds that a sound must last: llama.cpp would crash on a single sample."""

_PNG: Final = b"\x89PNG\r\n\x1a\n"
_GIF: Final = (b"GIF87a", b"GIF89a")
_JPEG: Final = b"\xff\xd8\xff"
_STANDALONE: Final = frozenset((0x01, *range(0xD0, 0xD9)))
"""Markers of a JPEG that no length follows."""
_SIZES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Markers of a JPEG whose segment begins with the size of the picture."""


def kind_of(data: bytes) -> MediaKind | None:
    """Return the kind of a file: PNG, JPEG, BMP or GIF, or WAV, MP3 or FLAC; None for any other."""
    if data.startswith((_PNG, _JPEG, *_GIF)) or (data.startswith(b"BM") and len(data) > 26):
        return "image"
    if data.startswith((b"ID3", b"fLaC")) or (data.startswith(b"RIFF") and data[8:12] == b"WAVE"):
        return "audio"
    if len(data) >= 12 and data[0] == 0xFF and data[1] & 0xE0 == 0xE0:
        return "audio"
    return None


def picture_size(data: bytes) -> tuple[int, int] | None:
    """Return width and height in pixels of a PNG, JPEG, BMP or GIF; None if they cannot be read."""
    try:
        size = _size(data)
    except (struct.error, IndexError):
        return None
    return size if size is not None and min(size) > 0 else None


def _size(data: bytes) -> tuple[int, int] | None:
    if data.startswith(_PNG):
        width, height = struct.unpack_from(">II", data, 16)
        return width, height
    if data.startswith(_GIF):
        width, height = struct.unpack_from("<HH", data, 6)
        return width, height
    if data.startswith(b"BM"):
        if struct.unpack_from("<I", data, 14)[0] == 12:
            width, height = struct.unpack_from("<HH", data, 18)
        else:
            width, height = struct.unpack_from("<ii", data, 18)
        return width, abs(height)  # negative if the rows run from the top
    return _jpeg_size(data) if data.startswith(_JPEG) else None


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    offset = 2
    while offset < len(data):
        if data[offset] != 0xFF:
            return None
        marker = data[offset + 1]
        if marker == 0xFF or marker in _STANDALONE:
            offset += 1 if marker == 0xFF else 2
            continue
        if marker in _SIZES:
            height, width = struct.unpack_from(">HH", data, offset + 5)
            return width, height
        offset += 2 + int(struct.unpack_from(">H", data, offset + 2)[0])
    return None


def sound_seconds(data: bytes) -> float | None:
    """Return how long a WAV, FLAC or MP3 lasts; None if it is unknown or data is missing.

    A decoder allocates as much memory as the file claims to need.
    """
    try:
        if data.startswith(b"RIFF"):
            return _wav_seconds(data)
        if data.startswith(b"fLaC"):
            return _flac_seconds(data)
        return _mp3_seconds(data)
    except (struct.error, IndexError):
        return None


def _wav_seconds(data: bytes) -> float | None:
    offset, bytes_each_second = 12, 0
    while offset + 8 <= len(data):
        name, size = struct.unpack_from("<4sI", data, offset)
        if name == b"fmt ":
            rate, _, frame = struct.unpack_from("<IIH", data, offset + 12)
            bytes_each_second = rate * frame
        elif name == b"data":
            is_whole = size <= len(data) - offset - 8
            return size / bytes_each_second if is_whole and bytes_each_second else None
        offset += 8 + size + size % 2
    return None


def _flac_seconds(data: bytes) -> float | None:
    packed = int.from_bytes(data[18:26], "big")
    rate, frames = packed >> 44, packed & ((1 << 36) - 1)
    return frames / rate if rate and len(data) >= 42 else None


_MP3_RATES: Final = (44_100, 48_000, 32_000)
_MP3_KBITS: Final = (
    (0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448),
    (0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384),
    (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    (0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256),
    (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
)
"""Kilobits per second: for layers 1, 2 and 3 of MPEG 1, then for layer 1, and layers 2 and 3, of
MPEG 2.
"""


def _mp3_seconds(data: bytes) -> float | None:
    """Add up the durations of the frames, from header to header."""
    offset = 0
    if data.startswith(b"ID3"):
        a, b, c, d = struct.unpack_from(">4B", data, 6)
        offset = 10 + (a << 21 | b << 14 | c << 7 | d)
    seconds = 0.0
    while offset + 4 <= len(data):
        if data[offset] != 0xFF or data[offset + 1] & 0xE0 != 0xE0:
            offset += 1  # other data can lie between two frames
            continue
        version, layer = data[offset + 1] >> 3 & 3, 4 - (data[offset + 1] >> 1 & 3)
        bits, rate_index, padded = (
            data[offset + 2] >> 4,
            data[offset + 2] >> 2 & 3,
            data[offset + 2] >> 1 & 1,
        )
        if version == 1 or layer == 4 or bits in (0, 15) or rate_index == 3:
            offset += 1
            continue
        is_mpeg1 = version == 3
        kbits = _MP3_KBITS[layer - 1 if is_mpeg1 else 3 + (layer > 1)][bits]
        rate = _MP3_RATES[rate_index] >> (0 if is_mpeg1 else 1 if version == 2 else 2)
        samples = 384 if layer == 1 else 1152 if is_mpeg1 or layer == 2 else 576
        unit = 4 if layer == 1 else 1
        seconds += samples / rate
        offset += (samples // 8 * kbits * 1000 // rate // unit + padded) * unit
    return seconds or None
