"""Tells the user about a finished download that is not shown elsewhere, and offers to use it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from app.kit.notify import Notifier
from app.models.downloads.pages.download_words import served_words
from app.models.downloads.presenters import DownloadList
from app.models.downloads.values.downloads import Download
from app.models.library.values.entry import ModelEntry


class DownloadNotices(QObject):
    """Notices about finished downloads.

    Signals:
        use(id): The user wants to chat with a model that was downloaded.
        listed(): The list of models has changed.
    """

    use = Signal(str)
    listed = Signal()

    def __init__(
        self,
        service: DownloadList,
        notifier: Notifier,
        is_shown_elsewhere: Callable[[], bool],
        parent: QObject,
    ) -> None:
        """Connect to the downloads.

        Args:
            is_shown_elsewhere: Returns whether the user can already see that a model has arrived.
        """
        super().__init__(parent)
        self._is_shown_elsewhere = is_shown_elsewhere
        self._notifier = notifier
        service.completed.connect(self._notify)
        service.chosen.connect(lambda entry: self.use.emit(entry.id))
        service.failed.connect(notifier.error)

    def _notify(self, download: Download, entry: ModelEntry | None) -> None:
        self.listed.emit()
        text = self.tr("{label} is ready.").format(label=download.wanted.label)
        if download.serves is not None:
            text = self.tr("{label} is ready: {serves}").format(
                label=download.wanted.label, serves=served_words(download.serves)
            )
        if entry is None:
            self._notifier.say(text)
        elif not self._is_shown_elsewhere():
            chat = self.tr("Chat with it")
            self._notifier.offer(text, chat, lambda: self.use.emit(entry.id))
