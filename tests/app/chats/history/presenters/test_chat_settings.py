"""A chat's own settings, as the window shows them and as the engine gets them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest
from pytestqt.qtbot import QtBot

from app.assistants.presenters.assistants import Assistants
from app.assistants.store.assistants import AssistantStore
from app.assistants.values.assistants import PRESETS, Assistant
from app.base.errors import SettingsInvalid
from app.chats.answers.services.chat_layers import ChatLayers
from app.chats.answers.values.answers import AnswerOptions
from app.chats.history.presenters.chat_settings import ChatSettings
from app.chats.history.store.chat_settings import ChatSettingsStore
from app.kit.tasks.tasks import STORE, Tasks
from app.settings.presenters import SettingsService
from app.settings.store import SettingsFile
from app.settings.values.fields import Settings
from engines.cancel import CancelToken
from engines.types import Message
from tests.support.services import Services

POET = Assistant("p", "Poet", "Rhyme.", settings={"temperature": 1.25, "max_tokens": 50})


@dataclass
class Window:
    services: Services
    settings: SettingsService
    assistants: Assistants
    chat: ChatSettings
    tasks: Tasks
    qtbot: QtBot

    def ask(self, chat_id: str | None) -> str:
        """Ask in a chat as the window does, and return the chat's id."""
        begins = self.chat.begins() if chat_id is None else None
        store, answers = self.services.chats, self.services.answers
        _, answer = store.ask(chat_id, "Hi", begins=begins)
        list(
            answers.write(
                answer, self.settings.current, AnswerOptions(), lambda _: None, CancelToken()
            )
        )
        return answer.chat_id

    def settle(self) -> None:
        done: list[object] = []
        self.tasks.run(lambda: None, done.append, done.append, on=STORE)
        self.qtbot.waitUntil(lambda: bool(done))


@pytest.fixture
def window(qtbot: QtBot, services: Services, tmp_path: object) -> Iterator[Window]:
    tasks = Tasks()
    settings = SettingsService(SettingsFile(tmp_path / "settings.json"))  # type: ignore[operator]
    assistants = Assistants(AssistantStore(services.database), tasks)
    assistants.save(POET)
    store = ChatSettingsStore(services.database)
    chat = ChatSettings(store, assistants, services.library, settings, tasks)
    window = Window(services, settings, assistants, chat, tasks, qtbot)
    window.settle()
    yield window
    tasks.close()


def test_an_answer_is_written_as_the_window_shows_it(window: Window) -> None:
    window.settings.set("system_prompt", "Of the app.")
    window.chat.set_assistant(None, "p")
    window.chat.set(None, "top_k", 9)
    chat_id = window.ask(None)
    held = window.chat.resolve(chat_id)
    request = window.services.engine.requests[-1]
    assert request.sampling.temperature == held.settings.temperature == 1.25
    assert request.sampling.top_k == held.settings.top_k == 9
    assert request.max_tokens == 50
    assert request.messages[0] == Message("system", "Rhyme.")
    names = ("temperature", "top_k", "system_prompt", "top_p", "model")
    assert [held.source(it) for it in names] == [
        "assistant", "chat", "assistant", "model", "chat",
    ]  # fmt: skip


def test_what_a_message_asks_for_goes_before_the_chat(window: Window) -> None:
    window.chat.set(None, "temperature", 0.4)
    chat_id = window.ask(None)
    _, answer = window.services.chats.ask(chat_id, "Again")
    options = AnswerOptions({"temperature": 0.9})
    settings = window.settings.current
    list(window.services.answers.write(answer, settings, options, lambda _: None, CancelToken()))
    assert [it.sampling.temperature for it in window.services.engine.requests] == [0.4, 0.9]


def test_a_value_is_taken_back(window: Window) -> None:
    chat_id = window.ask(None)
    window.chat.set(chat_id, "top_k", 9)
    assert window.chat.resolve(chat_id).source("top_k") == "chat"
    window.chat.set(chat_id, "top_k", None)
    assert window.chat.resolve(chat_id).source("top_k") == "model"
    window.settle()
    assert ChatSettingsStore(window.services.database).get(chat_id).settings == {}


def test_a_preset_is_the_chats_own(window: Window) -> None:
    chat_id = window.ask(None)
    window.chat.set_preset(chat_id, PRESETS[2])
    window.settle()
    window.ask(chat_id)
    assert window.services.engine.requests[-1].sampling.temperature == 1.1


def test_what_is_not_allowed_is_refused(window: Window) -> None:
    with pytest.raises(SettingsInvalid):
        window.chat.set(None, "temperature", 99)
    assert window.chat.own(None).settings == {}


def test_a_chat_keeps_the_model_it_began_with(window: Window) -> None:
    first = window.ask(None)
    window.settings.set("model", "another")
    assert window.chat.model(first) == "starter"
    assert window.chat.model(None) == "another"
    window.chat.set_model(first, "another")
    assert window.chat.model(first) == "another"


def test_whether_somebody_has_chosen_its_model_is_kept_with_a_chat(window: Window) -> None:
    """In a chat with no chosen model, Hearth chooses the engine for each answer."""
    chat_id = window.ask(None)
    layers = ChatLayers(
        ChatSettingsStore(window.services.database), AssistantStore(window.services.database)
    )
    assert layers.of(chat_id).is_default_model
    window.chat.set(chat_id, "temperature", 0.5)
    window.settle()
    assert layers.of(chat_id).is_default_model, "that is no choice of a model"
    window.chat.set_model(chat_id, "starter")
    window.settle()
    assert not layers.of(chat_id).is_default_model
    other = window.ask(None)
    window.chat.set_assistant(other, "p")
    window.settle()
    assert layers.of(other).is_default_model
    window.assistants.save(replace(POET, model="starter"))
    window.settle()
    window.chat.set_assistant(other, "p")
    window.settle()
    assert not layers.of(other).is_default_model, "the assistant has one"


def test_an_assistants_model_takes_the_place_of_the_chats(window: Window) -> None:
    window.assistants.save(replace(POET, model="poems"))
    window.chat.set_model(None, "mine")
    window.chat.set_assistant(None, "p")
    assert window.chat.model(None) == "poems"
    assert window.chat.begins().model is None
    window.chat.set_model(None, "mine")
    assert window.chat.model(None) == "mine"


def test_a_chat_outlives_its_assistant(window: Window) -> None:
    window.chat.set_assistant(None, "p")
    chat_id = window.ask(None)
    window.assistants.remove("p")
    window.settle()
    window.ask(chat_id)
    usual = Settings()
    assert window.services.engine.requests[-1].max_tokens == (usual.max_tokens or None)
    assert window.chat.assistant(chat_id) is None


def test_a_greeting_is_part_of_what_the_model_is_asked(window: Window) -> None:
    window.assistants.save(replace(POET, greeting="  A poem on what?  "))
    window.settle()
    window.chat.set_assistant(None, "p")
    window.ask(None)
    roles = [(it.role, it.text) for it in window.services.engine.requests[-1].messages]
    assert roles == [("system", "Rhyme."), ("assistant", "A poem on what?"), ("user", "Hi")]


def test_the_next_chat_begins_with_nothing(window: Window) -> None:
    window.chat.set_assistant(None, "p")
    with window.qtbot.waitSignal(window.chat.changed):
        window.chat.fresh()
    assert window.chat.begins().assistant_id is None
