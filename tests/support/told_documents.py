"""Documents as their readers would return them."""

from __future__ import annotations

from collections.abc import Sequence

from app.documents.values.documents import (
    AttachedFile,
    Document,
    DocumentKind,
    Location,
    LocationKind,
    Section,
)


def told(
    *texts: str,
    kind: DocumentKind = DocumentKind.PDF,
    place: LocationKind = LocationKind.PAGE,
    titles: Sequence[str] = (),
    name: str = "a.pdf",
) -> AttachedFile:
    """Return a file with these texts, each at another place."""
    sections = tuple(
        Section(Location(place, at, titles[at - 1] if titles else ""), text)
        for at, text in enumerate(texts, 1)
    )
    return AttachedFile(name, Document(kind, "0" * 64, 1, sections))
