"""The prompt library in the database."""

from __future__ import annotations

from collections.abc import Iterable

from app.assistants.values.prompts import SavedPrompt
from app.base.db import Database
from app.base.records import from_row, insert_statement, to_row, upsert_clause


class PromptStore:
    """The table of prompts. Each method is one transaction, safe from any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def prompts(self) -> list[SavedPrompt]:
        """Return the prompts, sorted by name."""
        with self._database.read() as db:
            rows = db.execute("SELECT * FROM prompts ORDER BY name COLLATE NOCASE, id").fetchall()
        return [from_row(SavedPrompt, row) for row in rows]

    def save(self, prompts: Iterable[SavedPrompt]) -> None:
        """Save prompts; replace those with the same ids."""
        with self._database.write() as db:
            db.executemany(
                insert_statement("prompts", SavedPrompt, position="0") + upsert_clause(SavedPrompt),
                [to_row(prompt) for prompt in prompts],
            )

    def remove(self, prompt_id: str) -> None:
        """Delete a prompt."""
        with self._database.write() as db:
            db.execute("DELETE FROM prompts WHERE id = ?", (prompt_id,))
