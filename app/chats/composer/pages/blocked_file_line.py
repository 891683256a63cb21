"""The line at the composer that says why a file cannot be sent, before the user tries."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.base.language import in_full, translated
from app.chats.history.values.conversation import Failure
from app.chats.transcript.pages.fixes import button_of
from app.kit.look.scale import scaled
from app.kit.look.theme import GRID
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.panel import Panel
from app.kit.widgets.picture import Picture
from engines.errors import UserError

_LEAST = 420
"""The height of the window in pixels from which the whole line is shown."""


class BlockedFileLine(Panel):
    """The line that says why a file cannot be sent.

    Signals:
        fix(failure): The user wants to fix the cause; a `Failure`.
    """

    fix = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(
            "fold", "hindranceLine", across=True, margins=(1.5, 1, 1.5, 1), parent=parent
        )
        self._failure: Failure | None = None
        self._button: LabelledButton | None = None
        self._headline = Label("", "strong", name="hindranceWhat", wrap=True)
        self._reason = Label("", "small", name="hindranceWhy", wrap=True)
        self._texts = QVBoxLayout()
        self._texts.setSpacing(2)
        self._texts.addWidget(self._headline)
        self._texts.addWidget(self._reason)
        self.box.addWidget(Picture("image", "muted", 24), 0, Qt.AlignmentFlag.AlignTop)
        self.box.addLayout(self._texts, 1)
        self._row = QHBoxLayout()
        self._row.setContentsMargins(0, GRID // 2, 0, 0)
        self._row.addStretch(1)
        self._texts.addLayout(self._row)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.hide()

    @property
    def failure(self) -> Failure | None:
        """The error that keeps the message from being sent; None if there is none."""
        return self._failure

    def show_error(self, error: UserError | None) -> None:
        """Show why a file cannot be sent; None hides the line."""
        failure = Failure.of(error) if error is not None else None
        if failure == self._failure:
            return
        self._failure = failure
        if self._button is not None:
            self._button.hide()
            self._button.deleteLater()
            self._button = None
        if error is not None and failure is not None:
            self._headline.setText(translated(failure.what))
            self._reason.setText(f"{translated(failure.why)} {translated(failure.do)}")
            self.setAccessibleName(in_full(error))
            button = button_of(failure)
            if button is not None:
                drawing, words = button
                self._button = LabelledButton(drawing, words, "fixHindrance", parent=self)
                self._button.clicked.connect(lambda: self.fix.emit(failure))
                self._row.insertWidget(0, self._button)
        self.setToolTip(self._reason.text())
        self.setVisible(failure is not None)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hide or show the reason, depending on the height of the window."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """In a low window, hide the reason, which the tooltip has, and put the button beside."""
        low = self.window().height() < scaled(_LEAST)
        self._reason.setVisible(not low)
        if self._button is not None and low != (self.box.indexOf(self._button) >= 0):
            old_box, new_box = (self._row, self.box) if low else (self.box, self._row)
            old_box.removeWidget(self._button)
            new_box.insertWidget(new_box.count() if low else 0, self._button)

    def point_out(self) -> None:
        """Focus the button that fixes the cause, or else the line itself."""
        (self._button or self).setFocus(Qt.FocusReason.OtherFocusReason)
