"""How far the copy of a model file is, with a way to end it."""

from __future__ import annotations

from pathlib import PurePath

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QProgressBar, QVBoxLayout, QWidget

from app.ui.widgets.elided_label import ElidedLabel
from app.ui.widgets.labelled_button import LabelledButton
from app.ui.widgets.panel import Panel


class CopyCard(Panel):
    """Hidden while nothing is copied. stop(): the user wants no copy."""

    stop = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("card", "copyCard", across=True, margins=(2, 1, 1, 1), parent=parent)
        texts = QVBoxLayout()
        texts.setSpacing(6)
        self._what = ElidedLabel("", name="copyWhat")
        self._bar = QProgressBar()
        self._bar.setObjectName("copyBar")
        self._bar.setAccessibleName(self.tr("Copying and checking"))
        self._bar.setTextVisible(False)
        texts.addWidget(self._what)
        texts.addWidget(self._bar)
        self.box.addLayout(texts, 1)
        stop = LabelledButton("stop", self.tr("Stop"), "stopCopying")
        stop.clicked.connect(self.stop)
        self.box.addWidget(stop)
        self.hide()

    def show_progress(self, path: str, share: float) -> None:
        self._what.setText(self.tr("Copying and checking {0}").format(PurePath(path).name))
        self._bar.setValue(round(share * 100))
        self.show()
