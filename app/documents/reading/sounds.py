"""Checks sounds, and keeps only the audio of their files for engines to decode.

Every frame is scanned, so the length is reliable. Titles, cover pictures and anything else in the
file is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.documents.reading.faults import Fault, Unreadable
from app.documents.reading.limits import Limits
from engines.regular import read_regular

_OF_OTHERS: Final = (b"OggS", b"FORM", b"#!AMR", b".snd", b"MThd", b"caff", b"wvpk", b"MAC ")
"""The first bytes of Ogg, AIFF, AMR, Sun, MIDI, Core Audio, WavPack and Monkey's Audio files."""
_SOUND_BRANDS: Final = (b"M4A ", b"M4B ")
_ASF: Final = bytes.fromhex("3026b2758e66cf11")

_RATES: Final = range(1000, 384_001)
_MOST_CHANNELS: Final = 8


def sound_format(beginning: bytes) -> str:
    """Return a sound's format by its first bytes: "wav", "mp3" or "flac"; "" if it is no sound.

    Raises:
        Unreadable: It is a sound of a kind that is not read.
    """
    if beginning.startswith(b"RIFF") and beginning[8:12] == b"WAVE":
        return "wav"
    if beginning.startswith(b"fLaC"):
        return "flac"
    frame = _mp3_frame(beginning, 0)
    if beginning.startswith(b"ID3") or (frame and _mp3_frame(beginning, frame.length)):
        return "mp3"
    brand = beginning[8:12] if beginning[4:8] == b"ftyp" else b""
    if brand in _SOUND_BRANDS or beginning.startswith((*_OF_OTHERS, _ASF)):
        raise Unreadable(Fault.SOUND)
    return ""


def read_sound(path: Path, form: str, limits: Limits) -> tuple[bytes, float]:
    """Read a sound. Raises Unreadable.

    Returns:
        The sound for the engines, and its length in seconds.
    """
    # A cover picture can be as large as the sound itself.
    if path.stat().st_size > 2 * limits.sound_bytes:
        raise Unreadable(Fault.LASTS)
    data = read_regular(path)
    try:
        bare, seconds = {"wav": _wav, "mp3": _mp3, "flac": _flac}[form](data)
    except IndexError as error:
        raise Unreadable(Fault.DAMAGED) from error
    if not seconds:
        raise Unreadable(Fault.DAMAGED)
    if seconds > limits.sound_seconds or len(bare) > limits.sound_bytes:
        raise Unreadable(Fault.LASTS)
    return bare, seconds


_WAV_FORMS: Final = {1: (8, 16, 24, 32), 3: (32, 64), 6: (8,), 7: (8,)}
"""Bits per sample by format: integers, floating point, and the two of telephony."""
_EXTENSIBLE: Final = 0xFFFE


def _wav(data: bytes) -> tuple[bytes, float]:
    form, place = b"", 12
    while place + 8 <= len(data):
        name, start = data[place : place + 4], place + 8
        length = int.from_bytes(data[place + 4 : start], "little")
        if name == b"fmt ":
            form = data[start : start + length]
        elif name == b"data" and form:
            # A recording that was interrupted has a length that is too large, or none.
            length = min(length or len(data), len(data) - start)
            return _wav_of(form, data[start : start + length])
        place = start + length + length % 2
    raise Unreadable(Fault.DAMAGED)


