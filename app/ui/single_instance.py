"""One window for each data folder: a second start brings the first one to the front."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QCryptographicHash, QLockFile, QObject, Signal

from app.core.errors import AlreadyOpen
from app.core.wish import Wish

if TYPE_CHECKING:
    from PySide6.QtNetwork import QLocalServer, QLocalSocket

_PATIENCE_S = 5.0
"""Seconds for which a second start waits for a first one that is not ready yet."""
_PAUSE_S = 0.1
_WAIT_MS = 1000


class SingleInstance(QObject):
    """Holds the folder's lock until `close`; a process that died does not hold it.

    asked(wish): Hearth was started again for the same folder, for what the `Wish` says.
    """

    asked = Signal(object)

    def __init__(
        self, folder: Path, wish: Wish | None = None, parent: QObject | None = None
    ) -> None:
        """Raises AlreadyOpen, after the window that is open was asked for what is wished."""
        super().__init__(parent)
        self._folder = folder
        self._lock = QLockFile(str(folder / "window.lock"))
        # However long the window is open, its lock only ends with its process.
        self._lock.setStaleLockTime(0)
        if not self._take_lock():
            shown = _pass_on_soon(folder, wish or Wish())
            raise AlreadyOpen(
                "Hearth is already open.",
                "Its window has been brought to the front."
                if shown
                else f"Another Hearth uses the data folder {folder}.",
                "Go on in that window, or close it first.",
            )
        self._server: QLocalServer | None = None

    def listen(self) -> None:
        """Hear of further starts, which wait some seconds for that.

        Qt's network library is not loaded before.
        """
        from PySide6.QtNetwork import QLocalServer

        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._answer)
        name = server_name(self._folder)
        QLocalServer.removeServer(name)
        self._server.listen(name)

    def close(self) -> None:
        if self._server is not None:
            self._server.close()
        self._lock.unlock()

    def _take_lock(self) -> bool:
        if self._lock.tryLock(0):
            return True
        # In a container every start may have the same process number: then the lock is an old
        # one of ours that Qt takes for that of a living process.
        if self._owner() == os.getpid() and self._lock.removeStaleLockFile():
            return self._lock.tryLock(0)
        return False

    def _owner(self) -> int:
        pid, _host, _name = self._lock.getLockInfo()
        return int(pid)

    def _answer(self) -> None:
        if self._server is None:
            return
        connection = self._server.nextPendingConnection()
        if connection.state() is connection.LocalSocketState.UnconnectedState:
            self._hear(connection)
        else:
            connection.disconnected.connect(self._heard)

    def _heard(self) -> None:
        connection = self.sender()
        if connection is not None:
            self._hear(cast("QLocalSocket", connection))

    def _hear(self, connection: QLocalSocket) -> None:
        """All has been said."""
        wish = Wish.from_line(bytes(connection.readAll().data()))
        connection.deleteLater()
        self.asked.emit(wish)


def server_name(folder: Path) -> str:
    """The name of the local server for a data folder: short, and the same for every spelling."""
    path = str(folder.resolve()).encode()
    digest = QCryptographicHash.hash(path, QCryptographicHash.Algorithm.Sha256)
    return f"hearth-{digest.toHex().toStdString()[:16]}"


def _pass_on_soon(folder: Path, wish: Wish) -> bool:
    """To a window that may be starting only now; whether it was heard."""
    until = time.monotonic() + _PATIENCE_S
    while not pass_on(folder, wish):
        if time.monotonic() > until:
            return False
        time.sleep(_PAUSE_S)
    return True


def pass_on(folder: Path, wish: Wish) -> bool:
    """Have the window of this folder fulfil a wish; whether there is one."""
    from PySide6.QtNetwork import QLocalSocket

    connection = QLocalSocket()
    connection.connectToServer(server_name(folder))
    if not connection.waitForConnected(_WAIT_MS):
        return False
    connection.write(wish.to_line())
    connection.disconnectFromServer()
    if connection.state() is not QLocalSocket.LocalSocketState.UnconnectedState:
        connection.waitForDisconnected(_WAIT_MS)
    return True
