"""Stores whole imported chats in the database."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import asdict, replace

from app.base.db import Database
from app.base.ids import new_id
from app.chats.history.store.message_rows import listed
from app.chats.history.values.chat import Chat
from app.chats.history.values.conversation import StoredMessage
from app.documents.store.documents import insert_document
from app.exchange.values.found import Imported, ReadyChat
from app.exchange.values.thread import made_id
from engines.sentences import packed

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
        here: list[str] = []
        back: list[str] = []
        made: dict[str, str] = {}
        with self._database.write() as db:
            folders = {row["name"]: row["id"] for row in db.execute("SELECT * FROM folders")}
            known = _known(db, [it.chat.id for it in chats])
            for it in chats:
                chat_id = it.chat.id
                if known.get(chat_id) is False:
                    here.append(chat_id)
                    continue
                if it.folder not in folders:
                    folders[it.folder] = made[it.folder] = _add_folder(db, it.folder)
                if chat_id in known:
                    _bring_back(db, chat_id, folders[it.folder])
                    back.append(chat_id)
                else:
                    for document in it.documents:
                        insert_document(db, document, time.time(), was_read=False)
                    _insert(db, replace(it.chat, folder_id=folders[it.folder]), it.messages)
                    new.append(chat_id)
                known[chat_id] = False
        return Imported(tuple(new), tuple(here), tuple(back), tuple(made.values()))


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
    folder_id = new_id()
    db.execute(
        "INSERT INTO folders (id, name, position, created) VALUES"
        " (?, ?, (SELECT coalesce(max(position) + 1, 0) FROM folders), ?)",
        (folder_id, name, time.time()),
    )
    return folder_id


def _bring_back(db: sqlite3.Connection, chat_id: str, folder_id: str) -> None:
    db.execute(
        "UPDATE chats SET deleted = NULL, folder_id = coalesce(folder_id, ?) WHERE id = ?",
        (folder_id, chat_id),
    )


def _insert(db: sqlite3.Connection, chat: Chat, messages: Sequence[StoredMessage]) -> None:
    if _are_taken(db, messages):
        names = {it.id: made_id(chat.id, it.id) for it in messages}
        chat = replace(chat, leaf_id=names.get(chat.leaf_id or ""))
        messages = [
            replace(it, id=names[it.id], parent_id=names.get(it.parent_id or "")) for it in messages
        ]
    row = {**asdict(chat), "settings": json.dumps(dict(chat.settings)), "deleted": None}
    row["pinned"] = int(chat.pinned)
    db.execute(_statement("chats", row), row)
    rows = [_row(it) for it in messages]
    db.executemany(_statement("messages", rows[0]), rows)


def _are_taken(db: sqlite3.Connection, messages: Sequence[StoredMessage]) -> bool:
    """Return whether one of the ids belongs to a message of another chat."""
    for start in range(0, len(messages), _AT_ONCE):
        some = [it.id for it in messages[start : start + _AT_ONCE]]
        if db.execute(
            f"SELECT 1 FROM messages WHERE id IN ({','.join('?' * len(some))}) LIMIT 1",  # noqa: S608
            some,
        ).fetchone():
            return True
    return False


def _row(message: StoredMessage) -> dict[str, object]:
    row = asdict(message)
    row["facts"] = json.dumps(packed(row["facts"])) if message.facts else None
    row["failure"] = json.dumps(packed(row["failure"])) if message.failure else None
    row["pinned"] = int(message.pinned)
    row["attachments"], row["sources"] = listed(message.attachments), listed(message.sources)
    return row


def _statement(table: str, row: dict[str, object]) -> str:
    names = ", ".join(row)
    values = ", ".join(f":{name}" for name in row)
    return f"INSERT INTO {table} ({names}) VALUES ({values})"  # noqa: S608  our own words
