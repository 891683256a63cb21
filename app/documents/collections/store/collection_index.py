"""The index of a collection: its files, their texts, and the words and vectors of their passages.

Each collection has a database file of its own, so removing it leaves nothing behind. Texts are
compressed and stored once, however many files have them. The word index holds neither the text nor
words that say nothing, and only the positions of passages are stored.
"""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from app.base.index_file import IndexFile, IndexKind
from app.documents.collections.store.vectors import (
    HALVES,
    Code,
    Halves,
    NearPassage,
    SignTable,
    encoded,
    middle,
    ranked,
)
from app.documents.collections.values import (
    By,
    FileState,
    FoundPassage,
    IndexedFile,
    PathTrouble,
    Ranking,
    fused,
)
from app.documents.store.passages import WORDS, QueryPart, counts_of, weighed, with_names
from app.documents.values.documents import (
    PASSAGE,
    Document,
    TextSpan,
    document_from,
    document_values,
    passages,
    unread_from,
)
from app.search.passage_words import content_words_in, question_words, quoted_words
from engines.sentences import N_, packed, unpacked

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from app.base.errors import DocumentNotRead

LAYOUT: Final = 2
"""Increase it when tables, passages or texts are made differently; all files are read again."""

_TOP: Final = 30
"""Passages by words, and passages by vectors, that are merged into one ranking."""

_MIDDLE: Final = 256
"""Vectors whose mean is taken; a mean of 16 was as good."""

_QUOTED: Final = 6
"""Words of a quote that are used to find files that can contain it."""

_MOST_QUOTED: Final = 500
"""Maximum number of files that are searched for a quote."""

_PACKING: Final = 5
"""The compression level of texts; a higher one takes much longer and saves little."""

MATCHED: Final = 20_000
"""Maximum passages ranked by their words; a word that is in more of them says little."""

_UNPACKED: Final = 4_000_000
"""Maximum characters of recently used documents that stay decompressed in memory."""

_TABLES: Final = (
    "CREATE TABLE state (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT",
    """CREATE TABLE files (
        id INTEGER PRIMARY KEY,
        path BLOB NOT NULL UNIQUE,
        name TEXT NOT NULL,
        size INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL,
        state TEXT NOT NULL,
        text_id INTEGER,
        why TEXT NOT NULL DEFAULT '',
        [do] TEXT NOT NULL DEFAULT ''
    ) STRICT""",
    "CREATE INDEX files_of_text ON files(text_id)",
    "CREATE INDEX files_waiting ON files(id) WHERE state = 'waiting'",
    """CREATE TABLE texts (
        id INTEGER PRIMARY KEY,
        sha256 TEXT NOT NULL UNIQUE,
        size INTEGER NOT NULL,
        places INTEGER NOT NULL,
        scanned INTEGER NOT NULL,
        reading TEXT NOT NULL,
        unread TEXT NOT NULL,
        characters INTEGER NOT NULL,
        first INTEGER NOT NULL,
        count INTEGER NOT NULL,
        content BLOB NOT NULL
    ) STRICT""",
    "CREATE INDEX texts_by_size ON texts(size)",
    "CREATE INDEX texts_by_passage ON texts(first)",
    """CREATE TABLE passages (
        id INTEGER PRIMARY KEY,
        place INTEGER NOT NULL,
        start INTEGER NOT NULL,
        [end] INTEGER NOT NULL
    ) STRICT""",
    f"CREATE VIRTUAL TABLE word_index USING {WORDS}",
    """CREATE TABLE models (
        id INTEGER PRIMARY KEY,
        key TEXT NOT NULL UNIQUE,
        name TEXT NOT NULL,
        dimensions INTEGER NOT NULL
    ) STRICT""",
    """CREATE TABLE vectors (
        id INTEGER PRIMARY KEY,
        model INTEGER NOT NULL,
        text_id INTEGER NOT NULL,
        signs BLOB NOT NULL,
        codes BLOB NOT NULL,
        UNIQUE (model, text_id)
    ) STRICT""",
    """CREATE TABLE troubles (
        path BLOB PRIMARY KEY,
        why TEXT NOT NULL,
        away INTEGER NOT NULL
    ) STRICT""",
)

