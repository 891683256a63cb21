"""The welcome in a chat without messages: a question, an assistant, and first questions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.kit.look.scale import scaled
from app.kit.look.theme import COLUMN, GRID
from app.kit.widgets.column_page import PartPage
from app.kit.widgets.elided_label import ElidedLabel
from app.kit.widgets.emptying import empty
from app.kit.widgets.label import Label
from app.kit.widgets.picture import Picture
from app.kit.widgets.row_button import RowButton

if TYPE_CHECKING:
    from app.chats.history.values.first_questions import QuestionKind


_LEAST_FOR_FLAME = 320
"""The height in pixels below which the flame is hidden, to leave room for the text."""

GUIDE_QUESTIONS: Final = (
    "What can you do?",
    "How do I get a bigger model?",
    "Where are my chats kept?",
)
"""The questions that the suggestions send to the guide, which understands only English."""


class Welcome(PartPage):
    """The welcome in a chat without messages.

    Signals:
        suggested(question): The user clicked a suggested question.
    """

    suggested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("welcome", width=COLUMN - 12 * GRID, parent=parent)
        column = self.column
        column.addStretch(2)
        self._flame = Picture("flame", "accent_text", 44)
        column.addWidget(self._flame, 0, Qt.AlignmentFlag.AlignHCenter)
        title = Label(
            self.tr("What would you like to talk about?"), "display", name="welcomeTitle", wrap=True
        )
        title.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column.addWidget(title)
        self._first_of_all = QVBoxLayout()
        column.addLayout(self._first_of_all)
        self._kind: QuestionKind | None = None
        self._suggestions = QVBoxLayout()
        self._suggestions.setSpacing(GRID)
        column.addLayout(self._suggestions)
        column.addStretch(3)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hide the flame in a low window."""
        super().resizeEvent(event)
        self._flame.setVisible(event.size().height() >= scaled(_LEAST_FOR_FLAME))

    def put_first(self, widget: QWidget) -> None:
        """Show a widget under the headline, above everything else."""
        self._first_of_all.addWidget(widget)

    def suggest(self, kind: QuestionKind | None) -> None:
        """Show example questions that suit the model; None shows none."""
        if kind == self._kind:
            return
        self._kind = kind
        empty(self._suggestions)
        if kind is None:
            return
        guide = kind == "guide"
        self._suggestions.addWidget(
            Label(self.tr("Ask the guide") if guide else self.tr("For example"), "group")
        )
        questions = self._questions(kind)
        sent_questions = GUIDE_QUESTIONS if guide else questions
        for number, (question, sent) in enumerate(
            zip(questions, sent_questions, strict=True), start=1
        ):
            button = RowButton(
                f"suggestion{number}", self.tr("Ask: {question}").format(question=question)
            )
            button.setProperty("look", "suggestion")
            button.setToolTip(question)
            button.box.addWidget(ElidedLabel(question, name=f"question{number}"))
            button.let_clicks_through()
            button.clicked.connect(lambda _=False, sent=sent: self.suggested.emit(sent))
            self._suggestions.addWidget(button)

    def _questions(self, kind: QuestionKind) -> tuple[str, ...]:
        return {
            "guide": (
                self.tr("What can you do?"),
                self.tr("How do I get a bigger model?"),
                self.tr("Where are my chats kept?"),
            ),
            "documents": (
                self.tr("What are these documents about?"),
                self.tr("Which dates and deadlines do they name?"),
                self.tr("What matters most in them? Quote it"),
            ),
            "code": (
                self.tr("Write a Python script that sorts photos by date"),
                self.tr("What should I test in a sign-in form?"),
                self.tr("When do I merge in git, and when rebase?"),
            ),
            "thinking": (
                self.tr("Three switches, one lamp next door: which is it?"),
                self.tr("Plan five days in Vienna for two, under 900 euros"),
                self.tr("Rent or buy: what should I work out before I decide?"),
            ),
            "general": (
                self.tr("Write a friendly reminder of an unpaid invoice"),
                self.tr("Explain inflation as you would to a twelve-year-old"),
                self.tr("What can I cook with eggs, spinach and rice?"),
            ),
        }[kind]
