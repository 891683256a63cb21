"""Under a list that is not shown whole: how much of it is, and the way to more."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.ui.look.format import figure
from app.ui.widgets.label import Label
from app.ui.widgets.labelled_button import LabelledButton
from app.ui.widgets.panel import Panel


class MoreCard(Panel):
    """more(): further models are to be shown."""

    more = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(
            "card", "moreModels", across=True, margins=(2, 1.5, 2, 1.5), spacing=1.5, parent=parent
        )
        self._line = Label("", "muted", name="modelsShown", wrap=True)
        self.box.addWidget(self._line, 1)
        button = LabelledButton("down", self.tr("Show more"), "showMoreModels")
        button.clicked.connect(self.more)
        self.box.addWidget(button)
        self.hide()

    def show_count(self, shown: int, all_of_them: int) -> None:
        """Hidden where nothing is left to be shown."""
        self._line.setText(
            self.tr("{0} of {1} models are shown.").format(figure(shown), figure(all_of_them))
        )
        self.setVisible(shown < all_of_them)
