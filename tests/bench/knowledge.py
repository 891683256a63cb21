"""Measure a collection: the time to index it, its size, and the time of a search.

    python -m tests.bench.knowledge FOLDER [--files 10000] [--megabytes 1000] [--vectors 256]

The tree is made in FOLDER, the same each time: files of German and English words in the frequencies
of a language (Zipf). Vectors are random, as computing a million of them takes a processor a night:
only their size and the time of their search are measured. The effect on the window is the delay of
a thread that sleeps for five milliseconds again and again, as a window waits for keys, while files
are indexed in the same process.
"""

from __future__ import annotations

import argparse
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import product
from pathlib import Path
from typing import Final

import numpy as np

from app.base.db import Database
from app.documents.collections.services.indexing import Politeness
from app.documents.collections.services.knowledge import Knowledge
from app.documents.collections.store.collection_index import CollectionIndex, VectorModel
from app.documents.collections.store.collections import CollectionStore
from app.documents.collections.store.vectors import HALVES
from app.documents.reading.reader import DocumentReader
from engines.cancel import CancelToken

_GERMAN: Final = (
    "der die das und in zu den mit von auf für ist im dem nicht ein eine als auch es an werden "
    "aus er hat dass sie nach wird bei einer um am sind noch wie einem über einen so zum kann "
    "haben nur oder aber vor zur bis mehr durch man sein wurde sei"
).split()
_ENGLISH: Final = (
    "the of and to in a is that for it as was with be by on not he his but at are this have from "
    "or had an which you were their one all we can has there been if more when will would who so no"
).split()
_SOUNDS: Final = {
    "de": ("b d f g h k l m n p r s t w z sch st br gr tr kl", "a e i o u ä ö ü ei au ie",
           "n r l t s ch ng rt st nd m ck"),
    "en": ("b c d f g h j l m n p r s t v w th st br cl tr pr", "a e i o u ea oo ai ou",
           "n r l t s ck ng rd st nd m sh ve"),
}  # fmt: skip
"""Beginnings, middles and ends of syllables."""

_WORDS: Final = 60_000
_PHRASES: Final = 100_000
_QUESTIONS: Final = 60
_ENDINGS: Final = (".txt", ".txt", ".txt", ".md", ".html", ".csv", ".py")


