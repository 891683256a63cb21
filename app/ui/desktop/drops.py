"""Drag and drop: whatever is dropped onto the window goes to where it belongs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QMimeData, QObject, Signal
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QWidget

from app.core.chats.dropped import kind_of, read_text
from engines.errors import UserError

if TYPE_CHECKING:
    from app.ui.notify import Notifier


class Drops(QObject):
    """models(paths): files of models. text(str): something to be written into the message."""

    models = Signal(list)
    text = Signal(str)

    def __init__(
        self,
        window: QWidget,
        edits: Sequence[QWidget],
        take_chats: Callable[[Path], bool],
        notifier: Notifier,
    ) -> None:
        """Begin. edits: text fields that would write a file's address instead of taking it.

        take_chats: whether it has taken a file, as an export of chats.
        """
        super().__init__(window)
        self._notifier = notifier
        self._take_chats = take_chats
        window.setAcceptDrops(True)
        window.installEventFilter(self)
        self._edits = {id(edit) for edit in edits}
        for edit in edits:
            edit.installEventFilter(self)

    def take_files(self, paths: Sequence[Path]) -> None:
        """Take files as if they were dropped."""
        models = [path for path in paths if kind_of(path) == "model"]
        if models:
            self.models.emit(models)
        if any(kind_of(path) == "picture" for path in paths):
            self._notifier.say(self.tr("Hearth cannot read pictures yet."))
        for path in paths:
            if kind_of(path) == "other" and not self._take_chats(path):
                self._take_text(path)

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
        paths = [Path(url.toLocalFile()) for url in mime.urls() if url.isLocalFile()]
        if paths:
            self.take_files(paths)
        elif mime.hasText():
            from app.ui.chat.transcript.quoting import quotation

            self.text.emit(quotation(mime.text()))

    def _take_text(self, path: Path) -> None:
        try:
            self.text.emit(read_text(path))
        except UserError as error:
            self._notifier.error(error)
