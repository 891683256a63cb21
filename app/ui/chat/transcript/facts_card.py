"""How an answer came about, on demand: what wrote it, how fast, and with which settings."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QWidget

from app.core.chats.conversation import StoredMessage
from app.ui.chat.transcript.facts_words import rows_of
from app.ui.look.theme import GRID
from app.ui.widgets.label import Label
from app.ui.widgets.labelled_button import LabelledButton
from app.ui.widgets.popover import Popover

_WORDS = 340
"""Pixels; the widest that what is known runs before it breaks."""
_LONGEST = 400
"""Characters of one fact; a system prompt may be a page."""


class FactsCard(Popover):
    """reproduce(): the user wants the same answer written again. copied(): the facts were."""

    reproduce = Signal()
    copied = Signal()

    def __init__(self, answer: StoredMessage, parent: QWidget) -> None:
        super().__init__("factsCard", self.tr("How this answer came about"), parent)
        rows = rows_of(answer)
        self.setAccessibleDescription(". ".join(f"{name}: {fact}" for name, fact in rows))
        self._text = "\n".join(f"{name}: {fact}" for name, fact in rows)
        self.card.box.addWidget(Label(self.windowTitle(), "strong", name="factsTitle"))
        grid = QGridLayout()
        grid.setHorizontalSpacing(2 * GRID)
        grid.setVerticalSpacing(6)
        for number, (name, fact) in enumerate(rows):
            words = fact if len(fact) <= _LONGEST else fact[:_LONGEST].rstrip() + "…"
            value = Label(words, name=f"fact{number + 1}", wrap=True, selectable=True)
            value.setFixedWidth(_WORDS)
            value.setMinimumHeight(value.heightForWidth(_WORDS))
            grid.addWidget(Label(name, "muted"), number, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(value, number, 1, Qt.AlignmentFlag.AlignTop)
        self.card.box.addLayout(grid)
        again = LabelledButton("again", self.tr("Reproduce this answer"), "reproduce")
        again.setToolTip(self.tr("Write it again with the same settings and seed, and compare."))
        again.clicked.connect(self._reproduce)
        copy = LabelledButton("copy", self.tr("Copy"), "copyFacts")
        copy.clicked.connect(self._copy)
        buttons = QHBoxLayout()
        buttons.setSpacing(GRID)
        buttons.addWidget(again)
        buttons.addWidget(copy)
        buttons.addStretch(1)
        self.card.box.addSpacing(GRID // 2)
        self.card.box.addLayout(buttons)
        again.setFocus()

    def _reproduce(self) -> None:
        self.close()
        self.reproduce.emit()

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._text)
        self.close()
        self.copied.emit()
