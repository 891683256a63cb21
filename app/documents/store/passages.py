"""Full-text search in the passages of documents, for the time of one question.

The index is made in memory by SQLite's FTS5 and forgotten with the question: 500 pages take a
fraction of a second, nothing has to be kept in step, and no word of a deleted file stays anywhere.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Final

from app.documents.collections.values import Ranking
from app.documents.values.documents import Passage
from app.search.passage_words import AskedWord, asked_words, words_in

WORDS: Final = "fts5(words, content='', tokenize='ascii')"
"""How passages are indexed: by the words that `passage_words` finds, folded. The index holds no
text: that is where it is kept."""

_SHORTEST_STEM: Final = 4
_ENDING: Final = 2
"""Characters that a word may end in otherwise: German and English inflect at the end."""
_MOST_PARTS: Final = 64
_NAMED: Final = 10
"""Passages that may have a name: what is in more of them tells little."""
_OF_A_PAIR: Final = 0.5
"""Words that a pair of letters stands for: every other pair crosses the border of two words."""
_LEAST: Final = 1e-6
"""What a word that is in most passages counts for in FTS5's BM25."""


@dataclass(frozen=True)
class QueryPart:
    """A part of a query, in the syntax of FTS5. counts: as so many words of the question."""

    match: str
    counts: float = 1


def find_passages(passages: Iterable[Passage], question: str, most: int) -> Ranking:
    """Return the numbers of the passages that suit a question best by BM25, the best first.

    passages: in their order, each under a number from 0. Words count by their beginnings, and
    without their accents.
    """
    words = asked_words(question)
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute(f"CREATE VIRTUAL TABLE passages USING {WORDS}")
        added = db.executemany(
            "INSERT INTO passages (rowid, words) VALUES (?, ?)",
            ((number, " ".join(words_in(passage.text))) for number, passage in enumerate(passages)),
        )
        if not words:
            return []
        counted = "SELECT count(*) FROM passages WHERE passages MATCH ?"
        counts = counts_of(words, lambda it: int(db.execute(counted, (it,)).fetchone()[0]))
        rows = db.execute(
            "SELECT rowid, rank FROM passages WHERE passages MATCH ? ORDER BY rank LIMIT ?",
            (" OR ".join(it.match for it in counts), most),
        ).fetchall()
        named = with_names(db, "passages", words)
    return weighed(rows, counts, added.rowcount, named)


def with_names(db: sqlite3.Connection, table: str, words: Iterable[AskedWord]) -> frozenset[int]:
    """Find the few passages that have all that the question names by a number, code or name.

    Names that stand nowhere are left out.

    Args:
        db: The index.
        table: A table of FTS5 with the words of passages.
        words: The words of the question.
    """
    matching = f"SELECT rowid FROM {table} WHERE {table} MATCH ?"  # noqa: S608  our own words
    names = [f"({_either(it.forms)})" for it in words if it.names][:_MOST_PARTS]
    there = [name for name in names if db.execute(f"{matching} LIMIT 1", (name,)).fetchone()]
    if not there:
        return frozenset()
    rows = db.execute(f"{matching} LIMIT ?", (" AND ".join(there), _NAMED + 1)).fetchall()
    return frozenset(number for (number,) in rows) if len(rows) <= _NAMED else frozenset()


def weighed(
    rows: Iterable[Sequence[float]],
    counts: Mapping[QueryPart, int],
    passages: int,
    named: Collection[int] = (),
) -> Ranking:
    """Give passages that were found by words their weights: how much they have of the question.

    A passage with each part once weighs 1; one with half of them, by how rare they are, a
    quarter. Parts that are nowhere count as well: the question is about them.

    Args:
        rows: Numbers and ranks of FTS5, the best first.
        counts: How many passages have each part of the query.
        passages: How many passages there are.
        named: Passages that have all names of the question; they weigh 1, since no vector knows a
            name.
    """
    whole = sum(
        part.counts * max(math.log((passages - it + 0.5) / (it + 0.5)), _LEAST)
        for part, it in counts.items()
    )
    return [
        (int(number), 1.0 if number in named else min(1.0, -rank / max(whole, _LEAST)) ** 2)
        for number, rank in rows
    ]


def counts_of(words: Iterable[AskedWord], count: Callable[[str], int]) -> dict[QueryPart, int]:
    """Write a part of a query for each of a question's words, up to the most, and count it.

    Args:
        words: The words; single letters come behind their pairs.
        count: Counts the passages that match a query.
    """
    counts: dict[QueryPart, int] = {}
    found: set[str] = set()
    for word in words:
        if len(counts) == _MOST_PARTS:
            break
        if not found.isdisjoint(word.within):
            continue
        part = _part(word)
        counts[part] = count(part.match)
        if counts[part] and word.paired:
            found.add(word.forms[0][0])
    return counts


def _part(word: AskedWord) -> QueryPart:
    either = _either(word.forms)
    if word.paired:
        return QueryPart(f"{either} *" if word.begins else either, _OF_A_PAIR * len(word.forms))
    first = word.forms[0]
    stem = first[-1][: max(_SHORTEST_STEM, len(first[-1]) - _ENDING)]
    if len(first) > 1 or len(stem) < _SHORTEST_STEM or any(it.isdigit() for it in stem):
        return QueryPart(either)
    return QueryPart(f'{either} OR "{stem}" *', 2)  # the word itself counts twice


def _either(forms: Iterable[Sequence[str]]) -> str:
    return " OR ".join(f'"{" ".join(form)}"' for form in forms)
