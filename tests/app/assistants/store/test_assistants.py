"""Assistants, presets and prompts in a real database, and the settings of a single chat."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from app.assistants.store.assistants import AssistantStore
from app.assistants.store.prompts import PromptStore
from app.assistants.values.assistants import Assistant, NewChat, Preset
from app.assistants.values.prompts import SavedPrompt
from app.base.db import Database
from app.base.memory_database import MemoryDatabase
from app.chats.history.store.chat_settings import ChatSettingsStore
from app.chats.history.store.chats import ChatStore

WRITER = Assistant("w", "Writer", "Write.", "Hello.", "m", {"temperature": 0.25, "top_k": 3})


@pytest.fixture
def store(database: Database) -> AssistantStore:
    return AssistantStore(database)


def test_an_assistant_comes_back_whole(store: AssistantStore) -> None:
    store.save(WRITER)
    assert store.assistants() == [WRITER]
    assert store.assistant("w") == WRITER
    assert store.assistant("x") is None
    assert store.assistant(None) is None


def test_a_change_keeps_the_place_and_a_removal_takes_only_one(store: AssistantStore) -> None:
    for name in ("a", "b", "c"):
        store.save(Assistant(name, name))
    store.save(Assistant("a", "changed"))
    assert [it.name for it in store.assistants()] == ["changed", "b", "c"]
    store.remove("b")
    assert [it.id for it in store.assistants()] == ["a", "c"]


def test_presets_and_prompts_are_kept(store: AssistantStore, database: Database) -> None:
    preset = Preset("p", "Mine", {"temperature": 0.3})
    store.save_preset(preset)
    store.save_preset(replace(preset, name="Ours"))
    assert store.presets() == [replace(preset, name="Ours")]
    store.remove_preset("p")
    assert store.presets() == []
    prompts = PromptStore(database)
    prompts.save([SavedPrompt("1", "zebra", "z"), SavedPrompt("2", "Apple", "a")])
    prompts.save([SavedPrompt("1", "Bee", "b")])
    assert [it.name for it in prompts.prompts()] == ["Apple", "Bee"]
    prompts.remove("2")
    assert [it.text for it in prompts.prompts()] == ["b"]


def test_a_chat_begins_with_what_it_has_of_its_own(database: Database) -> None:
    chats, own = ChatStore(database), ChatSettingsStore(database)
    begins = NewChat("m", "w", "What shall I write?", {"temperature": 0.9})
    question, answer = chats.ask(None, "A poem", begins=begins)
    path = chats.path(question.chat_id)
    assert [(it.role, it.text) for it in path] == [
        ("assistant", "What shall I write?"), ("user", "A poem"), ("assistant", ""),
    ]  # fmt: skip
    assert (question.parent_id, answer.parent_id) == (path[0].id, question.id)
    assert chats.chat(question.chat_id).title == "A poem"
    assert own.get(question.chat_id) == replace(begins, greeting="")
    own.save(question.chat_id, NewChat(settings={"top_k": 1}))
    chat = chats.chat(question.chat_id)
    assert (chat.model, chat.assistant_id, chat.settings) == (None, None, {"top_k": 1})


def test_a_chat_that_is_there_keeps_what_it_has(database: Database) -> None:
    chats, own = ChatStore(database), ChatSettingsStore(database)
    question, _ = chats.ask(None, "One", begins=NewChat("m"))
    chats.ask(question.chat_id, "Two", begins=NewChat("other", greeting="No"))
    assert own.get(question.chat_id).model == "m"
    assert len(chats.path(question.chat_id)) == 4


def test_a_chat_that_is_gone_has_nothing(database: Database) -> None:
    assert ChatSettingsStore(database).get("none") == NewChat()


def test_a_database_in_memory_serves_all_threads_and_no_file() -> None:
    database = MemoryDatabase()
    chats = ChatStore(database)
    with ThreadPoolExecutor(4) as pool:
        ids = list(pool.map(lambda n: chats.ask(None, f"Question {n}")[0].chat_id, range(40)))
    assert {chat.id for chat in chats.chats()} == set(ids)
    with database.read() as db:
        files = [row["file"] for row in db.execute("PRAGMA database_list")]
        assert files == [""]
        assert db.execute("PRAGMA temp_store").fetchone()[0] == 2
    database.close()


def test_two_databases_in_memory_know_nothing_of_each_other() -> None:
    one, other = MemoryDatabase(), MemoryDatabase()
    ChatStore(one).ask(None, "Hello")
    assert ChatStore(other).chats() == []
    one.close()
    other.close()
