"""Notifications on a Linux desktop, by the Desktop Notifications Specification 1.2."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app import APP_ID
from app.window.presenters.session_bus import SessionBus

if TYPE_CHECKING:
    from jeepney import Message

_PATH = "/org/freedesktop/Notifications"
_NAME = "org.freedesktop.Notifications"
_AS_LONG_AS_USUAL = -1


class Notifications(QObject):
    """The notifications of this desktop.

    Signals:
        clicked(about): The user clicked a notification; `about` is the value given to `show`.
    """

    clicked = Signal(str)

    def __init__(self, bus: SessionBus, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bus = bus
        self._about: dict[int, str] = {}
        self._capabilities: frozenset[str] = frozenset()
        self._is_available = False
        bus.opened.connect(self._ask)
        bus.closed.connect(lambda: self._set_available(False))

    @property
    def are_possible(self) -> bool:
        """True if this desktop shows notifications; known a moment after the bus has opened."""
        return self._is_available

    def show(self, title: str, text: str, about: str) -> None:
        """Show a notification; `clicked` passes `about` on if the user clicks it."""
        import html

        from jeepney import new_method_call

        body = html.escape(text, quote=False) if "body-markup" in self._capabilities else text
        actions = ["default", title] if "actions" in self._capabilities else []
        hints = {"desktop-entry": ("s", APP_ID), "category": ("s", "im.received")}
        values = ("Hearth", 0, APP_ID, title, body, actions, hints, _AS_LONG_AS_USUAL)
        call = new_method_call(self._address(), "Notify", "susssasa{sv}i", values)

        def remember(reply: tuple[int]) -> None:
            self._about[reply[0]] = about

        self._bus.call(call, remember, lambda: self._set_available(False))

    def _ask(self) -> None:
        from jeepney import MatchRule, new_method_call

        def store_capabilities(reply: tuple[list[str]]) -> None:
            self._capabilities = frozenset(reply[0])
            self._set_available(True)

        call = new_method_call(self._address(), "GetCapabilities")
        self._bus.call(call, store_capabilities, lambda: self._set_available(False))
        rule = MatchRule(type="signal", interface=_NAME, path=_PATH)
        self._bus.listen(rule, self._handle_signal)

    def _handle_signal(self, message: Message) -> None:
        from jeepney import HeaderFields

        number, member = message.body[0], message.header.fields[HeaderFields.member]
        if member == "ActionInvoked" and number in self._about:
            self.clicked.emit(self._about[number])
        elif member == "NotificationClosed":
            self._about.pop(number, None)

    def _set_available(self, is_available: bool) -> None:
        self._is_available = is_available

    def _address(self) -> object:
        from jeepney import DBusAddress

        return DBusAddress(_PATH, bus_name=_NAME, interface=_NAME)
