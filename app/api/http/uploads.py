"""Pictures, sounds and files in requests: decoded, then read by the document reader's process.

They arrive as base64 within the request and in no other way: Hearth fetches no URL and opens no
path for a client. Documents are remembered for a while, because clients send a conversation with
all its pictures at every turn.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import threading
from collections import OrderedDict
from pathlib import PurePath
from typing import Final, Protocol

from app.api.http.request import BadRequest
from app.documents.values.documents import Document, DocumentKind
from engines.cancel import CancelToken
from engines.errors import Cancelled

MOST_FILES: Final = 100
"""Maximum number of media and files in a request; Anthropic's limit for pictures."""
MOST_REMEMBERED_BYTES: Final = 64 * 1024 * 1024
"""Maximum bytes of text, pictures and sounds that are remembered."""
MOST_AT_ONCE: Final = 2
"""Files read at the same time for all clients together: each can take a gigabyte of memory."""
_CANCEL_CHECK_S: Final = 0.2
_LONGEST_NAME: Final = 120
_LONGEST_SHOWN: Final = 60


class BytesReader(Protocol):
    """Reads untrusted files; see `app.documents.reading.reader.DocumentReader`."""

    def read_bytes(self, data: bytes, name: str, cancel: CancelToken) -> Document:
        """Read a file from its bytes. Raises DocumentNotRead and Cancelled."""
        ...


class Uploads:
    """Reads and remembers the files in requests. Safe from any thread.

    Attributes:
        held_bytes: The size of the files that are remembered.
    """

    def __init__(self, reader: BytesReader) -> None:
        self._reader = reader
        self._readers = threading.Semaphore(MOST_AT_ONCE)
        self._lock = threading.Lock()
        self._documents: OrderedDict[str, Document] = OrderedDict()
        self.held_bytes = 0

    def read(self, data: bytes, name: str, cancel: CancelToken) -> Document:
        """Read a file. Raises DocumentNotRead and Cancelled."""
        ending = PurePath(name).suffix.lower()
        key = f"{hashlib.sha256(data).hexdigest()}{ending}"
        with self._lock:
            if (document := self._documents.get(key)) is not None:
                self._documents.move_to_end(key)
                return document
        while not self._readers.acquire(timeout=_CANCEL_CHECK_S):
            if cancel.cancelled:
                raise Cancelled
        try:
            document = self._reader.read_bytes(data, name, cancel)
        finally:
            self._readers.release()
        self._remember(key, document)
        return document

    def _remember(self, key: str, document: Document) -> None:
        with self._lock:
            if key not in self._documents and _bytes_of(document) <= MOST_REMEMBERED_BYTES:
                self._documents[key] = document
                self.held_bytes += _bytes_of(document)
            while self.held_bytes > MOST_REMEMBERED_BYTES:
                _, oldest = self._documents.popitem(last=False)
                self.held_bytes -= _bytes_of(oldest)


class Intake:
    """Reads the files of one request, up to a maximum number. Used on one thread."""

    def __init__(self, uploads: Uploads, cancel: CancelToken) -> None:
        self._uploads = uploads
        self._cancel = cancel
        self._count = 0

    def read_file(self, data: bytes, name: str, kind: DocumentKind | None, path: str) -> Document:
        """Read a file and check that it is of this kind, if given.

        Raises BadRequest and AppError.
        """
        self._count += 1
        if self._count > MOST_FILES:
            raise BadRequest(
                "There are too many pictures and files in the request.",
                f"At most {MOST_FILES} are read.",
                "Leave out those that are no longer needed.",
                path,
            )
        document = self._uploads.read(data, name, self._cancel)
        if kind is not None and document.kind is not kind:
            expected = "picture" if kind is DocumentKind.IMAGE else "sound"
            raise BadRequest(
                f"A part of “{path}” is not a {expected}.",
                f"It was sent as a {expected}, but is a file of the kind “{document.kind}”.",
                "Send a PNG, JPEG, WebP or GIF."
                if kind is DocumentKind.IMAGE
                else "Send a WAV, MP3 or FLAC.",
                path,
            )
        return document


def decode_data_url(address: object, path: str) -> bytes:
    """Return the bytes of a data: URL or of plain base64. Raises BadRequest for anything else."""
    if not isinstance(address, str) or not address:
        raise BadRequest(
            f"A part of “{path}” has no data.",
            "The data is missing.",
            "Send the file itself, as a data: URL with base64.",
            path,
        )
    head, comma, encoded = address.partition(",")
    if comma and head[:5].lower() == "data:":
        if not head.lower().endswith(";base64"):
            raise BadRequest(
                f"A part of “{path}” cannot be read.",
                "Its data: URL is not in base64.",
                "Send it as data:…;base64,….",
                path,
            )
        return decode_base64(encoded, path)
    if ":" in address[:_LONGEST_SHOWN]:
        raise not_in_request(address, path)
    return decode_base64(address, path)


def decode_base64(encoded: object, path: str) -> bytes:
    """Decode base64. Raises BadRequest."""
    try:
        if not isinstance(encoded, str):
            raise ValueError
        data = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise BadRequest(
            f"A part of “{path}” cannot be read.",
            "Its data is not base64.",
            "Send the file’s bytes in base64.",
            path,
        ) from None
    if not data:
        raise BadRequest(f"A part of “{path}” is empty.", "It has no data.", "Send some.", path)
    return data


def not_in_request(address: str, path: str) -> BadRequest:
    """Return the error for a file at a URL, at a path or in another server's store."""
    return BadRequest(
        f"A part of “{path}” is not in the request.",
        f"“{address[:_LONGEST_SHOWN]}” leads elsewhere, and Hearth fetches no files for clients.",
        "Send the file itself, as a data: URL with base64.",
        path,
    )


def display_name(name: object, default: str) -> str:
    """Return a file's name without folders and control characters; it is only displayed."""
    if not isinstance(name, str):
        return default
    base = name.replace("\\", "/").rpartition("/")[2]
    printable = "".join(character if character.isprintable() else " " for character in base).strip()
    return printable[-_LONGEST_NAME:] or default


def _bytes_of(document: Document) -> int:
    pages = sum(len(part.data) for part in document.pages)
    return len(document.media) + pages + 4 * sum(len(part.text) for part in document.sections)
