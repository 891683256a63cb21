"""The messages of a chat, the newest of them live, older ones added as they come into sight."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from app.core.conversation import StoredMessage
from app.markdown.parser import Parser
from app.ui.chat.message_view import MessageView
from app.ui.theme import BAR, COLUMN, GRID
from app.ui.widgets.column_page import ColumnPage
from app.ui.widgets.icon_button import IconButton

FIRST = 40
MOST = 60
"""How many messages are live in a chat that is opened, and in one that has grown."""
STEP = 2
"""How many are added in one turn of the event loop."""
_NEAR = 400
"""Pixels from the top from which older messages are added."""
_SETTLE_MS = 60
"""How long the layout may take until messages that were added have their heights."""


class Transcript(ColumnPage):
    """Sticks to the end while the user is there, and keeps the place otherwise."""

    link = Signal(str)
    copied = Signal()
    copy = Signal(object)
    regenerate = Signal(object)
    go_on = Signal(object)

    def __init__(self, parser: Parser, text_size: int, parent: QWidget | None = None) -> None:
        super().__init__("transcript", spacing=3 * GRID, left=BAR, parent=parent)
        self.column.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._parser = parser
        self._text_size = text_size
        self._messages: list[StoredMessage] = []
        self._views: list[MessageView] = []
        self._at_end = True
        self._from_end: int | None = None
        self._moving = False
        self.setAccessibleName(self.tr("Messages"))
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._newest = IconButton(
            "newest", self.tr("Jump to newest"), "jumpToNewest", look="round", parent=self
        )
        self._newest.clicked.connect(self.jump_to_newest)
        self._newest.hide()
        self._fill = QTimer(self)
        self._fill.setSingleShot(True)
        self._fill.setInterval(0)
        self._fill.timeout.connect(self._add_older)
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(_SETTLE_MS)
        self._settle.timeout.connect(self._settled)
        self.verticalScrollBar().rangeChanged.connect(self._keep_place)
        self.verticalScrollBar().valueChanged.connect(self._scrolled)

    def show_messages(self, messages: tuple[StoredMessage, ...]) -> None:
        """Show another chat, from its end."""
        self._fill.stop()
        for view in self._views:
            self._remove(view)
        self._messages = list(messages)
        self._views = []
        self._at_end = True
        self._from_end = None
        for message in messages[-STEP:]:
            self._views.append(self._add(message, self.column.count()))
        self._number()
        self._fill.start()

    def add(self, message: StoredMessage) -> None:
        """Add a message at the end and go there."""
        self._messages.append(message)
        self._views.append(self._add(message, self.column.count()))
        while len(self._views) > MOST:
            self._remove(self._views.pop(0))
        self._number()
        self.jump_to_newest()

    def replace_from(self, message: StoredMessage) -> None:
        """Show this message in place of all that follow its parent."""
        ids = [known.id for known in self._messages]
        keep = ids.index(message.parent_id) + 1 if message.parent_id in ids else 0
        shown = keep - (len(self._messages) - len(self._views))
        for view in self._views[max(0, shown) :]:
            self._remove(view)
        del self._views[max(0, shown) :]
        del self._messages[keep:]
        self.add(message)

    def view_of(self, message_id: str) -> MessageView | None:
        return next((view for view in self._views if view.message.id == message_id), None)

    def last(self) -> MessageView | None:
        return self._views[-1] if self._views else None

    def refresh_last(self) -> None:
        """The state of a message has changed: put the footer where it belongs."""
        for view in self._views:
            view.set_last(view is self._views[-1])

    def set_text_size(self, pixels: int) -> None:
        self._text_size = pixels
        for view in self._views:
            view.view.set_text_size(pixels)

    def jump_to_newest(self) -> None:
        self._at_end = True
        self._from_end = None
        self._move(self.verticalScrollBar().maximum())
        self._newest.hide()

    def scroll_page(self, direction: int) -> None:
        """Scroll by most of what is seen; -1 is up."""
        bar = self.verticalScrollBar()
        bar.setValue(bar.value() + direction * (self.viewport().height() - 6 * GRID))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        size = self._newest.sizeHint()
        self._newest.setGeometry(
            (self.width() - size.width()) // 2,
            self.height() - size.height() - GRID,
            size.width(),
            size.height(),
        )

    def _add(self, message: StoredMessage, index: int) -> MessageView:
        view = MessageView(message, self._parser, self._text_size)
        view.link.connect(self.link)
        view.copied.connect(self.copied)
        view.copy.connect(self.copy)
        view.regenerate.connect(self.regenerate)
        view.go_on.connect(self.go_on)
        width = min(COLUMN, self.viewport().width() - 6 * GRID)
        view.resize(width, view.height())
        self.column.insertWidget(index, view)
        return view

    def _remove(self, view: MessageView) -> None:
        self.column.removeWidget(view)
        view.hide()
        view.deleteLater()

    def _number(self) -> None:
        first = len(self._messages) - len(self._views)
        for index, view in enumerate(self._views, start=first + 1):
            view.name(index, len(self._messages))
        self.refresh_last()

    def _add_older(self) -> None:
        """Add a few messages above; go on with the next turn of the event loop if need be."""
        first = len(self._messages) - len(self._views)
        bar = self.verticalScrollBar()
        if first == 0 or (len(self._views) >= FIRST and bar.value() >= _NEAR):
            return
        self._from_end = bar.maximum() - bar.value()
        for message in reversed(self._messages[max(0, first - STEP) : first]):
            self._views.insert(0, self._add(message, 0))
        self._number()
        self._settle.start()
        if len(self._views) < FIRST:
            self._fill.start()

    def _settled(self) -> None:
        self._from_end = None

    def _keep_place(self, _lowest: int, highest: int) -> None:
        self.verticalScrollBar().setEnabled(highest > 0)  # shows no handle then
        if self._at_end:
            self._move(highest)
        elif self._from_end is not None:
            self._move(highest - self._from_end)

    def _move(self, value: int) -> None:
        self._moving = True
        self.verticalScrollBar().setValue(value)
        self._moving = False

    def _scrolled(self, value: int) -> None:
        bar = self.verticalScrollBar()
        if not self._moving:
            self._at_end = value >= bar.maximum() - 3 * GRID
            if self._from_end is not None:
                self._from_end = bar.maximum() - value
        self._newest.setVisible(value < bar.maximum() - 3 * GRID)
        if value < _NEAR and bar.maximum() > 0 and len(self._views) < len(self._messages):
            self._fill.start()
