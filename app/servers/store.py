"""The profiles of other servers in the database, without their keys."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict
from pathlib import Path

from app.base.db import Database
from app.base.errors import ServerInvalid
from app.servers.values import ServedModel, ServerInfo, ServerProfile
from engines.sentences import N_


class ServerStore:
    """The table of servers. Each method is one transaction, safe from any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def profiles(self) -> list[ServerProfile]:
        """Return the profiles by name."""
        with self._database.read() as db:
            rows = db.execute("SELECT * FROM servers ORDER BY name COLLATE NOCASE").fetchall()
        return [_profile(row) for row in rows]

    def save(self, profile: ServerProfile) -> None:
        """Save a new profile, or replace the one with this id.

        The result of the server's last test is dropped if the address has changed. Raises
        ServerInvalid if another server has the name.
        """
        values = (profile.id, profile.name, profile.address)
        files = (_text(profile.ca), _text(profile.certificate))
        try:
            with self._database.write() as db:
                db.execute(
                    "INSERT INTO servers (id, name, address, ca, certificate)"
                    " VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET"
                    " name = excluded.name, address = excluded.address, ca = excluded.ca,"
                    " certificate = excluded.certificate,"
                    " facts = CASE WHEN address = excluded.address THEN facts END",
                    (*values, *files),
                )
        except sqlite3.IntegrityError as error:
            raise ServerInvalid(
                N_("There is a server “{name}” already.", name=profile.name),
                N_("Models are named after their server, so each has a name of its own."),
                N_("Choose another name, or change that server."),
            ) from error

    def remove(self, profile_id: str) -> None:
        """Delete a profile and what was found out about its server."""
        with self._database.write() as db:
            db.execute("DELETE FROM servers WHERE id = ?", (profile_id,))

    def info(self, profile_id: str) -> ServerInfo | None:
        """Return the result of the server's last test; None if it was never tested."""
        with self._database.read() as db:
            row = db.execute("SELECT facts FROM servers WHERE id = ?", (profile_id,)).fetchone()
        if row is None or row["facts"] is None:
            return None
        values = json.loads(row["facts"])
        models = tuple(ServedModel(**model) for model in values.pop("models"))
        return ServerInfo(**values, models=models)

    def save_info(self, profile_id: str, info: ServerInfo) -> None:
        """Store the result of a server's test."""
        with self._database.write() as db:
            text = json.dumps(asdict(info), ensure_ascii=False)
            db.execute("UPDATE servers SET facts = ? WHERE id = ?", (text, profile_id))


def _profile(row: sqlite3.Row) -> ServerProfile:
    return ServerProfile(
        row["id"], row["name"], row["address"], _path(row["ca"]), _path(row["certificate"])
    )


def _path(text: str | None) -> Path | None:
    return Path(text) if text else None


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)
