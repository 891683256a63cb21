"""What can be done with a model, as a row of buttons, and why something cannot."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.presenters.model_page import Shown
from app.ui.look.language import translated
from app.ui.look.theme import GRID
from app.ui.widgets.label import Label
from app.ui.widgets.labelled_button import LabelledButton


class ModelActions(QWidget):
    """asked(action): "use", "check", "reveal", "off_list" or "trash"."""

    asked = Signal(str)

    def __init__(self, shown: Shown, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("modelActions")
        removable = shown.removable
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        first = QHBoxLayout()
        first.setSpacing(GRID)
        self._use = LabelledButton(
            "chat", self.tr("Use in chat"), "useModel", look="primary", tone="on_accent"
        )
        self._use.clicked.connect(lambda: self.asked.emit("use"))
        self._use.setEnabled(shown.details is not None)
        self._in_use = Label(self.tr("In use"), "chosen", name="inUseHere")
        first.addWidget(self._use)
        first.addWidget(self._in_use, 0, Qt.AlignmentFlag.AlignVCenter)
        first.addWidget(self._button("check", self.tr("Check the file"), "check", "checkFile"))
        first.addWidget(self._button("folder", self.tr("Show in folder"), "reveal", "revealModel"))
        first.addStretch(1)
        column.addLayout(first)
        second = QHBoxLayout()
        second.setSpacing(GRID)
        if removable.off_list:
            text = self.tr("Take off the list")
            second.addWidget(self._button("close", text, "off_list", "takeOffList"))
        if removable.frees is not None:
            text = self.tr("Move to the trash…")
            second.addWidget(self._button("trash", text, "trash", "trashModel"))
        if removable.why_not:
            second.addWidget(
                Label(translated(removable.why_not), "small", name="whyNotRemoved", wrap=True), 1
            )
        else:
            second.addStretch(1)
        column.addLayout(second)

    def show_in_use(self, in_use: bool) -> None:
        self._use.setVisible(not in_use)
        self._in_use.setVisible(in_use)

    def _button(self, drawing: str, text: str, action: str, name: str) -> LabelledButton:
        button = LabelledButton(drawing, text, name)
        button.clicked.connect(lambda: self.asked.emit(action))
        return button
