"""A global shortcut through the desktop portal, for Wayland desktops.

A session is created, the shortcut is bound to it (the desktop can ask the user for other keys), and
signals follow. Source: XDG Desktop Portal, org.freedesktop.portal.GlobalShortcuts version 1.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject

from app.window.presenters.global_shortcut.keys import Keys
from app.window.presenters.session_bus import SessionBus
from engines.sentences import N_

if TYPE_CHECKING:
    from jeepney import Message

_NAME = "org.freedesktop.portal.Desktop"
_PATH = "/org/freedesktop/portal/desktop"
_SHORTCUTS = "org.freedesktop.portal.GlobalShortcuts"
_ID = "quick-ask"

Results = dict[str, tuple[str, Any]]


class PortalShortcut(QObject):
    """A shortcut of the desktop portal."""

    _numbers = count(1)

    def __init__(
        self,
        bus: SessionBus,
        keys: Keys,
        description: str,
        pressed: Callable[[], object],
        report_problem: Callable[[str], None],
        parent: QObject | None = None,
    ) -> None:
        """Request the shortcut.

        Args:
            bus: An open bus.
            description: The effect of the shortcut, as the desktop's settings show it.
            pressed: Called when the user presses the shortcut.
            report_problem: Called with the reason why the shortcut does not work; "" if it does.
        """
        super().__init__(parent)
        self._bus = bus
        self._pressed = pressed
        self._report_problem = report_problem
        self._session = ""
        self._handles: dict[str, Callable[[Results], None]] = {}
        self._listen("org.freedesktop.portal.Request", "Response", self._responded)
        self._listen(_SHORTCUTS, "Activated", self._activated)
        options = {"description": ("s", description), "preferred_trigger": ("s", keys.for_portal)}
        self._ask(
            "CreateSession",
            "a{sv}",
            (),
            {"session_handle_token": ("s", f"hearth{next(self._numbers)}")},
            lambda results: self._bind(str(results["session_handle"][1]), options),
        )

    def close(self) -> None:
        """Close the session, and the shortcut with it."""
        if self._session:
            call = self._call(self._session, "org.freedesktop.portal.Session", "Close", "", ())
            self._bus.call(call, lambda _: None, lambda: None)
        self._session = ""
        self._handles.clear()

    def _bind(self, session: str, options: dict[str, tuple[str, str]]) -> None:
        self._session = session
        values = (session, [(_ID, options)], "")
        self._ask("BindShortcuts", "oa(sa{sv})sa{sv}", values, {}, self._bound)

    def _bound(self, results: Results) -> None:
        bound = results.get("shortcuts", ("", []))[1]
        self._report_problem("" if bound else N_("The desktop did not allow this shortcut."))

    def _ask(
        self,
        method: str,
        signature: str,
        values: tuple[Any, ...],
        options: Results,
        handler: Callable[[Results], None],
    ) -> None:
        """Call a method whose result comes later, as a signal of an object that this call names."""
        token = f"hearth{next(self._numbers)}"
        sender = self._bus.name.removeprefix(":").replace(".", "_")
        self._handles[f"/org/freedesktop/portal/desktop/request/{sender}/{token}"] = handler
        body = (*values, {"handle_token": ("s", token), **options})
        call = self._call(_PATH, _SHORTCUTS, method, signature, body)
        self._bus.call(call, lambda _: None, self._refused)

    def _responded(self, message: Message) -> None:
        from jeepney import HeaderFields

        handler = self._handles.pop(message.header.fields[HeaderFields.path], None)
        if handler is None:
            return
        status, results = message.body
        if status == 0:
            handler(results)
        else:
            self._report_problem(
                N_("The desktop asked whether to allow this shortcut, and it was refused.")
            )

    def _activated(self, message: Message) -> None:
        session, which, *_ = message.body
        if session == self._session and which == _ID:
            self._pressed()

    def _refused(self) -> None:
        self._report_problem(
            N_(
                "This desktop offers programs no global shortcuts. Set one in its own "
                "settings; the guide to the terminal has the command that opens the small "
                "window."
            )
        )

    def _listen(self, interface: str, member: str, heard: Callable[[Message], None]) -> None:
        from jeepney import MatchRule

        rule = MatchRule(type="signal", interface=interface, member=member)
        self._bus.listen(rule, heard)

    def _call(
        self, path: str, interface: str, method: str, signature: str, body: tuple[Any, ...]
    ) -> Message:
        from jeepney import DBusAddress, new_method_call

        address = DBusAddress(path, bus_name=_NAME, interface=interface)
        return new_method_call(address, method, signature, body)
