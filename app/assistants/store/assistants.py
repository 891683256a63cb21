"""The user's assistants and presets in the database."""

from __future__ import annotations

from app.assistants.values.assistants import Assistant, Preset
from app.base.db import Database
from app.base.records import from_row, insert_statement, to_row, upsert_clause


class AssistantStore:
    """The tables of assistants and presets. Each method is a transaction, safe from any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def assistants(self) -> list[Assistant]:
        """Return the assistants in the order in which they were made."""
        with self._database.read() as db:
            rows = db.execute("SELECT * FROM assistants ORDER BY position, rowid").fetchall()
        return [from_row(Assistant, row) for row in rows]

    def assistant(self, assistant_id: str | None) -> Assistant | None:
        """Return the assistant with this id; None if there is none."""
        with self._database.read() as db:
            row = db.execute("SELECT * FROM assistants WHERE id = ?", (assistant_id,)).fetchone()
        return from_row(Assistant, row) if row else None

    def save(self, assistant: Assistant) -> None:
        """Save an assistant; a new one is added at the end, an existing one keeps its place."""
        with self._database.write() as db:
            db.execute(_save_statement("assistants", Assistant), to_row(assistant))

    def remove(self, assistant_id: str) -> None:
        """Remove an assistant; its chats stay, and use the settings in place of its values."""
        with self._database.write() as db:
            db.execute("DELETE FROM assistants WHERE id = ?", (assistant_id,))

    def presets(self) -> list[Preset]:
        """Return the presets that the user made."""
        with self._database.read() as db:
            rows = db.execute("SELECT * FROM presets ORDER BY position, rowid").fetchall()
        return [from_row(Preset, row) for row in rows]

    def save_preset(self, preset: Preset) -> None:
        """Save a preset; a new one is added at the end, an existing one keeps its place."""
        with self._database.write() as db:
            db.execute(_save_statement("presets", Preset), to_row(preset))

    def remove_preset(self, preset_id: str) -> None:
        """Delete a preset."""
        with self._database.write() as db:
            db.execute("DELETE FROM presets WHERE id = ?", (preset_id,))


def _save_statement(table: str, kind: type[Assistant | Preset]) -> str:
    """Return the statement that saves a record; a new one is added at the end of the table."""
    position = f"(SELECT COALESCE(MAX(position), 0) + 1 FROM {table})"  # noqa: S608  our own words
    return insert_statement(table, kind, position=position) + upsert_clause(kind)
