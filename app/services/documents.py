"""Files that are attached to messages: read by the reader, kept with their chats."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from app.core.citations import CopyState
from app.core.documents import AttachedFile, Document, DocumentKind
from app.core.errors import DocumentNotRead
from app.store.documents import FileCopies
from engines.cancel import CancelToken

_log = logging.getLogger(__name__)


class Reader(Protocol):
    """Reads files; see `app.documents.reader.DocumentReader`."""

    def read(self, path: Path, cancel: CancelToken, name: str = "") -> Document:
        """Read a file. Raises DocumentNotRead and Cancelled."""
        ...


class Documents:
    """Attaches files to messages. Qt-free; from any thread.

    copies: None for a chat of which nothing is kept.
    """

    def __init__(self, reader: Reader, copies: FileCopies | None) -> None:
        self._reader = reader
        self._copies = copies

    def read(self, path: Path, cancel: CancelToken) -> AttachedFile:
        """Read a file that is to go with a message. Raises DocumentNotRead and Cancelled."""
        name = "".join(it if it.isprintable() else " " for it in path.name)
        if path.is_dir():
            raise DocumentNotRead(
                f"{name} cannot be attached.",
                "It is a folder, and a message takes files.",
                "Choose those files in it that your question is about.",
            )
        return AttachedFile(name, self._reader.read(path, cancel))

    def read_data(self, name: str, data: bytes, cancel: CancelToken) -> AttachedFile:
        """Read what is no file on the disk. Raises DocumentNotRead and Cancelled."""
        with TemporaryDirectory() as folder:
            path = Path(folder) / "data"
            path.write_bytes(data)
            return AttachedFile(name, self._reader.read(path, cancel, name))

    def checked(self, document: Document, cancel: CancelToken) -> Document:
        """Return a document whose pictures and sounds were read anew; what is none is left out.

        For documents of an import, which may say anything: engines decode in this process what
        others have written. Raises Cancelled.
        """
        media = self._medium_of(document.media, document.kind, cancel)
        pages = (
            replace(page, data=self._medium_of(page.data, DocumentKind.IMAGE, cancel))
            for page in document.pages
        )
        return replace(document, media=media, pages=tuple(page for page in pages if page.data))

    def _medium_of(self, data: bytes, kind: DocumentKind, cancel: CancelToken) -> bytes:
        if not data:
            return b""
        try:
            read = self.read_data("", data, cancel).document
        except DocumentNotRead as error:
            _log.warning("a picture or sound of an import was left out: %s", error)
            return b""
        return read.media if read.kind is kind else b""

    def keep_copies(self, paths: Iterable[tuple[Path, AttachedFile]]) -> None:
        """Copy files whose message has been saved, so that their pages can be shown later.

        The answer does without a copy, and so does the chat: what it needs is the text. Pictures
        and sounds are not copied: what is shown of them is in the database, and their files may
        say more, as where a photo was taken.
        """
        if self._copies is None:
            return
        for path, file in paths:
            if file.document.medium is not None:
                continue
            try:
                same = self._copies.keep(path, file.document.sha256)
            except OSError as error:
                _log.warning("an attached file was not copied: %s", error)
            else:
                if not same:
                    _log.warning("an attached file has changed since it was read")

    def state_of(self, sha256: str) -> CopyState:
        """Tell whether the copy of an attached file is what was read. Its hash is computed once."""
        return self._copies.state(sha256) if self._copies is not None else "missing"

    def copy_of(self, sha256: str) -> Path | None:
        """Return the copy of an attached file; None where there is none."""
        return self._copies.path(sha256) if self._copies is not None else None
