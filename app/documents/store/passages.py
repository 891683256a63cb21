"""Full-text search in the passages of documents, for a single question.

The index is built in memory by SQLite's FTS5 and dropped after the question. 500 pages take a
fraction of a second, nothing has to be kept in sync, and no word of a deleted file remains
anywhere.
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
from app.search.passage_words import QuestionWord, question_words, words_in

WORDS: Final = "fts5(words, content='', tokenize='ascii')"
"""How passages are indexed: by the words that `passage_words` finds, folded.

The index does not contain the text, which is stored elsewhere.
"""

_SHORTEST_STEM: Final = 4
_ENDING: Final = 2
"""Characters at the end of a word that can differ: German and English inflect there."""
_MOST_PARTS: Final = 64
_NAMED: Final = 10
"""Maximum number of passages with a name; a name in more of them says little."""
_OF_A_PAIR: Final = 0.5
"""The weight of a pair of letters in words: every other pair crosses a word border."""
_LEAST: Final = 1e-6
"""The weight in FTS5's BM25 of a word that is in most passages."""


@dataclass(frozen=True)
class QueryPart:
    """A part of a query, in FTS5 syntax.

    Attributes:
        counts: How many words of the question it counts as.
    """

    match: str
    counts: float = 1


def find_passages(passages: Iterable[Passage], question: str, most: int) -> Ranking:
    """Return the numbers of the passages that best fit a question by BM25, best first.

    Words match by their beginnings, without accents.

    Args:
        passages: The passages, numbered from 0.
    """
    words = question_words(question)
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute(f"CREATE VIRTUAL TABLE passages USING {WORDS}")
        added = db.executemany(
            "INSERT INTO passages (rowid, words) VALUES (?, ?)",
            ((number, " ".join(words_in(passage.text))) for number, passage in enumerate(passages)),
        )
        if not words:
            return []
        counted = "SELECT count(*) FROM passages WHERE passages MATCH ?"
        counts = counts_of(words, lambda word: int(db.execute(counted, (word,)).fetchone()[0]))
        rows = db.execute(
            "SELECT rowid, rank FROM passages WHERE passages MATCH ? ORDER BY rank LIMIT ?",
            (" OR ".join(count.match for count in counts), most),
        ).fetchall()
        named = with_names(db, "passages", words)
    return weighed(rows, counts, added.rowcount, named)


def with_names(db: sqlite3.Connection, table: str, words: Iterable[QuestionWord]) -> frozenset[int]:
    """Find the few passages with all numbers, codes and names in the question.

    Names that are in no passage are ignored.

    Args:
        db: The index.
        table: A table of FTS5 with the words of passages.
        words: The words of the question.
    """
    matching = f"SELECT rowid FROM {table} WHERE {table} MATCH ?"  # noqa: S608  our own words
    names = [f"({_either(word.forms)})" for word in words if word.names][:_MOST_PARTS]
    present = [name for name in names if db.execute(f"{matching} LIMIT 1", (name,)).fetchone()]
    if not present:
        return frozenset()
    rows = db.execute(f"{matching} LIMIT ?", (" AND ".join(present), _NAMED + 1)).fetchall()
    return frozenset(number for (number,) in rows) if len(rows) <= _NAMED else frozenset()


def weighed(
    rows: Iterable[Sequence[float]],
    counts: Mapping[QueryPart, int],
    passages: int,
    named: Collection[int] = (),
) -> Ranking:
    """Weight passages found by words: by how much of the question they contain.

    A passage with every part once has the weight 1; one with half of them, counted by rarity, a
    quarter. Parts that are in no passage count too: the question is about them.

    Args:
        rows: Numbers and ranks from FTS5, best first.
        counts: The number of passages with each part of the query.
        passages: The number of all passages.
        named: Passages with all names in the question; their weight is 1, because no vector knows a
            name.
    """
    whole = sum(
        part.counts * max(math.log((passages - count + 0.5) / (count + 0.5)), _LEAST)
        for part, count in counts.items()
    )
    return [
        (int(number), 1.0 if number in named else min(1.0, -rank / max(whole, _LEAST)) ** 2)
        for number, rank in rows
    ]


def counts_of(words: Iterable[QuestionWord], count: Callable[[str], int]) -> dict[QueryPart, int]:
    """Write and count a query part for each word of a question, up to a maximum.

    Args:
        words: The words; single letters come after the pairs with them.
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


def _part(word: QuestionWord) -> QueryPart:
    either = _either(word.forms)
    if word.paired:
        return QueryPart(f"{either} *" if word.begins else either, _OF_A_PAIR * len(word.forms))
    first = word.forms[0]
    stem = first[-1][: max(_SHORTEST_STEM, len(first[-1]) - _ENDING)]
    if (
        len(first) > 1
        or len(stem) < _SHORTEST_STEM
        or any(character.isdigit() for character in stem)
    ):
        return QueryPart(either)
    return QueryPart(f'{either} OR "{stem}" *', 2)  # the whole word counts twice


def _either(forms: Iterable[Sequence[str]]) -> str:
    return " OR ".join(f'"{" ".join(form)}"' for form in forms)
