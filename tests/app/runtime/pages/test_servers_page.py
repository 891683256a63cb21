"""The servers page: adding, testing, changing and removing servers, and choosing their models."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QDialog, QLabel, QLineEdit, QPushButton

from app.base.errors import Offline
from app.kit.widgets.toast import Toast
from app.models.library.values.entry import ModelEntry
from tests.app.runtime.pages.conftest import FACTS, NEAR, TEAM
from tests.support.control_names import all_named, nameless
from tests.support.scripted_engines import ScriptedServers
from tests.support.window import Ui, part

REFUSED = Offline(
    "Hearth is offline.", "“Stay offline” is on in the settings.", "Go online to ask the server."
)


def text(ui: Ui, name: str) -> str:
    return ui.find(QLabel, name).text()


def told(ui: Ui) -> list[str]:
    """Return the texts of the toasts."""
    toasts = ui.window.findChildren(Toast)
    return [label.text() for toast in toasts for label in toast.findChildren(QLabel)]


def fill(ui: Ui, name: str, words: str) -> None:
    line = ui.find(QLineEdit, name)
    line.setFocus()
    QTest.keyClicks(line, words)


def test_servers_say_whether_text_leaves_this_computer(ui: Ui) -> None:
    ui.press("Ctrl+Shift+Y")
    assert text(ui, "serverPlace1") == "Text leaves this computer"
    assert text(ui, "serverPlace2") == "On this computer"
    all_named(ui, ui.window)
    ui.click("serversBack")
    assert not ui.has("serversPage")


def test_a_test_names_what_it_found(ui: Ui) -> None:
    ui.press("Ctrl+Shift+Y")
    ui.click("testServer1")
    ui.qtbot.waitUntil(lambda: ui.has("serverFound1") and "vLLM" in text(ui, "serverFound1"))
    assert text(ui, "serverFound1").splitlines() == [
        "vLLM 0.33.0 · 2 models · MTP on",
        "qwen3-32b, context of 32,768 tokens",
        "gemma-4",
    ]


def test_offline_a_test_is_refused_with_the_reason(ui: Ui, servers: ScriptedServers) -> None:
    servers.facts[TEAM.address] = REFUSED
    ui.press("Ctrl+Shift+Y")
    ui.click("testServer1")
    ui.qtbot.waitUntil(lambda: "Stay offline" in text(ui, "serverFound1"))
    assert ui.find(QPushButton, "testServer1").isEnabled()


def test_a_server_is_added_with_the_keyboard(ui: Ui, servers: ScriptedServers) -> None:
    servers.kept.clear()
    servers.facts["https://new.example"] = FACTS
    ui.press("Ctrl+Shift+Y")
    assert ui.has("noServers")
    ui.click("addFirstServer")
    dialog = ui.find(QDialog, "serverDialog")
    assert not ui.find(QPushButton, "saveServer").isEnabled()
    fill(ui, "serverName", "new")
    fill(ui, "serverAddress", "https://new.example")
    fill(ui, "serverKey", "secret")
    assert ui.find(QLineEdit, "serverKey").echoMode() is QLineEdit.EchoMode.Password
    fill(ui, "serverCa", "/etc/own-ca.pem")
    assert nameless(dialog) == []
    ui.click("testServer")
    ui.qtbot.waitUntil(lambda: ui.has("serverResult") and "vLLM" in text(ui, "serverResult"))
    assert servers.kept == []
    ui.press("Return", dialog)
    ui.qtbot.waitUntil(lambda: not ui.has("serverDialog"))
    assert [(it.name, it.address, it.ca) for it in servers.kept] == [
        ("new", "https://new.example", Path("/etc/own-ca.pem"))
    ]
    assert servers.keys == {"id-new": "secret"}
    ui.qtbot.waitUntil(lambda: ui.has("server1"))
    assert not ui.has("noServers")


def test_what_is_refused_stays_in_the_dialog(ui: Ui, servers: ScriptedServers) -> None:
    servers.facts["https://new.example"] = REFUSED
    ui.press("Ctrl+Shift+Y")
    ui.click("addServer")
    fill(ui, "serverName", "new")
    fill(ui, "serverAddress", "https://new.example")
    ui.click("testServer")
    ui.qtbot.waitUntil(lambda: "Go online" in text(ui, "serverResult"))
    assert ui.find(QPushButton, "saveServer").isEnabled()
    ui.click("cancelServer")


def test_a_change_keeps_the_key_that_is_there(ui: Ui, servers: ScriptedServers) -> None:
    servers.keys["id-team"] = "old"
    ui.press("Ctrl+Shift+Y")
    ui.click("changeServer1")
    line = ui.find(QLineEdit, "serverName")
    assert line.text() == "team"
    line.selectAll()
    QTest.keyClicks(line, "crew")
    ui.click("saveServer")
    ui.qtbot.waitUntil(lambda: "crew" in [it.name for it in servers.kept])
    assert servers.keys == {"id-team": "old"}


def change_address(ui: Ui, address: str) -> None:
    ui.press("Ctrl+Shift+Y")
    ui.click("changeServer1")
    assert not ui.has("takeServerKey")
    line = ui.find(QLineEdit, "serverAddress")
    line.selectAll()
    QTest.keyClicks(line, address)


def test_a_key_does_not_go_with_the_address_unasked(ui: Ui, servers: ScriptedServers) -> None:
    servers.keys["id-team"] = "old"
    change_address(ui, "https://elsewhere.example")
    assert TEAM.origin in text(ui, "serverKeyNote")
    assert ui.has("takeServerKey")
    ui.click("saveServer")
    ui.qtbot.waitUntil(lambda: any("enter it again" in it for it in told(ui)))
    assert servers.keys == {}


def test_that_a_key_of_the_environment_goes_with_the_address_is_said_before(
    ui: Ui, servers: ScriptedServers
) -> None:
    servers.environment["team"] = "HEARTH_KEY_TEAM"
    change_address(ui, "https://elsewhere.example")
    assert "HEARTH_KEY_TEAM" in text(ui, "serverKeyNote")
    assert "sent to this address" in text(ui, "serverKeyNote")
    assert not ui.has("takeServerKey"), "it goes there anyway"
    line = ui.find(QLineEdit, "serverName")
    line.selectAll()
    QTest.keyClicks(line, "crew")
    assert "HEARTH_KEY_TEAM" not in text(ui, "serverKeyNote"), "another name, another variable"


def test_a_key_goes_with_the_address_where_its_owner_agrees(
    ui: Ui, servers: ScriptedServers
) -> None:
    servers.keys["id-team"] = "old"
    change_address(ui, "https://elsewhere.example")
    box = ui.find(QCheckBox, "takeServerKey")
    box.setFocus()
    QTest.keyClick(box, Qt.Key.Key_Space)
    ui.click("saveServer")
    ui.qtbot.waitUntil(lambda: "https://elsewhere.example" in [it.address for it in servers.kept])
    assert servers.keys == {"id-team": "old"}


def test_another_path_at_the_same_place_asks_nothing(ui: Ui, servers: ScriptedServers) -> None:
    change_address(ui, f"{TEAM.address}/gateway")
    assert not ui.has("takeServerKey")
    ui.click("cancelServer")


def test_the_key_can_be_forgotten(ui: Ui, servers: ScriptedServers) -> None:
    servers.keys["id-team"] = "old"
    ui.press("Ctrl+Shift+Y")
    ui.click("changeServer1")
    box = ui.find(QCheckBox, "forgetServerKey")
    box.setFocus()
    QTest.keyClick(box, Qt.Key.Key_Space)
    ui.click("saveServer")
    ui.qtbot.waitUntil(lambda: servers.keys == {})


def test_where_a_key_is_kept_badly_it_says_so(ui: Ui, servers: ScriptedServers) -> None:
    servers.warning = "There is no keyring here: the key is forgotten when Hearth is closed."
    ui.press("Ctrl+Shift+Y")
    ui.click("changeServer1")
    fill(ui, "serverKey", "secret")
    ui.click("saveServer")
    ui.qtbot.waitUntil(lambda: any("no keyring" in it for it in told(ui)))


def test_one_is_removed_after_a_question(ui: Ui, servers: ScriptedServers) -> None:
    ui.press("Ctrl+Shift+Y")
    ui.click("removeServer1")
    ui.click("keepServer")
    assert servers.kept == [TEAM, NEAR]
    ui.click("removeServer1")
    ui.click("confirmRemoveServer")
    ui.qtbot.waitUntil(lambda: not ui.has("server2"))
    assert servers.kept == [NEAR]


def test_its_models_can_be_chosen(ui: Ui, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = ModelEntry(
        "team:qwen3-32b", "qwen3-32b", Path(), source="server", engine="remote",
        server=TEAM.id, served="qwen3-32b",
    )  # fmt: skip
    listed = ui.presenters.models.list()
    monkeypatch.setattr(ui.presenters.models, "list", lambda: [*listed, entry])
    ui.press("Ctrl+Shift+Y")
    ui.click("use-team:qwen3-32b")
    assert ui.window.chooser.current() == "team:qwen3-32b"
    assert ui.app.settings.read().model == "starter", "of the chat alone"
    assert ui.has("engineBadge")
    assert part(ui.window, QLabel, "engineBadgeWhat").text() == "Text leaves this computer"


def test_the_path_of_a_models_file_is_shortened_in_lists() -> None:
    path = "/srv/models/gemma-3-12b-it-Q4_K_M.gguf"
    entry = ModelEntry(
        f"team:{path}", "gemma-3-12b-it-Q4_K_M on team", Path(path), source="server",
        engine="remote", server=TEAM.id, served=path,
    )  # fmt: skip
    assert entry.name_at_server == "gemma-3-12b-it-Q4_K_M"
    assert replace(entry, name="Ours").name_at_server == "Ours"
