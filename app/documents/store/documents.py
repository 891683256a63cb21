"""The content of attached files in the database, and copies of the files beside it."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import time
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from app.base.db import Database
from engines.private import make_private_folder, replacing
from engines.regular import open_regular

if TYPE_CHECKING:
    from app.documents.citations.values import CopyState
    from app.documents.values.documents import Document

YOUNG_S: Final = 3600.0
"""Seconds for which an unfinished copy is left alone: another process can be writing it."""

_PIECE: Final = 1 << 20


def insert_document(
    db: sqlite3.Connection, document: Document, now: float, *, was_read: bool
) -> None:
    """Store the content of a file.

    Args:
        was_read: It was read from the file just now, so it replaces content from an import.
    """
    from app.documents.values.documents import document_values

    verb = "REPLACE" if was_read else "INSERT OR IGNORE"
    bare = [replace(page, data=b"") for page in document.pages]
    values = document_values(replace(document, media=b"", pages=tuple(bare)))
    content = zlib.compress(json.dumps(values, ensure_ascii=False).encode(), 6)
    added = db.execute(
        f"{verb} INTO documents (sha256, added, content) VALUES (?, ?, ?)",
        (document.sha256, now, content),
    ).rowcount
    if not added:
        return
    media = [(document.sha256, page.number, page.data) for page in document.pages]
    if document.media:
        media.append((document.sha256, 0, document.media))
    db.executemany("INSERT INTO media (document, page, data) VALUES (?, ?, ?)", media)


FILES_OF_NEW_CHAT: Final = "draft_files"
"""The name in the table `kept` for the files of a message that begins a chat."""


def remove_unused_documents(db: sqlite3.Connection) -> None:
    """Delete the content of files that no message has any more, including messages in the trash.

    Drafts count as messages.
    """
    lists = (
        "SELECT attachments AS files FROM messages WHERE attachments <> ''"
        " UNION ALL SELECT attachments FROM waiting WHERE attachments <> ''"
        " UNION ALL SELECT draft_files FROM chats WHERE draft_files <> ''"
        " UNION ALL SELECT value FROM kept WHERE name = ? AND value <> ''"
    )
    db.execute(
        "DELETE FROM documents WHERE sha256 NOT IN ("  # noqa: S608  our own words
        f" SELECT json_extract(one.value, '$.sha256') FROM ({lists}), json_each(files) AS one)",
        (FILES_OF_NEW_CHAT,),
    )


class DocumentStore:
    """The table of documents. Safe from any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def documents(self, hashes: Iterable[str]) -> dict[str, Document]:
        """Return the documents with these SHA-256 hashes; missing ones are left out."""
        found = {}
        with self._database.read() as db:
            for sha256 in set(hashes):
                row = db.execute(
                    "SELECT content FROM documents WHERE sha256 = ?", (sha256,)
                ).fetchone()
                if row is not None:
                    media = db.execute(
                        "SELECT page, data FROM media WHERE document = ?", (sha256,)
                    ).fetchall()
                    found[sha256] = (
                        row["content"],
                        {medium["page"]: medium["data"] for medium in media},
                    )
        return {sha256: _document(content, media) for sha256, (content, media) in found.items()}

    def hashes(self) -> set[str]:
        """Return the SHA-256 hashes of all stored documents."""
        with self._database.read() as db:
            return {row["sha256"] for row in db.execute("SELECT sha256 FROM documents")}


def _document(content: bytes, media: Mapping[int, bytes]) -> Document:
    """Build a document from its values and its pictures by page; 0 is the file itself."""
    from app.documents.values.documents import document_from

    document = document_from(json.loads(zlib.decompress(content)))
    pages = (
        replace(page, data=media[page.number]) for page in document.pages if page.number in media
    )
    return replace(document, media=media.get(0, b""), pages=tuple(pages))


_COPY: Final = re.compile(r"[0-9a-f]{64}|(?P<unfinished>\.[0-9a-f]{64}\.\d+\.part)")
"""The names of copies, complete or still being written by `replacing`."""


class FileCopies:
    """Copies of attached files in a folder, each named by its SHA-256, for viewing.

    The text of a document is in the database: without a copy, only its look is missing.
    """

    def __init__(self, folder: Path | None) -> None:
        """Open the folder.

        Args:
            folder: None for a chat that leaves nothing on disk; the user's own files are viewed
                then, as long as they are unchanged.
        """
        self._folder = folder
        self._own: dict[str, Path] = {}
        self._same: dict[Path, tuple[int, int, str]] = {}

    def save(self, path: Path, sha256: str) -> bool:
        """Copy a file unless it is here already. Raises OSError.

        Returns:
            Whether its bytes still match the hash.
        """
        if self._folder is None:
            self._own[sha256] = path
            return self.state(sha256) == "here"
        target = self._folder / sha256
        if target.is_file():
            return True
        from hashlib import file_digest

        make_private_folder(self._folder)
        with replacing(target) as unfinished, open_regular(path) as source:
            with unfinished.open("wb") as copy:
                shutil.copyfileobj(source, copy, _PIECE)
            with unfinished.open("rb") as copy:
                same = file_digest(copy, "sha256").hexdigest() == sha256
        if not same:
            target.unlink()
        return same

    def path(self, sha256: str) -> Path | None:
        """Return the copy of a file; None if there is none."""
        if self._folder is None:
            return self._own.get(sha256) if self.state(sha256) == "here" else None
        path = self._folder / sha256
        return path if path.is_file() else None

    def state(self, sha256: str, original: Path | None = None) -> CopyState:
        """Return whether the copy of a file, or `original`, still matches the hash."""
        path = original or (self._folder / sha256 if self._folder else self._own.get(sha256))
        if path is None:
            return "missing"
        try:
            found = path.stat()
            known = found.st_size, found.st_mtime_ns, sha256
            if self._same.get(path) != known:
                from hashlib import file_digest

                with open_regular(path) as copy:
                    if file_digest(copy, "sha256").hexdigest() != sha256:
                        return "changed"
                self._same[path] = known
        except OSError:
            return "missing"
        return "here"

    def remove_unused(self, used: set[str]) -> None:
        """Delete the copies of files that no message has; see `remove_unused_documents`.

        Other files in the folder stay. A message is saved before its files are copied, so no copy
        that is needed is deleted.
        """
        if self._folder is None:
            return
        old = time.time() - YOUNG_S
        with suppress(FileNotFoundError):
            for path in self._folder.iterdir():
                if path.name in used or not (name := _COPY.fullmatch(path.name)):
                    continue
                with suppress(OSError):
                    if not name["unfinished"] or path.stat().st_mtime <= old:
                        path.unlink()
