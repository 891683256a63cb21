"""A passage that a search found, with all of its words."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from app.core.knowledge import FoundPassage
from app.ui.documents.words import passage_place
from app.ui.widgets.dialog import Dialog
from app.ui.widgets.label import Label
from app.ui.widgets.labelled_button import LabelledButton

_HEIGHT = 300


class PassageDialog(Dialog):
    """Shows the text of one passage; nothing can be changed in it."""

    def __init__(self, found: FoundPassage, parent: QWidget | None = None) -> None:
        super().__init__("passageDialog", width=640, parent=parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        title = passage_place(found.file, found.place)
        self.set_title(title)
        self.column.addWidget(
            Label(str(found.path), "small", name="passagePath", wrap=True, selectable=True)
        )
        text = QPlainTextEdit(found.text.strip())
        text.setObjectName("wholePassage")
        text.setAccessibleName(title)
        text.setReadOnly(True)
        text.setTabChangesFocus(True)
        text.setMinimumHeight(_HEIGHT)
        self.column.addWidget(text, 1)
        close = LabelledButton("close", self.tr("Close"), "closePassage")
        close.clicked.connect(self.accept)
        self.add_buttons(close)
        text.setFocus()
