"""Above the composer: the messages that wait for their turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from app.ui.look.theme import BAR, COLUMN, GRID
from app.ui.widgets.label import Label
from app.ui.widgets.panel import Panel

if TYPE_CHECKING:
    from app.core.chats.waiting import Waiting
    from app.ui.chat.composer.queue_row import QueueRow

_MOST_HEIGHT = 190
"""Pixels; beyond it the messages scroll, so that the chat stays in sight."""


class QueueStrip(QWidget):
    """act(name, item), changed(item, text): as `QueueRow` says. send_all(): all that are held."""

    act = Signal(str, object)
    changed = Signal(object, str)
    send_all = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("queueStrip")
        self._rows: list[QueueRow] = []
        panel = Panel("card", "queueCard", margins=(1.5, 0.75, 1, 0.75), spacing=0.5)
        panel.setAccessibleName(self.tr("Messages that wait"))
        self._head = Label("", "small", name="queueHead")
        self._send = QPushButton(self.tr("Send"))
        self._send.setObjectName("queueSend")
        self._send.setAccessibleName(self._send.text())
        self._send.setProperty("look", "link")
        self._send.clicked.connect(self.send_all)
        head = QHBoxLayout()
        head.setSpacing(GRID)
        head.addWidget(self._head, 1)
        head.addWidget(self._send)
        panel.box.addLayout(head)
        self._inside = QWidget()
        self._inside.setProperty("look", "page")
        self._column = QVBoxLayout(self._inside)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setWidget(self._inside)
        panel.box.addWidget(self._area)
        across = QHBoxLayout(self)
        across.setContentsMargins(3 * GRID + BAR, 0, 3 * GRID + BAR, GRID)
        across.addStretch(1)
        panel.setMaximumWidth(COLUMN)
        across.addWidget(panel, 1000)
        across.addStretch(1)
        self.hide()

    def show_items(
        self,
        items: Sequence[Waiting],
        going: Callable[[Waiting], bool],
        model: Callable[[Waiting], str],
    ) -> None:
        """going: whether one goes out by itself. model: where it goes, if not to the chat's.

        One that is being edited stays so, with what was written.
        """
        from app.ui.chat.composer.queue_row import QueueRow

        edited = {row.item.id: row.edited for row in self._rows if row.edited is not None}
        for row in self._rows:
            row.hide()
            row.deleteLater()
        self._rows = []
        held = sum(not going(item) for item in items)
        for number, item in enumerate(items, start=1):
            row = QueueRow(
                item, number, len(items), model(item), going=going(item), marked=held < len(items)
            )
            row.act.connect(self.act)
            row.changed.connect(self.changed)
            row.resized.connect(self._fit)
            self._column.addWidget(row)
            row.show()
            self._rows.append(row)
            text = edited.get(item.id)
            if text is not None:
                row.edit(text)
        self._head.setText(self._words(len(items), held))
        self._send.setVisible(bool(held))
        self._send.setText(self.tr("Send") if len(items) == 1 else self.tr("Send all"))
        self._send.setAccessibleName(self._send.text())
        self._fit()
        self.setVisible(bool(items))

    def _fit(self) -> None:
        height = sum(row.sizeHint().height() for row in self._rows)
        self._area.setFixedHeight(min(_MOST_HEIGHT, height))

    def _words(self, count: int, held: int) -> str:
        if held:
            return (
                self.tr("1 message was not sent")
                if held == 1
                else self.tr("{0} messages were not sent").format(held)
            )
        if count == 1:
            return self.tr("1 message is sent after this answer")
        return self.tr("{0} messages are sent one after the other").format(count)