_STATE: Final = "CASE state WHEN 'read' THEN coalesce(reading, state) ELSE state END"
"""The SQL for the state of a file, as in `IndexedFile`."""

KIND: Final = IndexKind(
    layout=LAYOUT,
    tables=_TABLES,
    word_tables=("word_index",),
    failure=N_("The collection could not be searched."),
    rebuilt=N_("Its index was damaged and is being rebuilt; the files are safe."),
)


@dataclass(frozen=True)
class SeenFile:
    """A file as found on disk.

    Attributes:
        name: Its name in answers.
    """

    path: Path
    name: str
    size: int
    mtime_ns: int


@dataclass(frozen=True)
class TrackedFile:
    """A file in the index."""

    id: int
    seen: SeenFile
    state: FileState


@dataclass(frozen=True)
class VectorModel:
    """The embedding model that made the vectors of an index.

    Attributes:
        key: Identifies its weights, its prompts and its dimensions.
        name: A name for people.
    """

    key: str
    name: str
    dimensions: int


@dataclass(frozen=True)
class Counts:
    """The contents of an index in numbers; see `CollectionState`."""

    files: int
    waiting: int
    unreadable: int
    characters: int
    passages: int
    scans: int
    partly_read: int
    empty: int


@dataclass(frozen=True)
class TextToEmbed:
    """A text without vectors, and its passages."""

    id: int
    name: str
    passages: tuple[str, ...]


