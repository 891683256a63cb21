"""Drag and drop: passes on files and text that the user drops onto the window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject, Signal
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QWidget

from app.chats.composer.pages.message_edit import files_in
from app.models.library.presenters.models import is_model_file


class Drops(QObject):
    """Drag and drop onto a window.

    Signals:
        models(paths): Model files were dropped.
        files(paths): Files to attach to the message were dropped.
        text(str): Text to insert into the message was dropped.
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
        """Accept drops.

        Args:
            edits: Text fields, which would otherwise insert a file's address instead of taking the
                file.
            take_chats: Imports a file if it is an export of chats; returns whether it did.
        """
        super().__init__(window)
        self._take_chats = take_chats
        window.setAcceptDrops(True)
        window.installEventFilter(self)
        self._edits = {id(edit) for edit in edits}
        for edit in edits:
            edit.installEventFilter(self)

    def take_files(self, paths: Sequence[Path]) -> None:
        """Handle files as if they had been dropped."""
        models = [path for path in paths if is_model_file(path)]
        if models:
            self.models.emit(models)
        files = [path for path in paths if path not in models and not self._take_chats(path)]
        if files:
            self.files.emit(files)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Accept dragged files and text, and handle them when they are dropped."""
        if isinstance(event, QDragEnterEvent | QDragMoveEvent | QDropEvent):
            mime = event.mimeData()
            # A text field handles dropped text itself, because it inserts it where it was dropped.
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
