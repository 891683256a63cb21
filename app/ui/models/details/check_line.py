"""Checking every byte of a model: how far it is, a way to end it, and what came of it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from app.services.models.manager import Checked
from app.ui.look.language import in_full
from app.ui.widgets.label import Label
from app.ui.widgets.labelled_button import LabelledButton
from engines.errors import UserError


class CheckLine(QWidget):
    """Hidden while there is nothing to say. stop(): the user does not want to wait."""

    stop = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("checkLine")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        row = QHBoxLayout()
        row.setSpacing(12)
        self._bar = QProgressBar()
        self._bar.setObjectName("checkBar")
        self._bar.setAccessibleName(self.tr("Reading every byte of the model"))
        self._bar.setTextVisible(False)
        self._stop = LabelledButton("stop", self.tr("Stop"), "stopCheckingFile")
        self._stop.clicked.connect(self.stop)
        row.addWidget(self._bar, 1)
        row.addWidget(self._stop)
        column.addLayout(row)
        self._words = Label("", name="fileCheckResult", wrap=True, selectable=True)
        column.addWidget(self._words)
        self.hide()

    def show_progress(self, share: float) -> None:
        self._bar.setValue(round(share * 100))
        self._say(self.tr("Reading every byte: {0} %").format(f"{share * 100:.0f}"), "muted")
        self._running(True)

    def show_checked(self, found: Checked) -> None:
        self._running(False)
        if found.compared:
            self._say(self.tr("Every byte is as it should be."), "good")
        else:
            text = self.tr(
                "There was nothing to compare it with. What it is now is remembered for the "
                "next check."
            )
            self._say(text, "muted")

    def show_problem(self, error: UserError) -> None:
        self._running(False)
        self._say(in_full(error), "problem")

    def show_stopped(self) -> None:
        self._running(False)
        self._say(self.tr("The check was stopped."), "muted")

    def _running(self, running: bool) -> None:
        self._bar.setVisible(running)
        self._stop.setVisible(running)
        self.show()

    def _say(self, text: str, look: str) -> None:
        if self._words.property("look") != look:
            self._words.setProperty("look", look)
            self._words.style().unpolish(self._words)
            self._words.style().polish(self._words)
        self._words.setText(text)
