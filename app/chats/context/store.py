"""Summaries of chats, their policies for a full context and their pins, in the database."""

from __future__ import annotations

from app.base.db import Database
from app.chats.context.values.summary import Summary
from app.chats.history.store.rows import insert_rows
from app.chats.history.values.conversation import OverflowPolicy


class SummaryStore:
    """The table of summaries. Each method is one transaction, safe from any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of_chat(self, chat_id: str) -> list[Summary]:
        """Return the summaries of every branch, including those that no longer apply."""
        with self._database.read() as db:
            rows = db.execute(
                "SELECT s.* FROM summaries s JOIN messages m ON m.id = s.message_id"
                " WHERE m.chat_id = ?",
                (chat_id,),
            ).fetchall()
        return [Summary(**dict(row)) for row in rows]

    def save(self, summary: Summary) -> None:
        """Save a summary, replacing one that is attached to the same message."""
        with self._database.write() as db:
            insert_rows(db, "summaries", [vars(summary)], "REPLACE")

    def forget(self, message_id: str) -> None:
        """Remove the summary attached to a message."""
        with self._database.write() as db:
            db.execute("DELETE FROM summaries WHERE message_id = ?", (message_id,))

    def overflow(self, chat_id: str) -> OverflowPolicy | None:
        """Return the chat's own policy for a full context; None if the settings apply."""
        with self._database.read() as db:
            row = db.execute("SELECT overflow FROM chats WHERE id = ?", (chat_id,)).fetchone()
        return row["overflow"] if row else None

    def set_overflow(self, chat_id: str, policy: OverflowPolicy | None) -> None:
        """Set the chat's own policy for a full context; None leaves it to the settings."""
        with self._database.write() as db:
            db.execute("UPDATE chats SET overflow = ? WHERE id = ?", (policy, chat_id))

    def set_pinned(self, message_id: str, pinned: bool) -> None:
        """Pin a message, so that it stays in the prompt when others are left out, or unpin it."""
        with self._database.write() as db:
            db.execute("UPDATE messages SET pinned = ? WHERE id = ?", (int(pinned), message_id))
