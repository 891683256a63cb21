"""A short message over the window's lower edge, with at most one thing to do about it."""

from __future__ import annotations

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.ui.look.theme import GRID
from app.ui.widgets.icon_button import IconButton
from app.ui.widgets.label import Label
from app.ui.widgets.labelled_button import LabelledButton
from app.ui.widgets.panel import Panel
from app.ui.widgets.picture import Picture


class Toast(Panel):
    """acted(): its button was pressed. closed(): it is gone, whoever closed it.

    action, drawing: text and icon of the button, if there is one.
    seconds: how long it stays; 0 leaves it until it is closed.
    about: what it tells the state of, so that it takes the place of what was told before.
    """

    acted = Signal()
    closed = Signal()

    def __init__(
        self,
        lines: tuple[str, ...],
        *,
        action: str = "",
        drawing: str = "again",
        seconds: float = 4,
        problem: bool = False,
        about: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__("toast", "toast", across=True, margins=(2, 1.25, 1, 1.25), parent=parent)
        self.setAccessibleName(" ".join(lines))
        self.problem = problem
        self.about = about
        self.acts = bool(action)
        if problem:
            self.box.addWidget(Picture("warning", "danger"))
        texts = QVBoxLayout()
        texts.setSpacing(2)
        for number, line in enumerate(lines):
            look = "strong" if len(lines) > 1 and number == 0 else ""
            texts.addWidget(Label(line, look, name=f"toastLine{number + 1}", wrap=True))
        self.box.addLayout(texts, 1)
        self.action = LabelledButton(
            drawing, action, "toastAction", look="link", tone="accent_text"
        )
        self.action.clicked.connect(self._act)
        self.action.setVisible(self.acts)
        self.box.addWidget(self.action)
        close = IconButton("close", self.tr("Dismiss"), "toastClose", size=16)
        close.clicked.connect(self.dismiss)
        self.box.addWidget(close)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.dismiss)
        if seconds:
            self._timer.start(round(seconds * 1000))

    def natural_width(self) -> int:
        """Pixels that the longest line takes without a break, with what stands beside it."""
        texts = [label for label in self.findChildren(Label) if label.text()]
        longest = max(label.fontMetrics().horizontalAdvance(label.text()) for label in texts)
        beside = self.action.sizeHint().width() if self.action.isVisibleTo(self) else 0
        return longest + beside + 14 * GRID

    def dismiss(self) -> None:
        self._timer.stop()
        self.hide()
        self.closed.emit()
        self.deleteLater()

    def _act(self) -> None:
        self.acted.emit()
        self.dismiss()
