"""Chats of the Ollama app, read from its database `db.sqlite`.

The tables are those that app/store/database.go of ollama/ollama creates, up to version 18 of its
schema. Nothing is ever written there.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from app.exchange.values import wording
from app.exchange.values.found import Broken, FoundChat, FoundMessage, FoundRole, damaged
from app.exchange.values.json_values import as_text, as_time
from engines.sentences import N_

SOURCE = "Ollama"
SIGN = b"SQLite format 3\0"
_ROLES: dict[str, FoundRole] = {"user": "user", "assistant": "assistant", "system": "system"}
_MOST_TEXT = 64_000_000
"""Most bytes of a message."""

_ROLLBACK_JOURNAL = b"\x01\x01"


def ollama_chats(path: Path) -> Iterator[FoundChat]:
    """Read the chats of a database in place, including its write-ahead log. Raises Broken."""
    with _explained(), closing(sqlite3.connect(_address(path), uri=True)) as db:
        yield from _chats(db)


def ollama_chats_in(data: bytes) -> Iterator[FoundChat]:
    """Read the chats of a copied database, such as a member of an archive. Raises Broken."""
    # The log is missing: mark the database as one without a log, or SQLite would look for it.
    data = data[:18] + _ROLLBACK_JOURNAL + data[20:]
    with _explained(), closing(sqlite3.connect(":memory:")) as db:
        db.deserialize(data)
        yield from _chats(db)


def _address(path: Path) -> str:
    return f"{path.absolute().as_uri()}?mode=ro"


@contextmanager
def _explained() -> Iterator[None]:
    """Turn SQLite's errors into Broken; in a damaged database, even their texts can be damaged."""
    try:
        yield
    except sqlite3.Error as error:
        raise Broken(
            N_("The database cannot be read: {as_text}.", as_text=as_text(str(error)))
        ) from error
    except UnicodeDecodeError as error:
        raise Broken(N_("The database cannot be read: it is damaged.")) from error


def _chats(db: sqlite3.Connection) -> Iterator[FoundChat]:
    db.row_factory = sqlite3.Row
    # With this, SQLite reads the complete pages of a truncated file; nothing is written anyway.
    db.execute("PRAGMA writable_schema = ON")
    db.text_factory = lambda data: data.decode("utf-8", "replace")
    # A view or a computed column can have endless rows and texts.
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_TEXT)
    tables = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    if not {"chats", "messages"} <= {as_text(row["name"]) for row in tables}:
        raise Broken(N_("It is a database, but not one of the Ollama app."))
    columns = {row["name"] for row in db.execute("PRAGMA table_info(messages)")}
    heads = {row["name"] for row in db.execute("PRAGMA table_info(chats)")}
    if not {"id", "chat_id", "role", "content"} <= columns or "id" not in heads:
        raise Broken(N_("It is a database, but not one of the Ollama app."))
    pictures = _pictures(db)
    for chat in db.execute("SELECT * FROM chats").fetchall():
        rows = db.execute("SELECT * FROM messages WHERE chat_id = ? ORDER BY id", (chat["id"],))
        messages: list[FoundMessage] = []
        broken = 0
        for row in rows:
            broken += row["role"] is None or row["content"] is None
            parent = messages[-1].id if messages else None
            names = pictures.get(row["id"], [])
            messages.append(_message(dict(row), parent, names))
        head = dict(chat)
        yield FoundChat(
            source=SOURCE,
            id=as_text(head.get("id")),
            title=as_text(head.get("title")),
            created=as_time(head.get("created_at")),
            updated=None,
            messages=tuple(messages),
            damage=damaged(broken),
        )
    orphans = "SELECT count(*) FROM messages WHERE chat_id NOT IN (SELECT id FROM chats)"
    (count,) = db.execute(orphans).fetchone()
    if count:
        raise Broken(N_("{count} of its messages belong to no chat.", count=f"{count:,}"))


def _pictures(db: sqlite3.Connection) -> dict[int, list[str]]:
    """Return the names of the files attached to messages, by message."""
    if not db.execute("PRAGMA table_info(attachments)").fetchall():
        return {}
    found: dict[int, list[str]] = {}
    for row in db.execute("SELECT message_id, filename FROM attachments ORDER BY id"):
        found.setdefault(row["message_id"], []).append(as_text(row["filename"]))
    return found


def _message(row: dict[str, Any], parent: str | None, attached: list[str]) -> FoundMessage:
    began, ended = as_time(row.get("thinking_time_start")), as_time(row.get("thinking_time_end"))
    role = _ROLES.get(as_text(row["role"]), "tool")
    files = [wording.file(name) for name in attached]
    return FoundMessage(
        id=str(row["id"]),
        parent=parent,
        role=role,
        text="\n\n".join([*files, as_text(row["content"])]),
        created=as_time(row.get("created_at")),
        reasoning=as_text(row.get("thinking")),
        reasoning_s=max(0.0, ended - began) if began and ended else 0.0,
        model=as_text(row.get("model_name")) if role == "assistant" else "",
    )
