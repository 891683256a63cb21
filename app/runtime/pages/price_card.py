"""The card that says what an installation takes and asks for consent before anything starts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from app.base.language import translated
from app.kit.look.format import size
from app.kit.look.theme import GRID, Tone
from app.kit.widgets.emptying import empty
from app.kit.widgets.flow import FlowRow
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.picture import Picture

if TYPE_CHECKING:
    from app.runtime.values.installation import Check, InstallState


class PriceCard(QWidget):
    """The findings and the price of an installation.

    Signals:
        agreed(): The user wants to install it.
        check_again(): The user wants the check repeated.
    """

    agreed = Signal()
    check_again = Signal()

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
        """Show what an installation needs, and enable it if nothing prevents it."""
        self._findings.show_check(check)
        hindrance, price = check.hindrance, check.price
        self._price.setVisible(price is not None and hindrance is None)
        self._facts["priceTouched"].setText(self._touched(check.linux))
        if price is not None:
            downloaded = state.unfinished_bytes if state is not None else 0
            self._facts["priceDownload"].setText(self._download(price.download_bytes, downloaded))
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
            verdict = self.tr("It cannot be installed until this is fixed.")
        elif price is None:
            verdict = self.tr("There is no build of vLLM for this computer.")
        else:
            verdict = ""
        self._verdict.setText(verdict)
        self._verdict.setVisible(bool(verdict))
        self._install.setEnabled(not verdict)
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

    def _download(self, total: int, downloaded: int) -> str:
        if downloaded:
            return self.tr("{total}; {downloaded} already downloaded").format(
                total=size(total), downloaded=size(downloaded)
            )
        return size(total)

    def _buttons(self) -> FlowRow:
        self._install = LabelledButton(
            "download", self.tr("Install"), "installVllm", look="primary"
        )
        self._install.clicked.connect(self.agreed)
        button = LabelledButton("again", self.tr("Check again"), "checkVllmAgain")
        button.clicked.connect(self.check_again)
        return FlowRow(self._install, button)


class Findings(QWidget):
    """The list of findings, in the order of the check."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("engineFindings")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(10)

    def show_check(self, check: Check) -> None:
        """Show a row for each finding of a check."""
        empty(self._column)
        for number, finding in enumerate(check.findings, start=1):
            drawing, tone, state = self._sign(finding.ok, finding.warning)
            texts = [finding.what] if finding.ok else [finding.what, finding.why, finding.do]
            self._column.addWidget(_row(number, drawing, tone, state, texts))

    def _sign(self, ok: bool, warning: bool) -> tuple[str, Tone, str]:
        """Return the icon, its colour, and a word with the same meaning."""
        if ok:
            return "check", "good", self.tr("OK")
        if warning:
            return "info", "warn", self.tr("Note")
        return "warning", "danger", self.tr("Problem")


def _row(number: int, drawing: str, tone: Tone, state: str, texts: Sequence[str]) -> QWidget:
    row = QWidget()
    row.setObjectName(f"finding{number}")
    across = QHBoxLayout(row)
    across.setContentsMargins(0, 0, 0, 0)
    across.setSpacing(12)
    across.addWidget(Picture(drawing, tone, 18), 0, Qt.AlignmentFlag.AlignTop)
    column = QVBoxLayout()
    column.setSpacing(2)
    words = [translated(text) for text in texts if text]
    row.setAccessibleName(f"{state}: {' '.join(words)}")
    for place, text in enumerate(words):
        look = "" if place == 0 and len(words) == 1 else ("strong" if place == 0 else "small")
        column.addWidget(Label(text, look, wrap=True, selectable=True))
    across.addLayout(column, 1)
    return row