class CollectionIndex:
    """An open index. Any thread can search; one at a time writes. The owner calls `close`.

    A file that cannot be read, or that has another layout, is deleted and created again; all files
    then have to be read again. Raises AppError if no file can be created.
    """

    def __init__(self, path: Path) -> None:
        self._file = IndexFile(path, KIND)
        self._signs: tuple[tuple[int, str], SignTable, NDArray[np.float32]] | None = None
        self._unpacked: OrderedDict[str, Document] = OrderedDict()

    def close(self) -> None:
        """Close the database of the index."""
        self._file.close()

    def size_bytes(self) -> int:
        """Return the disk space of the index, in bytes."""
        return self._file.size_bytes()

    def _forget_texts(self, db: sqlite3.Connection, left: Iterable[int]) -> None:
        """Remove those of the texts that no file has any more, with their words and vectors."""
        if _remove_unused(db, left):
            with self._file.read():
                self._unpacked.clear()

    # Files

    def known(self) -> dict[bytes, TrackedFile]:
        """Return all files in the index by path, in the system's encoding."""
        with self._file.read() as db:
            rows = db.execute("SELECT id, path, name, size, mtime_ns, state FROM files")
            return {row["path"]: _known(row) for row in rows}

    def waiting(self, most: int) -> list[TrackedFile]:
        """Return files that are still to be read, in the order in which they were found."""
        with self._file.read() as db:
            rows = db.execute(
                "SELECT id, path, name, size, mtime_ns, state FROM files WHERE state = 'waiting'"
                " ORDER BY id LIMIT ?",
                (most,),
            )
            return [_known(row) for row in rows]

    def files(
        self, state: FileState | None = None, start: int = 0, most: int = -1
    ) -> list[IndexedFile]:
        """Return files, sorted by name."""
        with self._file.read() as db:
            rows = db.execute(
                f"SELECT path, name, {_STATE} AS state, files.size, places, scanned, why, [do],"  # noqa: S608  our own words
                " unread FROM files LEFT JOIN texts ON texts.id = text_id"
                f" WHERE ? IS NULL OR {_STATE} = ? ORDER BY name LIMIT ? OFFSET ?",
                (state, state, most, start),
            )
            return [
                IndexedFile(
                    _path(row["path"]),
                    row["name"],
                    row["state"],
                    row["size"],
                    row["places"] or 0,
                    row["scanned"] or 0,
                    unpacked(row["why"]),
                    unpacked(row["do"]),
                    unread_from((row["unread"] or "").split(",")),
                )
                for row in rows
            ]

    def note(
        self,
        seen: Iterable[SeenFile] = (),
        moved: Iterable[tuple[int, SeenFile]] = (),
        removed: Iterable[int] = (),
    ) -> None:
        """Record the result of a scan.

        Args:
            seen: New and changed files, which have to be read.
            moved: The ids of files in the index, and their new places.
            removed: The ids of files that no longer exist.
        """
        removed = list(removed)
        with self._file.write() as db:
            text_ids = _texts_of(db, removed)
            db.executemany("DELETE FROM files WHERE id = ?", [(file_id,) for file_id in removed])
            db.executemany(
                "UPDATE files SET path = ?, name = ?, size = ?, mtime_ns = ? WHERE id = ?",
                [(*_row(file), file_id) for file_id, file in moved],
            )
            db.executemany(
                "INSERT INTO files (path, name, size, mtime_ns, state)"
                " VALUES (?, ?, ?, ?, 'waiting') ON CONFLICT (path) DO UPDATE SET"
                " name = excluded.name, size = excluded.size, mtime_ns = excluded.mtime_ns,"
                " state = 'waiting', why = '', [do] = ''",
                map(_row, seen),
            )
            self._forget_texts(db, text_ids)

    def read_again(self, path: Path | None = None) -> None:
        """Mark files that could not be read for another try: one, or all."""
        with self._file.write() as db:
            db.execute(
                "UPDATE files SET state = 'waiting', why = '', [do] = ''"
                " WHERE state = 'unreadable' AND (? IS NULL OR path = ?)",
                (None, None) if path is None else (os.fsencode(path),) * 2,
            )

    def record_scan(self, when: float, left_out: int, troubles: Iterable[PathTrouble]) -> None:
        """Record when the folders were scanned, and which parts could not be."""
        with self._file.write() as db:
            _set_fact(db, "looked", str(when))
            _set_fact(db, "left_out", str(left_out))
            db.execute("DELETE FROM troubles")
            db.executemany(
                "INSERT OR REPLACE INTO troubles (path, why, away) VALUES (?, ?, ?)",
                [
                    (os.fsencode(trouble.path), packed(trouble.why), int(trouble.away))
                    for trouble in troubles
                ],
            )

    def last_scan(self) -> tuple[float | None, int, tuple[PathTrouble, ...]]:
        """Return what `record_scan` recorded last."""
        with self._file.read() as db:
            when, left_out = _fact(db, "looked"), _fact(db, "left_out")
            troubles = tuple(
                PathTrouble(_path(row["path"]), unpacked(row["why"]), bool(row["away"]))
                for row in db.execute("SELECT path, why, away FROM troubles ORDER BY path")
            )
        return float(when) if when else None, int(left_out or 0), troubles

    def devices(self) -> dict[str, int]:
        """Return the device numbers of the folders when files were last found in them."""
        with self._file.read() as db:
            found: dict[str, int] = json.loads(_fact(db, "devices") or "{}")
        return found

    def save_devices(self, devices: Mapping[str, int]) -> None:
        """Store the device number of each path of the collection."""
        with self._file.write() as db:
            _set_fact(db, "devices", json.dumps(dict(devices)))

    # Texts

    def has_size(self, size: int) -> bool:
        """Return whether a text came from a file of this size."""
        with self._file.read() as db:
            row = db.execute("SELECT 1 FROM texts WHERE size = ? LIMIT 1", (size,)).fetchone()
        return row is not None

    def hash_of(self, file_id: int) -> str | None:
        """Return the SHA-256 of a file as it was read; None for a file without text."""
        with self._file.read() as db:
            row = db.execute(
                "SELECT sha256 FROM files JOIN texts ON texts.id = text_id WHERE files.id = ?",
                (file_id,),
            ).fetchone()
        return None if row is None else str(row["sha256"])

    def link(self, file: TrackedFile, sha256: str) -> bool:
        """Give a file the text with this SHA-256; return whether the index has it."""
        with self._file.write() as db:
            row = db.execute("SELECT id FROM texts WHERE sha256 = ?", (sha256,)).fetchone()
            if row is not None:
                text_ids = _texts_of(db, [file.id])
                _have(db, file, row["id"])
                self._forget_texts(db, text_ids)
        return row is not None

    def store_texts(self, read: Sequence[tuple[TrackedFile, Document | DocumentNotRead]]) -> None:
        """Store the texts of files that were read, or why they could not be read."""
        with self._file.write() as db:
            text_ids = _texts_of(db, [file.id for file, _ in read])
            for file, document in read:
                if isinstance(document, Document):
                    _have(db, file, _add(db, document))
                else:
                    db.execute(
                        "UPDATE files SET state = 'unreadable', text_id = NULL, why = ?, [do] = ?"
                        " WHERE id = ? AND mtime_ns = ?",
                        (*packed((document.why, document.do)), file.id, file.seen.mtime_ns),
                    )
            self._forget_texts(db, text_ids)

    def merge(self) -> bool:
        """Remove the words of removed texts from the file; see `IndexFile.merge`."""
        with self._file.read() as db:
            removed = _fact(db, "removed")
        if not removed:
            return False
        if self._file.merge():
            return True
        with self._file.write() as db:
            _set_fact(db, "removed", "")
        return False

    def documents(self, hashes: Iterable[str]) -> dict[str, Document]:
        """Return the documents with these SHA-256 hashes; missing ones are left out."""
        found = {sha256: self._document(sha256) for sha256 in set(hashes)}
        return {sha256: document for sha256, document in found.items() if document is not None}

    def _document(self, sha256: str) -> Document | None:
        with self._file.read() as db:
            document = self._unpacked.pop(sha256, None)
            columns = "content" if document is None else "NULL AS content"
            row = db.execute(f"SELECT {columns} FROM texts WHERE sha256 = ?", (sha256,)).fetchone()  # noqa: S608  our own words
            if row is None:
                return None  # another process can have removed it
            document = document or _unpacked(row["content"])
            self._unpacked[sha256] = document
            length = sum(len(document.text) for document in self._unpacked.values())
            while length > _UNPACKED and len(self._unpacked) > 1:
                length -= len(self._unpacked.popitem(last=False)[1].text)
        return document

    def paths_of(self, sha256: str) -> list[Path]:
        """Return the paths of the files with this text."""
        with self._file.read() as db:
            rows = db.execute(
                "SELECT path FROM files JOIN texts ON texts.id = text_id WHERE sha256 = ?"
                " ORDER BY path",
                (sha256,),
            ).fetchall()
        return [_path(row["path"]) for row in rows]

    def with_words(self, quote: str) -> list[tuple[str, str]]:
        """Return the SHA-256 and name of files that can contain a quote, likeliest first.

        They have at least half of its longest words, because one can be divided at the end of a
        line.
        """
        words = quoted_words(quote)
        counted: Counter[int] = Counter()
        with self._file.read() as db:
            for word in words[:_QUOTED]:
                counted.update(
                    row[0]
                    for row in db.execute(
                        "SELECT DISTINCT (SELECT id FROM texts WHERE first <= word_index.rowid"
                        " ORDER BY first DESC LIMIT 1) FROM word_index WHERE word_index MATCH ?",
                        (f'"{word}"',),
                    )
                )
            least = (len(words[:_QUOTED]) + 1) // 2
            likely = [
                text_id for text_id, count in counted.most_common(_MOST_QUOTED) if count >= least
            ]
            rows = [
                db.execute(
                    "SELECT sha256, name FROM texts JOIN files ON text_id = texts.id"
                    " WHERE texts.id = ? ORDER BY name LIMIT 1",
                    (text_id,),
                ).fetchone()
                for text_id in likely
            ]
        return [(row["sha256"], row["name"]) for row in rows if row is not None]

    def counts(self) -> Counts:
        """Count the contents of the index."""
        with self._file.read() as db:
            of = {
                row["state"]: row["number"]
                for row in db.execute(
                    f"SELECT {_STATE} AS state, count(*) AS number FROM files"  # noqa: S608  our own words
                    " LEFT JOIN texts ON texts.id = text_id GROUP BY 1"
                )
            }
            row = db.execute(
                "SELECT coalesce(sum(characters), 0), coalesce(sum(count), 0) FROM texts"
            ).fetchone()
        return Counts(
            sum(of.values()),
            of.get("waiting", 0),
            of.get("unreadable", 0),
            row[0],
            row[1],
            of.get("scan", 0),
            of.get("partly_read", 0),
            of.get("empty", 0),
        )

    # Vectors

    def without_vectors(self, model: VectorModel, most: int) -> list[TextToEmbed]:
        """Return texts without vectors of this model, with about `most` passages in all."""
        found: list[TextToEmbed] = []
        with self._file.read() as db:
            rows = db.execute(
                "SELECT id, count, content,"
                " (SELECT name FROM files WHERE text_id = texts.id) AS name FROM texts"
                " WHERE count > 0 AND NOT EXISTS (SELECT 1 FROM vectors"
                " WHERE text_id = texts.id AND model = (SELECT id FROM models WHERE key = ?))"
                " ORDER BY id",
                (model.key,),
            )
            for row in rows:
                parts = passages(_unpacked(row["content"]), PASSAGE)
                found.append(
                    TextToEmbed(row["id"], row["name"] or "", tuple(part.text for part in parts))
                )
                most -= row["count"]
                if most <= 0:
                    break
            rows.close()
        return found

    def save_vectors(self, model: VectorModel, text_id: int, vectors: Sequence[Halves]) -> None:
        """Store the vectors of a text's passages, unless the text is gone by now."""
        signs, sizes = encoded(vectors, model.dimensions)
        with self._file.write() as db:
            number = _number_of(db, model)
            db.execute(
                "INSERT OR REPLACE INTO vectors (model, text_id, signs, codes)"
                " SELECT ?, id, ?, ? FROM texts WHERE id = ? AND count = ?",
                (number, signs, sizes, text_id, len(vectors)),
            )
            _count_up(db)

    def switch_model(self, model: VectorModel) -> None:
        """Search this model's vectors from now on, and delete those of all others."""
        with self._file.write() as db:
            number = _number_of(db, model)
            db.execute("DELETE FROM vectors WHERE model <> ?", (number,))
            db.execute("DELETE FROM models WHERE id <> ?", (number,))
            _set_fact(db, "model", model.key)
            _count_up(db)

    def model(self) -> VectorModel | None:
        """Return the model whose vectors were completed last; None before the first."""
        with self._file.read() as db:
            row = db.execute(
                "SELECT key, name, dimensions FROM models WHERE key = ?", (_fact(db, "model"),)
            ).fetchone()
        return None if row is None else VectorModel(row["key"], row["name"], row["dimensions"])

    def with_vectors(self, model: VectorModel) -> int:
        """Count the passages that have vectors of this model."""
        with self._file.read() as db:
            row = db.execute(
                "SELECT coalesce(sum(count), 0) FROM vectors JOIN texts ON texts.id = text_id"
                " WHERE model = (SELECT id FROM models WHERE key = ?)",
                (model.key,),
            ).fetchone()
        return int(row[0])

    # Search

    def search(
        self,
        collection: str,
        question: str,
        most: int,
        vector: tuple[VectorModel, Sequence[float]] | None = None,
    ) -> list[FoundPassage]:
        """Return the passages that fit a question, best first.

        Args:
            collection: The name of the collection.
            vector: The model and the vector of the question; None to search by words only.
        """
        rankings: dict[By, Ranking] = {"text": self._by_words(question)}
        if vector is not None:
            rankings["vector"] = self._by_vector(*vector)
        found = []
        for number, score, by in fused(rankings)[:most]:
            row = self._found(number)
            passage = None if row is None else self._passage(collection, row, score, by)
            if passage is not None:
                found.append(passage)
        return found

    def _by_words(self, question: str) -> Ranking:
        words = question_words(question)
        if not words:
            return []
        with self._file.read() as db:
            counts = counts_of(words, lambda word: _count(db, word))
            rows = db.execute(
                "SELECT rowid, rank FROM word_index WHERE word_index MATCH ? ORDER BY rank LIMIT ?",
                (_best_parts(counts), _TOP),
            ).fetchall()
            (count,) = db.execute("SELECT coalesce(sum(count), 0) FROM texts").fetchone()
            named = with_names(db, "word_index", words)
        return weighed(rows, counts, count, named)

    def _by_vector(self, model: VectorModel, vector: Sequence[float]) -> Ranking:
        with self._file.read() as db:
            table, center = self._signs_of(db, model)
            codes = _codes(db, model, table.near(vector))
        return [(number, 1.0) for number, _ in ranked(vector, codes, center)[:_TOP]]

    def _signs_of(
        self, db: sqlite3.Connection, model: VectorModel
    ) -> tuple[SignTable, NDArray[np.float32]]:
        """Return the signs of a model's vectors, and the mean of some of the vectors.

        They are read again after the vectors change.
        """
        stamp = (int(_fact(db, "changes") or 0), model.key)
        if self._signs is None or self._signs[0] != stamp:
            rows = db.execute(
                "SELECT vectors.id, first, signs FROM vectors JOIN texts ON texts.id = text_id"
                " WHERE model = (SELECT id FROM models WHERE key = ?) ORDER BY first",
                (model.key,),
            )
            table = SignTable(map(tuple, rows), model.dimensions)
            center = middle(_codes(db, model, table.spread(_MIDDLE)).values(), model.dimensions)
            self._signs = stamp, table, center
        _, table, center = self._signs
        return table, center

    def _found(self, number: int) -> sqlite3.Row | None:
        with self._file.read() as db:
            row: sqlite3.Row | None = db.execute(
                "SELECT path, name, sha256, place, start, [end] FROM passages"
                " JOIN texts ON texts.id = (SELECT id FROM texts WHERE first <= ?"
                " ORDER BY first DESC LIMIT 1)"
                " JOIN files ON text_id = texts.id WHERE passages.id = ? ORDER BY name LIMIT 1",
                (number, number),
            ).fetchone()
        return row

    def _passage(
        self, collection: str, row: sqlite3.Row, score: float, by: tuple[By, ...]
    ) -> FoundPassage | None:
        document = self._document(row["sha256"])
        if document is None or not 0 < row["place"] <= len(document.sections):
            return None
        section = document.sections[row["place"] - 1]
        before = document.start_of(row["place"])
        return FoundPassage(
            collection,
            row["name"],
            _path(row["path"]),
            row["sha256"],
            TextSpan(section.place, row["start"], row["end"]),
            before + row["start"],
            before + row["end"],
            section.text[row["start"] : row["end"]],
            score,
            by,
        )


