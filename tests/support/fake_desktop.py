"""The services of a desktop on a test's bus: notifications and the portal for global shortcuts.

Run it as a program with the bus in DBUS_SESSION_BUS_ADDRESS. It prints each call as a line of JSON.
A line on standard input plays the user: `click N` presses notification N, `press` the shortcut,
`refuse` makes the portal refuse from then on, `animate` allows animations again.
"""

from __future__ import annotations

import json
import select
import sys
from typing import Any

from jeepney import (
    DBusAddress,
    HeaderFields,
    Message,
    MessageType,
    new_error,
    new_method_return,
    new_signal,
)
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import DBusConnection, open_dbus_connection

NOTES = "org.freedesktop.Notifications"
NOTES_PATH = "/org/freedesktop/Notifications"
PORTAL = "org.freedesktop.portal.Desktop"
PORTAL_PATH = "/org/freedesktop/portal/desktop"
SHORTCUTS = "org.freedesktop.portal.GlobalShortcuts"
SETTINGS = "org.freedesktop.portal.Settings"
SESSION = f"{PORTAL_PATH}/session/test/one"


class Desktop:
    def __init__(self, connection: DBusConnection) -> None:
        self._connection = connection
        self._shown = 0
        self._refuses = False

    def serve(self) -> None:
        self._say("ready", None)
        while True:
            ready, _, _ = select.select([self._connection.sock, sys.stdin], [], [])
            if sys.stdin in ready:
                line = sys.stdin.readline()
                if not line:
                    return
                self._play(line.split())
            if self._connection.sock in ready:
                while True:
                    try:
                        message = self._connection.receive(timeout=0)
                    except TimeoutError:
                        break
                    if message.header.message_type is MessageType.method_call:
                        self._answer(message)

    def _answer(self, message: Message) -> None:
        member = message.header.fields[HeaderFields.member]
        self._say(member, message.body)
        if member == "GetCapabilities":
            self._reply(message, "as", (["actions", "body", "body-markup"],))
        elif member == "Notify":
            self._shown += 1
            self._reply(message, "u", (self._shown,))
        elif member == "CreateSession":
            found = {"session_handle": ("s", SESSION)}
            self._respond(message, found)
        elif member == "BindShortcuts":
            self._respond(message, {"shortcuts": ("a(sa{sv})", message.body[1])})
        elif member == "Read" and message.body[1] == "enable-animations":
            self._reply(message, "v", (("v", ("b", False)),))
        elif member == "Read":
            self._connection.send(new_error(message, "org.freedesktop.portal.Error.NotFound"))
        else:
            self._reply(message, "", ())

    def _respond(self, message: Message, found: dict[str, Any]) -> None:
        """Answer like the portal: with a handle at once, then with a signal of that handle."""
        sender = message.header.fields[HeaderFields.sender].removeprefix(":").replace(".", "_")
        token = message.body[-1]["handle_token"][1]
        handle = f"{PORTAL_PATH}/request/{sender}/{token}"
        self._reply(message, "o", (handle,))
        request = DBusAddress(handle, bus_name=PORTAL, interface="org.freedesktop.portal.Request")
        body: tuple[int, dict[str, Any]] = (1, {}) if self._refuses else (0, found)
        self._connection.send(new_signal(request, "Response", "ua{sv}", body))

    def _play(self, words: list[str]) -> None:
        if words[0] == "click":
            notes = DBusAddress(NOTES_PATH, bus_name=NOTES, interface=NOTES)
            pressed = (int(words[1]), "default")
            self._connection.send(new_signal(notes, "ActionInvoked", "us", pressed))
        elif words[0] == "press":
            portal = DBusAddress(PORTAL_PATH, bus_name=PORTAL, interface=SHORTCUTS)
            now: tuple[str, str, int, dict[str, Any]] = (SESSION, "quick-ask", 1, {})
            self._connection.send(new_signal(portal, "Activated", "osta{sv}", now))
        elif words[0] == "animate":
            portal = DBusAddress(PORTAL_PATH, bus_name=PORTAL, interface=SETTINGS)
            told = ("org.gnome.desktop.interface", "enable-animations", ("b", True))
            self._connection.send(new_signal(portal, "SettingChanged", "ssv", told))
        elif words[0] == "refuse":
            self._refuses = True
            self._say("refuses", None)

    def _reply(self, message: Message, signature: str, body: tuple[Any, ...]) -> None:
        self._connection.send(new_method_return(message, signature or None, body))

    def _say(self, what: str, body: object) -> None:
        print(json.dumps([what, body]), flush=True)


if __name__ == "__main__":
    with open_dbus_connection(bus="SESSION") as bus:
        for name in sys.argv[1:]:
            bus.send_and_get_reply(message_bus.RequestName(name))
        Desktop(bus).serve()
