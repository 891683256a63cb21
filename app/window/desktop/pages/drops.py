"""Drag and drop: passes on files and text that the user drops onto the window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QEvent, QMimeData, QObject, QPoint, Signal
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QWidget

from app.chats.composer.pages.message_edit import files_in
from app.kit.timer import timer
from app.window.values.dropped import Kind, Place, by_goal

if TYPE_CHECKING:
    from app.chats.presenters.open_chat import OpenChat
    from app.kit.tasks.tasks import Failed
    from app.window.presenters.dropped import DroppedFiles

_LEAVES_MS = 100
"""Milliseconds until a drag counts as gone: it leaves one widget before it enters the next."""


class Drops(QObject):
    """Drag and drop onto a window.

    What is dropped is looked at first, off the window's thread; its content and the place where it
    was dropped decide on the signal.

    Signals:
        dragged(place): Files are dragged over this place of the window; "" if they are gone.
        looking(bool): Dropped files are being looked at, or no longer.
        models(kinds): Files for the list of models were dropped: their kinds, by path.
        chats(paths): Chats to import were dropped.
        collection(paths): Folders of documents were dropped.
        files(paths, chat_id): Files to attach were dropped while this chat was open; None stands
            for a new chat.
        text(str): Text to insert into the message was dropped.
    """

    dragged = Signal(str)
    looking = Signal(bool)
    models = Signal(object)
    chats = Signal(object)
    collection = Signal(object)
    files = Signal(object, object)
    text = Signal(str)

    def __init__(
        self,
        window: QWidget,
        edits: Sequence[QWidget],
        chat: OpenChat,
        look: DroppedFiles,
        place_at: Callable[[QPoint], Place],
        failed: Failed,
    ) -> None:
        """Accept drops.

        Args:
            edits: Text fields, which would otherwise insert a file's address instead of taking the
                file.
            chat: The open chat.
            look: Looks at dropped files.
            place_at: Returns the place at a position in the window.
            failed: Receives an error of looking at files.
        """
        super().__init__(window)
        self._window = window
        self._chat = chat
        self._look = look
        self._under_way = 0
        self._place_at = place_at
        self._failed = failed
        self._leaves = timer(self, _LEAVES_MS, lambda: self.dragged.emit(""))
        window.setAcceptDrops(True)
        window.installEventFilter(self)
        self._edits = {id(edit) for edit in edits}
        for edit in edits:
            edit.installEventFilter(self)

    def take_files(self, paths: Sequence[Path], place: Place = "chat") -> None:
        """Handle files as if they had been dropped at a place."""
        chat_id = self._chat.id

        def looked(kinds: dict[Path, Kind]) -> None:
            goals = by_goal(kinds, place)
            if "models" in goals:
                self.models.emit(goals["models"])
            if "chats" in goals:
                self.chats.emit([*goals["chats"]])
            if "collection" in goals:
                self.collection.emit([*goals["collection"]])
            if "attach" in goals:
                self.files.emit([*goals["attach"]], chat_id)
            self._count(-1)

        def failed(error: Exception) -> None:
            self._count(-1)
            self._failed(error)

        self._count(1)
        self._look.look(paths, looked, failed)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Accept dragged files and text, and handle them when they are dropped."""
        if isinstance(event, QDragEnterEvent | QDragMoveEvent | QDropEvent):
            mime = event.mimeData()
            # A text field handles dropped text itself, because it inserts it where it was dropped.
            if mime.hasUrls() or (mime.hasText() and id(watched) not in self._edits):
                event.acceptProposedAction()
                place = self._place(cast(QWidget, watched), event.position().toPoint())
                if event.type() is QEvent.Type.Drop:
                    self._leaves.stop()
                    self.dragged.emit("")
                    self._drop(mime, place)
                elif mime.hasUrls():
                    self._leaves.stop()
                    self.dragged.emit(place)
                return True
        elif event.type() is QEvent.Type.DragLeave:
            self._leaves.start()
        return super().eventFilter(watched, event)

    def _count(self, change: int) -> None:
        """Count the drops that are being looked at."""
        self._under_way += change
        self.looking.emit(self._under_way > 0)

    def _place(self, watched: QWidget, position: QPoint) -> Place:
        return self._place_at(watched.mapTo(self._window, position))

    def _drop(self, mime: QMimeData, place: Place) -> None:
        if paths := files_in(mime):
            self.take_files(paths, place)
        elif mime.hasText():
            from app.chats.transcript.pages.quoting import quotation

            self.text.emit(quotation(mime.text()))
