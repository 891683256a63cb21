"""The search index, which follows the changes of the chats in small steps."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.base.db import MEMORY, Database
from app.base.index_file import IndexFile, IndexKind
from app.chats.search.store.search_terms import TABLES, drop_terms, note_terms
from app.search.words import words_of
from engines.sentences import N_

LAYOUT = 3
"""Version of the index; increase it when the tables or the words in them change."""

_WORDS = "USING fts5(words, parts, tokenize='ascii', prefix='2 3', columnsize=0)"

_KIND = IndexKind(
    layout=LAYOUT,
    tables=(
        "CREATE TABLE state (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT",
        f"CREATE VIRTUAL TABLE messages {_WORDS}",
        f"CREATE VIRTUAL TABLE chats {_WORDS}",
        *TABLES,
    ),
    word_tables=("messages", "chats", "inside"),
    failure=N_("The chats could not be searched."),
    rebuilt=N_("The search index was damaged and is being rebuilt; your chats are safe."),
    in_memory=True,
)

Row = tuple[int, str]
"""The rowid of a message or a chat, and the text it is found by."""

_AT_ONCE = 250
_MESSAGES = "SELECT rowid, text FROM messages WHERE state <> 'streaming' AND deleted IS NULL AND "
_CHATS = "SELECT rowid, title FROM chats WHERE "
_NEWEST = {
    "messages": "SELECT max(rowid) FROM messages",
    "chats": "SELECT max(rowid) FROM chats",
}
_CHANGE = {
    "messages": (
        "SELECT words FROM messages WHERE rowid = ?",
        "DELETE FROM messages WHERE rowid = ?",
        "INSERT INTO messages (rowid, words, parts) VALUES (?, ?, ?)",
    ),
    "chats": (
        "SELECT words FROM chats WHERE rowid = ?",
        "DELETE FROM chats WHERE rowid = ?",
        "INSERT INTO chats (rowid, words, parts) VALUES (?, ?, ?)",
    ),
}


@dataclass(frozen=True)
class SearchBacklog:
    """The progress of the index.

    Attributes:
        changes: Number of changes still to be indexed.
        share: How much of the older texts is indexed, 0.0 to 1.0. Older texts are those from before
            the index existed; the newest of them are indexed first.
    """

    changes: int
    share: float


class SearchIndex:
    """The index of all chats, usable from any thread; call `step` until nothing is left.

    Triggers in the database log every change of the chats, including those by other processes.
    Texts from before the index existed are indexed from the newest on.
    """

    def __init__(self, path: Path, database: Database, *, only_read: bool = False) -> None:
        """Open or create the index.

        Args:
            only_read: Keep the index in memory because nothing can be written to disk.
        """
        self.file = IndexFile(MEMORY if only_read else path, _KIND)
        self._database = database
        self._only_read = only_read
        self._check()

    def backlog(self) -> SearchBacklog:
        """Return how far the index is behind the chats."""
        state = self._check()
        with self._database.read() as chats:
            last = chats.execute("SELECT max(number) FROM changes").fetchone()[0] or 0
        first = state["first_messages"] + state["first_chats"]
        left = state["messages"] + state["chats"]
        share = 1.0 if first == 0 else 1.0 - left / first
        return SearchBacklog(max(0, last - state["changes"]), share)

    def step(self) -> bool:
        """Index a few hundred more texts; return whether there was anything to do."""
        self._check()
        return (
            self._index_changes()
            or self._index_older("chats")
            or self._index_older("messages")
            or self._forget_words()
        )

    def close(self) -> None:
        """Close the database of the index."""
        self.file.close()

    def forget(self) -> None:
        """Start the index anew: the chats were replaced, or deleted text must leave no trace."""
        with self.file.write() as db:
            self._begin(db)

    def _check(self) -> dict[str, int]:
        """Return the index's state, after starting it anew if it is not of these chats."""
        with self.file.read() as db:
            state = _state(db)
        if (self._only_read and state) or _belongs(state, self._database):
            return state
        with self.file.write() as db:
            if self._only_read or not _belongs(_state(db), self._database):
                self._begin(db)
            return _state(db)

    def _begin(self, db: sqlite3.Connection) -> None:
        """Empty the index, and record from where on older texts are to be indexed."""
        import secrets

        history = secrets.randbits(62)
        with self._database.read() if self._only_read else self._database.write() as chats:
            last = _last_change(chats)
            tops = {
                table: chats.execute(newest).fetchone()[0] or 0 for table, newest in _NEWEST.items()
            }
            if not self._only_read:
                chats.execute("DELETE FROM changes")
                chats.execute(
                    "INSERT OR REPLACE INTO kept (name, value) VALUES ('history', ?)",
                    (str(history),),
                )
        for table in ("state", "messages", "chats", "inside", "terms"):
            db.execute(f"DROP TABLE {table}")
        _KIND.make(db)
        for table, rowid in tops.items():
            _note(db, table, rowid)
            _note(db, f"first_{table}", rowid)
        _note(db, "history", history)
        _note(db, "changes", last)

    def _index_changes(self) -> bool:
        with self.file.write() as db:
            done = _state(db)["changes"]
            with self._database.read() as chats:
                log = chats.execute(
                    "SELECT number, kind, place FROM changes WHERE number > ?"
                    " ORDER BY number LIMIT ?",
                    (done, _AT_ONCE),
                ).fetchall()
                if not log:
                    return False
                places = {
                    kind: sorted({row["place"] for row in log if row["kind"] == kind})
                    for kind in ("message", "chat")
                }
                texts = _at(chats, _MESSAGES, places["message"])
                titles = _at(chats, _CHATS, places["chat"])
            _replace(db, "messages", places["message"], texts)
            _replace(db, "chats", places["chat"], titles)
            _note(db, "changes", log[-1]["number"])
        if self._only_read:
            return True
        with self._database.write() as chats:
            chats.execute("DELETE FROM changes WHERE number <= ?", (log[-1]["number"],))
        return True

    def _index_older(self, table: str) -> bool:
        """Index the next older texts.

        They are inserted by ascending rowid, because the index then needs no merge for each.
        """
        with self.file.write() as db:
            top = _state(db)[table]
            if top == 0:
                return False
            select = _MESSAGES if table == "messages" else _CHATS
            with self._database.read() as chats:
                rows = chats.execute(
                    f"{select} rowid <= ? ORDER BY rowid DESC LIMIT ?", (top, _AT_ONCE)
                ).fetchall()
            found = [(row[0], row[1]) for row in reversed(rows)]
            _replace(db, table, [rowid for rowid, _ in found], found)
            _note(db, table, found[0][0] - 1 if found else 0)
        return True

    def _forget_words(self) -> bool:
        """Erase removed words from the file, a part at a time; return whether any are left."""
        with self.file.read() as db:
            if not _state(db).get("removed"):
                return False
        if self.file.merge():
            return True
        with self.file.write() as db:
            _note(db, "removed", 0)
        return False


