"""The window with a server of OpenAI's protocol, through all of the real services."""

from __future__ import annotations

import threading

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit

from app.chats.transcript.pages import progress_line
from tests.support.openai_server import OpenAiServer, Reply
from tests.support.window import Ui
from tests.support.windows import models_page


def text(ui: Ui, name: str) -> str:
    return ui.find(QLabel, name).text()


def add(ui: Ui, name: str, address: str) -> None:
    ui.press("Ctrl+Shift+Y")
    ui.click("addServer")
    for field, words in (("serverName", name), ("serverAddress", address)):
        line = ui.find(QLineEdit, field)
        line.setFocus()
        QTest.keyClicks(line, words)


def test_a_server_is_added_tested_chosen_and_asked(ui: Ui) -> None:
    ui.presenters.settings.set("auto_titles", False)
    with OpenAiServer("vllm") as server:
        add(ui, "team", server.address)
        ui.click("testServer")
        ui.qtbot.waitUntil(lambda: "vLLM" in text(ui, "serverResult"))
        ui.click("saveServer")
        ui.qtbot.waitUntil(lambda: ui.has("server1"))
        ui.qtbot.waitUntil(lambda: any(it.engine == "remote" for it in ui.window.chooser.entries()))
        chosen = next(it for it in ui.window.chooser.entries() if it.engine == "remote")
        ui.click(f"use-{chosen.id}")
        assert text(ui, "engineBadgeWhat") == "Another program answers"
        assert "The server decides on this" in ui.page.mtp.sentence
        ui.ask("Hi")
        assert len(server.chats()) == 1
        assert server.chats()[0]["messages"][-1]["content"] == "Hi"
        assert ui.texts[0] == "Hi"
        assert ui.texts[1]
        assert ui.engine.requests == []
        ui.press("Ctrl+M")
        here = models_page(ui.window)
        ui.qtbot.waitUntil(lambda: bool(here.findChildren(QLabel, "modelName")))
        names = [it.text() for it in here.findChildren(QLabel, "modelName")]
        assert "Starter guide" in names
        assert chosen.name not in names


def test_a_key_that_a_server_comes_to_want_is_entered_at_the_failed_answer(ui: Ui) -> None:
    ui.presenters.settings.set("auto_titles", False)
    with OpenAiServer("vllm") as server:
        add(ui, "team", server.address)
        ui.click("saveServer")
        ui.qtbot.waitUntil(lambda: any(it.engine == "remote" for it in ui.window.chooser.entries()))
        chosen = next(it for it in ui.window.chooser.entries() if it.engine == "remote")
        ui.click(f"use-{chosen.id}")
        server.api_key = "sk-of-the-team"
        ui.ask("Hi")
        ui.qtbot.waitUntil(lambda: ui.has("fixFailure"))
        assert text(ui, "failureWhat") == "team requires a key."
        ui.click("fixFailure")
        QTest.keyClicks(ui.find(QLineEdit, "key"), "sk-of-the-team")
        ui.click("saveKey")
        ui.qtbot.waitUntil(lambda: len(server.chats()) == 1)
        ui.qtbot.waitUntil(lambda: not ui.has("fixFailure"))
        ui.wait_for_answer()
        assert ui.texts[1]


def test_a_server_that_hangs_is_named_with_the_seconds_and_can_be_left(
    ui: Ui, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress_line, "LONG_S", 0)
    ui.presenters.settings.set("auto_titles", False)
    goes_on = threading.Event()

    def hang(_: object) -> Reply:
        goes_on.wait(60)
        return Reply(b"{}")

    with OpenAiServer("vllm") as server:
        try:
            add(ui, "team", server.address)
            ui.click("saveServer")
            ui.qtbot.waitUntil(
                lambda: any(it.engine == "remote" for it in ui.window.chooser.entries())
            )
            chosen = next(it for it in ui.window.chooser.entries() if it.engine == "remote")
            ui.click(f"use-{chosen.id}")
            server.script("/v1/chat/completions", hang)
            ui.ask("Hi", wait=False)
            ui.qtbot.waitUntil(lambda: len(server.chats()) == 1)
            ui.qtbot.waitUntil(lambda: ui.has("stopWaiting"))
            words = text(ui, "progressText")
            assert words.startswith("Waiting for team, ")
            assert words.endswith(" s")
            ui.click("stopWaiting")
            ui.wait_for_answer()
            assert not ui.has("progressText")
        finally:
            goes_on.set()


def test_offline_another_computer_is_refused_with_the_reason(ui: Ui) -> None:
    add(ui, "far", "https://ai.example.org")
    ui.click("saveServer")
    ui.presenters.settings.set("offline", True)
    ui.qtbot.waitUntil(lambda: ui.has("testServer1"))
    ui.settle()
    ui.click("testServer1")
    ui.qtbot.waitUntil(lambda: "Hearth is offline." in text(ui, "serverFound1"))
    assert text(ui, "serverPlace1") == "Text leaves this computer"
