"""The ledger of connections, for the window."""

from __future__ import annotations

from collections.abc import Callable

from app.kit.tasks.tasks import STORE, Failed, Tasks
from app.net.store import KEPT, Ledger
from app.net.values.connections import LoggedConnection


class Connections:
    """The ledger of connections, read and cleared in the background."""

    def __init__(self, ledger: Ledger, tasks: Tasks) -> None:
        self._ledger = ledger
        self._tasks = tasks
        self._known: list[LoggedConnection] | None = None

    def look(self, done: Callable[[list[LoggedConnection]], object], failed: Failed) -> None:
        """Read the connections, the newest first; call `done` only if they have changed."""
        known = self._known

        def work() -> list[LoggedConnection] | None:
            newest = self._ledger.connections(1)
            if known is not None and newest == known[:1]:
                return None
            return self._ledger.connections(KEPT)

        def have(found: list[LoggedConnection] | None) -> None:
            if found is not None:
                self._known = found
                done(found)

        self._tasks.run(work, have, failed, on=STORE)

    def clear(self, done: Callable[[], object], failed: Failed) -> None:
        """Delete all connections from the ledger."""

        def cleared(_: int) -> None:
            self._known = []
            done()

        self._tasks.run(self._ledger.clear, cleared, failed, on=STORE)
