"""What is in the context of a chat and what is not, and what shall happen when it is full."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.ui.chat.context.bar import ContextBar
from app.ui.chat.context.list import ContextList
from app.ui.chat.context.words import policies, standing, taken
from app.ui.look.theme import GRID
from app.ui.widgets.icon_button import IconButton
from app.ui.widgets.label import Label
from app.ui.widgets.labelled_button import LabelledButton
from app.ui.widgets.panel import Panel
from app.ui.widgets.segments import Segments

if TYPE_CHECKING:
    from app.core.chats.budget import ContextUse

_WIDTH = 440
_LIST = (88, 220)
"""Pixels; the list is as high as there is room, and scrolls."""


class ContextCard(Panel):
    """policy(key): another one was chosen. larger(): the user wants a larger context. closed()."""

    policy = Signal(str)
    larger = Signal()
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("card", "contextCard", margins=(2, 1.5, 2, 1.5), parent=parent)
        self.setAccessibleName(self.tr("Context"))
        head = QHBoxLayout()
        head.addWidget(Label(self.tr("Context"), "strong", name="contextTitle"))
        head.addStretch(1)
        self._total = Label("", "muted", name="contextTotal")
        head.addWidget(self._total)
        close = IconButton("close", self.tr("Close"), "closeContext", size=16)
        close.clicked.connect(self.close_card)
        head.addWidget(close)
        self._bar: ContextBar | None = None
        self._standing = Label("", name="contextStanding", wrap=True)
        self._larger = LabelledButton(
            "up", self.tr("Larger context"), "largerContext", look="link", tone="accent_text"
        )
        self._larger.clicked.connect(self.larger)
        self._policy = Segments(
            "overflow",
            self.tr("When the context is full"),
            [(key, name, sentence) for key, name, sentence in policies()],
        )
        self._policy.chosen.connect(self.policy)
        self._meaning = Label("", "small", name="overflowMeaning", wrap=True)
        self.list = ContextList()
        self.list.setMinimumHeight(_LIST[0])
        self.list.setMaximumHeight(_LIST[1])
        row = QHBoxLayout()
        row.setSpacing(GRID)
        row.addWidget(Label(self.tr("When it is full"), "small", name="overflowTitle"))
        row.addWidget(self._policy)
        row.addStretch(1)
        below = QHBoxLayout()
        below.setSpacing(GRID)
        below.addWidget(self._standing, 1)
        below.addWidget(self._larger, 0, Qt.AlignmentFlag.AlignTop)
        self.box.addLayout(head)
        self.box.addLayout(below)
        self.box.addLayout(row)
        self.box.addWidget(self._meaning)
        self.box.addWidget(self.list)
        self.hide()

    def show_use(self, use: ContextUse) -> None:
        self._total.setText(taken(use))
        self._standing.setText(standing(use))
        self._larger.setVisible(use.context > 0 and (use.most == 0 or use.most > use.context))
        self._policy.show_choice(use.policy)
        meaning = {key: sentence for key, _, sentence in policies()}
        self._meaning.setText(meaning[use.policy])
        if self._bar is not None:
            self.box.removeWidget(self._bar)
            self._bar.hide()
            self._bar.deleteLater()
        self._bar = ContextBar(use)
        self.box.insertWidget(1, self._bar)
        self.list.show_use(use)

    def place(self, right: int, bottom: int) -> None:
        """Stand with the lower right corner there, in the coordinates of the parent."""
        width = min(_WIDTH, right - GRID)
        self.setFixedWidth(width)
        height = min(self.heightForWidth(width), bottom - GRID)
        self.setGeometry(right - width, bottom - height, width, height)

    def open_card(self) -> None:
        self.show()
        self.raise_()
        self.list.setFocus(Qt.FocusReason.PopupFocusReason)

    def close_card(self) -> None:
        self.hide()
        self.closed.emit()

    def event(self, event: QEvent) -> bool:
        """Escape is for this alone as long as the focus is in here."""
        if event.type() in {QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress}:
            key = cast(QKeyEvent, event)
            if key.key() == Qt.Key.Key_Escape:
                event.accept()
                if event.type() is QEvent.Type.KeyPress:
                    self.close_card()
                return True
        return super().event(event)
