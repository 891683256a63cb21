"""The bar beside the message that has the keyboard focus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QFrame, QWidget

if TYPE_CHECKING:
    from app.chats.transcript.pages.message_view import MessageView
    from app.chats.transcript.pages.transcript import Transcript

_WIDTH = 3
_BESIDE = 12
"""Pixels between the bar and the message."""


class MessageRing(QObject):
    """The mark of the focused message; not shown after a click, as the pointer is there."""

    def __init__(self, transcript: Transcript, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._transcript = transcript
        self._page = transcript.widget()
        self._bar = QFrame(self._page)
        self._bar.setObjectName("messageRing")
        self._bar.setProperty("look", "ring")
        self._bar.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._bar.hide()
        self._view: MessageView | None = None
        transcript.showing.connect(self._watch)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Show the bar beside the focused message, and move it with the message."""
        kind = event.type()
        if kind is QEvent.Type.FocusIn and isinstance(event, QFocusEvent):
            self._show(watched, by_mouse=event.reason() is Qt.FocusReason.MouseFocusReason)
        elif kind is QEvent.Type.FocusOut:
            self._view = None
            self._bar.hide()
        elif kind in (QEvent.Type.Move, QEvent.Type.Resize) and watched is self._view:
            self._place()
        return super().eventFilter(watched, event)

    def _watch(self, view: MessageView) -> None:
        view.installEventFilter(self)
        view.view.installEventFilter(self)

    def _show(self, widget: QObject, *, by_mouse: bool) -> None:
        focused = widget if isinstance(widget, QWidget) and not by_mouse else None
        self._view = self._transcript.view_around(focused)
        self._bar.setVisible(self._view is not None)
        self._place()

    def _place(self) -> None:
        if self._view is not None and self._page is not None:
            at = self._view.mapTo(self._page, QPoint(0, 0))
            self._bar.setGeometry(QRect(at.x() - _BESIDE, at.y(), _WIDTH, self._view.height()))
            self._bar.raise_()
