"""Under a message that has others beside it: which one it is, and the way to its neighbours."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.core.chats.tree import Fork
from app.ui.widgets.icon_button import IconButton
from app.ui.widgets.label import Label


class BranchBar(QWidget):
    """go(step): show the one before (-1) or after (1) in this place."""

    go = Signal(int)

    def __init__(self, fork: Fork, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("branchBar")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        before = IconButton("left", self.tr("Previous branch"), "branchBefore", size=18)
        before.setEnabled(fork.at > 0)
        before.clicked.connect(lambda: self.go.emit(-1))
        after = IconButton("forward", self.tr("Next branch"), "branchAfter", size=18)
        after.setEnabled(fork.at < len(fork.ids) - 1)
        after.clicked.connect(lambda: self.go.emit(1))
        place = Label(f"{fork.at + 1}/{len(fork.ids)}", "small", name="branchPlace")
        words = self.tr("Branch {0} of {1}").format(fork.at + 1, len(fork.ids))
        place.setAccessibleName(words)
        place.setToolTip(words)
        for widget in (before, place, after):
            row.addWidget(widget)
