"""Chatting in the window with a server that does not report its context size."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.chats.context.pages.card import ContextCard
from app.chats.context.pages.meter import ContextMeter
from app.chats.context.pages.words import full_sentence
from app.servers.values import ServerProfile
from tests.support.openai_server import OpenAiServer
from tests.support.window import Ui


@pytest.fixture
def server() -> Iterator[OpenAiServer]:
    with OpenAiServer("openai") as server:
        yield server


@pytest.fixture
def gateway(ui: Ui, server: OpenAiServer) -> Ui:
    """Choose a model of such a server for the chat."""
    kept = ui.app.servers.save(ServerProfile("", "gateway", server.address), None)
    ui.app.servers.test(kept)
    ui.presenters.models.look()
    known = ui.window.chooser.entries
    ui.qtbot.waitUntil(lambda: any(it.id == "gateway:tiny" for it in known()))
    ui.window.chooser.use("gateway:tiny")
    ui.qtbot.waitUntil(lambda: ui.window.chooser.current() == "gateway:tiny")
    return ui


def test_a_second_message_is_sent_as_well(gateway: Ui, server: OpenAiServer) -> None:
    """A server that names no context must not make a message too long for 0 tokens."""
    gateway.ask("Hello")
    context = gateway.page.context
    gateway.qtbot.waitUntil(lambda: context.use is not None and context.use.context == 0)
    gateway.ask("And again")
    assert not gateway.has("contextWarning")
    said = [it["messages"][-1]["content"] for it in server.chats()]
    assert said[0] == "Hello"
    assert "And again" in said


def test_no_number_is_made_up_for_what_nobody_knows(gateway: Ui) -> None:
    gateway.ask("Hello")
    context = gateway.page.context
    gateway.qtbot.waitUntil(lambda: context.use is not None and context.use.context == 0)
    assert context.use is not None
    assert "of 0" not in full_sentence(context.use)
    meter = gateway.find(ContextMeter)
    assert " of " not in meter.accessibleName()
    assert "tokens" in meter.accessibleName()
    assert "%" not in meter.toolTip()
    gateway.click("contextMeter")
    card = gateway.find(ContextCard)
    gateway.qtbot.waitUntil(card.isVisible)
    assert not gateway.has("largerContext")
