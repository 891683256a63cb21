"""The offline switch, and the page that lists this computer's connections."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton, QTableView

from app.connections.pages import words
from app.net.values.connections import PURPOSES, LoggedConnection, Purpose
from app.net.values.traffic import Traffic
from tests.support.control_names import all_named
from tests.support.window import Ui

ONE = LoggedConnection(
    1_790_000_000.0, 0.4, "huggingface.co", 443, "search for models", "GET", 0, 4096, "200"
)
TWO = replace(ONE, purpose="download a model", host="cdn.example", received=5 * 10**9)
MOST_CONNECTIONS = replace(ONE, result="refused", received=0)


def summary(ui: Ui) -> str:
    return ui.find(QLabel, "connectionsSummary").text()


def cells(ui: Ui) -> list[list[str]]:
    model = ui.find(QTableView, "connections").model()
    return [
        [str(model.index(row, column).data()) for column in range(model.columnCount())]
        for row in range(model.rowCount())
    ]


def test_nothing_has_left_says_so(ui: Ui) -> None:
    ui.press("Ctrl+Shift+J")
    ui.qtbot.waitUntil(lambda: summary(ui) == "No connection has left this computer.")
    assert "only when you search" in ui.find(QLabel, "noConnections").text()
    assert not ui.find(QPushButton, "clearConnections").isEnabled()
    ui.click("connectionsBack")
    assert not ui.has("connectionsPage")


def test_connections_are_listed_summed_up_filtered_and_copied(ui: Ui) -> None:
    for connection in (ONE, TWO, MOST_CONNECTIONS):
        ui.app.ledger.add(connection)
    ui.press("Ctrl+Shift+J")
    ui.qtbot.waitUntil(lambda: "2 hosts" in summary(ui))
    assert "It sent only the words of a search and the names of models." in summary(ui)
    assert "It received 5.0 GB. One was blocked" in summary(ui)
    shown = cells(ui)
    assert [row[5] for row in shown] == ["Blocked", "200", "200"]
    assert shown[1][1:5] == ["cdn.example:443", "Download a model", "0 B", "5.0 GB"]
    all_named(ui, ui.window)
    QTest.keyClicks(ui.find(QLineEdit, "filterConnections"), "cdn")
    assert len(cells(ui)) == 1
    ui.click("copyConnections")
    lines = QGuiApplication.clipboard().text().splitlines()
    assert len(lines) == 2
    assert lines[1].split("\t")[1] == "cdn.example:443"


def test_a_new_connection_appears_while_the_page_is_open(ui: Ui) -> None:
    ui.app.ledger.add(ONE)
    ui.press("Ctrl+Shift+J")
    ui.qtbot.waitUntil(lambda: "huggingface.co" in summary(ui))
    table = ui.find(QTableView, "connections")
    table.selectRow(0)
    ui.app.ledger.add(replace(TWO, started=ONE.started + 1))
    ui.qtbot.waitUntil(lambda: "2 hosts" in summary(ui))
    assert [row[1] for row in cells(ui)] == ["cdn.example:443", "huggingface.co:443"]
    assert table.currentIndex().row() == 1, "the row that was chosen moves down with its connection"


def test_the_list_is_cleared_after_a_question(ui: Ui) -> None:
    ui.app.ledger.add(ONE)
    ui.press("Ctrl+Shift+J")
    ui.qtbot.waitUntil(lambda: "huggingface.co" in summary(ui))
    ui.click("clearConnections")
    ui.click("keepConnections")
    assert len(ui.app.ledger.connections(9)) == 1
    ui.click("clearConnections")
    ui.click("confirmClear")
    ui.qtbot.waitUntil(lambda: summary(ui) == "No connection has left this computer.")
    assert ui.app.ledger.connections(9) == []


def test_the_switch_shows_and_turns_the_setting(ui: Ui) -> None:
    switch = ui.find(QPushButton, "offlineSwitch")
    assert (switch.text(), switch.isChecked()) == ("Online", False)
    ui.click("offlineSwitch")
    assert ui.app.settings.read().offline
    assert (switch.text(), switch.isChecked()) == ("Offline", True)
    assert "no connection leaves" in switch.toolTip()
    ui.press("Ctrl+Shift+O")
    assert not ui.app.settings.read().offline
    assert (switch.text(), switch.isChecked()) == ("Online", False)
    ui.presenters.settings.set("offline", True)
    assert switch.text() == "Offline"


@pytest.mark.parametrize("purpose", PURPOSES)
def test_each_purpose_says_what_it_sent(purpose: Purpose) -> None:
    found = Traffic(("host",), 0.0, 1, 0, 1, 1, (purpose,))
    assert "It sent only ." not in words.sent_words(found)
