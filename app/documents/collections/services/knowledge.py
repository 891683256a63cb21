"""The collections of documents: managing them, their indexes, and searching them."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from app.base.errors import CollectionNameInvalid, CollectionUnknown, NothingToIndex
from app.base.home import expand_home
from app.base.index_file import remove_index
from app.documents.citations.values import Citation, CitationCheck
from app.documents.collections.services.attached import AttachedVectors
from app.documents.collections.services.indexing import Indexing, Politeness, ReadsMany
from app.documents.collections.store.collection_index import CollectionIndex, VectorModel
from app.documents.collections.store.collections import CollectionStore
from app.documents.collections.values import (
    LONGEST_NAME,
    CollectionState,
    DocumentCollection,
    EmbedderStatus,
    FileState,
    FoundPassage,
    IndexedFile,
    IndexProgress,
    joined,
)
from app.documents.values.documents import AttachedFile, Document, Passage
from engines.cancel import CancelToken
from engines.errors import Cancelled, EngineError, UserError
from engines.locks import try_lock
from engines.private import make_private_folder, private
from engines.sentences import N_

if TYPE_CHECKING:
    from app.documents.collections.services.embedding import Embedding

_INDEX = ".db"
_LOCK = ".lock"
_ID = re.compile("[0-9a-f]{32}")

_log = logging.getLogger(__name__)


class Knowledge:
    """The user's collections. Qt-free; safe from any thread. The owner calls `close`.

    `add` and the other methods only record changes; `work` carries them out. The window runs it in
    the background, and the terminal waits for it. Only one process works on a collection at a time.
    """

    def __init__(
        self,
        store: CollectionStore,
        folder: Path,
        reader: Callable[[], ReadsMany],
        embedding: Embedding | None,
    ) -> None:
        """Create the service.

        Args:
            folder: Holds an index for each collection.
            reader: Creates a reader of files.
            embedding: Embeds passages; None to search by words only.
        """
        self._store = store
        self._folder = folder
        self._reader = reader
        self._embedding = embedding
        self._attached = AttachedVectors(embedding) if embedding is not None else None
        self._lock = threading.RLock()
        self._open: dict[str, CollectionIndex] = {}
        self._at_work: dict[str, CancelToken] = {}

    def close(self) -> None:
        """Close the databases of all indexes."""
        with self._lock:
            for index in self._open.values():
                index.close()
            self._open.clear()
        if self._embedding is not None:
            self._embedding.close()

    # Collections

    def collections(self) -> list[DocumentCollection]:
        """List all collections, sorted by name."""
        return self._store.collections()

    def find(self, called: str) -> DocumentCollection:
        """Find a collection by its id or name. Raises CollectionUnknown."""
        found = self._store.named(called)
        if found is None:
            raise CollectionUnknown(
                N_("There is no collection “{called}”.", called=called),
                N_("It was removed, or never existed."),
                N_("Choose a collection from the list."),
                terminal=N_("`hearth docs list` shows all collections."),
            )
        return found

    def create(self, name: str) -> DocumentCollection:
        """Create an empty collection. Raises CollectionNameInvalid, also if the name is taken."""
        name = _named(name)
        collection = self._store.create(name)
        if collection is None:
            raise _name_in_use(name)
        return collection

    def rename(self, collection: str, name: str) -> DocumentCollection:
        """Rename a collection. Raises CollectionNameInvalid and CollectionUnknown."""
        found, name = self.find(collection), _named(name)
        if not self._store.rename(found.id, name):
            raise _name_in_use(name)
        return self.find(found.id)

    def add(self, collection: str, paths: Iterable[Path]) -> DocumentCollection:
        """Add files and folders for `work` to read. Raises NothingToIndex and CollectionUnknown."""
        found = self.find(collection)
        self._store.add(found.id, existing_paths(paths))
        return self.find(found.id)

    def remove_path(self, collection: str, path: Path) -> DocumentCollection:
        """Remove an added file or folder; `work` removes its text from the index."""
        found = self.find(collection)
        self._store.remove_path(found.id, path)
        return self.find(found.id)

    def pause(self, collection: str, *, paused: bool) -> DocumentCollection:
        """Pause the work on a collection, even across restarts, or resume it."""
        found = self.find(collection)
        self._store.pause(found.id, paused=paused)
        if paused and (at_work := self._at_work.get(found.id)) is not None:
            at_work.cancel()
        return self.find(found.id)

    def remove(self, collection: str) -> None:
        """Remove a collection and its index; the files themselves stay where they are."""
        found = self.find(collection)
        self._store.remove(found.id)
        if (at_work := self._at_work.get(found.id)) is not None:
            at_work.cancel()  # the end of that work removes the index
        else:
            self._remove_index(found.id)

    def read_again(self, collection: str, path: Path | None = None) -> None:
        """Make `work` retry files that could not be read: one, or all."""
        self._index(self.find(collection).id).read_again(path)

    # What is there

    def state(self, collection: str) -> CollectionState:
        """Return the state of a collection's index. Raises CollectionUnknown and SearchBroken."""
        found = self.find(collection)
        index = self._index(found.id)
        counts, (scanned_at, left_out, troubles) = index.counts(), index.last_scan()
        searched, chosen = self._models(index)
        coming = chosen is not None and searched is not None and chosen.key != searched.key
        return CollectionState(
            found,
            counts.files,
            counts.waiting,
            counts.unreadable,
            left_out,
            counts.characters,
            counts.passages,
            index.with_vectors(chosen) if chosen is not None else 0,
            searched.name if searched is not None else "",
            chosen.name if chosen is not None and coming else "",
            index.size_bytes(),
            scanned_at,
            troubles,
            counts.scans,
            counts.partly_read,
            counts.empty,
        )

    def files(
        self, collection: str, state: FileState | None = None, start: int = 0, most: int = -1
    ) -> list[IndexedFile]:
        """List files of a collection, sorted by name.

        Args:
            most: Maximum number of files; -1 for all.
        """
        return self._index(self.find(collection).id).files(state, start, most)

    def embedder(self) -> EmbedderStatus:
        """Return which model embeds passages, or why none does."""
        if self._embedding is None:
            return EmbedderStatus(None, N_("Search by meaning is not available here."))
        return self._embedding.status()

    # Search

    def search(
        self, collections: Sequence[str], question: str, most: int, cancel: CancelToken
    ) -> list[FoundPassage]:
        """Return the passages that fit a question, best first, by words and by meaning.

        If the embedding model cannot run, only words are searched.

        Args:
            collections: Ids or names.

        Raises:
            CollectionUnknown: One of the collections does not exist.
            SearchBroken: An index cannot be searched.
            Cancelled: `cancel` was called.
        """
        found = [self.find(collection) for collection in collections]
        vectors: dict[str, tuple[VectorModel, Sequence[float]] | None] = {}
        rankings = []
        for collection in found:
            index = self._index(collection.id)
            model, _ = self._models(index)
            vector = None
            if model is not None:
                if model.key not in vectors:
                    vectors[model.key] = self._vector(model, question, cancel)
                vector = vectors[model.key]
            rankings.append(index.search(collection.name, question, most, vector))
        return joined(rankings)[:most]

    def order(
        self,
        question: str,
        passages: Sequence[tuple[AttachedFile, Passage]],
        likely: Sequence[int],
        cancel: CancelToken,
    ) -> list[int]:
        """Rank passages of attached files by meaning; see `AttachedVectors`."""
        if self._attached is None:
            return []
        return self._attached.order(question, passages, likely, cancel)

    def check(self, collections: Sequence[str], quote: str) -> tuple[Citation, ...]:
        """Search all texts for the exact words of a quote, as `CitationCheck` does.

        Returns:
            The first occurrence in each file; empty if there is none.

        Raises:
            CollectionUnknown: One of the collections does not exist.
            SearchBroken: An index cannot be searched.
        """
        found: list[Citation] = []
        for collection in map(self.find, collections):
            index = self._index(collection.id)
            for sha256, name in index.with_words(quote):
                for document in index.documents([sha256]).values():
                    found += CitationCheck([AttachedFile(name, document)]).find(quote)
        return tuple(found)

    def documents(self, hashes: Iterable[str]) -> dict[str, Document]:
        """Return documents of any collection by SHA-256; missing ones are left out."""
        missing, found = set(hashes), dict[str, Document]()
        for collection in self._store.collections() if missing else ():
            if not self._index_path(collection.id).exists():
                continue
            found |= self._index(collection.id).documents(missing - found.keys())
            if missing == found.keys():
                break
        return found

    def paths_of(self, sha256: str) -> list[Path]:
        """Return the paths of the files with this SHA-256 in all collections."""
        return [
            path
            for collection in self._store.collections()
            if self._index_path(collection.id).exists()
            for path in self._index(collection.id).paths_of(sha256)
        ]

    def _vector(
        self, model: VectorModel, question: str, cancel: CancelToken
    ) -> tuple[VectorModel, Sequence[float]] | None:
        if self._embedding is None or not question.strip():
            return None
        try:
            return model, self._embedding.question(model, question, cancel)
        except EngineError as error:
            _log.warning("a question was not turned into a vector: %s", error)
            return None

    def _models(self, index: CollectionIndex) -> tuple[VectorModel | None, VectorModel | None]:
        """Return the model whose vectors are searched now, and the model that is wanted.

        Until the wanted model's vectors are complete, the old ones are searched, unless the old
        model is gone: no question can be compared with its vectors then.
        """
        if self._embedding is None:
            return None, None
        chosen, complete = self._embedding.model(), index.model()
        if chosen is None:
            return None, None
        if complete is not None and complete.key != chosen.key and self._embedding.can(complete):
            return complete, chosen
        return chosen, chosen

    # Work

    def work(
        self,
        cancel: CancelToken,
        politeness: Politeness | None = None,
        only: str | None = None,
    ) -> Iterator[IndexProgress]:
        """Bring the indexes up to date, one collection after another, and yield the progress.

        A collection that another process is working on is skipped. An error in one collection is
        logged and does not stop the others; with `only` it is raised.

        Args:
            only: The id of the only collection to work on, even if it is paused.

        Raises:
            AppError: Work on `only` failed.
            EngineError: Work on `only` failed.
            Cancelled: Work on `only` was cancelled.
        """
        self._remove_orphans()
        for collection in self._store.collections():
            if cancel.cancelled:
                return
            if collection.id != only if only is not None else collection.paused:
                continue
            try:
                yield from self._work_on(collection, cancel, politeness or Politeness())
            except Cancelled:
                if only is not None:
                    raise
            except UserError as error:
                if only is not None:
                    raise
                _log.warning("the index of a collection is not up to date: %s", error)

    def is_locked_elsewhere(self, collection: str) -> bool:
        """Return whether a collection is being worked on just now, such as by another process."""
        with self._locked(self.find(collection).id) as is_locked:
            return not is_locked

    def _work_on(
        self, collection: DocumentCollection, cancel: CancelToken, politeness: Politeness
    ) -> Iterator[IndexProgress]:
        own = CancelToken()
        forget = cancel.on_cancel(own.cancel)
        try:
            with self._locked(collection.id) as is_locked:
                if not is_locked:
                    return
                self._at_work[collection.id] = own
                index = self._index(collection.id)
                indexing = Indexing(collection, index, self._reader, self._embedding, politeness)
                yield from indexing.work(own)
        finally:
            forget()
            self._at_work.pop(collection.id, None)
            if self._store.named(collection.id) is None:
                self._remove_index(collection.id)

    @contextmanager
    def _locked(self, collection_id: str) -> Iterator[bool]:
        """Hold the lock of a collection's index during the block; yield whether it was free."""
        make_private_folder(self._folder)
        with open(self._folder / f"{collection_id}{_LOCK}", "a", opener=private) as file:
            yield collection_id not in self._at_work and try_lock(file.fileno())

    def _index(self, collection_id: str) -> CollectionIndex:
        with self._lock:
            index = self._open.get(collection_id)
            if index is None:
                make_private_folder(self._folder)
                index = CollectionIndex(self._index_path(collection_id))
                self._open[collection_id] = index
            return index

    def _index_path(self, collection_id: str) -> Path:
        return self._folder / f"{collection_id}{_INDEX}"

    def _remove_index(self, collection_id: str) -> None:
        """Remove the index of a collection that no longer exists."""
        with self._lock:
            index = self._open.pop(collection_id, None)
            if index is not None:
                index.close()
            try:
                remove_index(self._index_path(collection_id))
                (self._folder / f"{collection_id}{_LOCK}").unlink(missing_ok=True)
            except OSError as error:
                # On Windows another process can have it open; `_remove_orphans` tries again.
                _log.warning("the index of a removed collection is still there: %s", error)

    def _remove_orphans(self) -> None:
        """Remove indexes whose collections no longer exist; other files stay."""
        known = {collection.id for collection in self._store.collections()}
        with suppress(FileNotFoundError):
            for path in list(self._folder.iterdir()):
                collection_id = path.name.partition(".")[0]
                is_orphan = collection_id not in known and collection_id not in self._at_work
                if is_orphan and _ID.fullmatch(collection_id):
                    self._remove_index(collection_id)


def existing_paths(paths: Iterable[Path]) -> list[Path]:
    """Return the absolute paths of files and folders to add. Raises NothingToIndex."""
    places = [expand_home(path).resolve() for path in paths]
    for path in places:
        if not path.exists():
            raise NothingToIndex(
                N_("{path} cannot be added.", path=path),
                N_("There is no such file or folder, or the system does not let Hearth see it."),
                N_("Check the path."),
            )
    return places


def _named(name: str) -> str:
    """Return the name as it is stored. Raises CollectionNameInvalid."""
    name = " ".join(
        "".join(character if character.isprintable() else " " for character in name).split()
    )
    if not name or len(name) > LONGEST_NAME:
        raise CollectionNameInvalid(
            N_("The collection cannot have this name."),
            N_(
                "A name has 1 to {longest_name} characters; this one has {count}.",
                longest_name=LONGEST_NAME,
                count=len(name),
            ),
            N_("Choose another name."),
        )
    return name


def _name_in_use(name: str) -> CollectionNameInvalid:
    return CollectionNameInvalid(
        N_("There is a collection “{name}” already.", name=name),
        N_("Two collections cannot have the same name."),
        N_("Choose another name."),
    )
