"""The model's reasoning, folded until the user opens it."""

from __future__ import annotations

import time

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QTextCursor
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.kit.announcing import describe_fold
from app.kit.look.direction import align
from app.kit.look.scale import scaled
from app.kit.look.theme import GRID
from app.kit.text.long_lines import LongLineEdit
from app.kit.widgets.icon_button import IconButton
from app.kit.widgets.labelled_button import LabelledButton

_TICK_MS = 1000
_MOST_LINES = 14


class Reasoning(QWidget):
    """The model's reasoning as plain text; it is not part of the answer.

    New text is kept in pieces and laid out only while the reasoning is unfolded; each piece is
    then appended to the text.

    Args:
        text: The reasoning so far.
        seconds: How long the model has reasoned so far.

    Signals:
        copied(): The user copied the reasoning.
    """

    copied = Signal()

    def __init__(self, text: str = "", seconds: float = 0.0, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("reasoning")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self._pieces = [text]
        self._shown_pieces = 0
        self._trailing_blanks = ""
        self._seconds = seconds
        self._began: float | None = None
        self._button = LabelledButton("right", "", "showReasoning", look="thoughts")
        self._button.setCheckable(True)
        self._button.toggled.connect(self._unfold)
        self._copy = IconButton("copy", self.tr("Copy the reasoning"), "copyReasoning", size=16)
        self._copy.clicked.connect(self._copy_all)
        self._copy.hide()
        self._text = _Thoughts()
        self._text.setAccessibleName(self.tr("Reasoning"))
        self._text.hide()
        row = QHBoxLayout()
        row.setSpacing(GRID // 2)
        row.addWidget(self._button)
        row.addWidget(self._copy)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID // 2)
        column.addLayout(row)
        column.addWidget(self._text)
        self._timer = QTimer(self)
        self._timer.setInterval(_TICK_MS)
        self._timer.setTimerType(Qt.TimerType.CoarseTimer)
        self._timer.timeout.connect(self._update_button)
        self._update_button()
        describe_fold(self._button, unfolded=False)

    @property
    def running(self) -> bool:
        """True if the model is reasoning."""
        return self._began is not None

    def append(self, text: str) -> None:
        """Append a piece; the clock starts with the first one."""
        self._pieces.append(text)
        if self._began is None:
            self._began = time.monotonic()
            self._timer.start()
            self._update_button()
        if self._text.isVisible():
            self._lay_out_new_text()

    def end(self, seconds: float | None = None) -> None:
        """End the reasoning, because the answer begins or has ended.

        Args:
            seconds: The measured duration; None keeps the one counted here.
        """
        if self._began is not None:
            self._seconds += time.monotonic() - self._began
            self._began = None
            self._timer.stop()
        if seconds is not None:
            self._seconds = seconds
        self._update_button()

    def _update_button(self) -> None:
        """Update the text of the button; a timer calls this once a second."""
        running = 0.0 if self._began is None else time.monotonic() - self._began
        seconds = round(self._seconds + running)
        if self.running:
            words = self.tr("Thinking … {seconds}").format(seconds=duration(seconds))
        elif seconds:
            words = self.tr("Thought for {seconds}").format(seconds=duration(seconds))
        else:
            words = self.tr("Thought for a moment")
        self._button.redraw("down" if self._button.isChecked() else "right", words)

    def _unfold(self, unfolded: bool) -> None:
        if unfolded:
            self._lay_out_new_text()
        self._text.setVisible(unfolded)
        self._copy.setVisible(unfolded)
        self._update_button()
        describe_fold(self._button, unfolded=unfolded)

    def _lay_out_new_text(self) -> None:
        """Lay out the pieces that are not shown yet; trailing blanks wait for the next piece."""
        text = self._trailing_blanks + "".join(self._pieces[self._shown_pieces :])
        self._shown_pieces = len(self._pieces)
        self._trailing_blanks = text[len(text.rstrip()) :]
        self._text.add(text.rstrip())

    def _copy_all(self) -> None:
        QGuiApplication.clipboard().setText("".join(self._pieces).strip())
        self.copied.emit()


class _Thoughts(LongLineEdit):
    """A text as high as its lines, up to `_MOST_LINES`; then it scrolls and follows its end."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("reasoningText")
        self.setProperty("look", "thoughts")
        self.setReadOnly(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setTabChangesFocus(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self._fit()

    def add(self, text: str) -> None:
        bar = self.verticalScrollBar()
        at_end = bar.value() >= bar.maximum()
        if self.document().isEmpty():
            text = text.lstrip("\n")
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        self.insert_at(cursor, text)
        align(self)
        if at_end:
            bar.setValue(bar.maximum())

    def _fit(self) -> None:
        lines = min(_MOST_LINES, max(1, round(self.document().size().height())))
        margin = round(2 * self.document().documentMargin())
        height = lines * self.fontMetrics().lineSpacing() + margin + scaled(2)
        if height != self.height() or height != self.minimumHeight():
            self.setFixedHeight(height)


def duration(seconds: int) -> str:
    """Format a duration: 12 s, or 3 min 5 s."""
    minutes, rest = divmod(seconds, 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
