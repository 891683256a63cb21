"""The field for the text of a message; it grows with its text."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QWidget

from app.kit.look.direction import align
from app.kit.look.scale import FITS_ITSELF
from app.kit.text.long_lines import LongLineEdit
from app.kit.widgets.enter import ENTER

_MOST_LINES = 10
_LINES, _CHARACTERS = 15, 2_000
"""A pasted text with as many lines or characters counts as long."""
_LARGE = 100_000
"""The number of characters above which a pasted text becomes a file."""


def files_in(source: QMimeData) -> list[Path]:
    """Return the local files among pasted or dropped data."""
    return [Path(url.toLocalFile()) for url in source.urls() if url.isLocalFile()]


class MessageEdit(LongLineEdit):
    """The field for the text of a message.

    Set `takes_files` if `files` and `picture` are connected.

    Args:
        keeps_pastes: Whether long pasted texts are inserted; otherwise `pasted` is emitted.

    Signals:
        send(): The user pressed the keys that send, which `set_send_with` sets.
        pasted(text): The user pasted a long text.
        large(text): The user pasted a text that is too large for a message.
        files(paths): The user pasted files.
        picture(image): The user pasted a picture, a `QImage`.
    """

    send = Signal()
    pasted = Signal(str)
    large = Signal(str)
    files = Signal(object)
    picture = Signal(object)

    def __init__(self, parent: QWidget | None = None, *, keeps_pastes: bool = True) -> None:
        super().__init__(parent=parent)
        self._keeps_pastes = keeps_pastes
        self.takes_files = False
        self._send_with = "enter"
        self.setObjectName("messageEdit")
        self.setProperty(FITS_ITSELF, True)
        self.setAccessibleName(self.tr("Message"))
        self.setTabChangesFocus(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(2)
        self.textChanged.connect(self._fit)
        self._fit()

    def set_send_with(self, keys: str) -> None:
        """Set the keys that send, a value of the setting `send_with`."""
        self._send_with = keys

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Send the message or start a new line on Enter, as `set_send_with` says."""
        if event.key() in ENTER:
            self.commit()
            control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
            shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            if not shift and control == (self._send_with == "ctrl+enter"):
                self.send.emit()
            else:
                self.insertPlainText("\n")
                self.ensureCursorVisible()
            return
        super().keyPressEvent(event)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Return whether the data can be inserted or attached."""
        is_attachment = self.takes_files and (source.hasUrls() or source.hasImage())
        return is_attachment or super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Insert pasted text, or emit `files`, `picture`, `large` or `pasted` instead."""
        text = source.text()
        if self.takes_files and (paths := files_in(source)):
            self.files.emit(paths)
        elif self.takes_files and source.hasImage() and not text:
            # Data copied from a table or a web page has a picture besides its text.
            self.picture.emit(source.imageData())
        elif self.takes_files and len(text) > _LARGE:
            self.large.emit(text)
        elif self._keeps_pastes or not (text.count("\n") >= _LINES or len(text) >= _CHARACTERS):
            super().insertFromMimeData(source)
        else:
            self.pasted.emit(text.strip("\n"))

    def changeEvent(self, event: QEvent) -> None:
        """Adapt the height to a new font."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange:
            self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Adapt the height to the new width."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        align(self)
        line = self.fontMetrics().lineSpacing()
        lines = max(1, int(self.document().size().height()))
        height = min(lines, _MOST_LINES) * line + 8
        scrolls = lines > _MOST_LINES
        policy = Qt.ScrollBarPolicy
        self.setVerticalScrollBarPolicy(
            policy.ScrollBarAsNeeded if scrolls else policy.ScrollBarAlwaysOff
        )
        if height != self.height():
            self.setFixedHeight(height)
