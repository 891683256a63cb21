"""Saves chats, and code from them, as files that the user chooses."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QWidget

from app.chats.history.presenters.chats import Chats
from app.exchange.pages.export_dialog import ExportDialog
from app.exchange.presenters.exporting import Exporting
from app.exchange.values.export import ExportOptions, file_name
from app.kit.notify import Notifier
from app.markdown.blocks import Code
from app.markdown.code_file import file_name_of


class Exporter(QObject):
    """Asks for the format and the place of an export, and confirms it when it is done."""

    def __init__(
        self, chats: Chats, exporting: Exporting, notifier: Notifier, window: QWidget
    ) -> None:
        super().__init__(window)
        self._chats = chats
        self._exporting = exporting
        self._notifier = notifier
        self._window = window

    def ask(self, chat_ids: Sequence[str]) -> None:
        """Let the user choose the options, then a file, or a folder for a file per chat."""
        ids = tuple(chat_ids)
        if not ids:
            self._notifier.say(self.tr("There is nothing to export."))
            return
        dialog = ExportDialog(self._title(ids), len(ids), self._window)
        dialog.chosen.connect(lambda options, one: self._ask_where(ids, options, one))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def ask_for_code(self, code: Code) -> None:
        """Let the user choose the file for a block of code."""
        dialog = QFileDialog(self._window, self.tr("Save code"), str(Path.home()))
        dialog.setObjectName("saveCode")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.selectFile(file_name_of(code))
        dialog.fileSelected.connect(
            lambda it: self._exporting.text_to_file(
                f"{code.text}\n", Path(it), self._exported, self._notifier.error
            )
        )
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _ask_where(self, ids: Sequence[str], options: ExportOptions, one_file: bool) -> None:
        exporting, failed = self._exporting, self._notifier.error
        dialog = QFileDialog(self._window, self.tr("Export"), str(Path.home()))
        if len(ids) == 1 or one_file:
            dialog.setObjectName("exportChat")
            dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
            dialog.setNameFilter(f"{options.kind.upper()} (*.{options.kind})")
            dialog.setDefaultSuffix(options.kind)
            title = self._title(ids) if len(ids) == 1 else self.tr("Chats")
            dialog.selectFile(f"{file_name(title)}.{options.kind}")
            dialog.fileSelected.connect(
                lambda it: exporting.to_file(ids, Path(it), options, self._exported, failed)
            )
        else:
            dialog.setObjectName("exportChats")
            dialog.setFileMode(QFileDialog.FileMode.Directory)
            dialog.setOption(QFileDialog.Option.ShowDirsOnly)
            dialog.fileSelected.connect(
                lambda it: exporting.to_folder(ids, Path(it), options, self._exported, failed)
            )
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _title(self, ids: Sequence[str]) -> str:
        chat = self._chats.chat(ids[0])
        return chat.title if chat else self.tr("Chat")

    def _exported(self, path: Path) -> None:
        self._notifier.offer(
            self.tr("Saved as {name}.").format(name=path.name),
            self.tr("Show in folder"),
            lambda: self._notifier.reveal(path),
        )
