"""Deleting chats: the engine discards their state, and old deleted chats are purged."""

from __future__ import annotations

from app.chats.history.services import empty_trash
from tests.support.services import Services


def test_what_an_engine_kept_goes_before_its_chat(services: Services) -> None:
    chats = services.chats
    _, old = chats.ask(None, "old")
    _, kept = chats.ask(None, "kept")
    chats.delete(old.chat_id)
    forgotten: list[tuple[str, bool]] = []

    def forget(chat_id: str) -> None:
        forgotten.append((chat_id, bool(chats.messages(chat_id))))

    assert empty_trash(chats, forget, days=1) == 0
    assert forgotten == [(old.chat_id, True)]
    forgotten.clear()
    assert empty_trash(chats, forget, days=0) == 1
    assert forgotten == [(old.chat_id, True)]
    assert chats.messages(old.chat_id) == []
    assert len(chats.path(kept.chat_id)) == 2
