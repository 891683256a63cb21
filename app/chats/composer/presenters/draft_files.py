"""The files of unsent messages: read in the background, and saved with their drafts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QObject, Signal

from app.base.ids import new_id
from app.chats.history.store.drafts import DraftStore
from app.documents.services.documents import Documents
from app.documents.store.documents import DocumentStore
from app.documents.values.documents import AttachedFile, Attachment
from app.kit.tasks.tasks import STORE, Task, Tasks
from engines.cancel import CancelToken
from engines.errors import Cancelled, UserError

FILES = "files"
T = TypeVar("T")


@dataclass(frozen=True)
class DraftFile:
    """A file of a message that is not sent yet.

    Attributes:
        id: The id.
        name: The name of the file.
        size: The size in bytes; 0 if it is not known.
        since: When the reading began, in seconds of the monotonic clock.
        attachment: The content; None while the file is being read.
        problem: Why the file cannot be read; None if it can.
    """

    id: str
    name: str
    size: int
    since: float
    attachment: Attachment | None = None
    problem: UserError | None = None

    @property
    def is_being_read(self) -> bool:
        """True if the file is being read."""
        return self.attachment is None and self.problem is None


@dataclass(eq=False)
class _Reading:
    """A file that is being read.

    Attributes:
        chat_id: The chat of the message; None is the new chat.
        path: The file on the disk; None for data that is not in a file.
        task: The task that reads it.
    """

    chat_id: str | None
    path: Path | None
    task: Task


class DraftFiles(QObject):
    """The files of unsent messages, by chat; None is the new chat, which is not stored yet.

    The files are read one after the other. Later changes of a file on the disk do not change its
    attachment.

    Signals:
        changed(chat_id): A chat has other files, or more is known about one.
        failed(error): The list could not be saved, or there was a bug in Hearth.
    """

    changed = Signal(object)
    failed = Signal(Exception)

    def __init__(
        self,
        store: DraftStore,
        stored: DocumentStore,
        documents: Documents,
        tasks: Tasks,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._stored = stored
        self._documents = documents
        self._tasks = tasks
        self._files: dict[str | None, list[DraftFile]] = {}
        self._reading: dict[str, _Reading] = {}

    def of(self, chat_id: str | None) -> tuple[DraftFile, ...]:
        """Return the files of a chat's message, in the order in which the user chose them."""
        return tuple(self._list(chat_id))

    def attachments(self, chat_id: str | None) -> tuple[Attachment, ...]:
        """Return the files that have been read."""
        return tuple(file.attachment for file in self._list(chat_id) if file.attachment is not None)

    def add(self, chat_id: str | None, paths: Sequence[Path]) -> None:
        """Read files and attach them to the message, except those already being read for it."""
        under_way = {
            reading.path for reading in self._reading.values() if reading.chat_id == chat_id
        }
        for path in dict.fromkeys(paths):
            if path not in under_way:
                read = partial(self._documents.read, path)
                self._begin(chat_id, path.name, _size(path), path, read)
        self.changed.emit(chat_id)

    def add_made(self, chat_id: str | None, name: str, make: Callable[[], bytes]) -> None:
        """Attach a picture or a sound that is not in a file.

        Args:
            chat_id: The chat; None is the new chat.
            name: The name to show.
            make: Returns the data in a format that engines accept; called on another thread.
        """
        self._begin(chat_id, name, 0, None, lambda _: self._documents.from_bytes(name, make()))
        self.changed.emit(chat_id)

    def add_text(self, chat_id: str | None, name: str, text: str) -> None:
        """Attach a text that is not in a file, under the name of a file."""
        data = text.encode(errors="replace")
        self._begin(chat_id, name, len(data), None, partial(self._documents.read_data, name, data))
        self.changed.emit(chat_id)

    def remove(self, chat_id: str | None, file_id: str) -> None:
        """Remove a file from the message, and stop reading it."""
        reading = self._reading.pop(file_id, None)
        if reading is not None:
            reading.task.cancel()
        remaining = [file for file in self._list(chat_id) if file.id != file_id]
        self._files[chat_id] = remaining
        if reading is None:
            self.save(chat_id)
        self.changed.emit(chat_id)

    def take(self, chat_id: str | None) -> tuple[Attachment, ...]:
        """Remove the files that have been read, and return them for a message that is being sent.

        Those that cannot be sent are removed as well. Until `save` is called, the next start of
        Hearth would show those that have been read here again.
        """
        attachments = self.attachments(chat_id)
        self._files[chat_id] = [file for file in self._list(chat_id) if file.is_being_read]
        self.changed.emit(chat_id)
        return attachments

    def put_back(self, chat_id: str | None, attachments: Sequence[Attachment]) -> None:
        """Attach files again after their message could not be sent."""
        self._files[chat_id] = [*map(_read_before, attachments), *self._list(chat_id)]
        self.save(chat_id)
        self.changed.emit(chat_id)

    def adopt(self, chat_id: str) -> None:
        """Move the files of the new chat to the chat under which it was stored."""
        for reading in self._reading.values():
            if reading.chat_id is None:
                reading.chat_id = chat_id
        self._files[chat_id] = self._list(None)
        self._files[None] = []
        self.save(None)
        self.save(chat_id)
        self.changed.emit(chat_id)

    def save(self, chat_id: str | None) -> None:
        """Save the list of the message's files."""
        files = self.attachments(chat_id)
        self._tasks.run(
            lambda: self._store.save_files(chat_id, files),
            lambda _: None,
            self.failed.emit,
            on=STORE,
        )

    def draw_preview(
        self, sha256: str, draw: Callable[[bytes], T], done: Callable[[T], object]
    ) -> None:
        """Draw an attached picture on another thread.

        Neither function is called if the picture is not in the store.

        Args:
            sha256: The hash of the picture.
            draw: Draws it from its bytes; called on another thread.
            done: Called with the result on the window's thread.
        """

        def work() -> tuple[T, ...]:
            found = self._stored.documents([sha256]).get(sha256)
            return (draw(found.media),) if found is not None else ()

        def drawn(result: tuple[T, ...]) -> None:
            for document in result:
                done(document)

        self._tasks.run(work, drawn, self.failed.emit, on=FILES)

    def forget(self) -> None:
        """Stop reading all files, without emitting or saving anything."""
        for reading in self._reading.values():
            reading.task.cancel()
        self._reading.clear()
        self._files.clear()

    def _list(self, chat_id: str | None) -> list[DraftFile]:
        if chat_id not in self._files:
            self._files[chat_id] = [_read_before(file) for file in self._store.files(chat_id)]
        return self._files[chat_id]

    def _begin(
        self,
        chat_id: str | None,
        name: str,
        size: int,
        path: Path | None,
        read: Callable[[CancelToken], AttachedFile],
    ) -> None:
        file = DraftFile(new_id(), name, size, time.monotonic())
        self._list(chat_id).append(file)

        def work(cancel: CancelToken) -> Iterator[AttachedFile]:
            if not cancel.cancelled:
                yield read(cancel)

        task = self._tasks.stream(
            work,
            lambda found: self._store_text(file.id, found[0]),
            lambda: None,
            lambda error: self._refuse(file.id, error),
            on=FILES,
        )
        self._reading[file.id] = _Reading(chat_id, path, task)

    def _store_text(self, file_id: str, file: AttachedFile) -> None:
        """Save the content of a file; only after that can it be sent."""
        reading = self._reading.get(file_id)
        if reading is None:
            return  # the user removed it in the meantime
        chat_id, attachment = reading.chat_id, file.attachment
        if attachment in self.attachments(chat_id):
            self.remove(chat_id, file_id)
            return
        files = (*self.attachments(chat_id), attachment)

        def saved(_: None) -> None:
            if reading.path is not None:
                copy = partial(self._documents.save_copies, [(reading.path, file)])
                self._tasks.run(copy, lambda _: None, self.failed.emit, on=FILES)
            self._end(file_id, attachment=attachment)

        self._tasks.run(
            lambda: self._store.save_files(chat_id, files, file),
            saved,
            lambda error: self._refuse(file_id, error),
            on=STORE,
        )

    def _end(self, file_id: str, **found: object) -> None:
        reading = self._reading.pop(file_id, None)
        if reading is None:
            return
        files = self._list(reading.chat_id)
        at = next(at for at, file in enumerate(files) if file.id == file_id)
        files[at] = replace(files[at], **found)  # type: ignore[arg-type]
        if files[at].attachment is not None:
            self.save(reading.chat_id)  # other files may have been added or removed in the meantime
        self.changed.emit(reading.chat_id)

    def _refuse(self, file_id: str, error: Exception) -> None:
        if isinstance(error, Cancelled):
            return
        if isinstance(error, UserError):
            self._end(file_id, problem=error)
            return
        reading = self._reading.get(file_id)
        if reading is not None:
            self.remove(reading.chat_id, file_id)
        self.failed.emit(error)


def _read_before(attachment: Attachment) -> DraftFile:
    return DraftFile(new_id(), attachment.name, attachment.size, 0.0, attachment)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
