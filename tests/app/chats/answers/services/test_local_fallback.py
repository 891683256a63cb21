"""A chat with no model chosen is never sent to a server, even if the default model is on one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.assistants.presenters.assistants import Assistants
from app.assistants.store.assistants import AssistantStore
from app.assistants.values.assistants import NewChat
from app.chats.answers.presenters.generation import Generation
from app.chats.answers.services.local_fallback import LocalFallback
from app.chats.answers.values.answers import AnswerOptions, Ended
from app.chats.history.presenters.chat_settings import ChatSettings
from app.chats.history.store.chat_settings import ChatSettingsStore
from app.chats.history.values.conversation import StoredMessage
from app.kit.tasks.tasks import Tasks
from app.models.library.values.entry import STARTER
from app.settings.presenters import SettingsService
from app.settings.store import SettingsFile
from app.settings.values.fields import Settings
from engines.cancel import CancelToken
from tests.support.houses import SERVED, House, a_house

AT_SERVER = Settings(model=SERVED, mtp="off")


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with a_house(tmp_path) as made:
        yield made


def answered(house: House, answer: StoredMessage) -> StoredMessage:
    """Write the answer with a server's model as the default."""
    options = AnswerOptions()
    events = list(house.answers.write(answer, AT_SERVER, options, lambda _: None, CancelToken()))
    assert isinstance(events[-1], Ended)
    return events[-1].message


def engine_of(answer: StoredMessage) -> str:
    assert answer.facts is not None, answer.failure
    return answer.facts.engine


def test_a_chat_without_a_model_stays_here(house: House) -> None:
    _, answer = house.chats.ask(None, "My secret")
    assert engine_of(answered(house, answer)) == "llamacpp"
    again = house.chats.answer_again(answer.chat_id, answer.id)
    assert engine_of(answered(house, again)) == "llamacpp"
    assert house.server.asked == []
    assert house.answers.preparing.withheld_model(answer.chat_id, AT_SERVER) == SERVED
    assert house.answers.preparing.model_of(answer.chat_id, AT_SERVER) == STARTER


def test_a_chat_that_began_with_the_server_goes_there(house: House) -> None:
    begins = house.answers.preparing.with_model(NewChat(SERVED, usual=True), AT_SERVER)
    _, answer = house.chats.ask(None, "Hello", begins=begins)
    assert engine_of(answered(house, answer)) == "remote"
    assert house.answers.preparing.withheld_model(answer.chat_id, AT_SERVER) is None


def test_a_server_on_this_computer_is_no_other_place(house: House) -> None:
    house.leaves = False
    _, answer = house.chats.ask(None, "Hello")
    assert engine_of(answered(house, answer)) == "remote"
    assert house.answers.preparing.withheld_model(answer.chat_id, AT_SERVER) is None


def test_who_asks_for_the_server_gets_it(house: House) -> None:
    _, answer = house.chats.ask(None, "Hello")
    assert engine_of(house.write(answer, model=SERVED)) == "remote"


@pytest.fixture
def tasks(qtbot: QtBot) -> Iterator[Tasks]:
    made = Tasks()
    yield made
    made.close()


def test_a_new_chat_has_the_usual_model_as_its_own_from_its_first_message(
    house: House, tasks: Tasks, qtbot: QtBot, tmp_path: Path
) -> None:
    settings = SettingsService(SettingsFile(tmp_path / "settings.json"))
    settings.set("model", SERVED)
    generation = Generation(house.chats, house.answers, settings, tasks)
    with qtbot.waitSignal(generation.ended) as ended:
        generation.ask(None, "Hello", AnswerOptions(), lambda _: None, lambda _: None)
    answer = ended.args[0]
    assert engine_of(answer) == "remote"
    settings.set("model", STARTER)
    assert house.answers.preparing.model_of(answer.chat_id, settings.current) == SERVED


def test_the_window_shows_the_model_that_answers(
    house: House, tasks: Tasks, tmp_path: Path
) -> None:
    settings = SettingsService(SettingsFile(tmp_path / "settings.json"))
    settings.set("model", SERVED)
    assistants = Assistants(AssistantStore(house.database), tasks)
    store = ChatSettingsStore(house.database)
    house.library.entries()
    at_once = LocalFallback(house.library.shelf, lambda _: True).at_once
    chat = ChatSettings(store, assistants, house.library, settings, tasks, local_fallback=at_once)
    _, answer = house.chats.ask(None, "Hello")
    assert (chat.model(answer.chat_id), chat.withheld_model(answer.chat_id)) == (STARTER, SERVED)
    assert (chat.model(None), chat.withheld_model(None)) == (SERVED, None)
    store.save(answer.chat_id, replace(store.get(answer.chat_id), model=SERVED))
    assert (chat.model(answer.chat_id), chat.withheld_model(answer.chat_id)) == (SERVED, None)
