"""Collections: files and folders that answers can be grounded in, and what their index knows."""

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
"""Characters that the name of a collection may have."""

MOST_FILES: Final = 100_000
"""Files of a collection, at most; a folder with more is read up to here, and says so."""

_RANK_WEIGHT: Final = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009)."""

Ranking = Sequence[tuple[int, float]]
"""The numbers of passages, the best first, and what it says for each that it was found, up to 1."""

FileState = Reading | Literal["waiting", "unreadable"]

By = Literal["text", "vector"]
"""How a passage was found: by its words, or by its meaning."""


@dataclass(frozen=True)
class DocumentCollection:
    """Files and folders under one name. paths: those that the user added. paused: reads nothing."""

    id: str
    name: str
    paths: tuple[Path, ...] = ()
    paused: bool = False


@dataclass(frozen=True)
class IndexedFile:
    """A file of a collection.

    name: as answers call it, its path below the folder that was added. places: how many pages,
    slides or sections it has. scanned: how many of its pages are pictures without text. why, do:
    of one that cannot be read. unread: the parts of it that were left out.
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
    """A file or folder of a collection that could not be looked through, and why.

    away: it is not there, as on a drive that was taken out; its files stay in the index.
    """

    path: Path
    why: str
    away: bool = False


@dataclass(frozen=True)
class CollectionState:
    """How far the index of a collection is.

    files: all that were found; waiting, unreadable: of them. scans, partly_read, empty: those of
    whose words none, some, or nothing is there; they are neither waiting nor unreadable. left_out:
    files of other kinds, such as pictures and programs. characters: of the text. passages: of all
    that were read; with_vectors: of those, by the model that is to be used. model: the name of the
    one whose vectors are searched now, "" for none; next_model: that of a new index in the making.
    index_bytes: on the disk. looked: when the folders were last looked through, in seconds since
    1970; None before the first time. troubles: what could not be looked through then.
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
        """How many files there are of which not all words are known, and none are waiting."""
        return self.unreadable + self.scans + self.partly_read + self.empty


@dataclass(frozen=True)
class IndexProgress:
    """News of the work on a collection's index.

    doing: looks through folders, reads files, or makes vectors. done, total: files or passages;
    total is 0 while nobody knows. file: the name of the one that was read last.
    """

    collection: DocumentCollection
    doing: Literal["looking", "reading", "vectors"]
    done: int = 0
    total: int = 0
    file: str = ""


@dataclass(frozen=True)
class FoundPassage:
    """A passage of a collection that suits a question.

    file: its name, and path. document: the file's hash. start, end: characters of the whole text
    of the file; span says the same by its place. score: of the rank fusion, which orders the
    passages of one search and means nothing else.
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
        return self.span.place

    @property
    def passage(self) -> Passage:
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
    """Which model finds passages by their meaning.

    model: None where there is none; then words alone are searched, and why says so in a sentence.
    choices: the embedding models that are here. offers: ids of those in the catalogue that could
    be downloaded, the preferred one first.
    """

    model: ModelEntry | None
    why: str = ""
    choices: tuple[ModelEntry, ...] = ()
    offers: tuple[str, ...] = ()


def fused(rankings: Mapping[By, Ranking]) -> list[tuple[int, float, tuple[By, ...]]]:
    """Join rankings into one: by reciprocal ranks, each of them by its weight.

    A passage that was found by a stray word of the question is no find, however high it ranks among
    such. Returns each that is in any of them, its score, and the rankings that it is in.
    """
    scores: dict[int, float] = {}
    found: dict[int, tuple[By, ...]] = {}
    for by, ranking in rankings.items():
        for rank, (it, weight) in enumerate(ranking, start=1):
            scores[it] = scores.get(it, 0.0) + weight / (_RANK_WEIGHT + rank)
            found[it] = (*found.get(it, ()), by)
    best = sorted(scores, key=lambda it: (-scores[it], it))
    return [(it, scores[it], found[it]) for it in best]


def joined(rankings: Iterable[Sequence[FoundPassage]]) -> list[FoundPassage]:
    """Join what was found in several collections, the best first.

    Each collection's scores follow from ranks and weights alone, so they can be compared. What
    stands in two collections is told once.
    """
    everything = sorted((it for found in rankings for it in found), key=lambda it: -it.score)
    once: dict[tuple[str, int, int, int], FoundPassage] = {}
    for it in everything:
        once.setdefault((it.document, it.place.number, it.span.start, it.span.end), it)
    return list(once.values())
