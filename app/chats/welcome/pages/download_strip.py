"""The strip above the chat with the progress of a model's download, or its completion."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.kit.look.theme import BAR, COLUMN, GRID
from app.kit.widgets.icon_button import IconButton
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.live_line import LiveLine
from app.kit.widgets.panel import Panel
from app.kit.widgets.progress_bar import ProgressBar
from app.models.downloads.pages.download_words import UNDER_WAY, in_words, share
from app.models.downloads.values.downloads import Download
from app.models.downloads.values.requests import name_of
from app.models.library.values.entry import ModelEntry


class DownloadStrip(QWidget):
    """The strip with the progress of downloads, hidden if there is nothing to show.

    Signals:
        show_all(): The user wants to see the downloads.
        use(download): The user wants a chat with the downloaded model; a `Download`.
    """

    show_all = Signal()
    use = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("downloadStrip")
        self._is_running = False
        self._completed: Download | None = None
        across = QHBoxLayout(self)
        across.setContentsMargins(3 * GRID + BAR, 0, 3 * GRID + BAR, GRID)
        panel = Panel("card", "downloadStripPanel", across=True, margins=(2, 1, 1, 1), spacing=1.5)
        panel.setMaximumWidth(COLUMN)
        texts = QVBoxLayout()
        texts.setSpacing(6)
        self._line = LiveLine(self.tr("Downloads"), "", "stripLine")
        self._bar = ProgressBar("stripBar", self.tr("Downloads"))
        texts.addWidget(self._line)
        texts.addWidget(self._bar)
        panel.box.addLayout(texts, 1)
        self._button = LabelledButton("download", self.tr("Show"), "stripButton", look="link")
        self._button.clicked.connect(self._press)
        panel.box.addWidget(self._button)
        self._close = IconButton("close", self.tr("Dismiss"), "stripClose", size=16)
        self._close.clicked.connect(self.dismiss)
        panel.box.addWidget(self._close)
        across.addStretch(1)
        across.addWidget(panel, 1000)
        across.addStretch(1)
        self.hide()

    def show_downloads(self, downloads: Sequence[Download]) -> None:
        """Show the progress of the downloads that are not finished."""
        running = [download for download in downloads if download.state in UNDER_WAY]
        self._is_running = bool(running)
        if running:
            self._show_running(running[0], len(running))
        else:
            self._show_completed()

    def show_completed(self, download: Download, entry: ModelEntry | None) -> None:
        """Show that a download is complete.

        Args:
            download: The download.
            entry: Its model; None for a separate drafter, which is not shown.
        """
        if entry is not None:
            self._completed = download
        if not self._is_running:
            self._show_completed()

    def dismiss(self) -> None:
        """Hide the completed download, as the user has seen it or uses it."""
        self._completed = None
        if not self._is_running:
            self.hide()

    def _show_running(self, download: Download, count: int) -> None:
        # The name comes last, as it is the part to cut off if there is too little room.
        words = f"{in_words(download)} · {name_of(download.wanted)}"
        if count > 1:
            words = self.tr("{words} (and {count} more)").format(words=words, count=count - 1)
        self._line.say(words)
        self._bar.setValue(round(share(download) * 100))
        self._bar.show()
        self._button.redraw("download", self.tr("Show"))
        self._close.hide()
        self.show()

    def _show_completed(self) -> None:
        if self._completed is None:
            self.hide()
            return
        self._line.say(
            self.tr("Ready: {name}").format(name=name_of(self._completed.wanted)), at_once=True
        )
        self._bar.hide()
        self._button.redraw("chat", self.tr("Chat with it"))
        self._close.show()
        self.show()

    def _press(self) -> None:
        completed = self._completed
        if self._is_running or completed is None:
            self.show_all.emit()
        else:
            self.dismiss()
            self.use.emit(completed)
