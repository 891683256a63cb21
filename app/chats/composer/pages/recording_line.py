"""The line at the composer that is visible while the microphone is on."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from app.kit.widgets.flow import FlowRow
from app.kit.widgets.label import Label
from app.kit.widgets.panel import Panel
from app.kit.widgets.picture import Picture

_OTHER = Qt.FocusReason.OtherFocusReason


class RecordingLine(Panel):
    """The line that shows that the microphone is on.

    Signals:
        stopped(): The user wants to end the recording and attach it.
        dropped(): The user wants to discard the recording.
    """

    stopped = Signal()
    dropped = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(
            "danger", "recordingLine", across=True, margins=(1.5, 1, 1.5, 1), parent=parent
        )
        self.box.addWidget(Picture("microphone", "danger", 24), 0, Qt.AlignmentFlag.AlignVCenter)
        self._words = Label("", "bad", name="recordingWords")
        self._words.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        drop = QPushButton(self.tr("Discard"))
        drop.setObjectName("dropRecording")
        drop.clicked.connect(self.dropped)
        self._stop = QPushButton(self.tr("Stop and attach"))
        self._stop.setObjectName("stopRecording")
        self._stop.clicked.connect(self.stopped)
        for button in (drop, self._stop):
            button.setAccessibleName(button.text())
            button.setAutoDefault(False)
        self.box.addWidget(FlowRow(self._words, drop, self._stop), 1)
        self.hide()

    def show_time(self, seconds: float | None) -> None:
        """Show the length of the recording in seconds; None hides the line."""
        if seconds is not None:
            whole = int(seconds)
            self._words.setText(
                self.tr("The microphone is on · {whole}").format(
                    whole=f"{whole // 60}:{whole % 60:02}"
                )
            )
            self.setAccessibleName(self._words.text())
        begins = self.isHidden() and seconds is not None
        self.setVisible(seconds is not None)
        if begins:
            # The dialog that asked the user first returns the focus.
            QTimer.singleShot(0, self._stop, lambda: self._stop.setFocus(_OTHER))
