"""Full-text search in the passages of documents, for the time of one question.

The index is made in memory by SQLite's FTS5 and forgotten with the question: 500 pages take a
fraction of a second, nothing has to be kept in step, and no word of a deleted file stays anywhere.
"""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from typing import Final

from app.core.documents import Passage
from app.core.knowledge import Ranking

WORDS: Final = "fts5(words, content='', tokenize='unicode61 remove_diacritics 2')"
"""How passages are indexed. The index holds no text: that is where it is kept."""

_WORD: Final = re.compile(r"\w+")
_SHORTEST_STEM: Final = 4
_ENDING: Final = 2
"""Characters that a word may end in otherwise: German and English inflect at the end."""
_MOST_TERMS: Final = 64
_NAMED: Final = 10
"""Passages that may have a name: what is in more of them tells little."""
_LEAST: Final = 1e-6
"""What a word that is in most passages counts for in FTS5's BM25."""

_COMMON: Final = frozenset(
    "a about all also an and any are as at be been but by can could did do does for from had has "
    "have how i if in into is it its me my no not of on or our she he so than that the their them "
    "then there these they this those to was we were what when where which who whom why will with "
    "would you your tell give say says please "
    "aber alle als also am an auch auf aus bei bin bis bitte da das dass dem den der des die dir "
    "doch du ein eine einem einen einer eines er es für gibt hat hatte haben ich ihr im in ist ja "
    "kann kein keine man mein mit nach nicht noch nur ob oder sein seine sich sie sind so über um "
    "und uns unter vom von vor war waren was welche welcher welches wann warum wenn wer werden wie "
    "wird wo wurde wurden zu zum zur".split()
)


def find_passages(passages: Iterable[Passage], question: str, most: int) -> Ranking:
    """Return the numbers of the passages that suit a question best by BM25, the best first.

    passages: in their order, each under a number from 0. Words count by their beginnings, and
    without their accents.
    """
    terms = terms_of(question)
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute(f"CREATE VIRTUAL TABLE passages USING {WORDS}")
        added = db.executemany(
            "INSERT INTO passages (rowid, words) VALUES (?, ?)",
            ((number, passage.text) for number, passage in enumerate(passages)),
        )
        if not terms:
            return []
        rows = db.execute(
            "SELECT rowid, rank FROM passages WHERE passages MATCH ? ORDER BY rank LIMIT ?",
            (" OR ".join(terms), most),
        ).fetchall()
        counted = "SELECT count(*) FROM passages WHERE passages MATCH ?"
        counts = {term: db.execute(counted, (term,)).fetchone()[0] for term in terms}
        named = with_names(db, "passages", question)
    return weighed(rows, counts, added.rowcount, named)


def with_names(db: sqlite3.Connection, table: str, question: str) -> frozenset[int]:
    """Find the few passages that have all that the question names by a number, code or name.

    What stands nowhere is left out. table: of FTS5, with the passages' words.
    """
    matching = f"SELECT rowid FROM {table} WHERE {table} MATCH ?"  # noqa: S608  our own words
    names = [f'"{word.lower()}"' for word in _WORD.findall(question) if _is_name(word)]
    names = names[:_MOST_TERMS]
    there = [name for name in names if db.execute(f"{matching} LIMIT 1", (name,)).fetchone()]
    if not there:
        return frozenset()
    rows = db.execute(f"{matching} LIMIT ?", (" AND ".join(there), _NAMED + 1)).fetchall()
    return frozenset(number for (number,) in rows) if len(rows) <= _NAMED else frozenset()


def _is_name(word: str) -> bool:
    """Tell whether a word looks like a name: 4711, E42, MwSt, DISK_FULL, DiskFull, but not Disk."""
    return any(it.isdigit() or it == "_" for it in word) or word[1:] != word[1:].lower()


def weighed(
    rows: Iterable[Sequence[float]],
    counts: Mapping[str, int],
    passages: int,
    named: Collection[int] = (),
) -> Ranking:
    """Give passages that were found by words their weights: how much they have of the question.

    rows: numbers and ranks of FTS5, the best first. counts: of passages that have a term of the
    query, of so many passages. What would have each term once is 1; what has half of them, by how
    rare they are, a quarter. Terms that are nowhere count as well: the question is about them.
    named: passages that have what the question names; they weigh 1, since no vector knows a name.
    """
    whole = sum(
        (term.count(" OR ") + 1) * max(math.log((passages - it + 0.5) / (it + 0.5)), _LEAST)
        for term, it in counts.items()
    )
    return [
        (int(number), 1.0 if number in named else min(1.0, -rank / whole) ** 2)
        for number, rank in rows
    ]


def telling_words(text: str) -> str:
    """Return the words of a text that say something: the others would fill an index for nothing."""
    return " ".join([word for word in _WORD.findall(text.lower()) if word not in _COMMON])


def terms_of(question: str) -> list[str]:
    """Write a query of FTS5 for each of the question's words that say something."""
    words = dict.fromkeys(word.lower() for word in _WORD.findall(question))
    telling: Sequence[str] = [word for word in words if word not in _COMMON] or list(words)
    return [_term(word) for word in telling[:_MOST_TERMS]]


def _term(word: str) -> str:
    if len(word) < _SHORTEST_STEM or any(it.isdigit() for it in word):
        return f'"{word}"'
    stem = word[: max(_SHORTEST_STEM, len(word) - _ENDING)]
    return f'"{word}" OR "{stem}"*'  # the word itself counts twice
