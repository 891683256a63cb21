"""A copy button in the corner of each block of code."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QTextEdit

from app.ui.chat.text.decorations import code_card
from app.ui.chat.text.document_writer import WrittenCode
from app.ui.widgets.icon_button import IconButton

_INSET = 5
_MOST = 200
"""Buttons in one text; the blocks of code beyond them can be selected and copied."""


class CodeButtons(QObject):
    """Real buttons over the text: the keyboard and screen readers find them."""

    copied = Signal()

    def __init__(self, view: QTextEdit) -> None:
        super().__init__(view)
        self._view = view
        self._buttons: list[IconButton] = []
        self._codes: list[WrittenCode] = []

    def show_for(self, codes: Sequence[WrittenCode]) -> None:
        before, self._codes = self._codes, list(codes[:_MOST])
        codes = self._codes
        while len(self._buttons) < len(codes):
            self._add()
        while len(self._buttons) > len(codes):
            gone = self._buttons.pop()
            gone.hide()
            gone.deleteLater()
        same = 0
        while same < min(len(before), len(codes)) and before[same] is codes[same]:
            same += 1
        for number, written in enumerate(codes[same:], start=same + 1):
            name = self.tr("Copy code block {0}, {1}").format(
                number, written.code.language or self.tr("text")
            )
            if self._buttons[number - 1].accessibleName() != name:
                self._buttons[number - 1].rename(name)
        self.place(same)

    def place(self, first: int = 0) -> None:
        """Move the buttons, from the first that may have moved, to where their code is now."""
        for button, written in zip(self._buttons[first:], self._codes[first:], strict=True):
            if self._view.document().findBlockByNumber(written.line).isValid():
                card = code_card(self._view, written)
                button.adjustSize()
                x = round(card.right()) - button.width() - _INSET
                button.move(x, round(card.top()) + _INSET)

    def _add(self) -> None:
        index = len(self._buttons)
        button = IconButton("copy", "", f"copyCode{index + 1}", size=16, parent=self._view)
        button.clicked.connect(lambda: self._copy(index))
        button.show()
        self._buttons.append(button)

    def _copy(self, index: int) -> None:
        QGuiApplication.clipboard().setText(self._codes[index].code.text)
        self.copied.emit()
