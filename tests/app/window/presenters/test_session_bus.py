"""Notifications and global shortcuts over a real message bus, with a fake desktop."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from jeepney.bus_messages import message_bus
from pytestqt.qtbot import QtBot

from app.window.presenters.global_shortcut.service import GlobalShortcut
from app.window.presenters.notifications import Notifications
from app.window.presenters.session_bus import SessionBus
from app.window.presenters.system_motion import SystemMotion
from tests.app.window.presenters.conftest import FakeDesktop

Start = Callable[..., FakeDesktop]
NOTIFICATIONS = "org.freedesktop.Notifications"
PORTAL = "org.freedesktop.portal.Desktop"


def test_without_a_bus_nothing_is_possible(
    qtbot: QtBot, bus: SessionBus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/at/all")
    notifications = Notifications(bus)
    with qtbot.waitSignal(bus.closed):
        bus.open()
    assert not bus.is_open
    assert not notifications.are_possible
    notifications.show("A", "B", "c")


def test_a_bus_without_notifications(qtbot: QtBot, bus_address: str, bus: SessionBus) -> None:
    notifications = Notifications(bus)
    with qtbot.waitSignal(bus.opened):
        bus.open()
    answered: list[object] = []
    bus.call(message_bus.GetId(), answered.append, lambda: None)  # answered in turn
    qtbot.waitUntil(lambda: bool(answered))
    assert not notifications.are_possible


def test_a_notification_is_shown_and_pressed(
    qtbot: QtBot, start_desktop: Start, bus: SessionBus
) -> None:
    desktop = start_desktop(NOTIFICATIONS)
    notifications = Notifications(bus)
    bus.open()
    qtbot.waitUntil(lambda: notifications.are_possible)
    notifications.show("Ready", "a < b & c", "chat-7")
    body = desktop.called("Notify")
    assert body[3:5] == ["Ready", "a &lt; b &amp; c"]
    assert body[5] == ["default", "Ready"]
    with qtbot.waitSignal(notifications.clicked) as clicked:
        desktop.play("click 1")
    assert clicked.args == ["chat-7"]


def test_the_desktop_goes_away(qtbot: QtBot, start_desktop: Start, bus: SessionBus) -> None:
    desktop = start_desktop(NOTIFICATIONS)
    notifications = Notifications(bus)
    bus.open()
    qtbot.waitUntil(lambda: notifications.are_possible)
    desktop.play("refuse")
    desktop.called("refuses")
    bus.close()
    notifications.show("A", "B", "c")
    assert not notifications.are_possible


def test_the_portal_passes_keys_on(qtbot: QtBot, start_desktop: Start, bus: SessionBus) -> None:
    desktop = start_desktop(PORTAL)
    shortcut = GlobalShortcut(bus)
    shortcut.use("Ctrl+Alt+H", "wayland")
    assert "cannot be reached" in shortcut.problem
    bus.open()
    session, load_options, window, _ = desktop.called("BindShortcuts")
    assert load_options == [
        [
            "quick-ask",
            {
                "description": ["s", "Ask Hearth a question"],
                "preferred_trigger": ["s", "CTRL+ALT+h"],
            },
        ]
    ]
    assert window == ""
    qtbot.waitUntil(lambda: shortcut.problem == "")
    with qtbot.waitSignal(shortcut.pressed):
        desktop.play("press")
    shortcut.use("", "wayland")
    assert desktop.called("Close") == []
    shortcut.close()
    assert session


def test_less_motion_is_known_and_followed(
    qtbot: QtBot, start_desktop: Start, bus: SessionBus
) -> None:
    desktop = start_desktop(PORTAL)
    motion = SystemMotion(bus)
    with qtbot.waitSignal(motion.changed):
        bus.open()
    assert motion.is_reduced
    with qtbot.waitSignal(motion.changed):
        desktop.play("animate")
    assert not motion.is_reduced


def test_a_portal_that_refuses_is_told(qtbot: QtBot, start_desktop: Start, bus: SessionBus) -> None:
    desktop = start_desktop(PORTAL)
    desktop.play("refuse")
    desktop.called("refuses")
    shortcut = GlobalShortcut(bus)
    shortcut.use("Ctrl+Alt+H", "wayland")
    bus.open()
    qtbot.waitUntil(lambda: "it was refused" in shortcut.problem)


def test_a_desktop_without_a_portal_is_told(
    qtbot: QtBot, bus_address: str, bus: SessionBus
) -> None:
    shortcut = GlobalShortcut(bus)
    shortcut.use("Ctrl+Alt+H", "wayland")
    bus.open()
    qtbot.waitUntil(lambda: "no global shortcuts" in shortcut.problem)
