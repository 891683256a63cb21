"""The keyboard in a chat's messages: moving between them and to their actions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QWidget

from app.kit.look.theme import GRID

if TYPE_CHECKING:
    from app.chats.transcript.pages.message_view import MessageView
    from app.chats.transcript.pages.transcript import Transcript

_STEPS = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
_ENDS = {Qt.Key.Key_Home: 0, Qt.Key.Key_End: -1}
_SCROLL = 6 * GRID
"""Pixels that an arrow key scrolls a message that is taller than the visible area."""


class MessageKeys(QObject):
    """The keyboard navigation between messages.

    In a message that is taller than the visible area, the keys first scroll to its end.

    Args:
        transcript: Shows the messages.
        leave: Moves the focus to the composer.
        parent: The parent object.
    """

    def __init__(
        self, transcript: Transcript, leave: Callable[[], None], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._transcript = transcript
        self._leave = leave
        transcript.showing.connect(self._watch)

    def toggle(self) -> None:
        """Move the focus to the newest message, or from any message back to the composer."""
        if self._focused() is not None:
            self._leave()
            return
        self._transcript.jump_to_newest()
        last = self._transcript.last()
        if last is not None:
            _focus(last)

    def step(self, by: int) -> None:
        """Focus the message above (-1) or below (1); below the last one is the composer."""
        view = self._focused()
        messages = self._transcript.messages
        ids = [message.id for message in messages]
        at = ids.index(view.message.id) + by if view is not None else len(ids) - 1
        if at >= len(ids):
            self._leave()
        elif at >= 0:
            self._go(ids[at])

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle the keys that move between messages."""
        if event.type() is QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            return self._press(event)
        return super().eventFilter(watched, event)

    def _press(self, event: QKeyEvent) -> bool:
        key, modifiers = Qt.Key(event.key()), event.modifiers()
        if modifiers not in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier):
            return False
        if key in _STEPS:
            if not self._scroll(_STEPS[key]):
                self.step(_STEPS[key])
            return True
        if key in _ENDS and self._transcript.messages:
            self._go(self._transcript.messages[_ENDS[key]].id)
            return True
        return False

    def _scroll(self, by: int) -> bool:
        """Scroll the focused message; return False if its edge is visible already."""
        view = self._focused()
        if view is None:
            return False
        top = self._transcript.scroll_keeper.y_of(view)
        hidden = -top if by < 0 else top + view.height() - self._transcript.viewport().height()
        if hidden <= 0 or view.height() <= self._transcript.viewport().height():
            return False
        bar = self._transcript.verticalScrollBar()
        bar.setValue(bar.value() + by * min(_SCROLL, hidden))
        return True

    def _go(self, message_id: str) -> None:
        view = self._transcript.view_of(message_id)
        if view is None:
            view = self._transcript.go_to(message_id)
        if view is not None:
            _focus(view)
            self._transcript.ensureWidgetVisible(view, 0, GRID)

    def _focused(self) -> MessageView | None:
        return self._transcript.view_around(QApplication.focusWidget())

    def _watch(self, view: MessageView) -> None:
        view.view.installEventFilter(self)


def _focus(view: MessageView) -> None:
    """Focus a message's text, or if it is hidden, the first focusable widget in the message."""
    if view.view.isVisible():
        view.view.setFocus(Qt.FocusReason.TabFocusReason)
        return
    for widget in view.findChildren(QWidget):
        if widget.isVisible() and widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
            widget.setFocus(Qt.FocusReason.TabFocusReason)
            return
