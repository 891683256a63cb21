"""Made pictures and sounds."""

from __future__ import annotations

import io
import math
import wave
from typing import Final

from PIL import Image

RED: Final = (200, 30, 30)
BLUE: Final = (30, 30, 200)


def two_colours(width: int = 60, height: int = 40) -> Image.Image:
    """Return a picture that is red on its left and blue on its right."""
    picture = Image.new("RGB", (width, height), BLUE)
    picture.paste(RED, (0, 0, width // 2, height))
    return picture


def noise(width: int, height: int) -> Image.Image:
    """Return a picture that no format can compress much."""
    return Image.effect_noise((width, height), 200).convert("RGB")


def written(picture: Image.Image, form: str, **options: object) -> bytes:
    """Return a picture as a file in this format."""
    out = io.BytesIO()
    picture.save(out, form, **options)
    return out.getvalue()


def with_metadata(orientation: int = 1) -> Image.Exif:
    """Return metadata like a telephone's in a photo: its orientation, the maker and the place."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    exif[0x010F] = "SecretMaker"
    exif.get_ifd(0x8825).update({1: "N", 2: (48.0, 23.0, 59.0), 29: "2026:11:25"})
    return exif


def wav(seconds: float, rate: int = 16_000, channels: int = 1) -> bytes:
    """Return a tone."""
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(2)
        file.setframerate(rate)
        samples = (round(9000 * math.sin(at / 8)) for at in range(round(seconds * rate)))
        file.writeframes(
            b"".join(it.to_bytes(2, "little", signed=True) * channels for it in samples)
        )
    return out.getvalue()


def mp3(frames: int) -> bytes:
    """Return silence: empty frames of MPEG 1, layer 3, 128 kbit/s, 44.1 kHz."""
    return (b"\xff\xfb\x90\x44" + bytes(413)) * frames


def mp3_16k(frames: int) -> bytes:
    """Return silence: empty frames of MPEG 2, 64 kbit/s, 16 kHz, one channel, 36 ms each."""
    return (b"\xff\xf3\x88\xc4" + bytes(284)) * frames


MP3_FRAME_S: Final = 1152 / 44_100


def flac(blocks: int, told: int | None = None, rate: int = 16_000) -> bytes:
    """Return silence in blocks of 4,096 samples.

    Args:
        blocks: The number of blocks.
        told: The number of samples that the header states; the real one by default.
        rate: Samples per second.
    """
    samples = blocks * 4096 if told is None else told
    info = (4096).to_bytes(2, "big") * 2 + bytes(6)
    info += (rate << 44 | 15 << 36 | samples).to_bytes(8, "big") + bytes(16)
    frames = b"".join(_flac_frame(number) for number in range(blocks))
    return b"fLaC\x80" + len(info).to_bytes(3, "big") + info + frames


def _flac_frame(number: int) -> bytes:
    """Return a frame of 4,096 samples of 16 bits that are all 0; its number is at most 127."""
    header = bytes((0xFF, 0xF8, 0xC0, 0x08, number))
    frame = header + bytes((_crc(header, 8, 0x07),)) + b"\x00\x00\x00"
    return frame + _crc(frame, 16, 0x8005).to_bytes(2, "big")


def _crc(data: bytes, bits: int, polynomial: int) -> int:
    value, top, mask = 0, 1 << bits - 1, (1 << bits) - 1
    for byte in data:
        value ^= byte << bits - 8
        for _ in range(8):
            value = (value << 1 ^ (polynomial if value & top else 0)) & mask
    return value
