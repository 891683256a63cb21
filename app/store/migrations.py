"""The steps from an empty database to today's. Append a function; never change one."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

Migration = Callable[[sqlite3.Connection], None]


def _chats_and_messages(db: sqlite3.Connection) -> None:
    db.execute(
        """CREATE TABLE chats (
            id TEXT PRIMARY KEY,
            title TEXT NOT NULL,
            created REAL NOT NULL,
            updated REAL NOT NULL,
            leaf_id TEXT,
            deleted REAL
        ) STRICT"""
    )
    db.execute(
        """CREATE TABLE messages (
            id TEXT PRIMARY KEY,
            chat_id TEXT NOT NULL REFERENCES chats(id) ON DELETE CASCADE,
            parent_id TEXT REFERENCES messages(id) ON DELETE CASCADE,
            role TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
            text TEXT NOT NULL,
            reasoning TEXT NOT NULL DEFAULT '',
            state TEXT NOT NULL,
            writer TEXT,
            facts TEXT,
            failure TEXT,
            created REAL NOT NULL
        ) STRICT"""
    )
    db.execute("CREATE INDEX messages_of_chat ON messages(chat_id, created)")
    db.execute("CREATE INDEX chats_by_time ON chats(updated)")


def _models(db: sqlite3.Connection) -> None:
    db.execute(
        """CREATE TABLE models (
            id TEXT PRIMARY KEY,
            name TEXT NOT NULL,
            path TEXT NOT NULL UNIQUE,
            added REAL NOT NULL
        ) STRICT"""
    )


def _mtp_of_chat(db: sqlite3.Connection) -> None:
    """How the chat's MTP switch stands; nothing in a chat that is older than the switch."""
    db.execute("ALTER TABLE chats ADD COLUMN mtp TEXT CHECK (mtp IN ('off', 'auto', 'on'))")


def _drafters(db: sqlite3.Connection) -> None:
    """Which files were added as drafters; they are known as such when they have gone, too."""
    db.execute("ALTER TABLE models ADD COLUMN drafts INTEGER NOT NULL DEFAULT 0")


MIGRATIONS: tuple[Migration, ...] = (_chats_and_messages, _models, _mtp_of_chat, _drafters)
