"""Saving a chat as a file of the user's choice."""

from __future__ import annotations

import re
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QWidget

from app.services.chats import Chats
from app.ui.notify import Notifier

_NOT_IN_NAMES = re.compile(r'[\\/:*?"<>|\x00-\x1f]+')


class Exporter(QObject):
    """Asks where to, and says when it is done."""

    def __init__(self, chats: Chats, notifier: Notifier, window: QWidget) -> None:
        super().__init__(window)
        self._chats = chats
        self._notifier = notifier
        self._window = window
        chats.exported.connect(self._exported)

    def ask(self, chat_id: str) -> None:
        """Let the user pick a file for this chat."""
        titles = {chat.id: chat.title for chat in self._chats.list()}
        name = _NOT_IN_NAMES.sub(" ", titles.get(chat_id, "")).strip(" .…") or self.tr("Chat")
        dialog = QFileDialog(
            self._window,
            self.tr("Export the chat"),
            str(Path.home()),
            self.tr("Markdown (*.md);;JSON with every branch (*.json)"),
        )
        dialog.setObjectName("exportChat")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("md")
        dialog.filterSelected.connect(
            lambda kind: dialog.setDefaultSuffix("json" if "json" in kind else "md")
        )
        dialog.selectFile(name)
        dialog.fileSelected.connect(lambda path: self._chats.export(chat_id, Path(path)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _exported(self, path: Path) -> None:
        self._notifier.say(self.tr("Saved as {0}.").format(path.name))
