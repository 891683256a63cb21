"""Drafts in the database."""

from __future__ import annotations

from app.store.chats import ChatStore
from app.store.db import Database
from app.store.drafts import DraftStore


def test_each_chat_and_the_next_one_has_a_draft(database: Database, chats: ChatStore) -> None:
    drafts = DraftStore(database)
    chat_id = chats.ask(None, "Hello")[0].chat_id
    before = chats.chat(chat_id).updated
    assert (drafts.of(chat_id), drafts.of(None), drafts.of("nobody")) == ("", "", "")
    drafts.save(chat_id, "half a sen")
    drafts.save(None, "something new")
    drafts.save(None, "something newer\n\0☕")
    assert (drafts.of(chat_id), drafts.of(None)) == ("half a sen", "something newer\n\0☕")
    assert chats.chat(chat_id).draft == "half a sen"
    assert chats.chat(chat_id).updated == before, "writing a draft is not yet using the chat"
