"""Opens attached files for viewing, and draws their pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from app.base.errors import DocumentGone
from app.documents.services.documents import Documents
from app.documents.values.documents import Document, Location, Section, TextSpan
from app.documents.values.pages import DrawnPage, OpenedFile
from engines.cancel import CancelToken
from engines.sentences import N_


class Drawer(Protocol):
    """Draws pages; see `app.documents.reading.page_drawing.PageDrawer`."""

    def draw(
        self,
        path: Path,
        name: str,
        section: Section,
        width: int,
        spans: Sequence[TextSpan],
        cancel: CancelToken,
    ) -> DrawnPage:
        """Draw the page of a section. Raises DocumentNotRead and Cancelled."""
        ...


class Pages:
    """Shows the stored content of attached files. Qt-free; safe from any thread."""

    def __init__(
        self,
        read: Callable[[Iterable[str]], Mapping[str, Document]],
        documents: Documents,
        drawer: Drawer,
    ) -> None:
        """Create the service.

        Args:
            read: Returns stored documents by SHA-256.
        """
        self._read = read
        self._documents = documents
        self._drawer = drawer

    def open(self, sha256: str, name: str) -> OpenedFile:
        """Open the stored content of a file. Raises DocumentGone."""
        document = self._read([sha256]).get(sha256)
        if document is None:
            raise _document_gone(name)
        return OpenedFile(name, document, self._documents.state_of(sha256))

    def draw(
        self,
        file: OpenedFile,
        place: Location,
        width: int,
        spans: Sequence[TextSpan],
        cancel: CancelToken,
    ) -> DrawnPage:
        """Draw a page with its marks, `width` pixels wide.

        Raises DocumentGone, DocumentNotRead and Cancelled.
        """
        path = self._documents.copy_of(file.document.sha256)
        if path is None:
            raise _document_gone(file.name)
        section = file.document.sections[place.number - 1]
        return self._drawer.draw(path, file.name, section, width, spans, cancel)


def _document_gone(name: str) -> DocumentGone:
    return DocumentGone(
        N_("{name} cannot be shown.", name=name),
        N_("The file is no longer stored; it was deleted with its messages."),
        N_("Attach it again."),
    )