def _add(db: sqlite3.Connection, document: Document) -> int:
    """Add a text with its passages and words, unless it is here already; return its id."""
    row = db.execute("SELECT id FROM texts WHERE sha256 = ?", (document.sha256,)).fetchone()
    if row is not None:
        return int(row["id"])
    first = int(_fact(db, "next") or 1)
    parts = list(enumerate(passages(document, PASSAGE), start=first))
    _set_fact(db, "next", str(first + len(parts)))
    db.executemany(
        "INSERT INTO passages (id, place, start, [end]) VALUES (?, ?, ?, ?)",
        [
            (number, part.span.place.number, part.span.start, part.span.end)
            for number, part in parts
        ],
    )
    db.executemany(
        "INSERT INTO word_index (rowid, words) VALUES (?, ?)",
        [(number, " ".join(content_words_in(part.text))) for number, part in parts],
    )
    done = db.execute(
        "INSERT INTO texts (sha256, size, places, scanned, reading, unread, characters, first,"
        " count, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            document.sha256,
            document.size,
            len(document.sections),
            len(document.scanned),
            document.reading,
            ",".join(document.unread),
            len(document.text),
            first,
            len(parts),
            _packed(document),
        ),
    )
    return int(done.lastrowid or 0)


def _have(db: sqlite3.Connection, file: TrackedFile, text_id: int) -> None:
    """Give a file its text, unless the file has changed again."""
    db.execute(
        "UPDATE files SET state = 'read', text_id = ?, why = '', [do] = ''"
        " WHERE id = ? AND size = ? AND mtime_ns = ?",
        (text_id, file.id, file.seen.size, file.seen.mtime_ns),
    )


