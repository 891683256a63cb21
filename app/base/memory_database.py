"""A database in memory only, for data that must never be on a disk."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from app.base.db import MEMORY, Database


class MemoryDatabase(Database):
    """A database in memory with the same tables as the one on disk; it is lost on `close` or exit.

    Its single connection serves all threads, one after the other. Deleted data is overwritten.
    """

    def __init__(self) -> None:
        self._one_thread = threading.RLock()
        self._single: sqlite3.Connection | None = None
        super().__init__(MEMORY)

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Lend the connection for reading, to one thread at a time."""
        with self._one_thread, super().read() as db:
            yield db

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction, for one thread at a time."""
        with self._one_thread, super().write() as db:
            yield db

    def close(self) -> None:
        """Close the connection; all data is lost."""
        with self._one_thread:
            super().close()

    def _connection(self) -> sqlite3.Connection:
        if self._single is None:
            self._single = self._open()
            self._connections.append((lambda: True, self._single))
        return self._single

    def _open(self) -> sqlite3.Connection:
        connection = super()._open()
        # Without this, a large sort would write a part of the data to a file.
        connection.execute("PRAGMA temp_store=MEMORY")
        return connection

    def _version_on_disk(self) -> int:
        return 0
