"""Stores whole imported chats in the database."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence
from dataclasses import replace

from app.base.db import Database
from app.base.ids import new_id
from app.chats.history.store.folders import add_folder
from app.chats.history.store.rows import insert_row, insert_rows, row_of_chat, row_of_message
from app.chats.history.values.chat import Chat
from app.chats.history.values.conversation import StoredMessage
from app.chats.history.values.places import Folder
from app.documents.store.documents import insert_document
from app.exchange.values.found import Imported, ReadyChat
from app.exchange.values.thread import made_id

_AT_ONCE = 500
"""Number of ids in one query."""


class ImportStore:
    """Stores chats from elsewhere. Each method is one transaction, safe from any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def known(self, chat_ids: Sequence[str]) -> dict[str, bool]:
        """Return the chats that Hearth already has, and for each whether it is in the trash."""
        with self._database.read() as db:
            return _known(db, chat_ids)

    def add(self, chats: Sequence[ReadyChat]) -> Imported:
        """Add all chats or, on an error, none; chats that are here already stay unchanged.

        Chats in the trash are restored.
        """
        new: list[str] = []
        known_ids: list[str] = []
        restored: list[str] = []
        new_folders: dict[str, str] = {}
        with self._database.write() as db:
            folders = {row["name"]: row["id"] for row in db.execute("SELECT * FROM folders")}
            known = _known(db, [chat.chat.id for chat in chats])
            for chat in chats:
                chat_id = chat.chat.id
                if known.get(chat_id) is False:
                    known_ids.append(chat_id)
                    continue
                if chat.folder not in folders:
                    folders[chat.folder] = new_folders[chat.folder] = _add_folder(db, chat.folder)
                if chat_id in known:
                    _restore(db, chat_id, folders[chat.folder])
                    restored.append(chat_id)
                else:
                    for document in chat.documents:
                        insert_document(db, document, time.time(), was_read=False)
                    _insert(db, replace(chat.chat, folder_id=folders[chat.folder]), chat.messages)
                    new.append(chat_id)
                known[chat_id] = False
        return Imported(tuple(new), tuple(known_ids), tuple(restored), tuple(new_folders.values()))


def _known(db: sqlite3.Connection, chat_ids: Sequence[str]) -> dict[str, bool]:
    found: dict[str, bool] = {}
    for start in range(0, len(chat_ids), _AT_ONCE):
        some = chat_ids[start : start + _AT_ONCE]
        rows = db.execute(
            f"SELECT id, deleted FROM chats WHERE id IN ({','.join('?' * len(some))})",  # noqa: S608
            tuple(some),
        )
        found |= {row["id"]: row["deleted"] is not None for row in rows}
    return found


def _add_folder(db: sqlite3.Connection, name: str) -> str:
    folder = Folder(new_id(), name, 0, time.time())
    add_folder(db, folder)
    return folder.id


def _restore(db: sqlite3.Connection, chat_id: str, folder_id: str) -> None:
    db.execute(
        "UPDATE chats SET deleted = NULL, folder_id = coalesce(folder_id, ?) WHERE id = ?",
        (folder_id, chat_id),
    )


def _insert(db: sqlite3.Connection, chat: Chat, messages: Sequence[StoredMessage]) -> None:
    if _have_ids(db, messages):
        names = {message.id: made_id(chat.id, message.id) for message in messages}
        chat = replace(chat, leaf_id=names.get(chat.leaf_id or ""))
        messages = [
            replace(message, id=names[message.id], parent_id=names.get(message.parent_id or ""))
            for message in messages
        ]
    insert_row(db, "chats", {**row_of_chat(chat), "deleted": None})
    insert_rows(db, "messages", [row_of_message(message) for message in messages])


def _have_ids(db: sqlite3.Connection, messages: Sequence[StoredMessage]) -> bool:
    """Return whether one of the ids belongs to a message of another chat."""
    for start in range(0, len(messages), _AT_ONCE):
        some = [message.id for message in messages[start : start + _AT_ONCE]]
        if db.execute(
            f"SELECT 1 FROM messages WHERE id IN ({','.join('?' * len(some))}) LIMIT 1",  # noqa: S608
            some,
        ).fetchone():
            return True
    return False
