"""A dialog that fits every screen: if there is too little room, its content scrolls."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.kit.focus_in_sight import scroll_to_focus
from app.kit.look.scale import scaled
from app.kit.look.theme import BAR, GRID
from app.kit.widgets.column_page import ColumnPage
from app.kit.widgets.enter import press_focused
from app.kit.widgets.flow import FlowRow
from app.kit.widgets.label import Label

_ANY_WIDTH = 16_777_215


class EnterDialog(QDialog):
    """A dialog in which Enter presses the focused button, or else the main one, if any."""

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Move the focus for Tab, and scroll to it."""
        moved = super().focusNextPrevChild(forward)
        scroll_to_focus(self)
        return moved

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Press the focused button on Enter, or else the main one."""
        if not press_focused(self, event):
            super().keyPressEvent(event)


class Dialog(EnterDialog):
    """A dialog with a title, a scrolling column and buttons below it.

    `column` is the layout for the content under the title.
    """

    def __init__(
        self, name: str, *, width: int, height: int = 0, parent: QWidget | None = None
    ) -> None:
        """Create the dialog.

        Args:
            name: The object name.
            width: The minimum width in pixels, if the screen has as many.
            height: The minimum height in pixels, if the screen has as many.
            parent: The parent widget.
        """
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
        """Set the title of the window, and add it as a heading; call it once."""
        self.setWindowTitle(title)
        self.column.insertWidget(0, Label(title, "title", wrap=True))

    def add_buttons(self, *buttons: QWidget, aside: QWidget | None = None) -> None:
        """Add buttons below the content.

        Args:
            buttons: The buttons, the main one last.
            aside: A widget at the opposite end of the row.
        """
        if aside is not None:
            between = QWidget()
            between.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
            buttons = (aside, between, *buttons)
        for button in buttons:
            self._foot.add(button)

    def fit(self) -> None:
        """Make the dialog as high as its content, but no larger than the screen."""
        for part in self.findChildren(QWidget):
            part.ensurePolished()  # a part that is styled later would need another height
        QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)
        room = self.screen().availableSize()
        wanted = QSize(scaled(self._least.width()), scaled(self._least.height()))
        width = min(room.width(), max(self.width(), wanted.width()))
        # Leaves room for a scroll bar, so that one shown in a smaller dialog disappears again.
        content = self._page.across.totalHeightForWidth(width - scaled(BAR))
        needed = content + self._foot.heightForWidth(width)
        height = min(room.height(), max(self.height(), wanted.height(), needed))
        self.resize(width, height)

    def showEvent(self, event: QShowEvent) -> None:
        """Fit the size to the content before the dialog is shown."""
        super().showEvent(event)
        self.resize(0, 0)
        self.fit()
