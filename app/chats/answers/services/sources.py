"""Chooses the parts of files and collections that go into a question's prompt.

Attached files go in whole, or as the passages that suit the question; collections only as passages.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from app.documents.collections.values import fused
from app.documents.store.passages import find_passages
from app.documents.values.documents import (
    MEDIA_ORIGINS,
    PASSAGE,
    AttachedFile,
    Passage,
    PromptSource,
    passages,
)
from engines.memory.load_options import DEFAULT_CONTEXT
from engines.types import Measured, MediaKind

if TYPE_CHECKING:
    from app.documents.collections.values import FoundPassage

MOST_TOKENS: Final = 8192
"""Most tokens for all passages together.

The useful passages are among the first, and a CPU takes minutes to read more.
"""

_SHARE: Final = 0.5
"""Share of the free room that passages can take; the rest is for later questions."""

_SAMPLE: Final = 4
"""How many passages are measured to estimate the tokens per character."""

_MOST_CHARACTERS: Final = 12
"""Most characters per token: text that is longer than this for the room left is not measured."""

Measure = Callable[[Sequence[PromptSource]], Measured]
"""Measures the prompt of an answer with these sources. Raises EngineError, Cancelled."""


ByMeaning = Callable[[str, Sequence[tuple[AttachedFile, Passage]], Sequence[int]], list[int]]
"""Orders passages by how well their meaning suits a question, and returns their numbers.

