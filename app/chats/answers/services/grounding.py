"""Grounds answers in attached files and in the collections of their chat."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from app.chats.answers.services.sources import ByMeaning, choose_sources
from app.chats.answers.values.answers import Grounded
from app.chats.history.values.conversation import MessageWithMedia, StoredMessage
from app.documents.store.documents import DocumentStore
from app.documents.values.documents import (
    MEDIA_ORIGINS,
    AttachedFile,
    Document,
    PromptSource,
    prompt_message,
    share_of,
)
from engines.types import ChatRequest, Measured, MediaKind

if TYPE_CHECKING:
    from app.documents.collections.services.knowledge import Knowledge
    from app.documents.collections.values import FoundPassage
    from engines.cancel import CancelToken

MOST_PASSAGES: Final = 40
"""Most passages from collections; so many hardly ever reach the prompt."""

Path = Sequence[StoredMessage]
"""The messages of a chat from the first to one message, oldest first."""


class Grounding:
    """Grounds answers in the files and collections of their chat. Qt-free; usable from any thread.

    Args:
        knowledge: The user's collections, if collections are available.
    """

    def __init__(self, documents: DocumentStore, knowledge: Knowledge | None = None) -> None:
        self._documents = documents
        self._knowledge = knowledge

    def ground_path(
        self,
        path: Path,
        collections: Sequence[str],
        supported: Container[MediaKind],
        measure: Callable[[Path], Measured],
        cancel: CancelToken,
    ) -> Grounded | None:
        """Choose which files and passages go into the prompt of a path's answer.

        Args:
            collections: Ids of the collections that ground the answer.
            supported: The media the model takes.
            measure: Measures the prompt of a path whose questions contain their sources.

        Returns:
            None if there is nothing to put in.

        Raises:
            SearchBroken: The collections cannot be searched.
            EngineError: The prompt could not be measured.
            Cancelled: `cancel` was set.
        """
        found = self.find_passages(collections, path[-2].text, cancel)
        files = self.files_not_sent(path, supported)
        if not files and not found:
            return None
        by_meaning = self._by_meaning(cancel)
        sources = self.choose(path, files, supported, measure, found, by_meaning)
        return self._grounded(files, sources)

    def ground_request(
        self,
        request: ChatRequest,
        files: Sequence[AttachedFile],
        collections: Sequence[str],
        supported: Container[MediaKind],
        measure: Callable[[ChatRequest], Measured],
        cancel: CancelToken,
    ) -> tuple[ChatRequest, Grounded] | None:
        """Put as much of files and collections as fits into the last message of a request.

        Args, Returns, Raises: As for `ground_path`.
        """
        if not files and not collections:
            return None
        *before, question = request.messages
        found = self.find_passages(collections, question.text, cancel)
        if not files and not found:
            return None
        documents = {file.document.sha256: file.document for file in files}
        documents |= self.documents({passage.document for passage in found} - documents.keys())

        def with_sources(sources: Sequence[PromptSource]) -> ChatRequest:
            text, media = prompt_message(question.text, sources, documents)
            moved = len(text) - len(question.text)
            own = (replace(medium, at=medium.at + moved) for medium in question.media)
            sent = replace(question, text=text, media=(*media, *own))
            return replace(request, messages=(*before, sent))

        def measured(sources: Sequence[PromptSource]) -> Measured:
            return measure(with_sources(sources))

        by_meaning = self._by_meaning(cancel)
        sources = choose_sources(question.text, files, measured, supported, found, by_meaning)
        return with_sources(sources), self._grounded(files, sources)

    def choose(
        self,
        path: Path,
        files: Sequence[AttachedFile],
        supported: Container[MediaKind],
        measure: Callable[[Path], Measured],
        found: Sequence[FoundPassage] = (),
        by_meaning: ByMeaning = lambda _question, _passages, _likely: [],
    ) -> tuple[PromptSource, ...]:
        """Choose the sources of a path's answer; see `ground_path` and `choose_sources`."""

        def measured(sources: Sequence[PromptSource]) -> Measured:
            with_them = (*path[:-1], replace(path[-1], sources=tuple(sources)))
            return measure(self.with_sources(with_them, files, supported))

        return choose_sources(path[-2].text, files, measured, supported, found, by_meaning)

    def with_sources(
        self,
        path: Path,
        known: Sequence[AttachedFile] = (),
        supported: Container[MediaKind] = ("image", "audio"),
    ) -> tuple[StoredMessage, ...]:
        """Return a path whose questions contain what their answers received from files.

        A question with a whole text is pinned: it stays in the prompt when others are left out,
        because its text is not sent again.

        Args:
            known: Files that need not be looked up.
            supported: The media the model takes.
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
            text, media = prompt_message(message.text, sources, documents, supported)
            has_whole_text = any(
                not source.place and source.origin not in MEDIA_ORIGINS for source in sources
            )
            sent = MessageWithMedia(**vars(message), media=media) if media else message
            found.append(replace(sent, text=text, pinned=message.pinned or has_whole_text))
        return tuple(found)

    def files_not_sent(
        self, path: Path, supported: Container[MediaKind] = ()
    ) -> tuple[AttachedFile, ...]:
        """Return the files of a path whose whole text no answer before the last one has received.

        Pictures and sounds that the model does not take are included only if they go with the last
        question; older ones would only be in the way. The pages of a scan count as not yet sent
        even if its text was sent, provided the model takes pictures.

        Args:
            supported: The media the model takes.
        """
        before = [source for message in path[:-1] for source in message.sources]
        sent_as_media = {source.document for source in before if source.origin in MEDIA_ORIGINS}
        sent_whole = {source.document for source in before if not source.place}
        in_question = {
            attachment.sha256 for message in path[-2:] for attachment in message.attachments
        }
        return tuple(
            file
            for file in self._files(path, sent_as_media)
            if (kind := file.document.kind.medium) is None
            or kind in supported
            or file.document.sha256 in in_question
            if file.document.sha256 not in sent_whole
            or ("image" in supported and file.document.pages)
        )

    def files(self, path: Path) -> tuple[AttachedFile, ...]:
        """Return all files of a path, to check its answers against.

        Files of collections are included if an answer received something from them.
        """
        sources = [source for message in path for source in message.sources]
        return self.files_of(sources, self._files(path, set()))

    def files_of(
        self, sources: Iterable[PromptSource], files: Sequence[AttachedFile]
    ) -> tuple[AttachedFile, ...]:
        """Return all files from which an answer's prompt had text.

        Args:
            files: The attached files.
        """
        attached = {file.document.sha256 for file in files}
        names = {
            source.document: source.name for source in sources if source.document not in attached
        }
        found = self.documents(names)
        return (
            *files,
            *(AttachedFile(names[sha256], found[sha256]) for sha256 in names if sha256 in found),
        )

    def find_passages(
        self, collections: Sequence[str], question: str, cancel: CancelToken
    ) -> list[FoundPassage]:
        """Find the passages of collections that suit a question, the best first.

        Args:
            collections: Ids; those that no longer exist are skipped.

        Raises:
            SearchBroken: The collections cannot be searched.
            Cancelled: `cancel` was set.
        """
        if self._knowledge is None or not collections:
            return []
        existing = {collection.id for collection in self._knowledge.collections()}
        chosen = [collection for collection in collections if collection in existing]
        return self._knowledge.search(chosen, question, MOST_PASSAGES, cancel)

    def documents(self, hashes: Iterable[str]) -> dict[str, Document]:
        """Return documents by the hashes of their files, from chats or from collections."""
        wanted = set(hashes)
        found = self._documents.documents(wanted)
        if self._knowledge is not None and (not_attached := wanted - found.keys()):
            found |= self._knowledge.documents(not_attached)
        return found

    def _by_meaning(self, cancel: CancelToken) -> ByMeaning:
        """Return a function that orders the passages of attached files by meaning."""
        knowledge = self._knowledge
        if knowledge is None:
            return lambda _question, _passages, _likely: []
        return lambda question, passages, likely: knowledge.order(
            question, passages, likely, cancel
        )

    def _grounded(
        self, files: Sequence[AttachedFile], sources: tuple[PromptSource, ...]
    ) -> Grounded:
        """Return the event for the sources in a prompt, from attached files and collections."""
        shares = tuple(share_of(file, sources) for file in self.files_of(sources, files))
        return Grounded(sources, shares)

    def _files(self, path: Path, without: Container[str]) -> tuple[AttachedFile, ...]:
        names = {
            attachment.sha256: attachment.name
            for message in path
            for attachment in message.attachments
            if attachment.sha256 not in without
        }
        found = self._documents.documents(names)
        return tuple(
            AttachedFile(names[sha256], found[sha256]) for sha256 in names if sha256 in found
        )
