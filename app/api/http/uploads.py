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
REMEMBERED: Final = 64 * 1024 * 1024
"""Maximum bytes of text, pictures and sounds that are remembered."""
AT_ONCE: Final = 2
"""Files read at the same time for all clients together: each can take a gigabyte of memory."""
_LOOK_S: Final = 0.2
_NAME: Final = 120
_SHOWN: Final = 60


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
        self._places = threading.Semaphore(AT_ONCE)
        self._lock = threading.Lock()
        self._known: OrderedDict[str, Document] = OrderedDict()
        self.held_bytes = 0

    def read(self, data: bytes, name: str, cancel: CancelToken) -> Document:
        """Read a file. Raises DocumentNotRead and Cancelled."""
        ending = PurePath(name).suffix.lower()
        key = f"{hashlib.sha256(data).hexdigest()}{ending}"
        with self._lock:
            if (known := self._known.get(key)) is not None:
                self._known.move_to_end(key)
                return known
        while not self._places.acquire(timeout=_LOOK_S):
            if cancel.cancelled:
                raise Cancelled
        try:
            document = self._reader.read_bytes(data, name, cancel)
        finally:
            self._places.release()
        self._remember(key, document)
        return document

    def _remember(self, key: str, document: Document) -> None:
        with self._lock:
            if key not in self._known and _bytes_of(document) <= REMEMBERED:
                self._known[key] = document
                self.held_bytes += _bytes_of(document)
            while self.held_bytes > REMEMBERED:
                _, oldest = self._known.popitem(last=False)
                self.held_bytes -= _bytes_of(oldest)


class Intake:
    """Reads the files of one request, up to a maximum number. Used on one thread."""

    def __init__(self, uploads: Uploads, cancel: CancelToken) -> None:
        self._uploads = uploads
        self._cancel = cancel
        self._count = 0

    def take(self, data: bytes, name: str, kind: DocumentKind | None, where: str) -> Document:
        """Read a file and check that it is of this kind, if given.

        Raises BadRequest and AppError.
        """
        self._count += 1
        if self._count > MOST_FILES:
            raise BadRequest(
                "There are too many pictures and files in the request.",
                f"At most {MOST_FILES} are read.",
                "Leave out those that are no longer needed.",
                where,
            )
        document = self._uploads.read(data, name, self._cancel)
        if kind is not None and document.kind is not kind:
            what = "picture" if kind is DocumentKind.IMAGE else "sound"
            raise BadRequest(
                f"A part of “{where}” is no {what}.",
                f"It is sent as one, and is a file of the kind “{document.kind}”.",
                "Send a PNG, JPEG, WebP or GIF."
                if kind is DocumentKind.IMAGE
                else "Send a WAV, MP3 or FLAC.",
                where,
            )
        return document


def data_of(address: object, where: str) -> bytes:
    """Return the bytes of a data: URL or of plain base64. Raises BadRequest for anything else."""
    if not isinstance(address, str) or not address:
        raise BadRequest(
            f"A part of “{where}” has no data.",
            "It names none.",
            "Send the file itself, as a data: URL with base64.",
            where,
        )
    head, comma, encoded = address.partition(",")
    if comma and head[:5].lower() == "data:":
        if not head.lower().endswith(";base64"):
            raise BadRequest(
                f"A part of “{where}” cannot be read.",
                "Its data: URL is not in base64.",
                "Send it as data:…;base64,….",
                where,
            )
        return decoded(encoded, where)
    if ":" in address[:_SHOWN]:
        raise elsewhere(address, where)
    return decoded(address, where)


def decoded(encoded: object, where: str) -> bytes:
    """Decode base64. Raises BadRequest."""
    try:
        if not isinstance(encoded, str):
            raise ValueError
        data = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise BadRequest(
            f"A part of “{where}” cannot be read.",
            "Its data is no base64.",
            "Send the file’s bytes in base64.",
            where,
        ) from None
    if not data:
        raise BadRequest(f"A part of “{where}” is empty.", "It has no data.", "Send some.", where)
    return data


def elsewhere(address: str, where: str) -> BadRequest:
    """Return the error for a file at a URL, at a path or in another server's store."""
    return BadRequest(
        f"A part of “{where}” is not in the request.",
        f"“{address[:_SHOWN]}” leads elsewhere, and Hearth fetches and opens nothing for clients.",
        "Send the file itself, as a data: URL with base64.",
        where,
    )


def plain_name(name: object, otherwise: str) -> str:
    """Return a file's name without folders and control characters; it is only displayed."""
    if not isinstance(name, str):
        return otherwise
    last = name.replace("\\", "/").rpartition("/")[2]
    shown = "".join(it if it.isprintable() else " " for it in last).strip()
    return shown[-_NAME:] or otherwise


def _bytes_of(document: Document) -> int:
    pages = sum(len(it.data) for it in document.pages)
    return len(document.media) + pages + 4 * sum(len(it.text) for it in document.sections)