The last argument holds the numbers of the passages that match best by words. The result is empty if
meanings cannot be compared. Raises Cancelled.
"""


@dataclass(frozen=True)
class _Found:
    """A passage that suits a question, as it would appear in a prompt."""

    source: PromptSource
    length: int


def choose_sources(
    question: str,
    files: Sequence[AttachedFile],
    measure: Measure,
    supported: Container[MediaKind] = (),
    found: Sequence[FoundPassage] = (),
    by_meaning: ByMeaning = lambda _question, _passages, _likely: [],
) -> tuple[PromptSource, ...]:
    """Choose the sources that go into a question's prompt.

    All pictures and sounds go in. Texts go in whole if they fit with room for the answer. Otherwise
    small texts go in whole, and the others as the passages that suit the question by words and
    meaning; if none suits, their beginnings go in and are marked as unmatched. A model that sees
    also gets as many pages of scans as fit. After these come as many of the passages found in
    collections as fit, the best first.

    Raises whatever `measure` and `by_meaning` raise.
    """
    attached = _attached(question, files, measure, supported, by_meaning) if files else ()
    return (*attached, *_of_collections(attached, found, measure)) if found else attached


def _attached(
    question: str,
    files: Sequence[AttachedFile],
    measure: Measure,
    supported: Container[MediaKind],
    by_meaning: ByMeaning,
) -> tuple[PromptSource, ...]:
    """Choose the parts of attached files that go into a prompt."""
    media = tuple(source for file in files for source in _media_of(file))
    scans = [file for file in files if "image" in supported and file.document.pages]
    read = [
        file
        for file in files
        if file.document.medium is None and not (file in scans and file.document.is_scan)
    ]

    def measure_with_media(sources: Sequence[PromptSource]) -> Measured:
        return measure((*sources, *media))

    texts = _of_files(question, read, measure_with_media, by_meaning) if read else ()
    pages = [page for file in scans for page in _pages(file)]
    while pages:
        measured = measure_with_media((*texts, *pages))
        if not measured.context or measured.total <= measured.context - measured.kept:
            break
        del pages[len(pages) - max(1, len(pages) // 8) :]
    page_documents = {page.document for page in pages}
    # A scan without room for even one page goes in as a text that says it is a scan.
    unseen = [
        _whole_text(scan)
        for scan in scans
        if scan.document.is_scan and scan.document.sha256 not in page_documents
    ]
    return (*texts, *unseen, *pages, *media)


def _media_of(file: AttachedFile) -> Iterator[PromptSource]:
    """Yield the source if the file is a picture or a sound."""
    for origin, kind in MEDIA_ORIGINS.items():
        if file.document.kind.medium == kind:
            yield PromptSource(origin, file.name, file.document.sha256)


def _pages(file: AttachedFile) -> Iterator[PromptSource]:
    """Yield the pages of a scan, as pictures."""
    for page in file.document.pages:
        yield PromptSource("picture", file.name, file.document.sha256, page.number)


def _of_collections(
    attached: tuple[PromptSource, ...], found: Sequence[FoundPassage], measure: Measure
) -> tuple[PromptSource, ...]:
    """Choose passages of collections, skipping files that are attached anyway."""
    known = {source.document for source in attached}
    left = [passage.source for passage in found if passage.document not in known]
    if not left:
        return ()
    before = measure(attached)
    most = (before.context or DEFAULT_CONTEXT) - before.kept
    sample = left[:_SAMPLE]
    needed = measure((*attached, *sample)).total - before.total
    tokens_each = max(1 / _MOST_CHARACTERS, needed / max(1, sum(map(_length, sample))))
    budget = min(MOST_TOKENS, round((most - before.total) * _SHARE)) / tokens_each
    chosen: list[PromptSource] = []
    for source in left:
        budget -= _length(source)
        if chosen and budget < 0:
            break
        chosen.append(source)
    order = {
        document: at
        for at, document in enumerate(dict.fromkeys(source.document for source in left))
    }
    while chosen:
        sources = _in_order(chosen, order)
        if measure((*attached, *sources)).total <= most:
            return sources
        chosen = chosen[: len(chosen) - max(1, len(chosen) // 8)]
    return ()


def _length(source: PromptSource) -> int:
    return source.end - source.start


def _of_files(
    question: str, files: Sequence[AttachedFile], measure: Measure, by_meaning: ByMeaning
) -> tuple[PromptSource, ...]:
    """Choose the parts of files with text that go into a prompt."""
    whole = tuple(_whole_text(file) for file in files)
    empty = measure(())
    context = empty.context or DEFAULT_CONTEXT
    most = context - empty.kept
    room = max(most - empty.total, context // 4)
    characters = sum(len(file.document.text) for file in files)
    if characters <= most * _MOST_CHARACTERS and measure(whole).total <= most:
        return whole
    tokens_each = _tokens_per_character(files, measure, empty.total)
    chosen, left = _small_ones(files, room, tokens_each)
    budget = min(MOST_TOKENS, round(room * _SHARE)) / tokens_each
    found = _suitable(question, left, budget, by_meaning)
    order = {file.document.sha256: at for at, file in enumerate(left)}
    while True:
        sources = (*chosen, *_in_order((passage.source for passage in found), order))
        if len(found) <= 1 or measure(sources).total <= most:
            return sources
        found = found[: len(found) - max(1, len(found) // 8)]


def _whole_text(file: AttachedFile) -> PromptSource:
    return PromptSource("file", file.name, file.document.sha256)


def _tokens_per_character(files: Sequence[AttachedFile], measure: Measure, empty: int) -> float:
    """Return the tokens per character of these files, from a sample of the longest one's middle."""
    longest = max(files, key=lambda file: len(file.document.text))
    section = max(longest.document.sections, key=lambda section: len(section.text))
    start = max(0, len(section.text) // 2 - PASSAGE)
    end = min(len(section.text), start + 2 * PASSAGE)
    sample = PromptSource(
        "file", longest.name, longest.document.sha256, section.place.number, start, end
    )
    return max(1 / _MOST_CHARACTERS, (measure([sample]).total - empty) / max(1, end - start))


def _small_ones(
    files: Sequence[AttachedFile], room: int, tokens_each: float
) -> tuple[tuple[PromptSource, ...], list[AttachedFile]]:
    """Split the files into those that are small compared with the room, and the others."""
    chosen, left = [], []
    share = room * _SHARE
    for file in sorted(files, key=lambda file: len(file.document.text)):
        needed = len(file.document.text) * tokens_each
        if needed <= share / 2:
            chosen.append(_whole_text(file))
            share -= needed
        else:
            left.append(file)
    return tuple(chosen), left


def _suitable(
    question: str, files: Sequence[AttachedFile], budget: float, by_meaning: ByMeaning
) -> list[_Found]:
    """Return passages that suit a question, the best first.

    Args:
        budget: Most characters of all passages together; the first one can exceed it.
    """
    everything = [(file, passage) for file in files for passage in passages(file.document, PASSAGE)]
    if not everything:
        return []
    most = max(1, round(2 * budget / PASSAGE))
    by_words = find_passages((passage for _, passage in everything), question, most)
    near = by_meaning(question, everything, [number for number, _ in by_words])
    weighted = [(number, 1.0) for number in near]
    numbers = [number for number, _, _ in fused({"text": by_words, "vector": weighted})]
    unmatched = not numbers and bool(question.strip())
    if not numbers:
        numbers = _beginnings(everything)
    found: list[_Found] = []
    for number in numbers:
        file, passage = everything[number]
        length = len(passage.text)
        if found and length > budget:
            break
        budget -= length
        found.append(_Found(replace(_part(file, passage), unmatched=unmatched), length))
    return found


def _beginnings(everything: Sequence[tuple[AttachedFile, Passage]]) -> list[int]:
    """Return the numbers of all passages: the first of every file, then the second, and so on."""
    counts: dict[int, int] = {}
    ranks = []
    for number, (file, _) in enumerate(everything):
        counts[id(file)] = rank = counts.get(id(file), -1) + 1
        ranks.append((rank, number))
    return [number for _, number in sorted(ranks)]


def _part(file: AttachedFile, passage: Passage) -> PromptSource:
    span = passage.span
    return PromptSource(
        "file", file.name, file.document.sha256, span.place.number, span.start, span.end
    )


def _in_order(found: Iterable[PromptSource], order: Mapping[str, int]) -> tuple[PromptSource, ...]:
    """Sort passages by file and position, and merge those that follow each other directly."""
    merged: list[PromptSource] = []
    for source in sorted(
        found, key=lambda source: (order[source.document], source.place, source.start)
    ):
        last = merged[-1] if merged else None
        if last and (last.document, last.place, last.end) == (
            source.document,
            source.place,
            source.start,
        ):
            merged[-1] = replace(last, end=source.end)
        else:
            merged.append(source)
    return tuple(merged)
