"""A chat with no chosen server stays here, says so, and can be sent there with one click."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QLabel

from app.servers.store import ServerStore
from tests.app.runtime.pages.conftest import FACTS, TEAM
from tests.support.window import Ui

FAR = "team:qwen3-32b"


@pytest.fixture
def older(ui: Ui) -> str:
    """Make a chat without a model, then make a server's model the default; return the chat's id."""
    store = ServerStore(ui.app.database)
    store.save(TEAM)
    store.save_info(TEAM.id, FACTS)
    chat_id = ui.app.chats.ask(None, "My secret")[0].chat_id
    ui.presenters.settings.set_model_check(lambda _: None)  # the model is not in the library's list
    ui.presenters.settings.set("model", FAR)
    ui.presenters.models.look()
    ui.qtbot.waitUntil(lambda: FAR in {it.id for it in ui.window.chooser.entries()})
    return chat_id


def test_it_stays_and_says_so(ui: Ui, older: str) -> None:
    ui.window.open_chat(older)
    assert ui.find(QLabel, "stayLineWhat").text() == "This chat stays on this computer"
    assert ui.find(QLabel, "stayLineWhy").text() == (
        "You did not choose team:qwen3-32b for this chat, so a model on this computer answers."
    )
    assert not ui.has("engineBadge")
    ui.ask("And another one")
    assert ui.last.message.facts is not None
    assert ui.last.message.facts.model == "Starter guide"
    assert ui.has("stayLine")


def test_a_click_sends_this_chat_there_and_no_other(ui: Ui, older: str) -> None:
    ui.window.open_chat(older)
    ui.click("sendToServer")
    assert not ui.has("stayLine")
    assert ui.has("engineBadge")
    assert ui.presenters.chat_settings.model(older) == FAR
    other = ui.app.chats.ask(None, "Another secret")[0].chat_id
    ui.window.open_chat(other)
    assert ui.has("stayLine")
    assert not ui.has("engineBadge")


def test_a_new_chat_and_one_with_a_model_of_its_own_have_no_such_line(ui: Ui, older: str) -> None:
    ui.window.open_chat(older)
    assert ui.has("stayLine")
    ui.window.new_chat()
    assert not ui.has("stayLine")
    assert ui.has("engineBadge"), "what begins now goes to the usual model"
    ui.window.open_chat(older)
    ui.presenters.chat_settings.set_model(older, "starter")
    assert not ui.has("stayLine")
