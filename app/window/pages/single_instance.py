"""One window for each data folder: a second start brings the first one to the front.

Who starts again leaves a wish, as a file, in a folder that the window watches while it is open.
Nothing of Qt's network library is needed for that.
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

if TYPE_CHECKING:
    from PySide6.QtCore import QFileSystemWatcher

_PATIENCE_S = 10.0
"""Seconds for which a second start waits for a first one that is not ready yet, or is closing."""
_PAUSE_S = 0.1
_TAKEN_S = 2.0
"""Within so many seconds a window takes a wish; where Qt has to look by itself, it does so once a
second."""
_LOOK_S = 0.01
LOCK = "window.lock"


class SingleInstance(QObject):
    """Holds the folder's lock until `close`; a process that died does not hold it.

    asked(wish): Hearth was started again for the same folder, for what the `LaunchRequest` says.
    """

    asked = Signal(object)

    def __init__(
        self, folder: Path, wish: LaunchRequest | None = None, parent: QObject | None = None
    ) -> None:
        """Become the one window. Raises AlreadyOpen, after asking the open one for the wish.

        One that is closing is waited for: it may still have to end what it had started. Where no
        lock can be written, no window can write either: then it is open without one, for reading.
        """
        super().__init__(parent)
        self._folder = folder
        self._lock = QLockFile(str(folder / LOCK))
        # However long the window is open, its lock only ends with its process.
        self._lock.setStaleLockTime(0)
        self._watch: QFileSystemWatcher | None = None
        until = time.monotonic() + _PATIENCE_S
        while not self._take_lock() and self._lock.error() == QLockFile.LockError.LockFailedError:
            if pass_on(folder, wish or LaunchRequest()):
                raise _already_open("Its window has been brought to the front.")
            if time.monotonic() > until:
                raise _already_open(f"Another Hearth uses the data folder {folder}.")
            time.sleep(_PAUSE_S)

    def listen(self) -> None:
        """Hear of further starts, which wait some seconds for that."""
        from PySide6.QtCore import QFileSystemWatcher

        place = _load_options(self._folder)
        shutil.rmtree(place, ignore_errors=True)  # of a process that died
        try:
            place.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            import logging

            logging.getLogger(__name__).warning("Further starts are not heard of: %s", error)
            return
        self._watch = QFileSystemWatcher([str(place)], self)
        self._watch.directoryChanged.connect(self._hear)

    def turn_away(self) -> None:
        """Hear of no further start: it gets the folder when this one has ended."""
        if self._watch is not None:
            place = _load_options(self._folder)
            self._watch.removePath(str(place))
            self._watch.deleteLater()
            self._watch = None
            shutil.rmtree(place, ignore_errors=True)

    def close(self) -> None:
        self.turn_away()
        self._lock.unlock()

    def _take_lock(self) -> bool:
        if self._lock.tryLock(0):
            return True
        # In a container every start may have the same process number: then the lock is an old
        # one of ours that Qt takes for that of a living process.
        if _owner(self._lock) == os.getpid() and self._lock.removeStaleLockFile():
            return self._lock.tryLock(0)
        return False

    def _hear(self) -> None:
        for left in sorted(_load_options(self._folder).glob("*.wish")):
            try:
                line = left.read_bytes()
                left.unlink()
            except FileNotFoundError:
                continue  # who left it has given up
            self.asked.emit(LaunchRequest.from_line(line))


def _owner(lock: QLockFile) -> int:
    """Return the process that holds a lock; 0 where nobody does, or it does not say."""
    pid, _host, _name = lock.getLockInfo()
    return int(pid)


def _already_open(why: str) -> AlreadyOpen:
    return AlreadyOpen("Hearth is already open.", why, "Go on in that window, or close it first.")


def pass_on(folder: Path, wish: LaunchRequest) -> bool:
    """Have the window of this folder fulfil a wish; whether there is one."""
    give_way(_owner(QLockFile(str(folder / LOCK))))
    place = _load_options(folder)
    left = place / f"{time.time_ns()}-{os.getpid()}.wish"
    partial = left.with_suffix(".part")
    try:
        partial.touch(mode=0o600)
        partial.write_bytes(wish.to_line())
        partial.rename(left)
    except OSError:
        return False  # nobody listens
    until = time.monotonic() + _TAKEN_S
    while left.exists():
        if time.monotonic() > until:
            try:
                left.unlink()
            except FileNotFoundError:
                return True  # taken in the last moment
            return False
        # The window may be one of this process.
        QCoreApplication.processEvents()
        time.sleep(_LOOK_S)
    return True


def _load_options(folder: Path) -> Path:
    return folder / "wishes"
