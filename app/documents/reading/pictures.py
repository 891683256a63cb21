"""Reads pictures with Pillow, and converts them for the engines: to an upright JPEG or PNG.

Metadata, such as where and by whom a photo was taken, is left out of the result.
"""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from app.documents.reading.faults import Fault, Unreadable
from app.documents.reading.limits import Limits
from engines.regular import open_regular

if TYPE_CHECKING:
    from PIL.Image import Image

_BEGINNINGS: Final = (
    (b"\x89PNG\r\n\x1a\n", "PNG"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"GIF87a", "GIF"),
    (b"GIF89a", "GIF"),
    (b"II*\0", "TIFF"),
    (b"MM\0*", "TIFF"),
)
_AVIF: Final = (b"avif", b"avis")
_OF_OTHERS: Final = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"mif1", b"msf1")
"""Kinds of HEIF, the photos of iPhones; its decoders are not free of patents everywhere."""
_OTHER_BEGINNINGS: Final = (
    b"\0\0\0\x0cJXL ",
    b"\xff\x0a",
    b"\0\0\0\x0cjP  ",
    b"8BPS",
    b"\0\0\1\0",
)
"""The first bytes of JPEG XL, JPEG 2000, Photoshop and icon files."""

_LOSSY: Final = {"JPEG", "MPO", "WEBP", "AVIF"}
_UPRIGHT: Final = 1
_ORIENTATION: Final = 0x0112
_QUALITY: Final = 92
_PAGE_QUALITY: Final = 85
_LEAST_QUALITY: Final = 50


def picture_format(beginning: bytes) -> str:
    """Return Pillow's name of a picture's format, by its first bytes; "" if it is not a picture.

    Raises:
        Unreadable: It is a picture of a kind that is not read.
    """
    for mark, name in _BEGINNINGS:
        if beginning.startswith(mark):
            return name
    if beginning.startswith(b"BM") and beginning[6:10] == bytes(4):
        return "BMP"
    if beginning.startswith(b"RIFF") and beginning[8:12] == b"WEBP":
        return "WEBP"
    brand = beginning[8:12] if beginning[4:8] == b"ftyp" else b""
    if brand in _AVIF:
        return "AVIF"
    if brand in _OF_OTHERS or beginning.startswith(_OTHER_BEGINNINGS):
        raise Unreadable(Fault.PICTURE)
    return ""


def read_picture(path: Path, kind: str, limits: Limits) -> tuple[bytes, int, int]:
    """Read a picture, or the first frame of an animation. Raises Unreadable.

    Returns:
        The picture for the engines, and its upright width and height in the file.
    """
    with open_regular(path) as file:
        return picture_of(file, kind, limits)


def picture_of(
    file: io.BufferedReader | io.BytesIO, kind: str, limits: Limits
) -> tuple[bytes, int, int]:
    """Read a picture, as `read_picture` does. Raises Unreadable."""
    try:
        return _read(file, kind, limits)
    # Errors that Pillow raises on inconsistent files.
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise Unreadable(Fault.DAMAGED) from error
    except (SyntaxError, EOFError, struct.error, ArithmeticError, RuntimeError) as error:
        raise Unreadable(Fault.DAMAGED) from error


def _read(
    file: io.BufferedReader | io.BytesIO, kind: str, limits: Limits
) -> tuple[bytes, int, int]:
    picture = _opened(file, kind)
    width, height = picture.size
    if width * height > limits.pixels:
        raise Unreadable(Fault.PIXELS)
    turned = picture.getexif().get(_ORIENTATION, _UPRIGHT)
    shown_size = (height, width) if turned in {5, 6, 7, 8} else (width, height)
    size = _size_within(picture.size, limits.picture_pixels)
    if size == picture.size and turned not in {2, 3, 4, 5, 6, 7, 8}:
        file.seek(0)
        data = file.read(limits.picture_bytes + 1)
        if len(data) <= limits.picture_bytes and (bare := _bare(data, picture)):
            _opened(io.BytesIO(bare), kind).load()  # check that it is complete
            return bare, *shown_size
    picture.draft("RGB", size)
    colours = picture.info.get("icc_profile") or b""
    upright = _upright(_scaled(_plain(picture), size), turned)
    lossy = picture.format in _LOSSY
    return _encoded(upright, limits, lossy=lossy, quality=_QUALITY, colours=colours), *shown_size


def _opened(file: io.BufferedReader | io.BytesIO, kind: str) -> Image:
    """Open a picture as this format only; its pixels are read later."""
    from PIL import AvifImagePlugin, Image, TiffImagePlugin, WebPImagePlugin

    del AvifImagePlugin, TiffImagePlugin, WebPImagePlugin  # importing them registered them
    Image.MAX_IMAGE_PIXELS = None  # `Limits.pixels` is the limit
    file.seek(0)
    return Image.open(file, formats=[kind])


def encoded_page(page: Image, limits: Limits) -> bytes:
    """Encode the picture of a page for the engines."""
    return _encoded(page, limits, lossy=True, quality=_PAGE_QUALITY, colours=b"")


def _size_within(size: tuple[int, int], most: int) -> tuple[int, int]:
    """Return the largest size of the same shape with at most so many pixels."""
    width, height = size
    factor = (most / max(1, width * height)) ** 0.5
    if factor >= 1:
        return size
    return max(1, int(width * factor)), max(1, int(height * factor))


