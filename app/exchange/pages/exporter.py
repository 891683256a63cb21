"""Saves chats, and code from them, as files that the user chooses."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.chats.history.presenters.chats import Chats
from app.exchange.pages.export_dialog import ExportDialog
from app.exchange.presenters.exporting import Exporting
from app.exchange.values.export import ExportOptions, file_name
from app.kit.notify import Notifier
from app.kit.widgets.picking import FOLDER, pick, pick_target
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
        choose = partial(self._ask_where, ids)
        ExportDialog(self._title(ids), len(ids), choose, self._window).open()

    def ask_for_code(self, code: Code) -> None:
        """Let the user choose the file for a block of code."""

        def write(path: Path) -> None:
            self._exporting.text_to_file(
                f"{code.text}\n", path, self._exported, self._notifier.error
            )

        title = self.tr("Save code")
        pick_target(self._window, "saveCode", title, file_name_of(code), write)

    def _ask_where(self, ids: Sequence[str], options: ExportOptions, one_file: bool) -> None:
        exporting, failed = self._exporting, self._notifier.error
        words, kind = self.tr("Export"), options.kind

        def write(path: Path) -> None:
            exporting.to_file(ids, path, options, self._exported, failed)

        def write_each(paths: list[Path]) -> None:
            exporting.to_folder(ids, paths[0], options, self._exported, failed)

        if len(ids) == 1 or one_file:
            title = self._title(ids) if len(ids) == 1 else self.tr("Chats")
            name, filters = f"{file_name(title)}.{kind}", (f"{kind.upper()} (*.{kind})",)
            pick_target(self._window, "exportChat", words, name, write, filters=filters)
        else:
            pick(self._window, "exportChats", words, FOLDER, write_each)

    def _title(self, ids: Sequence[str]) -> str:
        chat = self._chats.chat(ids[0])
        return chat.title if chat else self.tr("Chat")

    def _exported(self, path: Path) -> None:
        self._notifier.offer(
            self.tr("Saved as {name}.").format(name=path.name),
            self.tr("Show in folder"),
            lambda: self._notifier.reveal(path),
        )
