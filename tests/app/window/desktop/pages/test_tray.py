"""Closing to the tray while the desktop's tray comes and goes; only the tray's host is made up."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QSystemTrayIcon

from app.window.desktop.pages import tray
from tests.support.window import Ui

# The offscreen window system has no tray of its own to hear of.
pytestmark = pytest.mark.qt_log_ignore("systemTrayWindowChanged", extend=True)


class Host:
    """The part of a desktop that shows tray icons."""

    is_there = False


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Host:
    host = Host()
    monkeypatch.setattr(tray, "LOOK_MS", 20)
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", lambda: host.is_there)
    return host


def icon(ui: Ui) -> QSystemTrayIcon:
    found = ui.window.desktop.findChild(QSystemTrayIcon)
    assert found is not None
    return found


def test_the_icon_comes_with_the_tray_and_the_window_never_vanishes_with_it(
    host: Host, ui: Ui
) -> None:
    ui.presenters.settings.set("close_to_tray", True)
    assert not icon(ui).isVisible()
    host.is_there = True
    ui.qtbot.waitUntil(icon(ui).isVisible)
    ui.window.close()
    assert not ui.window.isVisible()
    # The tray ends while the window is in it.
    host.is_there = False
    ui.qtbot.waitUntil(ui.window.isVisible)
    assert ui.window.isMinimized()
    assert not icon(ui).isVisible()
    host.is_there = True
    ui.qtbot.waitUntil(icon(ui).isVisible)
    ui.window.desktop.come_to_front()
    # The tray ends a moment before the window is closed: it is asked for then.
    host.is_there = False
    assert icon(ui).isVisible()
    assert ui.window.close()
    assert not icon(ui).isVisible()


def test_without_the_settings_there_is_no_icon_however_the_tray_comes(host: Host, ui: Ui) -> None:
    host.is_there = True
    ui.presenters.settings.set("tray", True)
    assert icon(ui).isVisible()
    ui.presenters.settings.set("tray", False)
    assert not icon(ui).isVisible()
    assert ui.window.close()
