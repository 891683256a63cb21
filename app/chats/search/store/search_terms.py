"""The words of the index, which find a message by a part of a word: "bahn" in "Autobahn".

An index of the parts of all messages would be several times their size. This one is small, as it
contains each word once.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable

from app.search.words import Term

_ADD = "INSERT INTO inside (rowid, term) VALUES (new.id, new.term)"
_REMOVE = "INSERT INTO inside (inside, rowid, term) VALUES ('delete', old.id, old.term)"
_INSIDE = "fts5(term, content='terms', content_rowid='id', tokenize='trigram')"
TABLES = (
    "CREATE TABLE terms (id INTEGER PRIMARY KEY, term TEXT NOT NULL UNIQUE) STRICT",
    f"CREATE VIRTUAL TABLE inside USING {_INSIDE}",
    f"CREATE TRIGGER term_added AFTER INSERT ON terms BEGIN {_ADD}; END",
    f"CREATE TRIGGER term_removed AFTER DELETE ON terms BEGIN {_REMOVE}; END",
)

_TERM = re.compile(r"(?<!\w)[^\W\d_]{4,40}(?!\w)")
"""A word whose parts are worth searching: no number, and no pair of letters."""
_SHORTEST = 3
"""Least number of letters that the index can search for."""
_MOST = 40


def note_terms(db: sqlite3.Connection, texts: Iterable[str]) -> None:
    """Add the words of texts that are folded as in the index."""
    db.executemany(
        "INSERT OR IGNORE INTO terms (term) VALUES (?)", [(term,) for term in _terms(texts)]
    )


def drop_terms(db: sqlite3.Connection, texts: Iterable[str]) -> None:
    """Remove the words that were only in these texts, which have left the index."""
    is_used = (
        "SELECT EXISTS (SELECT 1 FROM messages WHERE messages MATCH ?1)"
        " OR EXISTS (SELECT 1 FROM chats WHERE chats MATCH ?1)"
    )
    for term in _terms(texts):
        if not db.execute(is_used, (f'"{term}"',)).fetchone()[0]:
            db.execute("DELETE FROM terms WHERE term = ?", (term,))


def terms_with(db: sqlite3.Connection, term: Term) -> list[str]:
    """Find the longer words that contain the term after their beginning; none for several words."""
    if len(term.words) != 1 or term.unspaced or len(term.words[0]) < _SHORTEST:
        return []
    part = term.words[0]
    rows = db.execute(
        "SELECT term FROM inside WHERE inside MATCH ? AND substr(term, 1, ?) <> ? LIMIT ?",
        (f'"{part}"', len(part), part, _MOST),
    )
    return [row[0] for row in rows]


def _terms(texts: Iterable[str]) -> list[str]:
    return sorted({term for text in texts for term in _TERM.findall(text)})
