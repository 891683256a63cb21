"""The line under a question that waits for the model to load or for the first word."""

from __future__ import annotations

from time import monotonic

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.progress_bar import ProgressBar

_STEP_MS = 400
LONG_S = 5
"""After so many seconds of waiting, the line shows them; the user can stop waiting for a server."""


class ProgressLine(QWidget):
    """A text with moving dots, or a bar while the model is loading.

    Signals:
        stop(): The user no longer wants to wait for the server.
    """

    stop = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("progressLine")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 4, 0, 4)
        row.setSpacing(12)
        self._text = Label("", "muted", name="progressText")
        self._bar = ProgressBar("loadProgress", self.tr("Loading the model"))
        self._bar.setFixedWidth(160)
        self._bar.hide()
        self._stop = LabelledButton("stop", self.tr("Stop"), "stopWaiting", look="link")
        self._stop.clicked.connect(self.stop)
        self._stop.hide()
        row.addWidget(self._text)
        row.addWidget(self._bar)
        row.addWidget(self._stop)
        row.addStretch(1)
        self._dots = 0
        self._words = ""
        self._since: float | None = None
        self._can_stop = False
        self._timer = QTimer(self)
        self._timer.setInterval(_STEP_MS)
        self._timer.setTimerType(Qt.TimerType.CoarseTimer)
        self._timer.timeout.connect(self._step)
        self.wait()

    def wait(self) -> None:
        """Show that the model is loaded and its first word is still missing."""
        words = self.tr("One moment")
        if words != self._words:
            self._show(words, monotonic())

    def wait_for(self, server: str, since: float) -> None:
        """Show that a server has not answered yet.

        Args:
            server: The name of the server.
            since: When the waiting began, in seconds of the monotonic clock.
        """
        self._show(self.tr("Waiting for {server}").format(server=server), since, can_stop=True)

    def show_text(self, words: str) -> None:
        """Show a text with moving dots before the first word."""
        self._show(words)

    def show_changing(self, words: str) -> None:
        """Show a text that changes often, with dots that move no faster for it."""
        if self._dots and not self._bar.isVisibleTo(self):
            self._words, self._since, self._can_stop = words, None, False
            self._show_words()
        else:
            self._show(words)

    def load(self, share: float, words: str = "") -> None:
        """Show the progress of loading the model.

        Args:
            share: The share that is done, 0.0 to 1.0.
            words: The current step; empty for "Loading the model".
        """
        self._timer.stop()
        self._stop.hide()
        self._words = ""
        percent = round(share * 100)
        step = words or self.tr("Loading the model")
        self._text.setText(self.tr("{step}, {percent} %").format(step=step, percent=percent))
        self._bar.setValue(percent)
        self._bar.show()

    def showEvent(self, event: QShowEvent) -> None:
        """Start the moving dots."""
        super().showEvent(event)
        if not self._bar.isVisibleTo(self):
            self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop the moving dots."""
        super().hideEvent(event)
        self._timer.stop()

    def _show(self, words: str, since: float | None = None, *, can_stop: bool = False) -> None:
        self._words, self._since, self._can_stop = words, since, can_stop
        self._bar.hide()
        self._step()
        if self.isVisible():
            self._timer.start()

    def _step(self) -> None:
        self._dots = self._dots % 3 + 1
        self._show_words()

    def _show_words(self) -> None:
        seconds = 0 if self._since is None else int(monotonic() - self._since)
        self._stop.setVisible(self._can_stop and seconds >= LONG_S)
        self._text.setText(
            self.tr("{what}, {seconds} s").format(what=self._words, seconds=seconds)
            if seconds >= LONG_S
            else f"{self._words} {'·' * self._dots}"
        )
