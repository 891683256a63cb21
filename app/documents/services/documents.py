"""Files that are attached to messages: reads them, and stores copies for their chats."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from app.base.errors import DocumentNotRead
from app.documents.citations.values import CopyState
from app.documents.store.documents import FileCopies
from app.documents.values.documents import AttachedFile, Document, DocumentKind
from engines.cancel import CancelToken
from engines.sentences import N_

_log = logging.getLogger(__name__)


class Reader(Protocol):
    """Reads files; see `app.documents.reading.reader.DocumentReader`."""

    def read(self, path: Path, cancel: CancelToken, name: str = "") -> Document:
        """Read a file. Raises DocumentNotRead and Cancelled."""
        ...


class Documents:
    """Attaches files to messages. Qt-free; safe from any thread."""

    def __init__(
        self,
        reader: Reader,
        copies: FileCopies,
        originals: Callable[[str], Iterable[Path]] = lambda _: (),
    ) -> None:
        """Create the service.

        Args:
            originals: Returns the paths of a collection's files with a SHA-256; these are not
                copied.
        """
        self._reader = reader
        self._copies = copies
        self._originals = originals

    def read(self, path: Path, cancel: CancelToken) -> AttachedFile:
        """Read a file to attach to a message. Raises DocumentNotRead and Cancelled."""
        name = "".join(character if character.isprintable() else " " for character in path.name)
        if path.is_dir():
            raise DocumentNotRead(
                N_("{name} cannot be attached.", name=name),
                N_("It is a folder, and only files can be attached."),
                N_("Choose those files in it that your question is about."),
            )
        return AttachedFile(name, self._reader.read(path, cancel))

    def read_data(self, name: str, data: bytes, cancel: CancelToken) -> AttachedFile:
        """Read data that is not in a file on disk. Raises DocumentNotRead and Cancelled."""
        with TemporaryDirectory() as folder:
            path = Path(folder) / "data"
            path.write_bytes(data)
            return AttachedFile(name, self._reader.read(path, cancel, name))

    def checked(self, document: Document, cancel: CancelToken) -> Document:
        """Return a document with its pictures and sounds read again; invalid ones are left out.

        Imported documents are untrusted: engines decode data in this process that others have
        written. Raises Cancelled.
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

    def from_bytes(self, name: str, data: bytes) -> AttachedFile:
        """Attach a picture or a sound that was made here for the engines, without a file.

        Raises DocumentNotRead.
        """
        from engines.media import kind_of, picture_size, sound_seconds

        kind, size, seconds = kind_of(data), picture_size(data), sound_seconds(data)
        if kind is None or not (size or seconds):
            raise DocumentNotRead(
                N_("{name} cannot be attached.", name=name),
                N_("It is not a picture or sound that Hearth can read."),
                N_("Save it as a file in its own program, and attach that."),
            )
        document = Document(
            DocumentKind.IMAGE if kind == "image" else DocumentKind.AUDIO,
            sha256(data).hexdigest(),
            len(data),
            (),
            media=data,
            width=size[0] if size else 0,
            height=size[1] if size else 0,
            seconds=seconds or 0.0,
        )
        return AttachedFile(name, document)

    def save_copies(self, paths: Iterable[tuple[Path, AttachedFile]]) -> None:
        """Copy the files of a saved message, so that their pages can be shown later.

        Neither the answer nor the chat needs a copy, only the text. Pictures and sounds are not
        copied: what is shown of them is in the database, and their files can contain more, such as
        where a photo was taken.
        """
        for path, file in paths:
            if file.document.medium is not None:
                continue
            try:
                is_copied = self._copies.save(path, file.document.sha256)
            except OSError as error:
                _log.warning("an attached file was not copied: %s", error)
            else:
                if not is_copied:
                    _log.warning("an attached file has changed since it was read")

    def state_of(self, sha256: str) -> CopyState:
        """Return whether a file can be viewed as it was read. Its hash is computed once."""
        states = [self._copies.state(sha256), *(state for _, state in self._originals_of(sha256))]
        return min(states, key=("here", "changed", "missing").index)

    def copy_of(self, sha256: str) -> Path | None:
        """Return the copy of an attached file, or the original if it is unchanged."""
        unchanged = (path for path, state in self._originals_of(sha256) if state == "here")
        return self._copies.path(sha256) or next(unchanged, None)

    def _originals_of(self, sha256: str) -> Iterator[tuple[Path, CopyState]]:
        for path in self._originals(sha256):
            yield path, self._copies.state(sha256, path)