def _plain(picture: Image) -> Image:
    """Return a picture in grey or colour with eight bits per channel, transparent or not."""
    picture.load()
    if picture.mode in {"L", "RGB", "RGBA", "LA"} and "transparency" not in picture.info:
        return picture
    if picture.mode.startswith("I"):  # 16 bits
        return picture.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    if picture.has_transparency_data:
        return picture.convert("RGBA")
    return picture.convert("L" if picture.mode == "1" else "RGB")


def _scaled(picture: Image, size: tuple[int, int]) -> Image:
    from PIL import Image

    if picture.size != size:
        picture = picture.resize(size, Image.Resampling.LANCZOS, reducing_gap=3.0)
    if picture.mode not in {"RGBA", "LA"}:
        return picture
    # Engines ignore transparency and would show the hidden pixels.
    paper = Image.new("RGB", picture.size, "white")
    paper.paste(picture.convert("RGB"), mask=picture.getchannel("A"))
    return paper


def _upright(picture: Image, turned: int) -> Image:
    """Turn a picture upright by its EXIF orientation."""
    from PIL.Image import Transpose

    method = {
        2: Transpose.FLIP_LEFT_RIGHT,
        3: Transpose.ROTATE_180,
        4: Transpose.FLIP_TOP_BOTTOM,
        5: Transpose.TRANSPOSE,
        6: Transpose.ROTATE_270,
        7: Transpose.TRANSVERSE,
        8: Transpose.ROTATE_90,
    }.get(turned)
    return picture if method is None else picture.transpose(method)


def _encoded(picture: Image, limits: Limits, *, lossy: bool, quality: int, colours: bytes) -> bytes:
    """Encode a picture: as PNG if the source was lossless and it stays small, else as JPEG.

    Args:
        quality: The first JPEG quality to try.
        colours: The ICC profile.
    """
    picture.info = {}  # Pillow would write the metadata in it
    if colours[16:20] != {"RGB": b"RGB ", "L": b"GRAY"}.get(picture.mode):
        colours = b""
    if not lossy:
        out = io.BytesIO()
        picture.save(out, "PNG", icc_profile=colours)
        if out.tell() <= limits.picture_bytes:
            return out.getvalue()
    while True:
        out = io.BytesIO()
        picture.save(out, "JPEG", quality=quality, subsampling=0, icc_profile=colours)
        if out.tell() <= limits.picture_bytes or quality <= _LEAST_QUALITY:
            return out.getvalue()
        quality -= 10


def _bare(data: bytes, picture: Image) -> bytes:
    """Return a JPEG or PNG without metadata; empty if it has to be encoded again."""
    if picture.format in {"JPEG", "MPO"} and picture.mode in {"L", "RGB"}:
        return b"".join(_jpeg_parts(data))
    if picture.format == "PNG" and not picture.has_transparency_data:
        return data[:8] + b"".join(_png_parts(data))
    return b""


_NEXT_MARKER: Final = re.compile(rb"\xff+([^\x00\xd0-\xd7\xff])", re.DOTALL)
"""The next marker after the data of a JPEG, in which 00 and restarts are not markers."""

_SCAN: Final = 0xDA
_END: Final = 0xD9
_PLAIN_FRAMES: Final = range(0xC0, 0xC3)
"""Baseline, extended and progressive, which every reader supports."""
_FRAMES: Final = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}
_OF_PICTURE: Final = {0xC4, 0xDB, 0xDD, _SCAN}
"""Tables, the restart interval, and the scan with the pixels."""


def _jpeg_parts(data: bytes) -> Iterator[bytes]:
    """Yield the segments of a JPEG that affect its look; none if the file is unusual."""
    parts = [data[:2]]
    place = 2
    while found := _NEXT_MARKER.match(data, place):
        marker, start = found[1][0], found.end()
        if marker == _END:
            parts.append(b"\xff\xd9")
            yield from parts
            return
        end = start + int.from_bytes(data[start : start + 2], "big")
        if end > len(data) or end < start + 2:
            return
        content = data[start + 2 : end]
        if marker in _FRAMES and (marker not in _PLAIN_FRAMES or content[:1] != b"\x08"):
            return
        place = end
        if marker == _SCAN:
            following = _NEXT_MARKER.search(data, end)
            if following is None:
                return
            place = following.start()
        if marker in _OF_PICTURE or marker in _FRAMES or _is_colour(marker, content):
            parts.append(b"\xff" + data[start - 1 : place])


def _is_colour(marker: int, content: bytes) -> bool:
    """Return whether a segment of a JPEG defines its colours."""
    return (
        (marker == 0xE0 and content.startswith(b"JFIF\0") and len(content) == 14)
        or (marker == 0xE2 and content.startswith(b"ICC_PROFILE\0"))
        or (marker == 0xEE and content.startswith(b"Adobe"))
    )


_PNG_PARTS: Final = {b"IHDR", b"PLTE", b"IDAT", b"IEND", b"gAMA", b"cHRM", b"sRGB", b"iCCP"}


def _png_parts(data: bytes) -> Iterator[bytes]:
    """Yield the chunks of a PNG that affect its look."""
    place = 8
    while place + 12 <= len(data):
        end = place + 12 + int.from_bytes(data[place : place + 4], "big")
        name = data[place + 4 : place + 8]
        if name in _PNG_PARTS:
            yield data[place:end]
        if name == b"IEND":
            return
        place = end
