"""The search for chats and messages by their words."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import islice

from app.base.db import Database
from app.chats.history.store.rows import chat_of
from app.chats.search.store.search_index import SearchIndex
from app.chats.search.store.search_terms import terms_with
from app.chats.search.values.hits import Hit
from app.chats.search.values.snippets import snippet
from app.search.words import Term, match_of, parse

_AT_ONCE = 200
_TITLES = 10
"""Most hits by title, so that hits in messages are visible too."""
_A_CHAT = 3
"""Most hits in one chat; the others are found in the chat itself."""

_FOUND = "FROM {table} WHERE {table} MATCH ? ORDER BY rowid DESC"
_IN_CHATS = """SELECT * FROM chats WHERE deleted IS NULL AND rowid IN ({marks})
    ORDER BY rowid DESC"""
_IN_MESSAGES = """SELECT m.id AS message_id, m.text AS message_text, m.parent_id, c.*
    FROM messages m JOIN chats c ON c.id = m.chat_id
    WHERE c.deleted IS NULL AND m.deleted IS NULL AND m.rowid IN ({marks})
    ORDER BY m.rowid DESC"""

_ONE_BEGINNING = """SELECT chat_id FROM messages
    WHERE chat_id IN ({marks}) AND +parent_id IS NULL AND deleted IS NULL
    GROUP BY chat_id HAVING count(*) = 1"""
"""Finds the chats in a list whose first message was not edited.

The plus keeps SQLite from reading the first messages of all chats.
"""


class Search:
    """Finds titles, then messages, the newest first; never in the trash."""

    def __init__(self, index: SearchIndex, database: Database) -> None:
        self._index = index
        self._database = database

    def find(self, words: str, limit: int) -> list[Hit]:
        """Find titles and messages that contain all the words; any text is allowed.

        See `app.search.words` for how words are read. Texts that contain them only as parts of
        longer words come last.
        """
        terms = parse(words)
        if not terms:
            return []
        with self._index.file.read() as db:
            hits = self._hits(db, match_of(terms), terms, limit)
            if len(hits) < limit and (wider := _wider(db, terms)):
                known = {(hit.chat.id, hit.message_id) for hit in hits}
                more = self._hits(db, wider, terms, limit)
                hits += [hit for hit in more if (hit.chat.id, hit.message_id) not in known]
        return hits[:limit]

    def _hits(
        self, db: sqlite3.Connection, match: str, terms: tuple[Term, ...], limit: int
    ) -> list[Hit]:
        hits = self._titles(db, match, terms, min(limit, _TITLES))
        titled = self._titled(hits)
        in_chat: dict[str, int] = {}
        for row in self._rows(db, "messages", _IN_MESSAGES, match):
            if len(hits) >= limit:
                break
            if row["parent_id"] is None and row["id"] in titled:
                continue
            in_chat[row["id"]] = in_chat.get(row["id"], 0) + 1
            if in_chat[row["id"]] <= _A_CHAT:
                text, marks = snippet(row["message_text"], terms)
                hits.append(Hit(chat_of(row), row["message_id"], text, marks))
        return hits

    def _titles(
        self, db: sqlite3.Connection, match: str, terms: tuple[Term, ...], limit: int
    ) -> list[Hit]:
        rows = islice(self._rows(db, "chats", _IN_CHATS, match), limit)
        hits = [Hit(chat_of(row), None, *snippet(row["title"], terms)) for row in rows]
        return sorted(hits, key=lambda hit: hit.chat.updated, reverse=True)

    def _titled(self, hits: list[Hit]) -> set[str]:
        """Return the chats whose title repeats their first message, so that one hit is enough.

        Chats whose first message was edited are excluded: their title can be of a version that is
        not shown.
        """
        ids = [hit.chat.id for hit in hits if hit.chat.titled_by == "text"]
        marks = ", ".join("?" * len(ids))
        with self._database.read() as chats:
            rows = chats.execute(_ONE_BEGINNING.format(marks=marks), ids).fetchall()
        return {row["chat_id"] for row in rows}

    def _rows(
        self, db: sqlite3.Connection, table: str, select: str, match: str
    ) -> Iterator[sqlite3.Row]:
        """Yield rows found in the index, fetching a few at a time as they are needed."""
        found = db.execute(f"SELECT rowid {_FOUND.format(table=table)}", (match,))
        while rowids := [row[0] for row in found.fetchmany(_AT_ONCE)]:
            marks = ", ".join("?" * len(rowids))
            with self._database.read() as chats:
                yield from chats.execute(select.format(marks=marks), rowids).fetchall()


def _wider(db: sqlite3.Connection, terms: tuple[Term, ...]) -> str | None:
    """Widen a query to longer words that contain its terms; return None if there are none."""
    longer = [terms_with(db, term) for term in terms]
    if not any(longer):
        return None
    either = [
        " OR ".join((match_of((term,)), *(f'"{word}"' for word in words)))
        for term, words in zip(terms, longer, strict=True)
    ]
    return " AND ".join(f"({match})" for match in either)
