"""The head of a page with its back button, and the link back from a part of a page."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.kit.look.theme import BAR, COLUMN, GRID
from app.kit.widgets.action import UserAction
from app.kit.widgets.flow import FlowRow
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton


class PageHead(FlowRow):
    """The head of a page.

    Args:
        title: The title.
        back_name: The object name of the back button.
        back: Returns to the chat.
        actions: Widgets on the right, or below the title if there is too little room.
    """

    def __init__(
        self, title: str, back_name: str, back: Callable[[], object], *actions: QWidget
    ) -> None:
        super().__init__()
        self.back = UserAction(back_name, "back", self.tr("Back to the chat"), back).icon_button()
        self.add(self.back)
        name = Label(title, "title")
        name.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.add(name)
        for action in actions:
            self.add(action)


class BackLink(LabelledButton):
    """The link from a part of a page back to the page itself; the window presses it on Escape.

    While it is shown, the page's head has no back button: there is one way back at a time.

    Args:
        text: The text, which names the place that it leads to.
        object_name: The object name.
        back: Returns there.
    """

    def __init__(self, text: str, object_name: str, back: Callable[[], object]) -> None:
        super().__init__("back", text, object_name, look="link")
        self.setAutoDefault(False)
        self.clicked.connect(lambda: back())  # noqa: PLW0108 - a click has an argument

    def showEvent(self, event: QShowEvent) -> None:
        """Hide the back button of the page's head."""
        super().showEvent(event)
        self._show_back_of_head(False)

    def hideEvent(self, event: QHideEvent) -> None:
        """Show the back button of the page's head again."""
        super().hideEvent(event)
        self._show_back_of_head(True)

    def _show_back_of_head(self, shown: bool) -> None:
        around: QWidget | None = self.parentWidget()
        head = None
        while around is not None and head is None:
            head = around.findChild(PageHead)
            around = around.parentWidget()
        if head is not None:
            head.back.setVisible(shown)


class FixedHead(QWidget):
    """A head that stays in place while the page's column scrolls, and is as wide as the column."""

    def __init__(self, *rows: QWidget) -> None:
        super().__init__()
        across = QHBoxLayout(self)
        across.setContentsMargins(3 * GRID + BAR, 3 * GRID, 3 * GRID + BAR, 0)
        middle = QWidget()
        middle.setMaximumWidth(COLUMN)
        across.addStretch(1)
        across.addWidget(middle, 1000)
        across.addStretch(1)
        column = QVBoxLayout(middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2 * GRID)
        for row in rows:
            column.addWidget(row)

    def lay_over(self, content: QWidget, page: QWidget) -> None:
        """Fill a page with this head and the scrolling content below it."""
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self)
        column.addWidget(content, 1)
