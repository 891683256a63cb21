"""Turns rows of the database into chats and messages."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any

from app.chats.history.values.chat import Chat, ListedChat
from engines.sentences import unpacked

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
    from app.chats.history.values.conversation import AnswerFacts, StoredMessage
    from app.documents.values.documents import Attachment
    from engines.types import MtpReport


def chat_of(row: sqlite3.Row) -> Chat:
    """Build a chat from a full row of `chats`."""
    return Chat(
        id=row["id"],
        title=row["title"],
        created=row["created"],
        updated=row["updated"],
        leaf_id=row["leaf_id"],
        mtp=row["mtp"],
        folder_id=row["folder_id"],
        pinned=bool(row["pinned"]),
        archived=row["archived"],
        deleted=row["deleted"],
        titled_by=row["titled_by"],
        model=row["model"],
        assistant_id=row["assistant_id"],
        overflow=row["overflow"],
        draft=row["draft"],
        settings=json.loads(row["settings"]),
    )


def listed_chat(row: sqlite3.Row) -> ListedChat:
    """Build a chat with its mark from a row of `LISTED`."""
    return ListedChat(**vars(chat_of(row)), unread=bool(row["unread"]), mark=row["mark"])


def message_of(row: sqlite3.Row) -> StoredMessage:
    """Build a message from a full row of `messages`."""
    from app.chats.history.values.conversation import Failure, StoredMessage
    from app.documents.values.documents import source_from

    return StoredMessage(
        id=row["id"],
        chat_id=row["chat_id"],
        parent_id=row["parent_id"],
        role=row["role"],
        text=row["text"],
        created=row["created"],
        state=row["state"],
        reasoning=row["reasoning"],
        facts=_facts(unpacked(json.loads(row["facts"]))) if row["facts"] else None,
        failure=Failure(**unpacked(json.loads(row["failure"]))) if row["failure"] else None,
        reasoning_s=row["reasoning_s"],
        rating=row["rating"],
        pinned=bool(row["pinned"]),
        asked=row["asked"],
        attachments=attachments_of(row["attachments"]),
        sources=tuple(map(source_from, json.loads(row["sources"] or "[]"))),
    )


def attachments_of(text: str) -> tuple[Attachment, ...]:
    """Read a list of attachments written by `message_rows.listed`."""
    if not text:
        return ()
    from app.documents.values.documents import attachment_from

    return tuple(map(attachment_from, json.loads(text)))


def _facts(values: dict[str, Any]) -> AnswerFacts:
    from app.chats.history.values.conversation import AnswerFacts

    mtp, notes = values.pop("mtp", None), values.pop("notes", ())
    return AnswerFacts(**values, mtp=_report(mtp) if mtp else None, notes=tuple(notes))


def _report(values: dict[str, Any]) -> MtpReport:
    from engines.types import MtpReport

    return MtpReport(**values)