def _texts_of(db: sqlite3.Connection, files: Iterable[int]) -> set[int]:
    """Return the ids of the texts of these files."""
    found = (
        db.execute("SELECT text_id FROM files WHERE id = ?", (file_id,)).fetchone()
        for file_id in files
    )
    return {row["text_id"] for row in found if row is not None and row["text_id"] is not None}


def _remove_unused(db: sqlite3.Connection, texts: Iterable[int]) -> bool:
    removed = False
    for text_id in texts:
        row = db.execute(
            "SELECT first, count, content FROM texts WHERE id = ?"
            " AND NOT EXISTS (SELECT 1 FROM files WHERE text_id = texts.id)",
            (text_id,),
        ).fetchone()
        if row is None:
            continue
        parts = passages(_unpacked(row["content"]), PASSAGE)
        db.executemany(
            "INSERT INTO word_index (word_index, rowid, words) VALUES ('delete', ?, ?)",
            [
                (number, " ".join(content_words_in(part.text)))
                for number, part in enumerate(parts, start=row["first"])
            ],
        )
        last = row["first"] + row["count"] - 1
        db.execute("DELETE FROM passages WHERE id BETWEEN ? AND ?", (row["first"], last))
        db.execute("DELETE FROM vectors WHERE text_id = ?", (text_id,))
        db.execute("DELETE FROM texts WHERE id = ?", (text_id,))
        removed = True
    if removed:
        _set_fact(db, "removed", "1")
        _count_up(db)
    return removed


