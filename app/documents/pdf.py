"""Reads PDF with PDFium, page by page."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import Final

from app.core.documents import LocationKind
from app.documents.collected import Collected
from app.documents.faults import Fault, Unreadable

_HYPHEN: Final = re.compile("[\ufffe\u0002]\r?\n?")
"""PDFium writes this for a hyphen at the end of a line that a word goes on after."""


def read_pdf(path: Path, into: Collected) -> None:
    """Read the text of each page, and which of them are pictures of text. Raises Unreadable."""
    import pypdfium2
    from pypdfium2 import raw

    try:
        pdf = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        locked = error.err_code in {raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY}
        raise Unreadable(Fault.LOCKED if locked else Fault.DAMAGED) from error
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
                text = _HYPHEN.sub("-\n", words.get_text_range())
                into.add(LocationKind.PAGE, text)
                if not text.strip() and any(page.get_objects([raw.FPDF_PAGEOBJ_IMAGE])):
                    into.scanned.append(number + 1)
