"""At the composer: the MTP switch of the chat, and the line that says what runs and why."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QWidget

from app.ui.look.scale import scaled
from app.ui.look.theme import GRID
from app.ui.widgets.label import Label
from app.ui.widgets.live_line import LiveLine
from app.ui.widgets.segments import Segments
from engines.types import MtpMode

_NARROW = 330
"""Pixels; with less than this too little of the line could be read."""


class MtpBar(QWidget):
    """chosen(mode): the user has set the switch."""

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("mtpBar")
        self._box = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._box.setContentsMargins(0, 0, 0, 0)
        self._box.setSpacing(GRID)
        row = QHBoxLayout()
        row.setSpacing(GRID)
        title = Label(self.tr("MTP"), "small", name="mtpTitle")
        tip = self.tr(
            "Multi-token prediction guesses words ahead and checks them together. "
            "It changes the speed of an answer, not the answer."
        )
        title.setToolTip(tip)
        self._switch = Segments(
            "mtp",
            self.tr("Multi-token prediction"),
            (
                ("off", self.tr("Off"), self.tr("Multi-token prediction off")),
                ("auto", self.tr("Auto"), self.tr("Multi-token prediction automatic")),
                ("on", self.tr("On"), self.tr("Multi-token prediction on")),
            ),
        )
        self._tip = tip
        self._switch.setAccessibleDescription(tip)
        self._switch.chosen.connect(self.chosen)
        what = self.tr("What multi-token prediction does")
        self.line = LiveLine(what, "small", "mtpLine", lines=2)
        row.addWidget(title)
        row.addWidget(self._switch)
        row.addStretch(0)
        self._box.addLayout(row)
        self._box.addWidget(self.line, 1)

    @property
    def mode(self) -> MtpMode:
        return cast(MtpMode, self._switch.choice)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the line under the switch where there is no room beside it."""
        super().resizeEvent(event)
        direction = QBoxLayout.Direction
        narrow = event.size().width() < scaled(_NARROW)
        self._box.setDirection(direction.TopToBottom if narrow else direction.LeftToRight)
        self._box.setSpacing(GRID // 2 if narrow else GRID)

    def show_mode(self, mode: MtpMode) -> None:
        self._switch.show_choice(mode)

    def show_out_of_reach(self, why: str) -> None:
        """Disable the switch for a reason; "" enables it."""
        self._switch.setEnabled(not why)
        self._switch.setToolTip(why)
        self._switch.setAccessibleDescription(why or self._tip)
