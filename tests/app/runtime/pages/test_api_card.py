"""Turning Hearth's own server on and off in the window, with real requests to it."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton

from app.api.pages.api_card import ApiCard
from app.api.values import ApiClient, ApiUse
from app.base.folder import DataFolder
from app.chats.pages.exposed_badge import ExposedBadge
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.switch import Switch
from app.settings.store import SettingsFile
from app.settings.values.fields import Settings
from tests.app.api.http.conftest import Reply, read_all
from tests.support.control_names import all_named
from tests.support.window import Ui


@pytest.fixture
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as made:
        return int(made.getsockname()[1])


@pytest.fixture
def page(ui: Ui, port: int) -> Iterator[Ui]:
    ui.presenters.settings.set("server_port", port)
    ui.press("Ctrl+Shift+G")
    ui.settle()
    yield ui
    ui.app.server.stop()


def text(ui: Ui, name: str) -> str:
    return ui.find(QLabel, name).text()


def turn(ui: Ui) -> None:
    switch = ui.find(Switch, "serverSwitch")
    switch.setFocus()
    QTest.keyClick(switch, Qt.Key.Key_Space)


def turn_on(ui: Ui) -> None:
    turn(ui)
    ui.qtbot.waitUntil(lambda: text(ui, "serverState").startswith("Listening at"))


def copied(ui: Ui, button: str) -> str:
    QGuiApplication.clipboard().clear()
    QTest.mouseClick(ui.find(LabelledButton, button), Qt.MouseButton.LeftButton)
    ui.qtbot.waitUntil(lambda: bool(QGuiApplication.clipboard().text()))
    return QGuiApplication.clipboard().text()


def ask(port: int, token: str = "") -> int:
    """Return the status for a path that does not exist: 404 if the key is right."""
    key = f"x-api-key: {token}\r\n" if token else ""
    request = f"GET /none HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n{key}\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(request.encode())
        return Reply(read_all(connection)).status


def test_it_is_off_until_it_is_turned_on_and_ends_with_its_switch(page: Ui, port: int) -> None:
    assert text(page, "serverState") == "Off"
    with pytest.raises(ConnectionRefusedError):
        ask(port)
    turn_on(page)
    all_named(page, page.window)
    assert page.app.settings.read().server
    assert copied(page, "copyServerAddress") == f"http://127.0.0.1:{port}/v1"
    token = copied(page, "copyServerToken")
    assert (ask(port), ask(port, token)) == (401, 404)
    assert not page.has("exposedBadge")
    turn(page)
    page.qtbot.waitUntil(lambda: text(page, "serverState") == "Off")
    with pytest.raises(ConnectionRefusedError):
        ask(port)


def test_a_port_that_is_taken_is_said_on_the_card_and_another_is_tried(page: Ui, port: int) -> None:
    with socket.create_server(("127.0.0.1", port)):
        turn(page)
        page.qtbot.waitUntil(lambda: page.has("serverProblem"))
        assert str(port) in text(page, "serverProblem")
        assert text(page, "serverState") == "Off"
    page.presenters.settings.set("server_names", "box.local")
    page.qtbot.waitUntil(lambda: text(page, "serverState").startswith("Listening at"))
    assert not page.has("serverProblem")


def test_another_token_ends_the_one_before(page: Ui, port: int) -> None:
    turn_on(page)
    before = copied(page, "copyServerToken")
    page.click("renewServerToken")
    page.click("keepToken")
    assert ask(port, before) == 404
    page.click("renewServerToken")
    QGuiApplication.clipboard().clear()
    page.click("confirmRenew")
    page.qtbot.waitUntil(lambda: bool(QGuiApplication.clipboard().text()))
    after = QGuiApplication.clipboard().text()
    assert after != before
    assert (ask(port, before), ask(port, after)) == (401, 404)


def test_others_are_let_in_after_a_second_yes_and_the_window_says_so(page: Ui, port: int) -> None:
    turn_on(page)
    QTest.mouseClick(
        page.find(QPushButton, "serverReach-network_unencrypted"), Qt.MouseButton.LeftButton
    )
    assert page.app.settings.read().server_expose == "this_computer"
    page.click("keepClosed")
    assert not page.has("exposedBadge")
    QTest.mouseClick(
        page.find(QPushButton, "serverReach-network_unencrypted"), Qt.MouseButton.LeftButton
    )
    page.click("confirmReach")
    badge = page.find(ExposedBadge)
    assert "Nothing is encrypted" in badge.toolTip()
    assert page.app.server.status.exposed
    page.click("enginesBack")
    assert page.has("exposedBadge")
    page.click("exposedBadge")
    assert page.has("enginesPage")
    QTest.mouseClick(page.find(QPushButton, "serverReach-this_computer"), Qt.MouseButton.LeftButton)
    page.qtbot.waitUntil(lambda: not page.has("exposedBadge"))


def test_encrypted_it_wants_a_certificate(page: Ui) -> None:
    turn_on(page)
    QTest.mouseClick(page.find(QPushButton, "serverReach-network"), Qt.MouseButton.LeftButton)
    page.click("confirmReach")
    page.qtbot.waitUntil(lambda: page.has("serverProblem"))
    assert "certificate" in text(page, "serverProblem")
    assert "--" not in text(page, "serverProblem")
    assert not page.has("exposedBadge")


def test_a_program_gets_a_key_of_its_own_and_is_seen_when_it_asks(page: Ui, port: int) -> None:
    turn_on(page)
    assert page.has("noClients")
    page.click("addClient")
    QTest.keyClicks(page.find(QLineEdit, "clientName"), "Hearth")
    page.click("makeClient")
    page.qtbot.waitUntil(lambda: page.has("clientSaid"))
    assert "cannot be the name of" in text(page, "clientSaid")
    name = page.find(QLineEdit, "clientName")
    name.selectAll()
    QTest.keyClicks(name, "editor")
    page.click("makeClient")
    key = copied(page, "copyClientKey")
    page.click("closeClient")
    page.qtbot.waitUntil(lambda: page.has("client1"))
    assert text(page, "client1") == "editor"
    assert ask(port, key) == 404
    page.qtbot.waitUntil(lambda: page.has("serverUses"), timeout=15_000)
    assert "editor (127.0.0.1): other, 404" in text(page, "serverUses")
    page.click("removeClient1")
    page.click("confirmRemoveClient")
    page.qtbot.waitUntil(lambda: page.has("noClients"))
    assert ask(port, key) == 401
    assert key not in json.dumps(page.app.settings.read().values())


@pytest.fixture
def was_on(data_dir: Path, port: int) -> None:
    """Write settings in which the server is on."""
    folder = DataFolder(data_dir)
    folder.prepare()
    SettingsFile(folder.settings).write(Settings(server=True, server_port=port))


def test_where_it_was_on_it_is_on_again(was_on: None, ui: Ui, port: int) -> None:
    ui.qtbot.waitUntil(lambda: ask_quietly(port) == 401)
    ui.press("Ctrl+Shift+G")
    ui.qtbot.waitUntil(lambda: text(ui, "serverState").startswith("Listening at"))
    ui.app.server.stop()


def ask_quietly(port: int) -> int:
    try:
        return ask(port)
    except OSError:
        return 0


def test_a_long_name_of_a_program_is_cut(page: Ui) -> None:
    long = ("editor " * 42).strip()
    card = page.find(ApiCard, "apiCard")
    card.show_clients([ApiClient("1", long, "digest")])
    card.show_uses([ApiUse(0.0, 1, long, "::1", 1, "GET", "other", "", 0, 0, 0, 0, 1)])
    page.settle()
    assert long not in text(page, "client1")
    assert long not in text(page, "serverUses")
    assert "editor editor" in text(page, "serverUses")
