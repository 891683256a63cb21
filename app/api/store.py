"""The tables of the server's clients and of their requests."""

from __future__ import annotations

import sqlite3
from typing import Final

from app.api.values import ApiClient, ApiUse
from app.base.db import Database
from app.base.errors import ClientInvalid
from app.base.records import from_row, insert_statement, to_row
from engines.sentences import N_

KEEP_S: Final = 30 * 24 * 3600.0
"""How long a use is stored, in seconds."""

MOST_USES: Final = 50_000
"""Maximum number of stored uses, however recent they are."""


class ApiClientStore:
    """The tables of clients and uses. Each method is one transaction, safe from any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def clients(self) -> tuple[ApiClient, ...]:
        """Return the clients, sorted by name."""
        with self._database.read() as db:
            rows = db.execute("SELECT * FROM api_clients ORDER BY name COLLATE NOCASE").fetchall()
        return tuple(from_row(ApiClient, row) for row in rows)

    def add(self, client: ApiClient) -> None:
        """Add a client. Raises ClientInvalid if another one has the same name."""
        try:
            with self._database.write() as db:
                db.execute(insert_statement("api_clients", ApiClient), to_row(client))
        except sqlite3.IntegrityError as error:
            raise ClientInvalid(
                N_("There is a program “{name}” already.", name=client.name),
                N_("Each program needs its own name, so that you can tell who asked."),
                N_("Choose another name, or remove that one first."),
            ) from error

    def remove(self, client_id: str) -> None:
        """Delete a client; its uses stay."""
        with self._database.write() as db:
            db.execute("DELETE FROM api_clients WHERE id = ?", (client_id,))

    def add_use(self, use: ApiUse) -> None:
        """Store a use, and delete those that are too old or too many."""
        with self._database.write() as db:
            db.execute(insert_statement("api_uses", ApiUse), to_row(use))
            db.execute(
                "DELETE FROM api_uses WHERE started < ? "
                "OR id <= (SELECT max(id) FROM api_uses) - ?",
                (use.started - KEEP_S, MOST_USES),
            )

    def uses(self, limit: int) -> list[ApiUse]:
        """Return the last uses, the newest first."""
        with self._database.read() as db:
            rows = db.execute(
                "SELECT * FROM api_uses ORDER BY id DESC LIMIT ?", (limit,)
            ).fetchall()
        return [from_row(ApiUse, row) for row in rows]

    def clear_uses(self) -> int:
        """Delete all uses and return how many there were."""
        with self._database.write() as db:
            return db.execute("DELETE FROM api_uses").rowcount
