"""Opens files to be looked at, and has their pages drawn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

from app.core.citations import CopyState
from app.core.documents import Document, Location, Section, TextSpan
from app.core.errors import DocumentGone
from app.core.pages import DrawnPage, OpenedFile
from engines.cancel import CancelToken


class Texts(Protocol):
    """Has the text of files; see `app.services.answers.grounding.Grounding`."""

    def documents(self, hashes: Iterable[str]) -> dict[str, Document]:
        """Return documents by their hashes; missing ones are left out."""
        ...


class Originals(Protocol):
    """Has the files themselves; see `app.services.originals.FileOriginals`."""

    def state_of(self, sha256: str) -> CopyState:
        """Tell whether a file is still what was read."""
        ...

    def copy_of(self, sha256: str) -> Path | None:
        """Return where a file lies; None where it is not there."""
        ...


class Drawer(Protocol):
    """Draws pages; see `app.documents.pages.PageDrawer`."""

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
    """Shows attached files and those of collections. Qt-free; from any thread."""

    def __init__(self, texts: Texts, originals: Originals, drawer: Drawer) -> None:
        self._texts = texts
        self._originals = originals
        self._drawer = drawer

    def open(self, sha256: str, name: str) -> OpenedFile:
        """Open what is kept of a file. Raises DocumentGone."""
        document = self._texts.documents([sha256]).get(sha256)
        if document is None:
            raise _gone(name)
        return OpenedFile(name, document, self._originals.state_of(sha256))

    def draw(
        self,
        file: OpenedFile,
        place: Location,
        width: int,
        spans: Sequence[TextSpan],
        cancel: CancelToken,
    ) -> DrawnPage:
        """Draw a page so many pixels wide, with what is marked on it.

        Raises DocumentGone, DocumentNotRead and Cancelled.
        """
        path = self._originals.copy_of(file.document.sha256)
        if path is None:
            raise _gone(file.name)
        section = file.document.sections[place.number - 1]
        return self._drawer.draw(path, file.name, section, width, spans, cancel)


def _gone(name: str) -> DocumentGone:
    return DocumentGone(
        f"{name} cannot be shown.",
        "The file is not kept any more; it went with the messages that it belonged to.",
        "Attach it again.",
    )