def main() -> None:
    """Make the tree, index it, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--vectors", type=int, default=256, help="dimensions; 0 makes none")
    args = parser.parse_args()
    tree: Path = args.folder / f"tree-{args.files}-{args.megabytes}"
    if not tree.exists():
        began = time.monotonic()
        make_tree(tree, args.files, args.megabytes * 1_000_000)
        print(f"made in {time.monotonic() - began:.0f} s")
    size = sum(path.stat().st_size for path in tree.rglob("*.*"))
    print(f"{args.files:,} files, {size / 1e6:,.0f} MB")
    index = args.folder / "knowledge"
    knowledge = Knowledge(
        CollectionStore(Database(args.folder / "chats.db")), index, DocumentReader().many, None
    )
    if not knowledge.collections():
        collection = knowledge.create("bench")
        knowledge.add(collection.id, [tree])
    (collection,) = knowledge.collections()
    for doing in ("indexed", "looked through again"):
        began = time.monotonic()
        with lateness() as late:
            for _ in knowledge.work(CancelToken(), Politeness(rest=time.sleep), collection.id):
                pass
        took = time.monotonic() - began
        print(f"{doing} in {took:.1f} s; a window wakes up late by {shown(late, 1000)} ms")
    state = knowledge.state(collection.id)
    print(f"{state.passages:,} passages; index {state.index_bytes / 1e6:,.0f} MB without vectors,"
          f" {state.index_bytes / state.characters:.2f} of the text")  # fmt: skip
    measure("words alone", lambda it: knowledge.search([collection.id], it, 10, CancelToken()))
    knowledge.close()
    if args.vectors:
        with_vectors(index / f"{collection.id}.db", args.vectors, size)


def with_vectors(path: Path, dimensions: int, size: int) -> None:
    """Give all passages random vectors, and search by both."""
    index, model = CollectionIndex(path), VectorModel(f"random {dimensions}", "random", dimensions)
    random = np.random.default_rng(7)
    began = time.monotonic()
    while texts := index.without_vectors(model, 2000):
        for text in texts:
            shape = len(text.passages), HALVES, dimensions
            values = random.standard_normal(shape, np.float32)
            index.save_vectors(model, text.id, values)  # type: ignore[arg-type]  # rows of numbers
    index.switch_model(model)
    print(f"vectors kept in {time.monotonic() - began:.0f} s; index {index.size_bytes() / 1e6:,.0f}"
          f" MB, {index.size_bytes() / size:.2f} of the text")  # fmt: skip
    asked = random.standard_normal((_QUESTIONS, dimensions), np.float32)
    vectors = iter(asked.tolist())
    began = time.monotonic()
    index.search("bench", "", 10, (model, asked[0].tolist()))
    print(f"the first search, which reads the signs: {(time.monotonic() - began) * 1000:.0f} ms")
    measure("vectors alone", lambda _: index.search("bench", "", 10, (model, next(vectors))))
    vectors = iter(asked.tolist())
    measure("words and vectors", lambda it: index.search("bench", it, 10, (model, next(vectors))))
    index.close()


def measure(what: str, search: Callable[[str], object]) -> None:
    """Ask all questions; print the time that they took, and the processor time."""
    times, own = [], []
    for question in questions():
        began, worked = time.monotonic(), time.thread_time()
        search(question)
        times.append(time.monotonic() - began)
        own.append(time.thread_time() - worked)
    print(f"{what}: {shown(times, 1000)} ms; at work {shown(own, 1000)} ms")


def shown(times: list[float], unit: float) -> str:
    found = sorted(time * unit for time in times)
    return (f"{statistics.median(found):.1f} (median), {found[int(len(found) * 0.95)]:.1f} (95 %),"
            f" {found[-1]:.1f} (most)")  # fmt: skip


@contextmanager
def lateness() -> Iterator[list[float]]:
    """Gather the delays of a thread that sleeps for 5 ms again and again."""
    late: list[float] = []
    ended = threading.Event()

    def wait() -> None:
        while not ended.is_set():
            began = time.monotonic()
            time.sleep(0.005)
            late.append(time.monotonic() - began - 0.005)

    thread = threading.Thread(target=wait)
    thread.start()
    try:
        yield late
    finally:
        ended.set()
        thread.join()


@cache
def vocabulary(language: str) -> list[str]:
    """Return words of a language, the most frequent first: real ones, then made ones."""
    random = np.random.default_rng(len(language) + ord(language[0]))
    sounds = [part.split() for part in _SOUNDS[language]]
    syllables = np.array(["".join(it) for it in product(*sounds)])
    words = dict.fromkeys(_GERMAN if language == "de" else _ENGLISH)
    while len(words) < _WORDS:
        parts = random.choice(syllables, random.integers(1, 4))
        words["".join(parts)] = None
    return list(words)


def make_tree(tree: Path, files: int, size: int) -> None:
    """Write the files; their lengths differ by a factor of twenty."""
    random = np.random.default_rng(11)
    words = {language: np.array(vocabulary(language), dtype=object) for language in _SOUNDS}
    weights = 1 / (np.arange(_WORDS) + 2.7)
    weights /= weights.sum()
    # Language repeats itself: without phrases the text could hardly be compressed.
    often = 1 / (np.arange(_PHRASES) + 200)
    often /= often.sum()
    phrases = {
        language: its[random.choice(_WORDS, (_PHRASES, 3), p=weights)]
        for language, its in words.items()
    }
    lengths = random.lognormal(0, 0.6, files)
    lengths *= size / lengths.sum()
    for number, length in enumerate(lengths):
        language = "de" if number % 2 else "en"
        count = int(length / 8.4)
        chosen = phrases[language][random.choice(_PHRASES, max(count // 3, 1), p=often)]
        said = [word for phrase in chosen for word in phrase]
        lines = [" ".join(said[at : at + 14]) for at in range(0, len(said), 14)]
        text = "\n".join(f"{line}.\n" if at % 8 == 7 else line for at, line in enumerate(lines))
        folder = tree / f"{number % 37:02}" / f"{number % 11:02}"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"file-{number:05}{_ENDINGS[number % len(_ENDINGS)]}"
        path.write_text(text, encoding="utf-8")


def questions() -> Iterator[str]:
    """Yield questions of frequent and rare words, in both languages."""
    random = np.random.default_rng(5)
    for number in range(_QUESTIONS):
        words = vocabulary("de" if number % 2 else "en")
        frequent = random.integers(0, 50, 5)
        telling = random.integers(50, 3000, 4)
        yield " ".join(words[int(at)] for at in (*frequent, *telling)) + "?"


if __name__ == "__main__":
    main()
