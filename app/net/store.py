"""The ledger: every connection that left this computer, or that was refused while offline."""

from __future__ import annotations

from app.base.db import Database
from app.base.records import from_row, insert_statement, to_row
from app.net.values.connections import LoggedConnection

MOST_CONNECTIONS = 20_000
"""The number of latest connections that are kept."""


class Ledger:
    """The table of connections. Each method is one transaction, safe from any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, connection: LoggedConnection) -> None:
        """Add a connection, and drop the oldest ones beyond KEPT."""
        with self._database.write() as db:
            db.execute(insert_statement("connections", LoggedConnection), to_row(connection))
            db.execute(
                "DELETE FROM connections WHERE id <= (SELECT max(id) FROM connections) - ?",
                (MOST_CONNECTIONS,),
            )

    def connections(self, limit: int) -> list[LoggedConnection]:
        """Return the latest connections, newest first."""
        with self._database.read() as db:
            rows = db.execute(
                "SELECT * FROM connections ORDER BY id DESC LIMIT ?", (limit,)
            ).fetchall()
        return [from_row(LoggedConnection, row) for row in rows]

    def clear(self) -> int:
        """Delete all connections; return their number."""
        with self._database.write() as db:
            return db.execute("DELETE FROM connections").rowcount
