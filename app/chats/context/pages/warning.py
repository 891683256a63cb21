"""The banner above the message box for a message that does not fit, with possible remedies."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.chats.context.pages.words import problem
from app.chats.context.values.budget import ContextUse
from app.kit.look.theme import GRID
from app.kit.widgets.label import Label
from app.kit.widgets.panel import Panel
from app.kit.widgets.picture import Picture

_BESIDE = 9 * GRID
"""Pixels of the margins and the picture beside the buttons."""


class ContextWarning(Panel):
    """The banner for a message that does not fit.

    Signals:
        chosen(key): The user chose "send", "shorten", "larger", "compact" or "leave_out".
    """

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("banner", "contextWarning", across=True, spacing=1.5, parent=parent)
        self.box.addWidget(Picture("warning", "accent_text"), 0, Qt.AlignmentFlag.AlignTop)
        texts = QVBoxLayout()
        texts.setSpacing(4)
        self._offered: list[QPushButton] = []
        self._headline = Label("", "strong", name="contextWarningWhat", wrap=True)
        self._reason = Label("", name="contextWarningWhy", wrap=True)
        texts.addWidget(self._headline)
        texts.addWidget(self._reason)
        self._grid = QGridLayout()
        self._grid.setContentsMargins(0, GRID // 2, 0, 0)
        self._grid.setSpacing(GRID)
        self._columns = 0
        self._buttons: dict[str, QPushButton] = {}
        for key, text in (
            ("send", self.tr("Send anyway")),
            ("shorten", self.tr("Shorten it")),
            ("compact", self.tr("Summarise older messages")),
            ("leave_out", self.tr("Leave out older messages")),
            ("larger", self.tr("Larger context")),
        ):
            button = QPushButton(text, self)
            button.setObjectName(f"contextWarning-{key}")
            button.setAccessibleName(text)
            button.setAutoDefault(False)
            button.clicked.connect(lambda _=False, key=key: self.chosen.emit(key))
            self._buttons[key] = button
        texts.addLayout(self._grid)
        self.box.addLayout(texts, 1)
        # The buttons are arranged for whatever width there is.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.hide()

    def show_use(self, use: ContextUse) -> None:
        """Show the problem, and offer only remedies that help."""
        headline, reason = problem(use)
        self._headline.setText(headline)
        self._reason.setText(reason)
        self.setAccessibleName(f"{headline}. {reason}")
        older_can_go = use.prompt < use.context
        helps = {
            "send": older_can_go,
            "shorten": True,
            "compact": older_can_go and use.policy != "compact",
            "leave_out": older_can_go and use.policy == "stop",
            "larger": use.most == 0 or use.most > use.context,
        }
        for key, button in self._buttons.items():
            button.setVisible(helps[key])
        self._offered = [self._buttons[key] for key, is_offered in helps.items() if is_offered]
        self._columns = 0
        self._arrange(self.width())
        self.show()
        first = next(key for key, is_offered in helps.items() if is_offered)
        self._buttons[first].setFocus(Qt.FocusReason.PopupFocusReason)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Arrange the buttons for the new width."""
        super().resizeEvent(event)
        self._arrange(event.size().width())

    def _arrange(self, width: int) -> None:
        """Put as many buttons in a row as fit."""
        widest = max((button.sizeHint().width() for button in self._offered), default=1)
        columns = min(len(self._offered), max(1, (width - _BESIDE) // (widest + GRID)))
        if columns == self._columns:
            return
        for button in self._buttons.values():
            self._grid.removeWidget(button)
        for number, button in enumerate(self._offered):
            self._grid.addWidget(button, number // columns, number % columns)
        for column in range(len(self._buttons) + 1):
            self._grid.setColumnStretch(column, int(column == columns))
        self._columns = columns

    def event(self, event: QEvent) -> bool:
        """Handle Escape here, before any other widget, while the focus is inside."""
        if event.type() in {QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress}:
            key = cast(QKeyEvent, event)
            if key.key() == Qt.Key.Key_Escape:
                event.accept()
                if event.type() is QEvent.Type.KeyPress:
                    self.chosen.emit("shorten")
                return True
        return super().event(event)
