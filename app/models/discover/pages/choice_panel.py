"""The panel of the chosen quantisation: its fit, its companion files, and the download button."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.base.language import translated
from app.kit.look.format import size
from app.kit.look.theme import GRID
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.panel import Panel
from app.kit.widgets.tick_box import TickBox
from app.models.discover.pages.fit_badge import FitBadge
from app.models.discover.values.offers import Choice, ChoiceVerdict
from app.models.downloads.pages.download_line import DownloadLine
from app.models.downloads.values.downloads import Download
from app.models.downloads.values.requests import choice_request, download_of
from app.models.hub.values.hub import Repository
from app.models.pages.memory_bar import MemoryBars
from engines.errors import UserError


class ChoicePanel(Panel):
    """The panel of the chosen quantisation.

    Signals:
        get: The user wants to download it; True includes the projector.
    """

    get = Signal(bool)

    def __init__(
        self, repository: Repository, choice: Choice, parent: QWidget | None = None
    ) -> None:
        super().__init__("offer", "choicePanel", margins=(2.5, 2, 2.5, 2), spacing=1, parent=parent)
        self.choice = choice
        self._repository = repository
        top = QHBoxLayout()
        top.addWidget(
            Label(translated(choice.quality) or choice.variant.label, "title", wrap=True), 1
        )
        self._badge = FitBadge(choice.fits)
        top.addWidget(self._badge)
        self._top = top
        self.box.addLayout(top)
        parts = len(choice.variant.files)
        text = self.tr("{label} in {parts} files") if parts > 1 else self.tr("{label}")
        self.box.addWidget(Label(text.format(label=choice.variant.label, parts=parts), "muted"))
        self._sentence = Label(
            self.tr("Estimating memory on this computer…"), name="fitSentence", wrap=True
        )
        self._bars = MemoryBars()
        self._bars.hide()
        self.box.addWidget(self._bars)
        self.box.addWidget(self._sentence)
        for line in self._companion_lines():
            self.box.addWidget(Label(line, "muted", name="comesAlong", wrap=True))
        self._projector = TickBox("", "withProjector")
        self._projector.toggled.connect(self._show_size)
        if choice.projector is not None:
            words = self.tr("Pictures or sounds too, with its projector ({size} more)")
            self._projector.setText(words.format(size=size(choice.projector.size)))
            self._projector.setAccessibleName(self._projector.text())
        self.box.addWidget(self._projector)
        self._projector.setHidden(choice.projector is None)
        self._button = LabelledButton("download", "", "getVariant", look="primary")
        self._button.clicked.connect(lambda: self.get.emit(self._projector.isChecked()))
        self._show_size()
        row = QHBoxLayout()
        row.setSpacing(GRID)
        row.addWidget(self._button)
        row.addStretch(1)
        row.setContentsMargins(0, 4, 0, 0)
        self.box.addLayout(row)
        self._line = DownloadLine(choice.variant.label)
        self.box.addWidget(self._line)

    def show_judged(self, judged: ChoiceVerdict) -> None:
        """Show the exact estimate in place of the first one."""
        self._sentence.setText(translated(judged.sentence))
        self._bars.show_uses(judged.uses)
        old, self._badge = self._badge, FitBadge(judged.fits)
        self._top.replaceWidget(old, self._badge)
        old.hide()
        old.deleteLater()

    def show_not_judged(self, error: UserError) -> None:
        """Show that the estimate is based on the size alone, and why."""
        text = self.tr("Estimated from its size only. {what} {why}")
        self._sentence.setText(text.format(what=translated(error.what), why=translated(error.why)))

    def show_waiting(self) -> None:
        """Show that the download was requested and is not in the queue yet."""
        self._enable_download(False)
        self._line.say(self.tr("Starting the download…"))

    def show_downloads(self, downloads: Sequence[Download]) -> None:
        """Show the download of this quantisation if there is one."""
        download = download_of(downloads, self._repository.id, self.choice.variant.label)
        self._enable_download(not self._line.show_download(download))

    def _enable_download(self, enabled: bool) -> None:
        self._button.setEnabled(enabled)
        self._projector.setEnabled(enabled)

    def _show_size(self) -> None:
        """Show the size of the download on the button, with or without the projector."""
        files = choice_request(self._repository, self.choice, projector=self._projector.isChecked())
        words = self.tr("Download {bytes_total}").format(bytes_total=size(files.bytes_total))
        self._button.redraw("download", words)

    def _companion_lines(self) -> list[str]:
        lines = []
        if (drafter := self.choice.drafter) is not None:
            text = self.tr("Includes its drafter ({size}): answers come faster and stay the same.")
            lines.append(text.format(size=size(drafter.size)))
        return lines
