"""Reads PDF with PDFium, page by page."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from app.core.documents import LocationKind, PagePicture
from app.documents.collected import Collected
from app.documents.columns import HYPHENS, in_reading_order
from app.documents.faults import Fault, Unreadable
from app.documents.limits import Limits

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage, PdfTextPage

_HYPHEN: Final = re.compile(f"[{HYPHENS}]\r?\n?")

_MOST_SIDE: Final = 8192
"""Pixels; a page may have any shape."""


def read_pdf(path: Path | bytes, limits: Limits, into: Collected) -> None:
    """Read the text of each page, and which of them are pictures of text. Raises Unreadable.

    The first of these are kept as pictures, for models that see.
    """
    import pypdfium2
    from pypdfium2 import raw

    pdf = open_pdf(path)
    with contextlib.closing(pdf):
        if not len(pdf):
            raise Unreadable(Fault.DAMAGED)
        for number in range(len(pdf)):
            try:
                page = pdf[number]
            except pypdfium2.PdfiumError:
                into.add(LocationKind.PAGE, "")  # the others can still be read
                continue
            with contextlib.closing(page), contextlib.closing(page.get_textpage()) as words:
                text = text_of_page(words)
                into.add(LocationKind.PAGE, text)
                if not text.strip() and any(page.get_objects([raw.FPDF_PAGEOBJ_IMAGE])):
                    into.scanned.append(number + 1)
                    if len(into.pages) < limits.pages and (shown := _shown(page, limits)):
                        into.pages.append(PagePicture(number + 1, *shown))


def open_pdf(path: Path | bytes) -> PdfDocument:
    """Open a PDF, to be closed by who has it. Raises Unreadable."""
    import pypdfium2
    from pypdfium2 import raw

    try:
        return pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        locked = error.err_code in {raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY}
        raise Unreadable(Fault.LOCKED if locked else Fault.DAMAGED) from error


def text_of_page(words: PdfTextPage) -> str:
    """Return the text of a page; `Collected.add` makes it a section's."""
    return _HYPHEN.sub("-\n", "".join(it for it, _ in in_reading_order(words)))


def _shown(page: PdfPage, limits: Limits) -> tuple[bytes, int, int] | None:
    """Return a page as a picture, with its width and height; None of one that is no page."""
    from app.documents.pictures import encoded_page

    width, height = page.get_size()
    if not (width >= 1 and height >= 1):
        return None
    scale = min((limits.page_pixels / (width * height)) ** 0.5, _MOST_SIDE / max(width, height))
    with contextlib.closing(page.render(scale=scale)) as bitmap:
        picture = bitmap.to_pil()
        return encoded_page(picture.convert("RGB"), limits), picture.width, picture.height
