"""The process that draws one page of a PDF; `page_drawing` starts it and enforces the limits.

It writes one line with the page's size, marks and pixels, or with a fault. The pixels are raw: the
app decodes no format that a hostile file could influence.
"""

from __future__ import annotations

import base64
import contextlib
import ctypes
import json
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from app.documents.reading.collected import clean, is_seen
from app.documents.reading.columns import HYPHENS, in_reading_order
from app.documents.reading.faults import Fault, Unreadable
from app.documents.reading.limits import Limits, limit_memory
from app.documents.reading.pdf import open_pdf, text_of_page
from app.documents.values.pages import Rectangle
from app.documents.values.shifted import raised
from engines.helper.child import begin

if TYPE_CHECKING:
    from pypdfium2 import PdfPage, PdfTextPage

_MOST_SIDE: Final = 8192
"""Maximum pixels of a side; a page can have any shape."""

_FINE: Final = 100_000
"""Units across a page in which PDFium returns positions."""

_MOST_MARKS: Final = 2000
_GAP: Final = 1.5
"""Maximum gap within a mark, in multiples of its line's height."""


def main() -> None:
    """Draw the page in the arguments and write it."""
    say = begin()
    request = json.loads(sys.argv[1])
    limits = Limits(**request["limits"])
    limit_memory(limits.memory_bytes)
    try:
        say(_drawn(request, limits))
    except Unreadable as error:
        say({"fault": error.fault})
    except MemoryError:
        say({"fault": Fault.NO_MEMORY})
    except OSError:
        say({"fault": Fault.MISSING})


def _drawn(request: Mapping[str, Any], limits: Limits) -> dict[str, Any]:
    """Draw a page with the requested width. Raises Unreadable."""
    import pypdfium2

    with contextlib.closing(open_pdf(Path(request["path"]))) as pdf:
        try:
            page = pdf[int(request["number"]) - 1]
        except (pypdfium2.PdfiumError, IndexError) as error:
            raise Unreadable(Fault.DAMAGED) from error
        with contextlib.closing(page):
            width, height = page.get_size()
            if not (width >= 1 and height >= 1):
                raise Unreadable(Fault.DAMAGED)
            scale = min(
                int(request["width"]) / width,
                (limits.view_pixels / (width * height)) ** 0.5,
                _MOST_SIDE / max(width, height),
            )
            marks = _marks(page, request["spans"], str(request["text"]))
            with contextlib.closing(page.render(scale=scale)) as bitmap:
                pixels = zlib.compress(bytes(bitmap.buffer), 1)
                return {
                    "width": bitmap.width,
                    "height": bitmap.height,
                    "stride": bitmap.stride,
                    "pixels": base64.b64encode(pixels).decode("ascii"),
                    "points": (width, height),
                    "marks": marks,
                }


def _marks(page: PdfPage, spans: Iterable[tuple[int, int]], known: str) -> list[Rectangle] | None:
    """Return where parts of the page's text are on it; None if that is uncertain.

    Args:
        spans: The start and end of each part in the text that was read from this page.
        known: The SHA-256 of that text.
    """
    ranges = [range(start, end) for start, end in spans]
    if not ranges:
        return []
    with contextlib.closing(page.get_textpage()) as words:
        text = clean(text_of_page(words))
        if sha256(text.encode()).hexdigest() != known:
            return None
        places = _places(words, text)
        if places is None:
            return None
        found: list[Rectangle] = []
        for characters in ranges:
            lines = _lines(_boxes(words, (places[at] for at in characters if at in places)))
            seen = [found for found in (_seen(page, line) for line in lines) if found is not None]
            if not seen:
                return None
            found += seen
    return found[:_MOST_MARKS]


def _places(words: PdfTextPage, text: str) -> dict[int, int] | None:
    """Return the number of PDFium's character for each of the text's; None if one is uncertain.

    Both texts have the same characters in the same order, except white space and the characters
    that `clean` removes. Each pair is compared, also with PDFium's code of the single character.
    """
    from pypdfium2 import raw

    pdf_characters = [
        (at, character)
        for character, at in in_reading_order(words)
        if character in HYPHENS or is_seen(character)
    ]
    text_characters = [(at, character) for at, character in enumerate(text) if is_seen(character)]
    if len(text_characters) != len(pdf_characters):
        return None
    found = {}
    for (position, character), (pdf_position, pdf_character) in zip(
        text_characters, pdf_characters, strict=True
    ):
        index = raw.FPDFText_GetCharIndexFromTextIndex(words, pdf_position)
        if pdf_character in HYPHENS:
            if character != "-":
                return None
            continue
        code = raw.FPDFText_GetUnicode(words, index) if index >= 0 else 0
        if character != pdf_character or pdf_character not in {chr(code), raised(chr(code))}:
            return None
        found[position] = index
    return found


def _boxes(words: PdfTextPage, indexes: Iterable[int]) -> Iterator[Rectangle]:
    """Yield the boxes of characters in the page's own coordinates, which point upwards."""
    from pypdfium2 import raw

    for index in indexes:
        box = raw.FS_RECTF()
        if raw.FPDFText_GetLooseCharBox(words, index, box):
            yield box.left, box.bottom, box.right, box.top


def _lines(boxes: Iterable[Rectangle]) -> Iterator[Rectangle]:
    """Join the boxes of consecutive characters in a line."""
    line: Rectangle | None = None
    for box in boxes:
        if line is not None and _goes_on(line, box):
            low, high = min(line[1], box[1]), max(line[3], box[3])
            line = (min(line[0], box[0]), low, max(line[2], box[2]), high)
            continue
        if line is not None:
            yield line
        line = box
    if line is not None:
        yield line


def _goes_on(line: Rectangle, box: Rectangle) -> bool:
    low, high = max(line[1], box[1]), min(line[3], box[3])
    height = min(line[3] - line[1], box[3] - box[1])
    gap = max(box[0] - line[2], line[0] - box[2])
    return high - low >= height / 2 and gap <= _GAP * height


def _seen(page: PdfPage, box: Rectangle) -> Rectangle | None:
    """Convert a box from page coordinates to a share of the displayed page; None if invisible."""
    (left, right), (top, bottom) = (
        sorted(min(1.0, max(0.0, value / _FINE)) for value in values)
        for values in zip(_pixel(page, box[0], box[1]), _pixel(page, box[2], box[3]), strict=True)
    )
    return (left, top, right, bottom) if right > left and bottom > top else None


def _pixel(page: PdfPage, x: float, y: float) -> tuple[int, int]:
    """Convert a point from page coordinates to units across the displayed page."""
    from pypdfium2 import raw

    across, down = ctypes.c_int(), ctypes.c_int()
    raw.FPDF_PageToDevice(page, 0, 0, _FINE, _FINE, 0, x, y, across, down)
    return across.value, down.value


if __name__ == "__main__":
    main()
