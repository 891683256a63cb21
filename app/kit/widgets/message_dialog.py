"""A dialog with a message and a few answers."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.kit.look.theme import GRID
from app.kit.widgets.dialog import Dialog
from app.kit.widgets.label import Label
from app.kit.widgets.picture import Picture

_WIDTH = 480


class MessageDialog(Dialog):
    """A dialog with a message and a few answers.

    Args:
        lines: The lines of the message; the first is the headline.
        answers: The name and the text of each button, the main one last.
        drawing: The icon.
        details: A text in a field below the message; empty for none.

    Signals:
        answered(name): The user pressed a button, and the dialog has closed.
    """

    answered = Signal(str)

    def __init__(
        self,
        lines: Sequence[str],
        answers: Sequence[tuple[str, str]],
        *,
        drawing: str = "info",
        details: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__("messageDialog", width=_WIDTH, parent=parent)
        self.setWindowTitle("Hearth")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        column = self.column
        row = QHBoxLayout()
        row.setSpacing(2 * GRID)
        tone = "danger" if drawing == "warning" else "accent_text"
        row.addWidget(
            Picture(drawing, "danger" if tone == "danger" else "accent_text", 28),
            0,
            Qt.AlignmentFlag.AlignTop,
        )
        texts = QVBoxLayout()
        texts.setSpacing(GRID)
        for number, line in enumerate(lines):
            texts.addWidget(
                Label(
                    line,
                    "" if number else "title",
                    name=f"line{number + 1}",
                    wrap=True,
                    selectable=True,
                )
            )
        row.addLayout(texts, 1)
        column.addLayout(row)
        if details:
            details_field = QPlainTextEdit(details)
            details_field.setObjectName("details")
            details_field.setAccessibleName(self.tr("Details"))
            details_field.setReadOnly(True)
            details_field.setTabChangesFocus(True)
            details_field.setMinimumHeight(180)
            column.addWidget(details_field, 1)
        column.addStretch(0 if details else 1)
        buttons = [self._button(name, text) for name, text in answers]
        self.add_buttons(*buttons)
        self._make_main(buttons[-1])

    def _button(self, name: str, text: str) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(name)
        button.setAccessibleName(text)
        button.clicked.connect(lambda: self._answer(name))
        return button

    def _make_main(self, button: QPushButton) -> None:
        button.setProperty("look", "primary")
        button.setDefault(True)
        button.setFocus()

    def _answer(self, name: str) -> None:
        self.accept()
        self.answered.emit(name)
