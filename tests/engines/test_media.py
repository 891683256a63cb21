"""Facts in the first bytes of pictures and sounds, and claims that are not believed."""

from __future__ import annotations

import struct

import pytest

from engines.media import kind_of, picture_size, sound_seconds
from tests.support.made_senses import png, wav

JPEG = (
    b"\xff\xd8\xff\xe0\x00\x10JFIF\0" + bytes(9)
    + b"\xff\xff\xdb\x00\x05abc\xff\xc2\x00\x11\x08" + struct.pack(">HH", 480, 640) + bytes(12)
)  # fmt: skip
BMP = b"BM" + bytes(12) + struct.pack("<Iii", 40, 33, -20) + bytes(30)
OLD_BMP = b"BM" + bytes(12) + struct.pack("<IHH", 12, 33, 20) + bytes(30)
GIF = b"GIF89a" + struct.pack("<HH", 7, 9) + bytes(3)
PICTURES = {
    "png": (png(30, 20), (30, 20)),
    "jpeg": (JPEG, (640, 480)),
    "bmp upside down": (BMP, (33, 20)),
    "old bmp": (OLD_BMP, (33, 20)),
    "gif": (GIF, (7, 9)),
}


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_says_how_large_it_is(name: str) -> None:
    data, size = PICTURES[name]
    assert kind_of(data) == "image"
    assert picture_size(data) == size


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_that_is_cut_off_says_no_more_than_it_has(name: str) -> None:
    data, size = PICTURES[name]
    for length in range(len(data[:60])):
        assert picture_size(data[:length]) in {None, size}


def frames(header: bytes, length: int, count: int) -> bytes:
    return (header + bytes(length - len(header))) * count


def flac(rate: int, samples: int) -> bytes:
    return b"fLaC" + bytes(14) + (rate << 44 | samples).to_bytes(8, "big") + bytes(30)


SOUNDS = {
    "wav": (wav(1.5), 1.5),
    "flac": (flac(48_000, 96_000), 2.0),
    # MPEG 1 layer 3, 128 kbit/s at 44,100 Hz: 417 bytes for 1152 samples.
    "mp3": (frames(b"\xff\xfb\x90\x00", 417, 100), 100 * 1152 / 44_100),
    # MPEG 2 layer 3, 8 kbit/s at 16,000 Hz: 36 bytes for 576 samples.
    "slow mp3": (frames(b"\xff\xf3\x18\x00", 36, 100), 100 * 576 / 16_000),
    "mp3 with a title": (
        b"ID3\x04\0\0\0\0\x01\x00" + bytes(128) + frames(b"\xff\xfb\x90\x00", 417, 10),
        10 * 1152 / 44_100,
    ),
}


@pytest.mark.parametrize("name", SOUNDS)
def test_a_sound_says_how_long_it_is(name: str) -> None:
    data, seconds = SOUNDS[name]
    assert kind_of(data) == "audio"
    assert sound_seconds(data) == pytest.approx(seconds)


def test_a_sound_that_claims_more_than_it_has_is_not_believed() -> None:
    data = bytearray(wav(1.0))
    struct.pack_into("<I", data, 40, 1 << 31)
    assert sound_seconds(bytes(data)) is None
    assert (sound_seconds(flac(1, (1 << 36) - 1)) or 0) > 1e9, "too long for anybody"
    assert sound_seconds(flac(0, 1000)) is None


@pytest.mark.parametrize(
    "data", [b"", b"RIFF", b"RIFF....WAVE", b"fLaC", b"ID3", b"\xff\xfb", b"\xff" * 64]
)
def test_what_is_nothing_says_nothing(data: bytes) -> None:
    assert not sound_seconds(data)
    assert picture_size(data) is None


@pytest.mark.parametrize("data", [b"", b"%PDF-1.7", b"RIFF\0\0\0\0WEBPVP8 ", b"\0" * 100, b"text"])
def test_other_files_are_neither_pictures_nor_sounds(data: bytes) -> None:
    assert kind_of(data) is None
