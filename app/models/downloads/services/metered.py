"""Checks whether the internet connection is metered, if the system knows."""

from __future__ import annotations

import sys

_YES = 1
_GUESSED_YES = 3
_WAIT_S = 1.0


def is_metered() -> bool | None:
    """Ask NetworkManager on Linux whether the connection is metered; its guesses count too.

    Source: the property Metered of org.freedesktop.NetworkManager on the system bus.

    Returns:
        None if unknown.
    """
    if not sys.platform.startswith("linux"):
        return None
    try:
        from jeepney import DBusAddress, Properties
        from jeepney.io.blocking import open_dbus_connection
    except ImportError:
        return None
    manager = DBusAddress(
        "/org/freedesktop/NetworkManager",
        bus_name="org.freedesktop.NetworkManager",
        interface="org.freedesktop.NetworkManager",
    )
    try:
        with open_dbus_connection(bus="SYSTEM") as connection:
            message = Properties(manager).get("Metered")
            reply = connection.send_and_get_reply(message, timeout=_WAIT_S)
    except (OSError, KeyError, ValueError):
        return None  # there is no such bus, or it is too busy to answer
    return parse_reply(reply.body)


def parse_reply(body: object) -> bool | None:
    """Read the reply's body: a variant with a number, or an error's text.

    Returns:
        None if the body states no answer.
    """
    match body:
        case ((str(), int(number)),) if number:
            return number in (_YES, _GUESSED_YES)
    return None
