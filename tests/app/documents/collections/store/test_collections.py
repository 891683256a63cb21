"""Collections and their paths in the database, and their use by chats and assistants."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from app.assistants.store.assistants import AssistantStore
from app.assistants.values.assistants import Assistant, NewChat
from app.base.db import Database
from app.chats.history.store.chat_settings import ChatSettingsStore
from app.chats.history.store.chats import ChatStore
from app.documents.collections.store.collections import CollectionStore


@pytest.fixture
def store(database: Database) -> CollectionStore:
    return CollectionStore(database)


def test_a_collection_is_found_by_its_id_and_by_its_name(store: CollectionStore) -> None:
    made = store.create("Lease")
    assert made is not None
    store.add(made.id, [Path("/a"), Path("/b"), Path("/a")])
    found = store.named("lease")
    assert found == store.named(made.id)
    assert found is not None
    assert found.paths == (Path("/a"), Path("/b"))
    assert store.named("other") is None


def test_a_name_is_given_once(store: CollectionStore) -> None:
    first, second = store.create("Lease"), store.create("Recipes")
    assert store.create("LEASE") is None
    assert first is not None
    assert second is not None
    assert not store.rename(second.id, "lease")
    assert store.rename(second.id, "Cooking")
    assert [it.name for it in store.collections()] == ["Cooking", "Lease"]


def test_a_collection_can_be_paused_and_taken_apart(store: CollectionStore) -> None:
    made = store.create("Lease")
    assert made is not None
    store.add(made.id, [Path("/a"), Path("/b")])
    store.pause(made.id, paused=True)
    store.remove_path(made.id, Path("/a"))
    (found,) = store.collections()
    assert (found.paused, found.paths) == (True, (Path("/b"),))
    store.remove(made.id)
    assert store.collections() == []


@pytest.mark.skipif(sys.platform in {"win32", "darwin"}, reason="names are text there")
def test_a_path_that_is_no_text_is_kept_as_it_is(store: CollectionStore) -> None:
    made = store.create("Old")
    assert made is not None
    path = Path(os.fsdecode(b"/tmp/caf\xe9"))
    store.add(made.id, [path])
    assert store.collections()[0].paths == (path,)


def test_a_chat_has_collections_of_its_own_or_leaves_them_to_its_assistant(
    database: Database, chats: ChatStore
) -> None:
    settings, assistants = ChatSettingsStore(database), AssistantStore(database)
    question, _ = chats.ask(None, "Hello")
    chat = question.chat_id
    assert settings.get(chat).collections is None
    settings.save(chat, NewChat(collections=("one", "two")))
    assert settings.get(chat).collections == ("one", "two")
    settings.save(chat, NewChat(collections=()))
    assert settings.get(chat).collections == ()
    assistants.save(Assistant("a", "Clerk", collections=("one",)))
    assert assistants.assistants()[0].collections == ("one",)
