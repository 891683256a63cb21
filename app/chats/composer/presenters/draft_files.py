"""The files at messages that are being written: read in the background, kept with their drafts."""

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
    """A file at a message that is not sent yet.

    size: bytes, 0 where that is not known. since: when its reading began, of the monotonic clock.
    attachment: what was read of it; None while it is being read. problem: why it cannot be.
    """

    id: str
    name: str
    size: int
    since: float
    attachment: Attachment | None = None
    problem: UserError | None = None

    @property
    def is_being_read(self) -> bool:
        return self.attachment is None and self.problem is None


@dataclass(eq=False)
class _Reading:
    """A file that is being read, and where it is to stand by then. path: of one on a disk."""

    chat_id: str | None
    path: Path | None
    task: Task


class DraftFiles(QObject):
    """The files by chat; None is the chat that is not begun yet.

    One file is read after the other. What was read stays as it is, whatever becomes of the file.

    changed(chat_id or None): there are other files, or more is known of one. failed(error): the
    list could not be saved, or a bug of ours.
    """

    changed = Signal(object)
    failed = Signal(Exception)

    def __init__(
        self,
        store: DraftStore,
        kept: DocumentStore,
        documents: Documents,
        tasks: Tasks,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._kept = kept
        self._documents = documents
        self._tasks = tasks
        self._files: dict[str | None, list[DraftFile]] = {}
        self._reading: dict[str, _Reading] = {}

    def of(self, chat_id: str | None) -> tuple[DraftFile, ...]:
        """Return the files at the message of a chat, in the order in which they were chosen."""
        return tuple(self._list(chat_id))

    def attachments(self, chat_id: str | None) -> tuple[Attachment, ...]:
        """Return those that have been read."""
        return tuple(it.attachment for it in self._list(chat_id) if it.attachment is not None)

    def add(self, chat_id: str | None, paths: Sequence[Path]) -> None:
        """Read files, and put them at the message; one that is being read is left alone."""
        under_way = {it.path for it in self._reading.values() if it.chat_id == chat_id}
        for path in dict.fromkeys(paths):
            if path not in under_way:
                read = partial(self._documents.read, path)
                self._begin(chat_id, path.name, _size(path), path, read)
        self.changed.emit(chat_id)

    def add_made(self, chat_id: str | None, name: str, make: Callable[[], bytes]) -> None:
        """Put a picture or a sound at the message that is in no file.

        make: writes it as an engine takes it, off the window's thread.
        """
        self._begin(chat_id, name, 0, None, lambda _: self._documents.made(name, make()))
        self.changed.emit(chat_id)

    def remove(self, chat_id: str | None, file_id: str) -> None:
        """Take a file away from the message; one that is being read is read no further."""
        reading = self._reading.pop(file_id, None)
        if reading is not None:
            reading.task.cancel()
        kept = [it for it in self._list(chat_id) if it.id != file_id]
        self._files[chat_id] = kept
        if reading is None:
            self.save(chat_id)
        self.changed.emit(chat_id)

    def take(self, chat_id: str | None) -> tuple[Attachment, ...]:
        """Take away those that have been read, for a message that is being sent.

        Until `save`, another run of Hearth would find them here again.
        """
        taken = self.attachments(chat_id)
        self._files[chat_id] = [it for it in self._list(chat_id) if it.attachment is None]
        self.changed.emit(chat_id)
        return taken

    def put_back(self, chat_id: str | None, taken: Sequence[Attachment]) -> None:
        """Put files back at the message, as it could not be sent."""
        self._files[chat_id] = [*map(_read_before, taken), *self._list(chat_id)]
        self.save(chat_id)
        self.changed.emit(chat_id)

    def adopt(self, chat_id: str) -> None:
        """Move what stands at a new chat's message to the chat that it has become."""
        for reading in self._reading.values():
            if reading.chat_id is None:
                reading.chat_id = chat_id
        self._files[chat_id] = self._list(None)
        self._files[None] = []
        self.save(None)
        self.save(chat_id)
        self.changed.emit(chat_id)

    def save(self, chat_id: str | None) -> None:
        """Save which files stand at the message."""
        files = self.attachments(chat_id)
        self._tasks.run(
            lambda: self._store.save_files(chat_id, files),
            lambda _: None,
            self.failed.emit,
            on=STORE,
        )

    def look(self, sha256: str, draw: Callable[[bytes], T], done: Callable[[T], object]) -> None:
        """Draw a picture that was attached, off the window's thread. done: with what was drawn.

        Nothing is called for one that is not here.
        """

        def work() -> tuple[T, ...]:
            found = self._kept.documents([sha256]).get(sha256)
            return (draw(found.media),) if found is not None else ()

        def drawn(result: tuple[T, ...]) -> None:
            for it in result:
                done(it)

        self._tasks.run(work, drawn, self.failed.emit, on=FILES)

    def forget(self) -> None:
        """End all reading; nothing is told or saved any more."""
        for reading in self._reading.values():
            reading.task.cancel()
        self._reading.clear()
        self._files.clear()

    def _list(self, chat_id: str | None) -> list[DraftFile]:
        if chat_id not in self._files:
            self._files[chat_id] = [_read_before(it) for it in self._store.files(chat_id)]
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
            lambda found: self._keep(file.id, found[0]),
            lambda: None,
            lambda error: self._refuse(file.id, error),
            on=FILES,
        )
        self._reading[file.id] = _Reading(chat_id, path, task)

    def _keep(self, file_id: str, file: AttachedFile) -> None:
        """Save what was read; only then it can be sent."""
        reading = self._reading.get(file_id)
        if reading is None:
            return  # it was removed in the last moment
        chat_id, attachment = reading.chat_id, file.attachment
        if attachment in self.attachments(chat_id):
            self.remove(chat_id, file_id)
            return
        files = (*self.attachments(chat_id), attachment)

        def saved(_: None) -> None:
            if reading.path is not None:
                copy = partial(self._documents.keep_copies, [(reading.path, file)])
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
        at = next(at for at, it in enumerate(files) if it.id == file_id)
        files[at] = replace(files[at], **found)  # type: ignore[arg-type]
        if files[at].attachment is not None:
            self.save(reading.chat_id)  # others may have come or gone since it was handed in
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
