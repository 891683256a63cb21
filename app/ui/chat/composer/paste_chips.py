"""Above the message: long texts that were pasted, each as a chip that unfolds into the message."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.ui.look.format import figure
from app.ui.look.theme import GRID
from app.ui.widgets.icon_button import IconButton
from app.ui.widgets.labelled_button import LabelledButton

_TIP = 400
"""Characters of its beginning in the tip."""


class PasteChips(QWidget):
    """changed(): there are others. unfolded(text): one is to be a part of what is written."""

    changed = Signal()
    unfolded = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("pastes")
        self._chips: list[tuple[str, QWidget]] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(GRID // 2)
        self.hide()

    @property
    def texts(self) -> list[str]:
        return [text for text, _ in self._chips]

    def add(self, text: str) -> None:
        chip = self._made(text)
        self._chips.append((text, chip))
        self._column.addWidget(chip)
        chip.show()
        self._show()

    def clear(self) -> None:
        """Remove all of them."""
        if self._chips:
            for _, chip in self._chips:
                chip.hide()
                chip.deleteLater()
            self._chips = []
            self._show()

    def _made(self, text: str) -> QWidget:
        lines = text.count("\n") + 1
        if lines > 1:
            words = self.tr("Pasted text, {0} lines").format(figure(lines))
        else:
            words = self.tr("Pasted text, {0} characters").format(figure(len(text)))
        chip = QWidget()
        row = QHBoxLayout(chip)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GRID // 2)
        unfold = LabelledButton("file", words, "unfoldPaste", look="chip")
        unfold.setAutoDefault(False)
        unfold.setAccessibleName(self.tr("{0}: insert into the message").format(words))
        unfold.setToolTip(text if len(text) <= _TIP else f"{text[:_TIP].rstrip()}…")
        unfold.clicked.connect(lambda: self._unfold(chip))
        remove = IconButton("close", self.tr("Remove: {0}").format(words), "removePaste", size=16)
        remove.clicked.connect(lambda: self._take(chip))
        row.addWidget(unfold)
        row.addWidget(remove)
        row.addStretch(1)
        return chip

    def _unfold(self, chip: QWidget) -> None:
        self.unfolded.emit(self._take(chip))

    def _take(self, chip: QWidget) -> str:
        """Remove a chip; returns its text."""
        at = next(number for number, (_, one) in enumerate(self._chips) if one is chip)
        text, _ = self._chips.pop(at)
        chip.hide()
        chip.deleteLater()
        self._show()
        return text

    def _show(self) -> None:
        self.setVisible(bool(self._chips))
        self.changed.emit()
