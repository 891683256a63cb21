"""The ledger of connections, for the window."""

from __future__ import annotations

from collections.abc import Callable

from app.kit.tasks.tasks import STORE, Failed, Tasks
from app.net.store import MOST_CONNECTIONS, Ledger
from app.net.values.connections import LoggedConnection


class Connections:
    """The ledger of connections, read and cleared in the background."""

    def __init__(self, ledger: Ledger, tasks: Tasks) -> None:
        self._ledger = ledger
        self._tasks = tasks
        self._shown: list[LoggedConnection] | None = None

    def look(self, done: Callable[[list[LoggedConnection]], object], failed: Failed) -> None:
        """Read the connections, the newest first; call `done` only if they have changed."""
        shown = self._shown

        def work() -> list[LoggedConnection] | None:
            newest = self._ledger.connections(1)
            if shown is not None and newest == shown[:1]:
                return None
            return self._ledger.connections(MOST_CONNECTIONS)

        def show(connections: list[LoggedConnection] | None) -> None:
            if connections is not None:
                self._shown = connections
                done(connections)

        self._tasks.run(work, show, failed, on=STORE)

    def clear(self, done: Callable[[], object], failed: Failed) -> None:
        """Delete all connections from the ledger."""

        def cleared(_: int) -> None:
            self._shown = []
            done()

        self._tasks.run(self._ledger.clear, cleared, failed, on=STORE)
