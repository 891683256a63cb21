"""Summaries, pins and policies in the database."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.base.db import Database
from app.chats.context.store import SummaryStore
from app.chats.context.values.summary import Summary
from app.chats.history.store.chats import ChatStore
from app.chats.history.values.conversation import StoredMessage


@pytest.fixture
def stored(database: Database) -> tuple[SummaryStore, StoredMessage]:
    _, answer = ChatStore(database).ask(None, "Hi")
    return SummaryStore(database), answer


def summary(message_id: str) -> Summary:
    return Summary(message_id, "short", "m", 3, 1.5, "abc")


def test_a_summary_is_kept_with_its_message(stored: tuple[SummaryStore, StoredMessage]) -> None:
    store, answer = stored
    store.save(summary(answer.id))
    store.save(replace(summary(answer.id), text="shorter"))
    assert store.of_chat(answer.chat_id) == [replace(summary(answer.id), text="shorter")]
    assert store.of_chat("another") == []
    store.forget(answer.id)
    assert store.of_chat(answer.chat_id) == []


def test_it_goes_with_its_chat(
    database: Database, stored: tuple[SummaryStore, StoredMessage]
) -> None:
    store, answer = stored
    store.save(summary(answer.id))
    chats = ChatStore(database)
    chats.delete(answer.chat_id)
    assert store.of_chat(answer.chat_id) != []
    chats.purge(answer.chat_id)
    with database.read() as db:
        assert db.execute("SELECT count(*) FROM summaries").fetchone()[0] == 0


def test_a_pin_and_a_policy_are_the_chats(
    database: Database, stored: tuple[SummaryStore, StoredMessage]
) -> None:
    store, answer = stored
    chats = ChatStore(database)
    assert store.overflow(answer.chat_id) is None
    store.set_overflow(answer.chat_id, "compact")
    store.set_pinned(answer.id, True)
    assert store.overflow(answer.chat_id) == chats.chat(answer.chat_id).overflow == "compact"
    assert [message.pinned for message in chats.path(answer.chat_id)] == [False, True]
    store.set_overflow(answer.chat_id, None)
    store.set_pinned(answer.id, False)
    assert store.overflow(answer.chat_id) is None
    assert not chats.path(answer.chat_id)[1].pinned