def _codes(
    db: sqlite3.Connection, model: VectorModel, near: Iterable[NearPassage]
) -> dict[int, Code]:
    """Read the stored vectors of passages; those that are gone are left out."""
    signs, sizes = HALVES * model.dimensions // 8, HALVES * model.dimensions // 4
    found: dict[int, Code] = {}
    for passage in sorted(near):
        row = db.execute(
            "SELECT substr(signs, ?, ?), substr(codes, ?, ?) FROM vectors WHERE id = ?",
            (1 + passage.place * signs, signs, 1 + passage.place * sizes, sizes, passage.row),
        ).fetchone()
        if row is not None and len(row[1]) == sizes:
            found[passage.passage] = row[0], row[1]
    return found


def _count(db: sqlite3.Connection, match: str) -> int:
    """Count the passages that match a query, up to one more than are ranked."""
    counted = "SELECT count(*) FROM (SELECT 1 FROM word_index WHERE word_index MATCH ? LIMIT ?)"
    return int(db.execute(counted, (match, MATCHED + 1)).fetchone()[0])


def _best_parts(counts: Mapping[QueryPart, int]) -> str:
    """Return a query for the words that occur in few enough passages.

    Every passage with one of the words is ranked, which takes time.
    """
    counted = sorted(
        ((count, part.match) for part, count in counts.items()), key=lambda pair: pair[0]
    )
    chosen, left = [], MATCHED
    for count, term in counted:
        left -= count
        if left < 0:
            break
        chosen.append(term)
    if not chosen:  # if even the rarest is in many, take passages with several of them
        return " AND ".join(f"({term})" for _, term in counted[:3])
    return " OR ".join(chosen)


