"""A short message of the window, with at most one action."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from app.kit.look.theme import GRID
from app.kit.widgets.icon_button import IconButton
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.panel import Panel
from app.kit.widgets.picture import Picture

_LEAST_S, _LEAST_ATTENTION_S = 2.5, 8.0
_LETTERS_PER_S = 14
AGAIN_MS = 1_000
"""How often to check whether the user still points at the toast, in milliseconds."""


def seconds_for(lines: Sequence[str], *, needs_attention: bool) -> float:
    """Return for how many seconds these lines are shown.

    Args:
        lines: The lines of the message.
        needs_attention: Whether the user has to decide something, and needs more time.
    """
    reading = 1 + sum(map(len, lines)) / _LETTERS_PER_S
    return max(_LEAST_ATTENTION_S if needs_attention else _LEAST_S, reading)


class Toast(Panel):
    """A short message.

    It closes after the time that people need to read it, unless the pointer or the focus is on it.

    Args:
        lines: The lines of the message.
        action: The text of the button; empty for no button.
        drawing: The icon of the button.
        problem: Whether the message is about an error.
        about: The subject of the message. It replaces an earlier toast about the same subject.

    Signals:
        acted(): The user pressed the button.
        closed(): The toast has closed, for whatever reason.
    """

    acted = Signal()
    closed = Signal()

    def __init__(
        self,
        lines: tuple[str, ...],
        *,
        action: str = "",
        drawing: str = "again",
        problem: bool = False,
        about: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__("toast", "toast", across=True, margins=(2, 1.25, 1, 1.25), parent=parent)
        self.setAccessibleName(" ".join(lines))
        self.problem = problem
        self.about = about
        self.has_action = bool(action)
        if problem:
            self.box.addWidget(Picture("warning", "danger"))
        texts = QVBoxLayout()
        texts.setSpacing(2)
        for number, line in enumerate(lines):
            look = "strong" if len(lines) > 1 and number == 0 else ""
            texts.addWidget(Label(line, look, name=f"toastLine{number + 1}", wrap=True))
        self.box.addLayout(texts, 1)
        self.action = LabelledButton(drawing, action, "toastAction", look="link")
        self.action.clicked.connect(self._act)
        self.box.addWidget(self.action)
        self.action.setVisible(self.has_action)
        close = IconButton("close", self.tr("Dismiss"), "toastClose", size=16)
        close.clicked.connect(self.dismiss)
        self.box.addWidget(close)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._close_if_unused)
        self._timer.start(
            round(1000 * seconds_for(lines, needs_attention=problem or self.has_action))
        )

    def natural_width(self) -> int:
        """Return the width in pixels that fits the longest line unbroken and the buttons."""
        texts = [label for label in self.findChildren(Label) if label.text()]
        longest = max(label.fontMetrics().horizontalAdvance(label.text()) for label in texts)
        button_width = self.action.sizeHint().width() if self.action.isVisibleTo(self) else 0
        return longest + button_width + 14 * GRID

    def _close_if_unused(self) -> None:
        if self.underMouse() or self.isAncestorOf(QApplication.focusWidget() or self.window()):
            self._timer.start(AGAIN_MS)
        else:
            self.dismiss()

    def dismiss(self) -> None:
        """Close the toast and delete it later."""
        self._timer.stop()
        self.hide()
        self.closed.emit()
        self.deleteLater()

    def _act(self) -> None:
        self.acted.emit()
        self.dismiss()
