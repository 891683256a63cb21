"""The model's reasoning, folded away until somebody wants to see it."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.ui.widgets.label import Label
from app.ui.widgets.labelled_button import LabelledButton


class Reasoning(QWidget):
    """Plain text: it is not part of the answer."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("reasoning")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        self._button = LabelledButton("down", self.tr("Reasoning"), "showReasoning", look="quiet")
        self._button.setCheckable(True)
        self._text = Label(text, "muted", name="reasoningText", wrap=True, selectable=True)
        self._text.hide()
        self._button.toggled.connect(self._text.setVisible)
        column.addWidget(self._button)
        column.addWidget(self._text)

    def append(self, text: str) -> None:
        self._text.setText(self._text.text() + text)
