"""Tells the user of a finished download, where nothing else does, and lets it be used."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from app.kit.notify import Notifier
from app.models.downloads.pages.download_words import served_words
from app.models.downloads.presenters import DownloadList
from app.models.downloads.values.downloads import Download
from app.models.library.values.entry import ModelEntry


class DownloadNotices(QObject):
    """use(id): a chat with a model that came is wanted. listed(): the list of models is another."""

    use = Signal(str)
    listed = Signal()

    def __init__(
        self,
        service: DownloadList,
        notifier: Notifier,
        told_elsewhere: Callable[[], bool],
        parent: QObject,
    ) -> None:
        """Begin. told_elsewhere: whether the user sees already that a model has come."""
        super().__init__(parent)
        self._told_elsewhere = told_elsewhere
        self._notifier = notifier
        service.came.connect(self._came)
        service.chosen.connect(lambda entry: self.use.emit(entry.id))
        service.failed.connect(notifier.error)

    def _came(self, download: Download, entry: ModelEntry | None) -> None:
        self.listed.emit()
        text = self.tr("{0} is ready.").format(download.wanted.label)
        if download.serves is not None:
            text = self.tr("{0} is ready: {1}").format(
                download.wanted.label, served_words(download.serves)
            )
        if entry is None:
            self._notifier.say(text)
        elif not self._told_elsewhere():
            chat = self.tr("Chat with it")
            self._notifier.offer(text, chat, lambda: self.use.emit(entry.id))
