"""Drag and drop: whatever is dropped onto the window goes to where it belongs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject, Signal
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QWidget

from app.chats.composer.pages.message_edit import files_in
from app.models.library.presenters.models import is_model_file


class Drops(QObject):
    """models(paths): files of models. files(paths): those that are to go with the message.
    text(str): something to be written into it.
    """

    models = Signal(list)
    files = Signal(object)
    text = Signal(str)

    def __init__(
        self,
        window: QWidget,
        edits: Sequence[QWidget],
        take_chats: Callable[[Path], bool] = lambda _: False,
    ) -> None:
        """Begin. edits: text fields that would write a file's address instead of taking it.

        take_chats: whether it has taken a file, as an export of chats.
        """
        super().__init__(window)
        self._take_chats = take_chats
        window.setAcceptDrops(True)
        window.installEventFilter(self)
        self._edits = {id(edit) for edit in edits}
        for edit in edits:
            edit.installEventFilter(self)

    def take_files(self, paths: Sequence[Path]) -> None:
        """Take files as if they were dropped."""
        models = [path for path in paths if is_model_file(path)]
        if models:
            self.models.emit(models)
        files = [it for it in paths if it not in models and not self._take_chats(it)]
        if files:
            self.files.emit(files)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QDragEnterEvent | QDragMoveEvent | QDropEvent):
            mime = event.mimeData()
            # A text field takes a text better itself: at the place where it is dropped.
            if mime.hasUrls() or (mime.hasText() and id(watched) not in self._edits):
                event.acceptProposedAction()
                if event.type() is QEvent.Type.Drop:
                    self._drop(mime)
                return True
        return super().eventFilter(watched, event)

    def _drop(self, mime: QMimeData) -> None:
        if paths := files_in(mime):
            self.take_files(paths)
        elif mime.hasText():
            from app.chats.transcript.pages.quoting import quotation

            self.text.emit(quotation(mime.text()))
