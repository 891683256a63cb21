"""Collections: files and folders that answers can be grounded in, and the state of their index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from app.documents.values.documents import (
    Location,
    Passage,
    PromptSource,
    Reading,
    TextSpan,
    Unread,
)
from app.models.library.values.entry import ModelEntry

LONGEST_NAME: Final = 80
"""Maximum characters of a collection's name."""

MOST_FILES: Final = 100_000
"""Maximum number of files in a collection; a larger folder is read up to here, with a note."""

_RANK_WEIGHT: Final = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009)."""

Ranking = Sequence[tuple[int, float]]
"""The numbers of passages, best first, and the weight of each match, up to 1."""

FileState = Reading | Literal["waiting", "unreadable"]
"""The state of a file in an index."""

By = Literal["text", "vector"]
"""How a passage was found: by its words, or by its meaning."""


@dataclass(frozen=True)
class DocumentCollection:
    """Files and folders under one name.

    Attributes:
        paths: The files and folders that the user added.
        paused: Nothing is read for now.
    """

    id: str
    name: str
    paths: tuple[Path, ...] = ()
    paused: bool = False


@dataclass(frozen=True)
class IndexedFile:
    """A file of a collection.

    Attributes:
        name: Its name in answers: its path below the added folder.
        places: The number of its pages, slides or sections.
        scanned: The number of pages that are pictures without text.
        why: Why it cannot be read.
        do: What the user can do about that.
        unread: The parts of it that were left out.
    """

    path: Path
    name: str
    state: FileState
    size: int = 0
    places: int = 0
    scanned: int = 0
    why: str = ""
    do: str = ""
    unread: tuple[Unread, ...] = ()


@dataclass(frozen=True)
class PathTrouble:
    """A file or folder of a collection that could not be scanned, and why.

    Attributes:
        away: It is missing, as on a removed drive; its files stay in the index.
    """

    path: Path
    why: str
    away: bool = False


@dataclass(frozen=True)
class CollectionState:
    """The state of a collection's index.

    Attributes:
        files: All files that were found.
        waiting: Files that are still to be read.
        unreadable: Files that could not be read.
        left_out: Files of other kinds, such as pictures and programs.
        characters: Characters of text.
        passages: Passages of all files that were read.
        with_vectors: Passages with vectors of the wanted model.
        model: The name of the model whose vectors are searched now; "" for none.
        next_model: The name of the model whose vectors are being made to replace them; "" for none.
        index_bytes: Disk space of the index.
        looked: When the folders were last scanned, in seconds since 1970; None if never.
        troubles: What could not be scanned then.
        scans: Files without any readable text; neither waiting nor unreadable.
        partly_read: Files with some pages without text; neither waiting nor unreadable.
        empty: Files with nothing in them; neither waiting nor unreadable.
    """

    collection: DocumentCollection
    files: int = 0
    waiting: int = 0
    unreadable: int = 0
    left_out: int = 0
    characters: int = 0
    passages: int = 0
    with_vectors: int = 0
    model: str = ""
    next_model: str = ""
    index_bytes: int = 0
    looked: float | None = None
    troubles: tuple[PathTrouble, ...] = ()
    scans: int = 0
    partly_read: int = 0
    empty: int = 0

    @property
    def not_all_read(self) -> int:
        """The number of files that were processed but whose text is not completely known."""
        return self.unreadable + self.scans + self.partly_read + self.empty


@dataclass(frozen=True)
class IndexProgress:
    """The progress of the work on a collection's index.

    Attributes:
        doing: Scanning folders, reading files, or making vectors.
        done: Files or passages done.
        total: Files or passages in all; 0 while unknown.
        file: The name of the file read last.
    """

    collection: DocumentCollection
    doing: Literal["looking", "reading", "vectors"]
    done: int = 0
    total: int = 0
    file: str = ""


@dataclass(frozen=True)
class FoundPassage:
    """A passage of a collection that fits a question.

    Attributes:
        collection: The name of the collection.
        file: The name of the file.
        document: The SHA-256 of the file.
        span: Where it is in the file, by place.
        start: Its first character in the file's whole text.
        end: The character after its last.
        score: The score of the rank fusion; it only orders the passages of one search.
        by: How it was found.
    """

    collection: str
    file: str
    path: Path
    document: str
    span: TextSpan
    start: int
    end: int
    text: str
    score: float
    by: tuple[By, ...]

    @property
    def place(self) -> Location:
        """The page, slide or section that the passage is in."""
        return self.span.place

    @property
    def passage(self) -> Passage:
        """The passage without its document."""
        return Passage(self.span, self.text)

    @property
    def source(self) -> PromptSource:
        """The passage as a part of a prompt."""
        span = self.span
        return PromptSource(
            "file", self.file, self.document, span.place.number, span.start, span.end
        )


@dataclass(frozen=True)
class EmbedderStatus:
    """The model that embeds passages.

    Attributes:
        model: None if there is none; only words are searched then.
        why: A sentence that says why there is none.
        choices: The local embedding models.
        offers: Ids of models in the catalogue to download, the preferred one first.
    """

    model: ModelEntry | None
    why: str = ""
    choices: tuple[ModelEntry, ...] = ()
    offers: tuple[str, ...] = ()


def fused(rankings: Mapping[By, Ranking]) -> list[tuple[int, float, tuple[By, ...]]]:
    """Merge rankings by reciprocal rank fusion, each entry with its weight.

    Weights are needed because a passage that only matches a stray word of the question is not a
    real match, however high it ranks among such.

    Returns:
        Each passage with its score, and the rankings that it is in, best first.
    """
    scores: dict[int, float] = {}
    found: dict[int, tuple[By, ...]] = {}
    for by, ranking in rankings.items():
        for rank, (key, weight) in enumerate(ranking, start=1):
            scores[key] = scores.get(key, 0.0) + weight / (_RANK_WEIGHT + rank)
            found[key] = (*found.get(key, ()), by)
    best = sorted(scores, key=lambda key: (-scores[key], key))
    return [(key, scores[key], found[key]) for key in best]


def joined(rankings: Iterable[Sequence[FoundPassage]]) -> list[FoundPassage]:
    """Merge the results from several collections, best first.

    The scores of each collection depend only on ranks and weights, so they are comparable. A
    passage found in two collections is listed once.
    """
    everything = sorted(
        (passage for found in rankings for passage in found), key=lambda passage: -passage.score
    )
    once: dict[tuple[str, int, int, int], FoundPassage] = {}
    for passage in everything:
        once.setdefault(
            (passage.document, passage.place.number, passage.span.start, passage.span.end), passage
        )
    return list(once.values())
