"""The ledger of connections, for the window."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.core.network.connections import LoggedConnection
from app.presenters.tasks import STORE, Tasks
from app.store.ledger import KEPT, Ledger


class Connections(QObject):
    """looked(list of LoggedConnection, the newest first): only when they are others than before."""

    looked = Signal(object)
    failed = Signal(Exception)

    def __init__(self, ledger: Ledger, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._ledger = ledger
        self._tasks = tasks
        self._known: list[LoggedConnection] | None = None

    def look(self) -> None:
        known = self._known

        def work() -> list[LoggedConnection] | None:
            newest = self._ledger.connections(1)
            if known is not None and newest == known[:1]:
                return None
            return self._ledger.connections(KEPT)

        self._tasks.run(work, self._tell, self.failed.emit, on=STORE)

    def clear(self) -> None:
        """Forget all of them."""

        def work() -> list[LoggedConnection]:
            self._ledger.clear()
            return []

        self._tasks.run(work, self._tell, self.failed.emit, on=STORE)

    def _tell(self, found: list[LoggedConnection] | None) -> None:
        if found is not None:
            self._known = found
            self.looked.emit(found)
