"""Why an answer failed, in three parts, with a way to try again and one to mend it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.core.chats.conversation import Failure
from app.ui.chat.transcript.fixes import button_of
from app.ui.look.language import in_full, translated
from app.ui.look.theme import GRID
from app.ui.widgets.label import Label
from app.ui.widgets.labelled_button import LabelledButton
from app.ui.widgets.panel import Panel
from app.ui.widgets.picture import Picture


class FailureCard(Panel):
    """again(): the user wants to try again. fix(): and to have done before what would mend it."""

    again = Signal()
    fix = Signal()

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
        texts.addSpacing(6)
        texts.addLayout(self._buttons(failure))
        self.box.addLayout(texts, 1)

    def _buttons(self, failure: Failure) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(GRID)
        mends = button_of(failure)
        if mends is not None:
            drawing, words = mends
            fix = LabelledButton(drawing, words, "fixFailure")
            fix.clicked.connect(self.fix)
            row.addWidget(fix)
        again = LabelledButton("again", self.tr("Try again"), "tryAgain")
        again.clicked.connect(self.again)
        row.addWidget(again)
        row.addStretch(1)
        return row