def _number_of(db: sqlite3.Connection, model: VectorModel) -> int:
    """Return the id of a model; create it on first use."""
    db.execute(
        "INSERT OR IGNORE INTO models (key, name, dimensions) VALUES (?, ?, ?)",
        (model.key, model.name, model.dimensions),
    )
    row = db.execute("SELECT id FROM models WHERE key = ?", (model.key,)).fetchone()
    return int(row["id"])


def _known(row: sqlite3.Row) -> TrackedFile:
    seen = SeenFile(_path(row["path"]), row["name"], row["size"], row["mtime_ns"])
    return TrackedFile(row["id"], seen, row["state"])


def _row(file: SeenFile) -> tuple[bytes, str, int, int]:
    return os.fsencode(file.path), file.name, file.size, file.mtime_ns


def _path(stored: bytes) -> Path:
    return Path(os.fsdecode(stored))


def _packed(document: Document) -> bytes:
    """Compress the text of a document, without its media and page pictures."""
    values = document_values(replace(document, media=b"", pages=()))
    return zlib.compress(json.dumps(values, ensure_ascii=False).encode(), _PACKING)


def _unpacked(content: bytes) -> Document:
    return document_from(json.loads(zlib.decompress(content)))


def _fact(db: sqlite3.Connection, name: str) -> str:
    row = db.execute("SELECT value FROM state WHERE name = ?", (name,)).fetchone()
    return "" if row is None else str(row["value"])


def _set_fact(db: sqlite3.Connection, name: str, value: str) -> None:
    db.execute("INSERT OR REPLACE INTO state (name, value) VALUES (?, ?)", (name, value))


def _count_up(db: sqlite3.Connection) -> None:
    """Record that the vectors have changed."""
    _set_fact(db, "changes", str(int(_fact(db, "changes") or 0) + 1))
