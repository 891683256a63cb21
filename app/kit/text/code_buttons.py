"""The buttons in the corner of each code block: copy it, and save it as a file."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QTextEdit

from app.kit.text.decorations import code_card
from app.kit.text.document_writer import WrittenCode
from app.kit.widgets.icon_button import IconButton

_INSET = 5
_MOST = 200
"""The maximum number of buttons in one text; later code blocks can be selected and copied."""


class CodeButtons(QObject):
    """Buttons over the text; they are widgets, so that the keyboard and screen readers find them.

    Args:
        view: The text.
        saves: Whether there is a button that saves the code.

    Signals:
        copied(): The user copied a code block.
        save(code): The user wants to save a code block.
    """

    copied = Signal()
    save = Signal(object)

    def __init__(self, view: QTextEdit, *, saves: bool) -> None:
        super().__init__(view)
        self._view = view
        self._saves = saves
        self._buttons: list[IconButton] = []
        self._savers: list[IconButton] = []
        self._codes: list[WrittenCode] = []

    def show_for(self, codes: Sequence[WrittenCode]) -> None:
        """Show buttons for these code blocks and remove the others."""
        old_codes, self._codes = self._codes, list(codes[:_MOST])
        codes = self._codes
        while len(self._buttons) < len(codes):
            self._add()
        while len(self._buttons) > len(codes):
            for button in (self._buttons.pop(), *(self._savers[-1:] if self._saves else ())):
                button.hide()
                button.deleteLater()
            self._savers = self._savers[: len(self._buttons)]
        same = 0
        while same < min(len(old_codes), len(codes)) and old_codes[same] is codes[same]:
            same += 1
        for number, written in enumerate(codes[same:], start=same + 1):
            language = written.code.language or self.tr("text")
            name = self.tr("Copy code block {number}, {language}").format(
                number=number, language=language
            )
            if self._buttons[number - 1].accessibleName() != name:
                self._buttons[number - 1].rename(name)
                for saver in self._savers[number - 1 : number]:
                    saver.rename(
                        self.tr("Save code block {number}, {language}, as…").format(
                            number=number, language=language
                        )
                    )
        self.place(same)

    def place(self, first: int = 0) -> None:
        """Move the buttons to their code blocks, from the code block with index `first` on."""
        for number, written in enumerate(self._codes[first:], start=first):
            if self._view.document().findBlockByNumber(written.line).isValid():
                top = round(code_card(self._view, written).top()) + _INSET
                x = self._view.viewport().width() - 1
                for button in (self._buttons[number], *self._savers[number : number + 1]):
                    button.adjustSize()
                    x -= button.width() + _INSET
                    button.move(x, top)

    def _add(self) -> None:
        index = len(self._buttons)
        button = IconButton("copy", "", f"copyCode{index + 1}", size=16, parent=self._view)
        button.clicked.connect(lambda: self._copy(index))
        button.show()
        self._buttons.append(button)
        if self._saves:
            saver = IconButton("download", "", f"saveCode{index + 1}", size=16, parent=self._view)
            saver.clicked.connect(lambda: self.save.emit(self._codes[index].code))
            saver.show()
            self._savers.append(saver)

    def _copy(self, index: int) -> None:
        QGuiApplication.clipboard().setText(self._codes[index].code.text)
        self.copied.emit()
