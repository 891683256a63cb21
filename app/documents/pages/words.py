"""Texts for the places and parts of a document."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication

from app.documents.values.documents import Location, LocationKind, Unread

_tr = QCoreApplication.translate
_LONGEST_TITLE = 60


def place_words(place: Location) -> str:
    """Name a place in a document, as “page 3” or “sheet Costs”."""
    title = place.title
    if len(title) > _LONGEST_TITLE:
        title = title[:_LONGEST_TITLE].rstrip() + "…"
    if place.kind is LocationKind.PAGE:
        return _tr("citations", "page {number}").format(number=place.number)
    if place.kind is LocationKind.SLIDE:
        return _tr("citations", "slide {number}").format(number=place.number)
    if place.kind is LocationKind.WHOLE:
        return _tr("citations", "text")
    if place.kind is LocationKind.ATTACHMENT:
        return _tr("citations", "attachment “{title}”").format(title=title)
    words = {
        LocationKind.HEADING: _tr("citations", "section {number}"),
        LocationKind.SHEET: _tr("citations", "sheet {number}"),
        LocationKind.CHAPTER: _tr("citations", "chapter {number}"),
        LocationKind.MESSAGE: _tr("citations", "message {number}"),
    }[place.kind]
    return words.format(number=f"{place.number} “{title}”" if title else place.number)


def parts_words(unread: Sequence[Unread]) -> str:
    """Name the parts of a file that were not read."""
    words = {
        Unread.CHARTS: _tr("files", "charts"),
        Unread.DIAGRAMS: _tr("files", "diagrams"),
        Unread.PICTURES: _tr("files", "pictures"),
        Unread.FORMULAS: _tr("files", "some formulas"),
        Unread.OBJECTS: _tr("files", "embedded objects"),
        Unread.COMMENTS: _tr("files", "comments"),
        Unread.ATTACHMENTS: _tr("files", "some attachments"),
    }
    return ", ".join(words[reason] for reason in unread)
