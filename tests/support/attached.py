"""Attached files as if they had been read."""

from __future__ import annotations

import hashlib

from app.core.documents import (
    AttachedFile,
    Document,
    DocumentKind,
    Location,
    LocationKind,
    Section,
)


def attached(name: str, *pages: str) -> AttachedFile:
    """A file of one text, or of several pages."""
    kind = LocationKind.WHOLE if len(pages) == 1 else LocationKind.PAGE
    content = "\f".join(pages).encode()
    sections = tuple(Section(Location(kind, at), text) for at, text in enumerate(pages, 1))
    of = DocumentKind.TEXT if len(pages) == 1 else DocumentKind.PDF
    return AttachedFile(
        name, Document(of, hashlib.sha256(content).hexdigest(), len(content), sections)
    )
