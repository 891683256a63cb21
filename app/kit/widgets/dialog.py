"""A dialog that fits every screen: what has no room scrolls above its buttons."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QDialog,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.kit.look.scale import scaled
from app.kit.look.theme import BAR, GRID
from app.kit.widgets.column_page import ColumnPage
from app.kit.widgets.flow import FlowRow
from app.kit.widgets.label import Label

_ANY_WIDTH = 16_777_215


class EnterDialog(QDialog):
    """Enter presses the button that has the focus; else the main one, where there is one."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        focused = self.focusWidget()
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if is_enter and isinstance(focused, QAbstractButton):
            focused.click()
        else:
            super().keyPressEvent(event)


class Dialog(EnterDialog):
    """`column` takes what is shown under the title."""

    def __init__(
        self, name: str, *, width: int, height: int = 0, parent: QWidget | None = None
    ) -> None:
        """Begin. width, height: in pixels, the least that it has on a screen with so many."""
        super().__init__(parent)
        self.setObjectName(name)
        self._least = QSize(width, height)
        self._page = ColumnPage(f"{name}Page", width=_ANY_WIDTH)
        self._page.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.column = self._page.column
        self._foot = FlowRow(trailing=True)
        self._foot.setContentsMargins(3 * GRID, 0, 3 * GRID, 2 * GRID)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(self._page, 1)
        whole.addWidget(self._foot)

    def set_title(self, title: str) -> None:
        """Write the title over the window and, once, over all that is in it."""
        self.setWindowTitle(title)
        self.column.insertWidget(0, Label(title, "title", wrap=True))

    def add_buttons(self, *buttons: QWidget, aside: QWidget | None = None) -> None:
        """Add the buttons below, the main one last. aside: at the other end."""
        if aside is not None:
            between = QWidget()
            between.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
            buttons = (aside, between, *buttons)
        for button in buttons:
            self._foot.add(button)

    def fit(self) -> None:
        """Make the dialog as high as all of it needs, but no larger than the screen."""
        for part in self.findChildren(QWidget):
            part.ensurePolished()  # what is styled later would need another height
        QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)
        room = self.screen().availableSize()
        asked = QSize(scaled(self._least.width()), scaled(self._least.height()))
        width = min(room.width(), max(self.width(), asked.width()))
        # Beside a scroll bar, so that none stays that was there while the dialog was smaller.
        content = self._page.across.totalHeightForWidth(width - scaled(BAR))
        needed = content + self._foot.heightForWidth(width)
        height = min(room.height(), max(self.height(), asked.height(), needed))
        self.resize(width, height)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.resize(0, 0)
        self.fit()
