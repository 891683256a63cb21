"""Pictures and sounds, made on the spot."""

from __future__ import annotations

import io
import math
import wave
from typing import Final

from PIL import Image

RED: Final = (200, 30, 30)
BLUE: Final = (30, 30, 200)


def two_colours(width: int = 60, height: int = 40) -> Image.Image:
    """A picture that is red on its left and blue on its right."""
    picture = Image.new("RGB", (width, height), BLUE)
    picture.paste(RED, (0, 0, width // 2, height))
    return picture


def noise(width: int, height: int) -> Image.Image:
    """A picture that no format makes small."""
    return Image.effect_noise((width, height), 200).convert("RGB")


def written(picture: Image.Image, form: str, **options: object) -> bytes:
    """A picture as a file of this format."""
    out = io.BytesIO()
    picture.save(out, form, **options)
    return out.getvalue()


def with_metadata(orientation: int = 1) -> Image.Exif:
    """What a telephone writes into a photo: how it was held, its maker, and the place."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    exif[0x010F] = "SecretMaker"
    exif.get_ifd(0x8825).update({1: "N", 2: (48.0, 23.0, 59.0), 29: "2026:11:25"})
    return exif


def wav(seconds: float, rate: int = 16_000, channels: int = 1) -> bytes:
    """A tone."""
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
    """Silence: frames of MPEG 1, layer 3, 128 kbit/s, 44.1 kHz, with nothing in them."""
    return (b"\xff\xfb\x90\x44" + bytes(413)) * frames


def mp3_16k(frames: int) -> bytes:
    """The same of MPEG 2: 64 kbit/s, 16 kHz, one channel; each frame has 36 ms."""
    return (b"\xff\xf3\x88\xc4" + bytes(284)) * frames


MP3_FRAME_S: Final = 1152 / 44_100


def flac(blocks: int, told: int | None = None, rate: int = 16_000) -> bytes:
    """Silence: blocks of 4,096 samples; told: how many samples it says that it has."""
    samples = blocks * 4096 if told is None else told
    info = (4096).to_bytes(2, "big") * 2 + bytes(6)
    info += (rate << 44 | 15 << 36 | samples).to_bytes(8, "big") + bytes(16)
    frames = b"".join(_flac_frame(number) for number in range(blocks))
    return b"fLaC\x80" + len(info).to_bytes(3, "big") + info + frames


def _flac_frame(number: int) -> bytes:
    """A frame of 4,096 samples of 16 bits that are all 0; numbers up to 127."""
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