def _wav_of(form: bytes, samples: bytes) -> tuple[bytes, float]:
    """Write a WAV file from its format and its samples."""
    if len(form) < 16:
        raise Unreadable(Fault.DAMAGED)
    kind, channels = (int.from_bytes(form[at : at + 2], "little") for at in (0, 2))
    rate, block, bits = (
        int.from_bytes(form[at:to], "little") for at, to in ((4, 8), (12, 14), (14, 16))
    )
    if kind == _EXTENSIBLE and len(form) >= 26:
        kind = int.from_bytes(form[24:26], "little")
    if kind not in _WAV_FORMS:
        raise Unreadable(Fault.SOUND)
    whole = bits in _WAV_FORMS[kind] and 0 < channels <= _MOST_CHANNELS and rate in _RATES
    if not whole or block != channels * bits // 8:
        raise Unreadable(Fault.DAMAGED)
    samples = samples[: len(samples) // block * block]
    plain = b"".join(
        (
            kind.to_bytes(2, "little"),
            channels.to_bytes(2, "little"),
            rate.to_bytes(4, "little"),
            (rate * block).to_bytes(4, "little"),
            block.to_bytes(2, "little"),
            bits.to_bytes(2, "little"),
        )
    )
    body = b"WAVE" + _chunk(b"fmt ", plain) + _chunk(b"data", samples)
    return _chunk(b"RIFF", body), len(samples) / (rate * block)


def _chunk(name: bytes, content: bytes) -> bytes:
    return name + len(content).to_bytes(4, "little") + content + bytes(len(content) % 2)


@dataclass(frozen=True)
class _Mp3Frame:
    """The length of an MP3 frame, in bytes and in seconds."""

    length: int
    seconds: float


_BITRATES: Final = {
    # By whether it is MPEG 1, and by layer: kilobits a second, from index 1.
    (True, 2): (32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384),
    (True, 3): (32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    (False, 2): (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
    (False, 3): (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
_MP3_RATES: Final = {3: (44100, 48000, 32000), 2: (22050, 24000, 16000), 0: (11025, 12000, 8000)}
_MOST_SKIPPED: Final = 1 << 16
"""Bytes that are searched for the next frame if something else comes between."""


def _mp3_frame(data: bytes, place: int) -> _Mp3Frame | None:
    """Read the header of a frame; None if there is none.

    Layer 1 is ignored: nobody uses it, and its headers look like the byte order mark of UTF-16.
    """
    if place + 4 > len(data) or data[place] != 0xFF or data[place + 1] & 0xE0 != 0xE0:
        return None
    version, layer = data[place + 1] >> 3 & 3, 4 - (data[place + 1] >> 1 & 3)
    bitrate, rate = data[place + 2] >> 4, data[place + 2] >> 2 & 3
    if version == 1 or layer not in {2, 3} or not 0 < bitrate < 15 or rate == 3:
        return None
    first = version == 3
    bits, hertz = _BITRATES[first, layer][bitrate - 1] * 1000, _MP3_RATES[version][rate]
    padded = data[place + 2] >> 1 & 1
    samples = 1152 if first or layer == 2 else 576
    return _Mp3Frame(samples // 8 * bits // hertz + padded, samples / hertz)


def _mp3(data: bytes) -> tuple[bytes, float]:
    place, end = 0, len(data)
    while data[place : place + 3] == b"ID3":
        sizes = data[place + 6 : place + 10]
        place += 10 + sum((size & 0x7F) << 7 * (3 - at) for at, size in enumerate(sizes))
    parts, seconds = [], 0.0
    while place < end:
        frame = _mp3_frame(data, place)
        if frame is None:
            place = _next_mp3_frame(data, place)
            continue
        if place + frame.length > end:
            break
        parts.append(data[place : place + frame.length])
        place += frame.length
        seconds += frame.seconds
    if len(parts) < 2:
        raise Unreadable(Fault.DAMAGED)
    return b"".join(parts), seconds


def _next_mp3_frame(data: bytes, place: int) -> int:
    """Find a frame that another one follows; the end of the data if there is none nearby."""
    most = min(len(data), place + _MOST_SKIPPED)
    while (place := data.find(b"\xff", place + 1, most)) >= 0:
        frame = _mp3_frame(data, place)
        if frame is not None and _mp3_frame(data, place + frame.length):
            return place
    return len(data)


_FLAC_SYNC: Final = re.compile(rb"\xff[\xf8\xf9]")
_FLAC_BLOCKS: Final = {1: 192, **{at: 576 << at - 2 for at in range(2, 6)}} | {
    at: 256 << at - 8 for at in range(8, 16)
}


def _flac(data: bytes) -> tuple[bytes, float]:
    place, last, info = 4, False, b""
    while not last:
        last, kind = bool(data[place] & 0x80), data[place] & 0x7F
        length = int.from_bytes(data[place + 1 : place + 4], "big")
        if not kind:
            info = data[place + 4 : place + 4 + length]
        place += 4 + length
    if len(info) != 34:
        raise Unreadable(Fault.DAMAGED)
    rate = int.from_bytes(info[10:13], "big") >> 4
    declared = int.from_bytes(info[13:18], "big") & (1 << 36) - 1
    if rate not in _RATES:
        raise Unreadable(Fault.DAMAGED)
    samples = sum(_flac_blocks(data, place))
    if declared not in {0, samples}:
        raise Unreadable(Fault.DAMAGED)
    return b"fLaC\x80\0\0\x22" + info + data[place:], samples / rate


def _flac_blocks(data: bytes, place: int) -> Iterator[int]:
    """Yield the samples of each frame; frames are numbered by frame or by sample."""
    expected = 0
    for found in _FLAC_SYNC.finditer(data, place):
        header = data[found.start() : found.start() + 16]
        if block := _flac_block(header, expected):
            yield block
            expected += block if header[1] & 1 else 1


def _flac_block(header: bytes, expected: int) -> int:
    """Return the samples of the frame with this number; 0 if it is another frame, or not one."""
    if len(header) < 6:
        return 0
    number, length = _flac_number(header[4:])
    size, end = header[2] >> 4, 4 + length
    block = _FLAC_BLOCKS.get(size, 0)
    if size in {6, 7}:
        block = int.from_bytes(header[end : end + size - 5], "big") + 1
        end += size - 5
    end += {12: 1, 13: 2, 14: 2}.get(header[2] & 15, 0)
    if not length or number != expected or end >= len(header):
        return 0
    return block if _crc8(header[:end]) == header[end] else 0


def _flac_number(data: bytes) -> tuple[int, int]:
    """Read a number in UTF-8-like coding; return it and its length in bytes."""
    ones = 8 - (data[0] ^ 0xFF).bit_length()
    if ones in {1, 8}:
        return 0, 0
    length = ones or 1
    number = data[0] & (0x7F >> ones)
    for byte in data[1:length]:
        number = number << 6 | byte & 0x3F
    return number, length


def _crc8(data: bytes) -> int:
    value = 0
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = (value << 1 ^ (7 if value & 0x80 else 0)) & 0xFF
    return value
