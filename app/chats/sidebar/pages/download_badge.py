"""The badge in the sidebar with the progress of downloads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.kit.widgets.elided_label import ElidedLabel
from app.kit.widgets.progress_bar import ProgressBar
from app.kit.widgets.row_button import RowButton

if TYPE_CHECKING:
    from app.models.downloads.values.downloads import Download


class DownloadBadge(RowButton):
    """The badge with the progress of downloads, hidden if there are none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("downloadBadge", self.tr("Downloads"), parent)
        self.box.setContentsMargins(12, 9, 12, 9)
        column = QVBoxLayout()
        column.setSpacing(6)
        self._words = ElidedLabel("", "small", "badgeWords")
        self._bar = ProgressBar("badgeBar", self.tr("Downloads"))
        column.addWidget(self._words)
        column.addWidget(self._bar)
        self.box.addLayout(column, 1)
        self.let_clicks_through()
        self.hide()

    def set_low(self, low: bool) -> None:
        """Show only the bar if there is little height; the tooltip has the text."""
        self._words.setHidden(low)

    def show_downloads(self, downloads: Sequence[Download]) -> None:
        """Show the progress of the downloads that are not finished."""
        from app.models.downloads.pages.download_words import UNDER_WAY

        running = [download for download in downloads if download.state in UNDER_WAY]
        self.setVisible(bool(running))
        if not running:
            return
        done = sum(download.bytes_done for download in running)
        total = sum(download.wanted.bytes_total for download in running)
        percent = round(100 * done / total) if total else 0
        self._bar.setValue(percent)
        words = self._in_words(running, percent)
        self._words.setText(words)
        self.setAccessibleName(self.tr("Downloads: {words}").format(words=words))
        self.setToolTip(words)

    def _in_words(self, running: Sequence[Download], percent: int) -> str:
        from app.models.downloads.pages.download_words import duration, in_words

        if len(running) == 1:
            return in_words(running[0])
        words = self.tr("{count} downloads, {percent} %").format(
            count=len(running), percent=percent
        )
        remaining = [
            download.seconds_left for download in running if download.seconds_left is not None
        ]
        if not remaining:
            return words
        return self.tr("{words}, {left} left").format(words=words, left=duration(max(remaining)))
