"""What can be done with the row under the pointer or the focus: a button or two on top of it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.ui.sidebar.rows import ChatRow, FolderRow, Scope
from app.ui.widgets.icon_button import IconButton


class RowActions(QWidget):
    """wanted(deed): the first button, which depends on the row. more(): all that can be done."""

    wanted = Signal(str)
    more = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("rowActions")
        self._deed = ""
        self._first = IconButton("pin", self.tr("Pin"), "rowAction", size=16)
        self._first.clicked.connect(lambda: self.wanted.emit(self._deed))
        self._more = IconButton("more", self.tr("More"), "rowMore", size=16)
        self._more.clicked.connect(self.more)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 4, 0)
        row.setSpacing(0)
        row.addWidget(self._first)
        row.addWidget(self._more)
        self.hide()

    def show_for(self, row: ChatRow | FolderRow, scope: Scope) -> None:
        """Offer what suits the row."""
        if isinstance(row, FolderRow):
            self._first.hide()
            self._more.rename(self.tr("More for {0}").format(row.folder.name))
            return
        if scope == "trash":
            drawing, self._deed, words = "restore", "restore", self.tr("Put back {0}")
        elif scope == "archive":
            drawing, self._deed, words = "unarchive", "unarchive", self.tr("Take {0} out")
        elif row.chat.pinned:
            drawing, self._deed, words = "unpin", "unpin", self.tr("Unpin {0}")
        else:
            drawing, self._deed, words = "pin", "pin", self.tr("Pin {0}")
        self._first.redraw(drawing)
        self._first.rename(words.format(row.chat.title))
        self._first.show()
        self._more.rename(self.tr("More for {0}").format(row.chat.title))
