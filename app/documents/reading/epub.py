"""Reads EPUB (EPUB 3.3): the pages in reading order, each as a chapter."""

from __future__ import annotations

from typing import Final

from app.documents.reading.collected import Collected
from app.documents.reading.faults import Fault, Unreadable
from app.documents.reading.html import html_text
from app.documents.reading.package import Package, resolved
from app.documents.values.documents import LocationKind

EPUB_START: Final = "META-INF/container.xml"

_CONTAINER: Final = "{urn:oasis:names:tc:opendocument:xmlns:container}"
_OPF: Final = "{http://www.idpf.org/2007/opf}"
_ENCRYPTED: Final = "{http://www.w3.org/2001/04/xmlenc#}"
_ENCRYPTION: Final = "META-INF/encryption.xml"


def read_epub(package: Package, into: Collected) -> None:
    """Read a book. Raises Unreadable, also if its pages are encrypted."""
    start = package.tree(EPUB_START).find(f".//{_CONTAINER}rootfile")
    if start is None:
        raise Unreadable(Fault.DAMAGED)
    name = resolved("", start.get("full-path", ""))
    book = package.tree(name)
    folder = name.rpartition("/")[0]
    items = {
        item.get("id"): resolved(folder, item.get("href", ""))
        for item in book.iter(f"{_OPF}item")
        if item.get("media-type") in {"application/xhtml+xml", "text/html"}
    }
    order = [items.get(item.get("idref")) for item in book.iter(f"{_OPF}itemref")]
    pages = [page for page in order if page is not None]
    if _encrypted(package) & set(pages):
        raise Unreadable(Fault.LOCKED)
    for page in pages:
        text, title = html_text(package.read(page))
        if text.strip():
            into.add(LocationKind.CHAPTER, text, title)


def _encrypted(package: Package) -> set[str]:
    """Return the encrypted parts; in most books these are only fonts."""
    if _ENCRYPTION not in package:
        return set()
    found = package.tree(_ENCRYPTION).iter(f"{_ENCRYPTED}CipherReference")
    return {resolved("", reference.get("URI", "")) for reference in found}
