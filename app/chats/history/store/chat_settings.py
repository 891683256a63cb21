"""A chat's own assistant, model and settings in the database."""

from __future__ import annotations

import json
import sqlite3

from app.assistants.values.assistants import NewChat
from app.base.db import Database

_USUAL = "usual"
"""Key among the settings that is present if the user did not choose the chat's model."""


class ChatSettingsStore:
    """The settings of chats. Each method is one transaction, safe from any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, chat_id: str) -> NewChat:
        """Return a chat's own settings; empty if the chat is gone.

        The greeting is not included, because it is stored as a message.
        """
        with self._database.read() as db:
            row = db.execute(
                "SELECT model, assistant_id, settings, collections FROM chats WHERE id = ?",
                (chat_id,),
            ).fetchone()
        if row is None:
            return NewChat()
        settings = json.loads(row["settings"])
        usual = bool(settings.pop(_USUAL, False))
        own = json.loads(row["collections"] or "null")
        return NewChat(
            row["model"],
            row["assistant_id"],
            settings=settings,
            usual=usual,
            collections=None if own is None else tuple(own),
        )

    def switches(self, chat_id: str) -> dict[str, object]:
        """Return a chat's switches for MTP and for a full context; None leaves one open."""
        with self._database.read() as db:
            row = db.execute("SELECT mtp, overflow FROM chats WHERE id = ?", (chat_id,)).fetchone()
        return dict(row) if row else {}

    def save(self, chat_id: str, own: NewChat) -> None:
        """Replace all settings that a chat has of its own."""
        with self._database.write() as db:
            save_own(db, chat_id, own)


def save_own(db: sqlite3.Connection, chat_id: str, own: NewChat) -> None:
    """Save a chat's own settings, within a transaction of the caller."""
    settings = {**own.settings, **({_USUAL: True} if own.usual else {})}
    db.execute(
        "UPDATE chats SET model = ?, assistant_id = ?, settings = ?, collections = ? WHERE id = ?",
        (
            own.model,
            own.assistant_id,
            json.dumps(settings),
            None if own.collections is None else json.dumps(own.collections),
            chat_id,
        ),
    )
