"""Under a question: what can be done with it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.ui.widgets.icon_button import IconButton


class QuestionFooter(QWidget):
    """act(name): what was asked for, by the names of `message_menu`."""

    act = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("questionFooter")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2)
        for drawing, text, name, act in (
            ("pencil", self.tr("Edit and ask again"), "editMessage", "edit"),
            ("copy", self.tr("Copy question"), "copyQuestion", "copy"),
            ("more", self.tr("More about this question"), "moreActions", "menu"),
        ):
            button = IconButton(drawing, text, name, size=18)
            button.clicked.connect(lambda _=False, act=act: self.act.emit(act))
            row.addWidget(button)
