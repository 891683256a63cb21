"""What a chat without messages shows: a welcome the first time, a question afterwards."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from app.services.system import SystemCheck
from app.ui.theme import COLUMN, GRID
from app.ui.widgets.column_page import ColumnPage
from app.ui.widgets.computer_card import ComputerCard
from app.ui.widgets.label import Label
from app.ui.widgets.picture import Picture


class Welcome(ColumnPage):
    """suggested(question): one of the first questions was clicked."""

    suggested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("welcome", width=COLUMN - 12 * GRID, parent=parent)
        column = self.column
        column.addStretch(2)
        column.addWidget(Picture("flame", "accent_text", 44), 0, Qt.AlignmentFlag.AlignHCenter)
        self._title = Label("", "display", name="welcomeTitle", wrap=True)
        self._title.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column.addWidget(self._title)
        self._promise = Label(
            self.tr("Private: what you write and what is answered stays on this computer."),
            "muted",
            name="promise",
            wrap=True,
        )
        self._promise.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column.addWidget(self._promise)
        column.addSpacing(GRID)
        self._computer = ComputerCard()
        column.addWidget(self._computer)
        self._suggestions = self._make_suggestions()
        column.addWidget(self._suggestions)
        column.addStretch(3)

    def set_first(self, first: bool) -> None:
        """Whether there is no chat yet."""
        if first:
            self._title.setText(self.tr("Welcome to Hearth"))
        else:
            self._title.setText(self.tr("What would you like to talk about?"))
        self._promise.setVisible(first)
        self._computer.setVisible(first)

    def set_guide(self, guide: bool) -> None:
        """Whether the built-in guide answers: only it knows the suggested questions."""
        self._suggestions.setVisible(guide)

    def show_check(self, check: SystemCheck) -> None:
        self._computer.show_check(check)

    def show_check_failed(self) -> None:
        self._computer.show_failure()

    def _make_suggestions(self) -> QWidget:
        box = QWidget()
        column = QVBoxLayout(box)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        column.addWidget(Label(self.tr("Ask the guide"), "group"))
        for number, question in enumerate(
            (
                self.tr("What can you do?"),
                self.tr("How do I get a bigger model?"),
                self.tr("Where are my chats kept?"),
            ),
            start=1,
        ):
            button = QPushButton(question)
            button.setObjectName(f"suggestion{number}")
            button.setAccessibleName(self.tr("Ask: {0}").format(question))
            button.setProperty("look", "suggestion")
            button.setCursor(Qt.CursorShape.PointingHandCursor)
            button.clicked.connect(lambda _=False, asked=question: self.suggested.emit(asked))
            column.addWidget(button)
        return box
