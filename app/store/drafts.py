"""Drafts: what was written and not sent, of each chat and of the one that is not begun yet."""

from __future__ import annotations

from app.store.db import Database

_OF_NEW_CHAT = "draft"


class DraftStore:
    """The table of drafts. Each method is one transaction, safe from any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, chat_id: str | None) -> str:
        """Return the draft of a chat, or of the next new one for None; empty if there is none."""
        with self._database.read() as db:
            if chat_id is None:
                query = ("SELECT value FROM kept WHERE name = ?", (_OF_NEW_CHAT,))
            else:
                query = ("SELECT draft FROM chats WHERE id = ?", (chat_id,))
            row = db.execute(*query).fetchone()
        return str(row[0]) if row else ""

    def save(self, chat_id: str | None, text: str) -> None:
        with self._database.write() as db:
            if chat_id is None:
                db.execute(
                    "INSERT OR REPLACE INTO kept (name, value) VALUES (?, ?)", (_OF_NEW_CHAT, text)
                )
            else:
                db.execute("UPDATE chats SET draft = ? WHERE id = ?", (text, chat_id))