def _belongs(state: dict[str, int], database: Database) -> bool:
    """Return whether the index was made of these chats; False if a copy has replaced them."""
    with database.read() as chats:
        row = chats.execute("SELECT value FROM kept WHERE name = 'history'").fetchone()
        return (
            row is not None
            and int(row["value"]) == state.get("history")
            and state["changes"] <= _last_change(chats)
        )


def _last_change(chats: sqlite3.Connection) -> int:
    """Return the number of the last change ever logged."""
    row = chats.execute("SELECT seq FROM sqlite_sequence WHERE name = 'changes'").fetchone()
    return int(row[0]) if row else 0


def _state(db: sqlite3.Connection) -> dict[str, int]:
    return {row[0]: row[1] for row in db.execute("SELECT name, value FROM state")}


def _note(db: sqlite3.Connection, name: str, value: int) -> None:
    db.execute("INSERT OR REPLACE INTO state (name, value) VALUES (?, ?)", (name, value))


def _at(chats: sqlite3.Connection, select: str, rowids: Sequence[int]) -> list[Row]:
    marks = ", ".join("?" * len(rowids))
    rows = chats.execute(f"{select} rowid IN ({marks}) ORDER BY rowid", rowids)
    return [(row[0], row[1]) for row in rows]


def _replace(
    db: sqlite3.Connection, table: str, rowids: Sequence[int], texts: Iterable[Row]
) -> None:
    """Replace indexed texts.

    Args:
        rowids: Rows that were changed or removed.
        texts: The current texts of those that still exist.
    """
    select, remove, insert = _CHANGE[table]
    old = [row[0] for rowid in rowids for row in db.execute(select, (rowid,))]
    new = [(rowid, *words_of(text)) for rowid, text in texts]
    db.executemany(remove, [(rowid,) for rowid in rowids])
    db.executemany(insert, new)
    note_terms(db, (words for _, words, _ in new))
    drop_terms(db, old)
    if old:
        _note(db, "removed", 1)
