"""The choice of an assistant for a new chat, on the welcome screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from app.assistants.values.assistants import Assistant
from app.kit.look.theme import GRID
from app.kit.widgets.emptying import empty
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.panel import Panel

if TYPE_CHECKING:
    from app.kit.widgets.eliding_chip import ElidingChip

_ACROSS = 3
_MOST = 9
"""The largest number of assistants shown here; the others are on their page."""


class AssistantPicker(QWidget):
    """The choice of an assistant for a new chat.

    Signals:
        chosen(id or None): The user chose this assistant, or none.
        show_all(): The user wants to see the page of assistants.
    """

    chosen = Signal(object)
    show_all = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("assistantPicker")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        self._title = Label(self.tr("Choose an assistant"), "group")
        column.addWidget(self._title)
        self._grid = QGridLayout()
        self._grid.setSpacing(GRID)
        column.addLayout(self._grid)
        self._greeting = Panel("bubble", "greeting", margins=(2, 1.5, 2, 1.5))
        self._words = Label("", name="greetingText", wrap=True)
        self._greeting.box.addWidget(self._words)
        column.addWidget(self._greeting)
        self._show_all_button = LabelledButton("assistant", "", "allAssistants", look="link")
        self._show_all_button.clicked.connect(self.show_all)
        column.addWidget(self._show_all_button, 0, Qt.AlignmentFlag.AlignHCenter)
        self.show_assistants((), None)

    def show_assistants(self, assistants: Sequence[Assistant], current: Assistant | None) -> None:
        """Show the assistants; the chosen one is always among them."""
        choices = list(assistants[:_MOST])
        if current is not None and current not in choices:
            choices[-1:] = [current]
        empty(self._grid)
        for number, assistant in enumerate(choices):
            self._grid.addWidget(
                self._chip(assistant, assistant == current), number // _ACROSS, number % _ACROSS
            )
        for column in range(_ACROSS):
            self._grid.setColumnStretch(column, 1)
        self._title.setVisible(bool(choices))
        words = self.tr("All assistants") if choices else self.tr("Choose an assistant…")
        self._show_all_button.redraw("assistant", words)
        greeting = current.greeting if current else ""
        self._words.setText(greeting)
        self._greeting.setVisible(bool(greeting))

    def _chip(self, assistant: Assistant, is_chosen: bool) -> ElidingChip:
        from app.kit.widgets.eliding_chip import ElidingChip

        chip = ElidingChip(assistant.name, f"pick-{assistant.id}", checked=is_chosen)
        chip.clicked.connect(
            lambda checked: self.chosen.emit(assistant.id if checked else None),
            Qt.ConnectionType.QueuedConnection,
        )
        return chip
