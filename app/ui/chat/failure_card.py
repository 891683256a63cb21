"""Why an answer failed, in three parts, with a way to try again."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.core.conversation import Failure
from app.ui.language import in_full, translated
from app.ui.widgets.label import Label
from app.ui.widgets.labelled_button import LabelledButton
from app.ui.widgets.panel import Panel
from app.ui.widgets.picture import Picture


class FailureCard(Panel):
    """again(): the user wants to try again."""

    again = Signal()

    def __init__(self, failure: Failure, parent: QWidget | None = None) -> None:
        super().__init__("danger", "failureCard", across=True, spacing=1.5, parent=parent)
        self.setAccessibleName(in_full(failure))
        self.box.addWidget(Picture("warning", "danger"), 0, Qt.AlignmentFlag.AlignTop)
        texts = QVBoxLayout()
        texts.setSpacing(4)
        texts.addWidget(
            Label(
                translated(failure.what), "strong", name="failureWhat", wrap=True, selectable=True
            )
        )
        texts.addWidget(
            Label(translated(failure.why), name="failureWhy", wrap=True, selectable=True)
        )
        texts.addWidget(Label(translated(failure.do), name="failureDo", wrap=True, selectable=True))
        button = LabelledButton("again", self.tr("Try again"), "tryAgain")
        button.clicked.connect(self.again)
        texts.addSpacing(6)
        texts.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        self.box.addLayout(texts, 1)
