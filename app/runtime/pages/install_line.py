"""The progress of an installation: the current step, its share, and a description."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.base.language import translated
from app.kit.look.motion import show_busy
from app.kit.look.theme import GRID
from app.kit.widgets.elided_label import ElidedLabel
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.progress_bar import ProgressBar

if TYPE_CHECKING:
    from app.runtime.values.installation import Step


class InstallLine(QWidget):
    """The progress of an installation.

    Signals:
        cancel(): The user wants to cancel it.
    """

    cancel = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("installLine")
        self._phases = {
            "look": self.tr("Checking this computer"),
            "download": self.tr("Downloading"),
            "install": self.tr("Installing"),
            "kernels": self.tr("Preparing the card’s kernels"),
            "try": self.tr("Testing it with a small model"),
            "switch": self.tr("Activating it"),
        }
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        self._phase = Label("", "strong", name="installPhase", wrap=True)
        self._bar = ProgressBar("installProgress", self.tr("Progress of the installation"))
        self._words = ElidedLabel("", "small", "installWords")
        self._cancel = LabelledButton("close", self.tr("Cancel"), "cancelInstall")
        self._cancel.clicked.connect(self._end)
        note = Label(
            self.tr(
                "You can keep chatting. If you close Hearth, install again to continue "
                "where it stopped."
            ),
            "small",
            name="installNote",
            wrap=True,
        )
        row = QHBoxLayout()
        row.setSpacing(2 * GRID)
        row.addWidget(note, 1)
        row.addWidget(self._cancel)
        for widget in (self._phase, self._bar, self._words):
            column.addWidget(widget)
        column.addLayout(row)
        self.begin()

    def begin(self) -> None:
        """Show that the installation starts."""
        self._phase.setText(self.tr("Starting the installation…"))
        self._words.setText("")
        show_busy(self._bar)
        self._cancel.setEnabled(True)

    def show_step(self, step: Step) -> None:
        """Show the current step, its share and the latest words of the installer."""
        number = list(self._phases).index(step.phase) + 1
        name = self._phases[step.phase]
        words = self.tr("Step {number} of {count}: {name}").format(
            number=number, count=len(self._phases), name=name
        )
        self._phase.setText(words)
        self._words.setText(translated(step.words))
        percent = round(step.share * 100)
        self._bar.setRange(0, 100)
        self._bar.setValue(percent)
        self._bar.setAccessibleDescription(f"{words}, {percent} %")

    def _end(self) -> None:
        self._cancel.setEnabled(False)
        self._words.setText(self.tr("Stopping…"))
        self.cancel.emit()
