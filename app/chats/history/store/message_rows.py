"""Writes rows of messages, inside a transaction of the caller."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from app.base.errors import ChatNotFound
from app.base.ids import new_id
from app.base.processes import this_process
from engines.sentences import N_

if TYPE_CHECKING:
    from app.chats.history.values.conversation import MessageState, StoredMessage
    from app.documents.values.documents import Attachment, PromptSource
    from engines.types import Role


def insert_message(
    db: sqlite3.Connection,
    chat_id: str,
    parent_id: str | None,
    role: Role,
    text: str,
    state: MessageState,
    now: float,
    asked: str = "",
    attachments: Sequence[Attachment] = (),
) -> StoredMessage:
    """Insert a message with a new id, and return it."""
    from app.chats.history.values.conversation import StoredMessage

    message = StoredMessage(
        new_id(),
        chat_id,
        parent_id,
        role,
        text,
        now,
        state,
        asked=asked,
        attachments=tuple(attachments),
    )
    writer = this_process() if state == "streaming" else None
    files = listed(attachments)
    db.execute(
        "INSERT INTO messages"
        " (id, chat_id, parent_id, role, text, state, writer, created, asked, attachments)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (message.id, chat_id, parent_id, role, text, state, writer, now, asked, files),
    )
    return message


def listed(values: Sequence[Attachment] | Sequence[PromptSource]) -> str:
    """Write attachments or sources as JSON; "" if there are none."""
    if not values:
        return ""
    import json
    from dataclasses import asdict

    return json.dumps([asdict(value) for value in values], ensure_ascii=False)


def insert_turn(
    db: sqlite3.Connection,
    chat_id: str,
    parent_id: str | None,
    text: str,
    now: float,
    attachments: Sequence[Attachment] = (),
) -> tuple[StoredMessage, StoredMessage]:
    """Insert a question with its files after a message, and an empty answer to it."""
    question = insert_message(
        db, chat_id, parent_id, "user", text, "complete", now, attachments=attachments
    )
    return question, insert_message(db, chat_id, question.id, "assistant", "", "streaming", now)


def insert_row(db: sqlite3.Connection, table: str, row: Mapping[str, object]) -> None:
    """Insert a row, given its values by column name."""
    names, values = ", ".join(row), ", ".join(f":{name}" for name in row)
    db.execute(f"INSERT INTO {table} ({names}) VALUES ({values})", row)  # noqa: S608  our own words


def leaf_of(db: sqlite3.Connection, chat_id: str) -> str | None:
    """Return the id of the newest message of the shown path.

    Raises:
        ChatNotFound: The chat is deleted or does not exist.
    """
    row = db.execute(
        "SELECT leaf_id FROM chats WHERE id = ? AND deleted IS NULL", (chat_id,)
    ).fetchone()
    if row is None:
        raise ChatNotFound(
            N_("This chat no longer exists."),
            N_("It was deleted, perhaps in another window or terminal."),
            N_("Ask in a new chat."),
        )
    leaf: str | None = row["leaf_id"]
    return leaf


def show_leaf(db: sqlite3.Connection, chat_id: str, leaf_id: str | None, now: float) -> None:
    """Show the path to this message, and set the chat's time of last use."""
    db.execute("UPDATE chats SET leaf_id = ?, updated = ? WHERE id = ?", (leaf_id, now, chat_id))
