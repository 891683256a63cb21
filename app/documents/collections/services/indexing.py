"""Indexes a collection: scans its folders, reads new files, and makes vectors."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from app.base.errors import DocumentNotRead
from app.documents.collections.services.scanning import ScanResult, scan
from app.documents.collections.store.collection_index import CollectionIndex, SeenFile, TrackedFile
from app.documents.collections.values import DocumentCollection, IndexProgress
from app.documents.values.documents import Document
from engines.cancel import CancelToken
from engines.errors import Cancelled
from engines.regular import open_regular

if TYPE_CHECKING:
    from app.documents.collections.services.embedding import Embedding
    from app.documents.collections.store.vectors import Halves

_FILES: Final = 64
_CHARACTERS: Final = 1_000_000
_SECONDS: Final = 0.5
"""Files, characters and seconds of reading before a batch is stored, whichever is reached first.

The batches are small so that no search waits long.
"""

_NOTED: Final = 1000
"""Files recorded in one transaction."""

_PASSAGES: Final = 16
"""Passages embedded in one request."""

_AHEAD: Final = 256
"""Passages whose texts are decompressed ahead of embedding."""

_WAIT_S: Final = 0.5


class ReadsMany(Protocol):
    """Reads one file after another; see `app.documents.reading.reader.ManyDocuments`."""

    def read(self, path: Path, cancel: CancelToken, name: str = "") -> Document:
        """Read a file. Raises DocumentNotRead and Cancelled."""
        ...

    def close(self) -> None:
        """End the process that reads files."""


@dataclass(frozen=True)
class Politeness:
    """How indexing lets other work go first.

    Attributes:
        busy: Returns whether someone is waiting for an answer; no vectors are made then.
        rest: Called with the seconds that a step took; resting as long lets other threads run.
    """

    busy: Callable[[], bool] = lambda: False
    rest: Callable[[float], object] = lambda _seconds: None


class Indexing:
    """Brings the index of one collection up to date; on one thread. Qt-free."""

    def __init__(
        self,
        collection: DocumentCollection,
        index: CollectionIndex,
        reader: Callable[[], ReadsMany],
        embedding: Embedding | None,
        politeness: Politeness,
    ) -> None:
        self._collection = collection
        self._index = index
        self._reader = reader
        self._embedding = embedding
        self._politeness = politeness

    def work(self, cancel: CancelToken) -> Iterator[IndexProgress]:
        """Do all the work there is, and yield the progress.

        Whatever ends it, everything stored so far stays, and the next call continues from there.

        Raises AppError, EngineError and Cancelled.
        """
        yield from self._scan(cancel)
        yield from self._read(cancel)
        yield from self._embed(cancel)
        while not cancel.cancelled and self._step(self._index.merge):
            pass

    def _step(self, do: Callable[[], bool]) -> bool:
        began = time.monotonic()
        more = do()
        self._politeness.rest(time.monotonic() - began)
        return more

    # Scanning

    def _scan(self, cancel: CancelToken) -> Iterator[IndexProgress]:
        yield IndexProgress(self._collection, "looking")
        index, known = self._index, self._index.known()
        result = scan(
            self._collection.paths,
            [file.seen.path for file in known.values()],
            index.devices(),
            cancel,
        )
        missing = {
            path: file
            for path, file in known.items()
            if path not in result.files and not result.spares(file.seen.path)
        }
        moved = self._moved(result, known, missing)
        to_read = [
            file
            for path, file in result.files.items()
            if file not in moved and _is_new(file, known.get(path))
        ]
        index.note(moved=[(file.id, new) for new, file in moved.items()])
        for start in range(0, len(to_read), _NOTED):
            index.note(to_read[start : start + _NOTED])
        ids = [file.id for file in missing.values()]
        for start in range(0, len(ids), _FILES):
            index.note(removed=ids[start : start + _FILES])
        index.save_devices({**index.devices(), **result.devices})
        index.record_scan(time.time(), result.left_out, result.troubles)

    def _moved(
        self, result: ScanResult, known: dict[bytes, TrackedFile], missing: dict[bytes, TrackedFile]
    ) -> dict[SeenFile, TrackedFile]:
        """Find renamed and moved files by their content; remove them from `missing`.

        They include files whose names changed because another folder was added.
        """
        moved = {
            new: old
            for path, new in result.files.items()
            if (old := known.get(path)) is not None
            and old.seen.name != new.name
            and not _is_new(new, old)
        }
        by_size: dict[tuple[int, int], list[bytes]] = {}
        for path, file in missing.items():
            by_size.setdefault((file.seen.size, file.seen.mtime_ns), []).append(path)
        for path, new in result.files.items():
            if path in known:
                continue
            for before in by_size.get((new.size, new.mtime_ns), ()):
                if before in missing and self._index.hash_of(missing[before].id) == _hash(new.path):
                    moved[new] = missing.pop(before)
                    break
        return moved

    # Reading

    def _read(self, cancel: CancelToken) -> Iterator[IndexProgress]:
        total = self._index.counts().waiting
        if not total:
            return
        done = 0
        reader = self._reader()
        try:
            while files := self._index.waiting(_FILES):
                for step in self._steps(files, reader, cancel):
                    done += len(step)
                    file = step[-1].seen.name if step else ""
                    yield IndexProgress(self._collection, "reading", done, max(total, done), file)
        finally:
            reader.close()

    def _steps(
        self, files: Sequence[TrackedFile], reader: ReadsMany, cancel: CancelToken
    ) -> Iterator[list[TrackedFile]]:
        """Read files and store them in small batches; yield the files of each batch."""
        batch: list[tuple[TrackedFile, Document | DocumentNotRead]] = []
        step: list[TrackedFile] = []
        characters, began = 0, time.monotonic()
        for number, file in enumerate(files, start=1):
            if cancel.cancelled:
                raise Cancelled
            step.append(file)
            found = self._content(file, reader, cancel)
            if found is not None:
                batch.append((file, found))
                characters += len(found.text) if isinstance(found, Document) else 0
            late = time.monotonic() - began > _SECONDS
            if number == len(files) or characters > _CHARACTERS or late:
                began_saving = time.monotonic()
                self._index.store_texts(batch)
                self._politeness.rest(time.monotonic() - began_saving)
                yield step
                batch, step, characters, began = [], [], 0, time.monotonic()

    def _content(
        self, file: TrackedFile, reader: ReadsMany, cancel: CancelToken
    ) -> Document | DocumentNotRead | None:
        """Read a file; None if the index already has its text."""
        found = file.seen
        if self._index.has_size(found.size):
            sha256 = _hash(found.path)
            if sha256 is not None and self._index.link(file, sha256):
                return None
        try:
            return reader.read(found.path, cancel, found.name)
        except DocumentNotRead as error:
            return error

    # Vectors

    def _embed(self, cancel: CancelToken) -> Iterator[IndexProgress]:
        model = self._embedding.model() if self._embedding is not None else None
        if self._embedding is None or model is None:
            return
        index = self._index
        total, done = index.counts().passages, index.with_vectors(model)
        while texts := index.without_vectors(model, _AHEAD):
            by_text: dict[int, list[Halves]] = {text.id: [] for text in texts}
            left = [(text, passage) for text in texts for passage in text.passages]
            for start in range(0, len(left), _PASSAGES):
                self._wait_for_others(cancel)
                part = left[start : start + _PASSAGES]
                began = time.monotonic()
                vectors = self._embedding.passages(model, [text for _, text in part], cancel)
                for (text, _), vector in zip(part, vectors, strict=True):
                    by_text[text.id].append(vector)
                    if len(by_text[text.id]) == len(text.passages):
                        index.save_vectors(model, text.id, by_text.pop(text.id))
                self._politeness.rest((time.monotonic() - began) / 4)
                done += len(part)
                yield IndexProgress(
                    self._collection, "vectors", done, max(total, done), part[-1][0].name
                )
        before = index.model()
        if done and (before is None or before.key != model.key):
            index.switch_model(model)

    def _wait_for_others(self, cancel: CancelToken) -> None:
        while self._politeness.busy() and not cancel.cancelled:
            cancel.wait(_WAIT_S)
        if cancel.cancelled:
            raise Cancelled


def _is_new(found: SeenFile, known: TrackedFile | None) -> bool:
    """Return whether the index does not have the current version of a file."""
    if known is None:
        return True
    return (known.seen.size, known.seen.mtime_ns) != (found.size, found.mtime_ns)


def _hash(path: Path) -> str | None:
    """Return the SHA-256 of a file; None if it cannot be read."""
    try:
        with open_regular(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
