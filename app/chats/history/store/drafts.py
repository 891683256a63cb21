"""Drafts: unsent text and files of each chat and of the next new chat."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.base.db import Database
from app.chats.history.store.rows import attachments_of, list_as_json
from app.documents.store.documents import FILES_OF_NEW_CHAT, insert_document

if TYPE_CHECKING:
    from app.documents.values.documents import AttachedFile, Attachment

_OF_NEW_CHAT = "draft"


class DraftStore:
    """The table of drafts. Each method is one transaction, safe from any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, chat_id: str | None) -> str:
        """Return the draft of a chat, or of the next new chat for None; empty if there is none."""
        return self._value(chat_id, "draft", _OF_NEW_CHAT)

    def save(self, chat_id: str | None, text: str) -> None:
        """Store the draft of a chat; None is the draft of a new chat."""
        with self._database.write() as db:
            if chat_id is None:
                db.execute(
                    "INSERT OR REPLACE INTO kept (name, value) VALUES (?, ?)", (_OF_NEW_CHAT, text)
                )
            else:
                db.execute("UPDATE chats SET draft = ? WHERE id = ?", (text, chat_id))

    def files(self, chat_id: str | None) -> tuple[Attachment, ...]:
        """Return the files attached to a draft."""
        return attachments_of(self._value(chat_id, "draft_files", FILES_OF_NEW_CHAT))

    def save_files(
        self,
        chat_id: str | None,
        files: Sequence[Attachment],
        new: AttachedFile | None = None,
    ) -> None:
        """Save which files are attached to a draft.

        Args:
            new: One of the files, whose text is saved with it.
        """
        with self._database.write() as db:
            if new is not None:
                insert_document(db, new.document, time.time(), was_read=True)
            if chat_id is None:
                db.execute(
                    "INSERT OR REPLACE INTO kept (name, value) VALUES (?, ?)",
                    (FILES_OF_NEW_CHAT, list_as_json(files)),
                )
            else:
                db.execute(
                    "UPDATE chats SET draft_files = ? WHERE id = ?", (list_as_json(files), chat_id)
                )

    def _value(self, chat_id: str | None, column: str, name: str) -> str:
        with self._database.read() as db:
            if chat_id is None:
                query = ("SELECT value FROM kept WHERE name = ?", (name,))
            else:
                query = (f"SELECT {column} FROM chats WHERE id = ?", (chat_id,))  # noqa: S608  our own words
            row = db.execute(*query).fetchone()
        return str(row[0]) if row else ""
