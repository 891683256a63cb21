"""Turns rows of the database into chats and messages, and back.

The fields of a record are columns of its table. Here stand the few that a column holds otherwise.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from app.chats.history.values.chat import Chat, ListedChat
from engines.sentences import packed, unpacked

MARK = """coalesce(
    (
        SELECT 'writing' FROM messages INDEXED BY messages_streaming
        WHERE state = 'streaming' AND chat_id = chats.id
    ),
    (
        SELECT state FROM messages
        WHERE messages.id = leaf_id AND state IN ('failed', 'interrupted')
    ),
    CASE WHEN unread THEN 'unread' END,
    (SELECT 'waiting' FROM waiting WHERE chat_id = chats.id),
    '')"""
"""SQL for the strongest mark of a row of `chats`, in the order of `MARKS`."""

LISTED = f"SELECT chats.*, {MARK} AS mark FROM chats"  # noqa: S608  our own words
"""Query for the rows that `listed_chat` reads."""

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from app.chats.history.values.conversation import AnswerFacts, Failure, StoredMessage
    from app.chats.history.values.waiting import Waiting
    from app.documents.values.documents import Attachment, PromptSource

R = TypeVar("R", bound="DataclassInstance")

Readers = Mapping[str, Callable[[Any], object]]
"""For the fields whose columns hold something else: makes the field from the column."""


def insert_row(db: sqlite3.Connection, table: str, row: Mapping[str, object]) -> None:
    """Insert a row, given its values by column name."""
    insert_rows(db, table, [row])


def insert_rows(
    db: sqlite3.Connection,
    table: str,
    rows: Sequence[Mapping[str, object]],
    conflict: Literal["ABORT", "REPLACE"] = "ABORT",
) -> None:
    """Insert rows with the same columns, given their values by column name.

    Args:
        conflict: What happens to a row with the same key: by default, nothing is inserted.
    """
    names, values = ", ".join(rows[0]), ", ".join(f":{name}" for name in rows[0])
    insert = f"INSERT OR {conflict} INTO {table} ({names}) VALUES ({values})"  # noqa: S608  our own words
    db.executemany(insert, rows)


def chat_of(row: sqlite3.Row) -> Chat:
    """Build a chat from a full row of `chats`."""
    return _record(Chat, row, _OF_CHAT)


def listed_chat(row: sqlite3.Row) -> ListedChat:
    """Build a chat with its mark from a row of `LISTED`."""
    return _record(ListedChat, row, _OF_CHAT)


def row_of_chat(chat: Chat) -> dict[str, object]:
    """Return the columns of a chat."""
    changed = {"pinned": int(chat.pinned), "settings": json.dumps(dict(chat.settings))}
    return {**vars(chat), **changed}


def message_of(row: sqlite3.Row) -> StoredMessage:
    """Build a message from a full row of `messages`."""
    from app.chats.history.values.conversation import StoredMessage

    return _record(StoredMessage, row, _OF_MESSAGE)


def row_of_message(message: StoredMessage) -> dict[str, object]:
    """Return the columns of a message."""
    return {
        **vars(message),
        "facts": json.dumps(packed(asdict(message.facts))) if message.facts else None,
        "failure": json.dumps(packed(asdict(message.failure))) if message.failure else None,
        "pinned": int(message.pinned),
        "attachments": list_as_json(message.attachments),
        "sources": list_as_json(message.sources),
    }


def waiting_of(row: sqlite3.Row) -> Waiting:
    """Build a waiting message from a full row of `waiting`."""
    from app.chats.history.values.waiting import Waiting

    return _record(Waiting, row, {"attachments": attachments_of})


def row_of_waiting(item: Waiting) -> dict[str, object]:
    """Return the columns of a waiting message, without its position."""
    return {**vars(item), "attachments": list_as_json(item.attachments)}


def list_as_json(values: Sequence[Attachment] | Sequence[PromptSource]) -> str:
    """Write attachments or sources as JSON; "" if there are none."""
    if not values:
        return ""
    return json.dumps([asdict(value) for value in values], ensure_ascii=False)


def attachments_of(text: str) -> tuple[Attachment, ...]:
    """Read a list of attachments written by `list_as_json`."""
    if not text:
        return ()
    from app.documents.values.documents import attachment_from

    return tuple(map(attachment_from, json.loads(text)))


def _sources(text: str) -> tuple[PromptSource, ...]:
    if not text:
        return ()
    from app.documents.values.documents import source_from

    return tuple(map(source_from, json.loads(text)))


def _facts(text: str | None) -> AnswerFacts | None:
    if not text:
        return None
    from app.chats.history.values.conversation import AnswerFacts
    from engines.types import MtpReport

    values = unpacked(json.loads(text))
    mtp, notes = values.pop("mtp", None), values.pop("notes", ())
    return AnswerFacts(**values, mtp=MtpReport(**mtp) if mtp else None, notes=tuple(notes))


def _failure(text: str | None) -> Failure | None:
    if not text:
        return None
    from app.chats.history.values.conversation import Failure

    return Failure(**unpacked(json.loads(text)))


_OF_CHAT: Readers = {"pinned": bool, "settings": json.loads, "unread": bool}
_OF_MESSAGE: Readers = {
    "facts": _facts,
    "failure": _failure,
    "pinned": bool,
    "attachments": attachments_of,
    "sources": _sources,
}


def _record(kind: type[R], row: sqlite3.Row, readers: Readers) -> R:
    return kind(
        **{
            name: readers[name](row[name]) if name in readers else row[name]
            for name in _names(kind)
        }
    )


@cache
def _names(kind: type[DataclassInstance]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))
