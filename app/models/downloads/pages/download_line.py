"""The progress of one download: a bar while it is under way, and a line of text."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.base.language import translated
from app.kit.widgets.label import Label
from app.kit.widgets.progress_bar import ProgressBar
from app.models.downloads.pages.download_words import UNDER_WAY, in_words, share
from app.models.downloads.values.downloads import Download


class DownloadLine(QWidget):
    """A line about one download, hidden while it has no text.

    Args:
        title: Name of the model that is downloaded.
    """

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("downloadLine")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 4, 0, 0)
        column.setSpacing(6)
        self._bar = ProgressBar("downloadBar", self.tr("Downloading {title}").format(title=title))
        self._words = Label("", "small", name="downloadWords", wrap=True)
        column.addWidget(self._bar)
        column.addWidget(self._words)
        self.say("")

    def say(self, text: str) -> None:
        """Show text without a bar; an empty text hides the line."""
        self._bar.hide()
        self._words.setText(text)
        self.setVisible(bool(text))

    def show_download(self, download: Download | None) -> bool:
        """Show a download, or nothing; return whether it is under way."""
        if download is None:
            self.say("")
            return False
        under_way = download.state in UNDER_WAY
        parts = (in_words(download), translated(download.what), translated(download.do))
        self.say(" ".join(part for part in parts if part))
        self._bar.setVisible(under_way)
        self._bar.setValue(round(share(download) * 100))
        return under_way
