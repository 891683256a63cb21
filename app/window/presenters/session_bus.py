"""The session's D-Bus, through which a Linux desktop offers notifications and global shortcuts."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QSocketNotifier, Signal

from app.kit.tasks.tasks import SYSTEM, Tasks

if TYPE_CHECKING:
    from jeepney import MatchRule, Message
    from jeepney.io.blocking import DBusConnection

_log = logging.getLogger(__name__)

Replied = Callable[[tuple[Any, ...]], None]


class SessionBus(QObject):
    """The connection to the session's D-Bus, used on the thread that owns this object.

    Messages are sent and read without blocking.

    Signals:
        opened(): Messages can be sent.
        closed(): There is no bus, or the connection was lost.
    """

    opened = Signal()
    closed = Signal()

    def __init__(self, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tasks = tasks
        self._connection: DBusConnection | None = None
        self._notifier: QSocketNotifier | None = None
        self._waiting: dict[int, tuple[Replied, Callable[[], None]]] = {}
        self._listeners: list[tuple[MatchRule, Callable[[Message], None]]] = []
        tasks.closing.connect(self.close)

    @property
    def is_open(self) -> bool:
        """True if messages can be sent."""
        return self._connection is not None

    @property
    def name(self) -> str:
        """The name of this connection on the bus, such as `:1.42`; "" if not connected."""
        return "" if self._connection is None else str(self._connection.unique_name)

    def open(self) -> None:
        """Connect in the background; emit `opened` or `closed` soon afterwards."""
        self._tasks.run(_connect, self._connected, self._lost, on=SYSTEM)

    def call(self, message: Message, replied: Replied, refused: Callable[[], None]) -> None:
        """Call a method.

        Args:
            replied: Called with the values of the reply.
            refused: Called after an error, or if there is no connection.
        """
        if self._connection is None:
            refused()
            return
        serial = next(self._connection.outgoing_serial)
        self._waiting[serial] = (replied, refused)
        try:
            self._connection.send(message, serial=serial)
        except OSError as error:
            del self._waiting[serial]
            self._lost(error)
            refused()

    def listen(self, rule: MatchRule, on_signal: Callable[[Message], None]) -> None:
        """Subscribe to the signals that match a rule, and call `on_signal` with each."""
        from jeepney.bus_messages import message_bus

        self._listeners.append((rule, on_signal))
        self.call(message_bus.AddMatch(rule), lambda _: None, lambda: None)

    def close(self) -> None:
        """Disconnect."""
        if self._notifier is not None:
            self._notifier.setEnabled(False)
            self._notifier = None
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connected(self, connection: DBusConnection | None) -> None:
        self._connection = connection
        if connection is None:
            self.closed.emit()
            return
        read = QSocketNotifier.Type.Read
        self._notifier = QSocketNotifier(connection.sock.fileno(), read, self)
        self._notifier.activated.connect(self._read)
        self.opened.emit()

    def _read(self) -> None:
        """Read and handle all messages that have arrived."""
        while self._connection is not None:
            try:
                message = self._connection.receive(timeout=0)
            except TimeoutError:
                return
            except OSError as error:
                self._lost(error)
                return
            self._take(message)

    def _take(self, message: Message) -> None:
        from jeepney import HeaderFields, MessageType

        serial = message.header.fields.get(HeaderFields.reply_serial)
        if serial in self._waiting:
            replied, refused = self._waiting.pop(serial)
            if message.header.message_type is MessageType.error:
                _log.info("refused on the session's bus: %s", message.body)
                refused()
            else:
                replied(message.body)
            return
        for rule, on_signal in self._listeners:
            if rule.matches(message):
                on_signal(message)

    def _lost(self, error: Exception) -> None:
        _log.info("no session bus: %s", error)
        self.close()
        self.closed.emit()


def _connect() -> DBusConnection | None:
    """Connect to the bus; return None if there is none."""
    if not sys.platform.startswith("linux") or "DBUS_SESSION_BUS_ADDRESS" not in os.environ:
        return None
    from jeepney.io.blocking import open_dbus_connection

    try:
        return open_dbus_connection(bus="SESSION")
    except (OSError, ValueError) as error:
        _log.info("no session bus: %s", error)
        return None
