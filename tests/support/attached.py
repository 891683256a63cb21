"""Attached files, as if a reader had read them."""

from __future__ import annotations

import hashlib

from app.documents.values.documents import (
    AttachedFile,
    Document,
    DocumentKind,
    Location,
    LocationKind,
    PagePicture,
    Section,
)


def attached(name: str, *pages: str) -> AttachedFile:
    """Return a file of one text, or of several pages."""
    kind = LocationKind.WHOLE if len(pages) == 1 else LocationKind.PAGE
    content = "\f".join(pages).encode()
    sections = tuple(Section(Location(kind, at), text) for at, text in enumerate(pages, 1))
    of = DocumentKind.TEXT if len(pages) == 1 else DocumentKind.PDF
    return AttachedFile(
        name, Document(of, hashlib.sha256(content).hexdigest(), len(content), sections)
    )


def attached_picture(name: str, media: bytes, width: int = 4, height: int = 3) -> AttachedFile:
    """Return a picture whose bytes for the engines are these."""
    digest = hashlib.sha256(media).hexdigest()
    return AttachedFile(
        name,
        Document(
            DocumentKind.IMAGE, digest, len(media), (), media=media, width=width, height=height
        ),
    )


def attached_sound(name: str, media: bytes, seconds: float = 2.5) -> AttachedFile:
    """Return a sound whose bytes for the engines are these."""
    digest = hashlib.sha256(media).hexdigest()
    return AttachedFile(
        name, Document(DocumentKind.AUDIO, digest, len(media), (), media=media, seconds=seconds)
    )


def attached_scan(name: str, *pages: bytes) -> AttachedFile:
    """Return a scan of which each page is a picture with these bytes."""
    places = [Location(LocationKind.PAGE, at + 1) for at in range(len(pages))]
    sections = tuple(Section(place, "") for place in places)
    pictures = tuple(PagePicture(at, data, 4, 6) for at, data in enumerate(pages, 1))
    digest = hashlib.sha256(b"".join(pages)).hexdigest()
    scanned = tuple(it.number for it in pictures)
    return AttachedFile(
        name, Document(DocumentKind.PDF, digest, 1000, sections, scanned, pages=pictures)
    )
