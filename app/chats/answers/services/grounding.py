"""Chooses what goes into a prompt of attached files, and of the collections of a chat.

Of attached files all, or the passages that suit; of collections the passages that suit.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from app.chats.history.values.conversation import StoredMessage, ToldMessage
from app.documents.collections.values import fused
from app.documents.store.documents import DocumentStore
from app.documents.store.passages import find_passages
from app.documents.values.documents import (
    PASSAGE,
    SHOWN,
    AttachedFile,
    Document,
    Passage,
    PromptSource,
    passages,
    prompt_message,
)
from engines.memory.load_options import DEFAULT_CONTEXT
from engines.types import Measured, MediaKind

if TYPE_CHECKING:
    from app.documents.collections.services.knowledge import Knowledge
    from app.documents.collections.values import FoundPassage
    from engines.cancel import CancelToken

MOST_TOKENS: Final = 8192
"""Tokens of all passages, at most: what helps is among the first of them, and a processor takes
minutes to read more."""

MOST_PASSAGES: Final = 40
"""Passages of collections, at most; so many are hardly told."""

_SHARE: Final = 0.5
"""What passages may take of the room that is left; the rest is for what is asked next."""

_SAMPLE: Final = 4
"""Passages by which it is reckoned what a character takes."""

_MOST_CHARACTERS: Final = 12
"""A token has hardly more characters: a text that is longer by so much need not be counted."""

Measure = Callable[[Sequence[PromptSource]], Measured]
"""Measure the prompt of an answer with these sources. Raises EngineError, Cancelled."""


ByMeaning = Callable[[str, Sequence[tuple[AttachedFile, Passage]], Sequence[int]], list[int]]
"""Order passages by what they mean for a question, by their numbers; nothing where that cannot be
told. The last numbers are the likeliest by their words. Raises Cancelled."""


@dataclass(frozen=True)
class _Found:
    """A passage that suits a question, as it would stand in a prompt."""

    source: PromptSource
    length: int


class Grounding:
    """Grounds answers in the files and collections of their chat. Qt-free; from any thread.

    knowledge: the user's collections, where there can be some.
    """

    def __init__(self, documents: DocumentStore, knowledge: Knowledge | None = None) -> None:
        self._documents = documents
        self._knowledge = knowledge

    def told(
        self,
        path: Sequence[StoredMessage],
        known: Sequence[AttachedFile] = (),
        taken: Container[MediaKind] = ("image", "audio"),
    ) -> tuple[StoredMessage, ...]:
        """Return a path whose questions hold what their answers were told and shown of files.

        A question with a whole text stays in the prompt when others leave, as it is not told again.
        known: files that need not be looked up. taken: what the model sees or hears.
        """
        hashes = {source.document for message in path for source in message.sources}
        if not hashes:
            return tuple(path)
        documents = {file.document.sha256: file.document for file in known}
        documents |= self.documents(hashes - documents.keys())
        found = []
        for message, after in zip(path, (*path[1:], None), strict=True):
            sources = after.sources if after is not None else ()
            if message.role != "user" or not sources:
                found.append(message)
                continue
            text, media = prompt_message(message.text, sources, documents, taken)
            whole = any(not it.place and it.origin not in SHOWN for it in sources)
            told = ToldMessage(**vars(message), media=media) if media else message
            found.append(replace(told, text=text, pinned=message.pinned or whole))
        return tuple(found)

    def untold(
        self, path: Sequence[StoredMessage], taken: Container[MediaKind] = ()
    ) -> tuple[AttachedFile, ...]:
        """Return the files of a path that no answer before its last one was told as a whole.

        taken: what the model sees or hears. Pictures and sounds that it does not take are only
        among them where they go with its last question: they would be nothing but in the way. What
        a scan shows is untold to who has read that it shows something.
        """
        before = [it for message in path[:-1] for it in message.sources]
        shown = {it.document for it in before if it.origin in SHOWN}
        whole = {it.document for it in before if not it.place}
        asked = {it.sha256 for message in path[-2:] for it in message.attachments}
        return tuple(
            file
            for file in self._files(path, shown)
            if (kind := file.document.kind.medium) is None or kind in taken or _hash(file) in asked
            if _hash(file) not in whole or ("image" in taken and file.document.pages)
        )

    def files(self, path: Sequence[StoredMessage]) -> tuple[AttachedFile, ...]:
        """Return all files of a path, against which its answers can be held.

        Those of collections are among them as far as an answer was told something of them.
        """
        attached = self._files(path, set())
        known = {file.document.sha256 for file in attached}
        names = {
            it.document: it.name
            for message in path
            for it in message.sources
            if it.document not in known
        }
        found = self.documents(names)
        return (*attached, *(AttachedFile(names[it], found[it]) for it in names if it in found))

    def passages(
        self, collections: Sequence[str], question: str, cancel: CancelToken
    ) -> list[FoundPassage]:
        """Find the passages of collections that suit a question, the best first.

        collections: ids; those that are gone are left out. Raises SearchBroken and Cancelled.
        """
        if self._knowledge is None or not collections:
            return []
        there = {it.id for it in self._knowledge.collections()}
        asked = [it for it in collections if it in there]
        return self._knowledge.search(asked, question, MOST_PASSAGES, cancel)

    def by_meaning(self, cancel: CancelToken) -> ByMeaning:
        """Return what orders the passages of attached files by their meaning."""
        knowledge = self._knowledge
        if knowledge is None:
            return lambda _question, _passages, _likely: []
        return lambda question, passages, likely: knowledge.order(
            question, passages, likely, cancel
        )

    def documents(self, hashes: Iterable[str]) -> dict[str, Document]:
        """Return the text of files by their hashes, from chats or from collections."""
        wanted = set(hashes)
        found = self._documents.documents(wanted)
        if self._knowledge is not None and (left := wanted - found.keys()):
            found |= self._knowledge.documents(left)
        return found

    def _files(
        self, path: Sequence[StoredMessage], without: Container[str]
    ) -> tuple[AttachedFile, ...]:
        names = {
            it.sha256: it.name
            for message in path
            for it in message.attachments
            if it.sha256 not in without
        }
        found = self._documents.documents(names)
        return tuple(AttachedFile(names[it], found[it]) for it in names if it in found)


def _hash(file: AttachedFile) -> str:
    return file.document.sha256


def choose(
    question: str,
    files: Sequence[AttachedFile],
    measure: Measure,
    taken: Container[MediaKind] = (),
    found: Sequence[FoundPassage] = (),
    by_meaning: ByMeaning = lambda _question, _passages, _likely: [],
) -> tuple[PromptSource, ...]:
    """Choose what goes into a question's prompt. Raises what `measure` and `by_meaning` raise.

    All pictures and sounds; whole texts, if they fit with room for the answer, otherwise small ones
    whole, and of the others the passages that suit the question by their words and their meaning,
    or the beginnings where none does, which are marked as such; and to a model that sees, as many
    pages of scans as there is room for. Behind them, as many as fit of what was found in
    collections, the best first.
    """
    attached = _attached(question, files, measure, taken, by_meaning) if files else ()
    return (*attached, *_of_collections(attached, found, measure)) if found else attached


def _attached(
    question: str,
    files: Sequence[AttachedFile],
    measure: Measure,
    taken: Container[MediaKind],
    by_meaning: ByMeaning,
) -> tuple[PromptSource, ...]:
    """Choose what of attached files goes into a prompt."""
    shown = tuple(source for file in files for source in _shown(file))
    scans = [file for file in files if "image" in taken and file.document.pages]
    read = [
        file
        for file in files
        if file.document.medium is None and not (file in scans and file.document.is_scan)
    ]

    def beside(sources: Sequence[PromptSource]) -> Measured:
        return measure((*sources, *shown))

    words = _of_files(question, read, beside, by_meaning) if read else ()
    pages = [page for file in scans for page in _pages(file)]
    while pages:
        measured = beside((*words, *pages))
        if not measured.context or measured.total <= measured.context - measured.kept:
            break
        del pages[len(pages) - max(1, len(pages) // 8) :]
    seen = {page.document for page in pages}
    # Of one without room for a page at least it is told what it is.
    unseen = [_whole(it) for it in scans if it.document.is_scan and _hash(it) not in seen]
    return (*words, *unseen, *pages, *shown)


def _shown(file: AttachedFile) -> Iterator[PromptSource]:
    """Yield the source of a picture or sound."""
    for origin, kind in SHOWN.items():
        if file.document.kind.medium == kind:
            yield PromptSource(origin, file.name, _hash(file))


def _pages(file: AttachedFile) -> Iterator[PromptSource]:
    """Yield the pages of a scan, as pictures."""
    for page in file.document.pages:
        yield PromptSource("picture", file.name, _hash(file), page.number)


def _of_collections(
    attached: tuple[PromptSource, ...], found: Sequence[FoundPassage], measure: Measure
) -> tuple[PromptSource, ...]:
    """Choose passages of collections, of files that are not attached."""
    known = {it.document for it in attached}
    left = [it.source for it in found if it.document not in known]
    if not left:
        return ()
    before = measure(attached)
    most = (before.context or DEFAULT_CONTEXT) - before.kept
    sample = left[:_SAMPLE]
    takes = measure((*attached, *sample)).total - before.total
    tokens_each = max(1 / _MOST_CHARACTERS, takes / max(1, sum(map(_length, sample))))
    budget = min(MOST_TOKENS, round((most - before.total) * _SHARE)) / tokens_each
    chosen: list[PromptSource] = []
    for source in left:
        budget -= _length(source)
        if chosen and budget < 0:
            break
        chosen.append(source)
    order = {document: at for at, document in enumerate(dict.fromkeys(it.document for it in left))}
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
    """Choose what of files with text goes into a prompt."""
    whole = tuple(_whole(file) for file in files)
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
        sources = (*chosen, *_in_order((it.source for it in found), order))
        if len(found) <= 1 or measure(sources).total <= most:
            return sources
        found = found[: len(found) - max(1, len(found) // 8)]


def _whole(file: AttachedFile) -> PromptSource:
    return PromptSource("file", file.name, file.document.sha256)


def _tokens_per_character(files: Sequence[AttachedFile], measure: Measure, empty: int) -> float:
    """Count what a character of these files takes, by some from the middle of the longest."""
    longest = max(files, key=lambda it: len(it.document.text))
    section = max(longest.document.sections, key=lambda it: len(it.text))
    start = max(0, len(section.text) // 2 - PASSAGE)
    end = min(len(section.text), start + 2 * PASSAGE)
    sample = PromptSource(
        "file", longest.name, longest.document.sha256, section.place.number, start, end
    )
    return max(1 / _MOST_CHARACTERS, (measure([sample]).total - empty) / max(1, end - start))


def _small_ones(
    files: Sequence[AttachedFile], room: int, tokens_each: float
) -> tuple[tuple[PromptSource, ...], list[AttachedFile]]:
    """Split the files into those that are small beside the room, and the others."""
    chosen, left = [], []
    share = room * _SHARE
    for file in sorted(files, key=lambda it: len(it.document.text)):
        takes = len(file.document.text) * tokens_each
        if takes <= share / 2:
            chosen.append(_whole(file))
            share -= takes
        else:
            left.append(file)
    return tuple(chosen), left


def _suitable(
    question: str, files: Sequence[AttachedFile], budget: float, by_meaning: ByMeaning
) -> list[_Found]:
    """Return passages that suit a question, the best first, of so many characters together."""
    everything = [(file, passage) for file in files for passage in passages(file.document, PASSAGE)]
    if not everything:
        return []
    most = max(1, round(2 * budget / PASSAGE))
    by_words = find_passages((passage for _, passage in everything), question, most)
    near = by_meaning(question, everything, [it for it, _ in by_words])
    meant = [(it, 1.0) for it in near]
    numbers = [it for it, _, _ in fused({"text": by_words, "vector": meant})]
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
    """Return the numbers of all passages: the first of each file, then the second of each."""
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
    """Order passages as they stand in their files, those that follow each other as one."""
    merged: list[PromptSource] = []
    for source in sorted(found, key=lambda it: (order[it.document], it.place, it.start)):
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
