"""The card that says what an installation takes and asks for consent before anything starts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from app.kit.look.format import size
from app.kit.look.theme import GRID
from app.kit.widgets.flow import FlowRow
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.runtime.pages.findings import Findings

if TYPE_CHECKING:
    from app.runtime.values.installation import Check, InstallState


class PriceCard(QWidget):
    """The findings and the price of an installation.

    Signals:
        agreed(): The user wants to install it.
        again(): The user wants the check repeated.
    """

    agreed = Signal()
    again = Signal()

    def __init__(self, folder: Path, parent: QWidget | None = None) -> None:
        """Create the card.

        Args:
            folder: The only folder that the installation changes.
        """
        super().__init__(parent)
        self.setObjectName("priceCard")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2 * GRID)
        self._findings = Findings()
        column.addWidget(self._findings)
        self._price = QWidget()
        grid = QGridLayout(self._price)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(2 * GRID)
        grid.setVerticalSpacing(6)
        grid.setColumnStretch(1, 1)
        self._facts: dict[str, Label] = {}
        for row, (name, words) in enumerate(
            (
                ("priceDownload", self.tr("Download size")),
                ("priceDisk", self.tr("Disk space")),
                ("priceTime", self.tr("Time")),
                ("priceTouched", self.tr("What changes")),
            )
        ):
            fact = Label("", name=name, wrap=True)
            grid.addWidget(Label(words, "muted"), row, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(fact, row, 1)
            self._facts[name] = fact
        self._folder = folder
        column.addWidget(self._price)
        self._verdict = Label("", "problem", name="priceVerdict", wrap=True)
        column.addWidget(self._verdict)
        self._row = self._buttons()
        column.addWidget(self._row)

    def show_check(self, check: Check, state: InstallState | None) -> None:
        self._findings.show_check(check)
        hindrance, price = check.hindrance, check.price
        self._price.setVisible(price is not None and hindrance is None)
        self._facts["priceTouched"].setText(self._touched(check.linux))
        if price is not None:
            come = state.unfinished_bytes if state is not None else 0
            self._facts["priceDownload"].setText(self._download(price.download_bytes, come))
            self._facts["priceDisk"].setText(
                self.tr("{kept_bytes}; up to {disk_bytes} during the installation").format(
                    kept_bytes=size(price.kept_bytes), disk_bytes=size(price.disk_bytes)
                )
            )
            self._facts["priceTime"].setText(
                self.tr("About {minutes} minutes on a typical connection").format(
                    minutes=price.minutes
                )
            )
        if hindrance is not None:
            said = self.tr("It cannot be installed until this is fixed.")
        elif price is None:
            said = self.tr("There is no build of vLLM for this computer.")
        else:
            said = ""
        self._verdict.setText(said)
        self._verdict.setVisible(bool(said))
        self._install.setEnabled(not said)
        words = self.tr("Download {download_bytes} and install").format(
            download_bytes=size(price.download_bytes) if price is not None else "vLLM"
        )
        self._install.redraw("download", words)

    def _touched(self, linux: str) -> str:
        only = self.tr("Only the folder {folder}.").format(folder=self._folder)
        if linux:
            only = self.tr(
                "Only the folder {folder} and, in {linux}, the Linux inside Windows, the folder "
                "~/.local/share/hearth."
            ).format(folder=self._folder, linux=linux)
        rest = self.tr(
            "Nothing on your system is changed: no driver, no other Python, no setting. "
            "You can remove it here at any time."
        )
        return f"{only} {rest}"

    def _download(self, wanted: int, come: int) -> str:
        if come:
            return self.tr("{wanted}; {come} already downloaded").format(
                wanted=size(wanted), come=size(come)
            )
        return size(wanted)

    def _buttons(self) -> FlowRow:
        self._install = LabelledButton(
            "download", self.tr("Install"), "installVllm", look="primary", tone="on_accent"
        )
        self._install.clicked.connect(self.agreed)
        again = LabelledButton("again", self.tr("Check again"), "checkVllmAgain")
        again.clicked.connect(self.again)
        return FlowRow(self._install, again)
