"""One window for each data folder: a second start brings the first window to the front.

The second start leaves its request as a file in a folder that the open window watches. This needs
nothing from Qt's network library.
"""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QLockFile, QObject, Signal

from app.base.errors import AlreadyOpen
from app.window.presenters.foreground import give_way
from app.window.values.launch_request import LaunchRequest
from engines.sentences import N_

if TYPE_CHECKING:
    from PySide6.QtCore import QFileSystemWatcher

_PATIENCE_S = 10.0
"""How long a second start waits for a first one that is still starting, or closing."""
_PAUSE_S = 0.1
TAKEN_S = 2.0
"""How long a window has to take a request. Where Qt polls the folder, it does so each second."""
_LOOK_S = 0.01
LOCK = "window.lock"


class SingleInstance(QObject):
    """The lock on a data folder, held until `close` or until the process dies.

    Signals:
        requested(request): Hearth was started again for the same folder, with this `LaunchRequest`.
    """

    requested = Signal(object)

    def __init__(
        self, folder: Path, request: LaunchRequest | None = None, parent: QObject | None = None
    ) -> None:
        """Take the lock, or pass the request to the window that holds it.

        Wait for a window that is closing, as it may still have to end child processes. Where no
        lock file can be written, no other window can write either: then open without a lock, for
        reading.

        Raises:
            AlreadyOpen: Another window uses the folder.
        """
        super().__init__(parent)
        self._folder = folder
        self._lock = QLockFile(str(folder / LOCK))
        # Age must not make the lock stale: the window can be open for weeks.
        self._lock.setStaleLockTime(0)
        self._watch: QFileSystemWatcher | None = None
        until = time.monotonic() + _PATIENCE_S
        while not self._take_lock() and self._lock.error() == QLockFile.LockError.LockFailedError:
            if pass_on(folder, request or LaunchRequest()):
                raise _already_open(N_("Its window has been brought to the front."))
            if time.monotonic() > until:
                raise _already_open(
                    N_("Another Hearth uses the data folder {folder}.", folder=folder)
                )
            time.sleep(_PAUSE_S)

    def listen(self) -> None:
        """Begin to receive the requests of further starts, which wait some seconds for that."""
        from PySide6.QtCore import QFileSystemWatcher

        place = _requests_folder(self._folder)
        for left in (place, self._folder / "wishes"):  # by a process that died; its old name
            shutil.rmtree(left, ignore_errors=True)
        try:
            place.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            import logging

            logging.getLogger(__name__).warning(
                "Requests of further starts cannot be received: %s", error
            )
            return
        self._watch = QFileSystemWatcher([str(place)], self)
        self._watch.directoryChanged.connect(self._receive)

    def stop_listening(self) -> None:
        """Stop receiving requests; a further start gets the folder after this process ends."""
        if self._watch is not None:
            place = _requests_folder(self._folder)
            self._watch.removePath(str(place))
            self._watch.deleteLater()
            self._watch = None
            shutil.rmtree(place, ignore_errors=True)

    def close(self) -> None:
        """Stop receiving requests, and release the lock."""
        self.stop_listening()
        self._lock.unlock()

    def _take_lock(self) -> bool:
        if self._lock.tryLock(0):
            return True
        # In a container every start can have the same process id. Then the lock is an old one of
        # ours that Qt believes to be held.
        if _owner(self._lock) == os.getpid() and self._lock.removeStaleLockFile():
            return self._lock.tryLock(0)
        return False

    def _receive(self) -> None:
        for request_file in sorted(_requests_folder(self._folder).glob("*.request")):
            try:
                line = request_file.read_bytes()
                request_file.unlink()
            except FileNotFoundError:
                continue  # its sender has given up
            self.requested.emit(LaunchRequest.from_line(line))


def _owner(lock: QLockFile) -> int:
    """Return the id of the process that holds a lock; 0 if nobody does or the lock does not say."""
    pid, _host, _name = lock.getLockInfo()
    return int(pid)


def _already_open(why: str) -> AlreadyOpen:
    return AlreadyOpen(
        N_("Hearth is already open."), why, N_("Go on in that window, or close it first.")
    )


def pass_on(folder: Path, request: LaunchRequest) -> bool:
    """Pass a request to the window that has this folder open; return whether one took it."""
    give_way(_owner(QLockFile(str(folder / LOCK))))
    folder_of_requests = _requests_folder(folder)
    request_file = folder_of_requests / f"{time.time_ns()}-{os.getpid()}.request"
    partial_file = request_file.with_suffix(".part")
    try:
        partial_file.touch(mode=0o600)
        partial_file.write_bytes(request.to_line())
        partial_file.rename(request_file)
    except OSError:
        return False  # no window is listening
    until = time.monotonic() + TAKEN_S
    while request_file.exists():
        if time.monotonic() > until:
            try:
                request_file.unlink()
            except FileNotFoundError:
                return True  # taken at the last moment
            return False
        # The window can belong to this process.
        QCoreApplication.processEvents()
        time.sleep(_LOOK_S)
    return True


def _requests_folder(folder: Path) -> Path:
    return folder / "requests"
