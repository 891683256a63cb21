"""Reads PDF with PDFium, page by page."""

from __future__ import annotations

import contextlib
import re
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from app.documents.reading.collected import Collected
from app.documents.reading.columns import HYPHENS, in_reading_order
from app.documents.reading.faults import Fault, Unreadable
from app.documents.reading.limits import Limits
from app.documents.values.documents import LocationKind, PagePicture

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfObject, PdfPage, PdfTextPage

_HYPHEN: Final = re.compile(f"[{HYPHENS}]\r?\n?")

_FEW_WORDS: Final = 12
"""Maximum words that a program can have added to a scan: a stamp, a number, its name."""

_MOST_OF_PAGE: Final = 0.7
"""Minimum share of a page that an image covers if the page is a scan."""

_DRAWN: Final = 100
"""Minimum lines and curves on a page without text that is drawn; a frame has fewer."""

_MOST_OBJECTS: Final = 2000

_MOST_SIDE: Final = 8192
"""Maximum pixels of a side; a page can have any shape."""


def read_pdf(path: Path | bytes, limits: Limits, into: Collected) -> None:
    """Read the text of each page, and record which pages are pictures of text.

    The first of these pages are kept as pictures, for models with vision. Raises Unreadable.
    """
    import pypdfium2

    pdf = open_pdf(path)
    with contextlib.closing(pdf):
        if not len(pdf):
            raise Unreadable(Fault.DAMAGED)
        for number in range(len(pdf)):
            try:
                page = pdf[number]
            except pypdfium2.PdfiumError:
                into.add(LocationKind.PAGE, "")  # the other pages can still be read
                continue
            with contextlib.closing(page), contextlib.closing(page.get_textpage()) as words:
                text = text_of_page(words)
                into.add(LocationKind.PAGE, text)
                if len(text.split()) <= _FEW_WORDS and _is_picture(page, text):
                    into.scanned.append(number + 1)
                    if len(into.pages) < limits.pages and (picture := _picture_of(page, limits)):
                        into.pages.append(PagePicture(number + 1, *picture))


def _is_picture(page: PdfPage, text: str) -> bool:
    """Return whether a page with hardly any text is a picture of text, or draws its letters."""
    from pypdfium2 import raw

    kinds = (raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_SHADING)
    found = list(islice(page.get_objects(kinds), _MOST_OBJECTS))
    images = [image for image in found if image.type == raw.FPDF_PAGEOBJ_IMAGE]
    if not text.strip():
        return bool(images) or len(found) >= _DRAWN
    width, height = page.get_size()
    return any(_share(image, width, height) >= _MOST_OF_PAGE for image in images)


def _share(image: PdfObject, width: float, height: float) -> float:
    """Return the share of a page that an image covers, within the page's edges."""
    left, bottom, right, top = image.get_bounds()
    across = max(0.0, min(right, width) - max(left, 0.0))
    down = max(0.0, min(top, height) - max(bottom, 0.0))
    return float(across * down / max(1.0, width * height))


def open_pdf(path: Path | bytes) -> PdfDocument:
    """Open a PDF; the caller closes it. Raises Unreadable."""
    import pypdfium2
    from pypdfium2 import raw

    try:
        return pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        locked = error.err_code in {raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY}
        raise Unreadable(Fault.LOCKED if locked else Fault.DAMAGED) from error


def text_of_page(words: PdfTextPage) -> str:
    """Return the raw text of a page; `Collected.add` cleans it."""
    return _HYPHEN.sub("-\n", "".join(text for text, _ in in_reading_order(words)))


def _picture_of(page: PdfPage, limits: Limits) -> tuple[bytes, int, int] | None:
    """Return a page as a picture, with its width and height; None if the page has no size."""
    from app.documents.reading.pictures import encoded_page

    width, height = page.get_size()
    if not (width >= 1 and height >= 1):
        return None
    scale = min((limits.page_pixels / (width * height)) ** 0.5, _MOST_SIDE / max(width, height))
    with contextlib.closing(page.render(scale=scale)) as bitmap:
        picture = bitmap.to_pil()
        return encoded_page(picture.convert("RGB"), limits), picture.width, picture.height
