"""Guides an import through the window, from choosing files to undoing it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.chats.history.presenters.chats import Chats
from app.exchange.pages.import_dialog import ImportDialog
from app.exchange.presenters.importing import Importing
from app.exchange.values.found import FileFound, Imported
from app.exchange.values.report import FileReport
from app.kit.look.format import figure
from app.kit.navigation import Navigation
from app.kit.notify import Notifier


class Importer(QObject):
    """Imports files that the user chose or dropped.

    Signals:
        made(folder_ids): Folders were created for imported chats; the chats are listed next.
        undone(ids): Imported chats were moved to the trash.
    """

    made = Signal(object)
    undone = Signal(object)

    def __init__(
        self,
        importing: Importing,
        chats: Chats,
        notifier: Notifier,
        navigation: Navigation,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._importing = importing
        self._chats = chats
        self._notifier = notifier
        self._navigation = navigation
        self._dialog: ImportDialog | None = None
        self._files: Sequence[FileFound] = ()
        self._last = Imported()

    def ask(self) -> None:
        """Let the user choose files."""
        self._open().show_choice()

    def read(self, paths: Sequence[Path]) -> None:
        """Read files, and show what would be imported."""
        self._open().show_reading(0)
        self._importing.read(paths, self._reading, self._show_reports, self._failed)

    def _open(self) -> ImportDialog:
        if self._dialog is None:
            dialog = ImportDialog(self._window)
            dialog.chosen.connect(self.read)
            dialog.confirmed.connect(self._import_chats)
            dialog.undo.connect(self._undo)
            dialog.show_chats.connect(self._show)
            dialog.finished.connect(self._closed)
            self._dialog = dialog
        self._dialog.open()
        return self._dialog

    def _import_chats(self) -> None:
        self._importing.import_chats(self._files, self._imported, self._failed)

    def _closed(self) -> None:
        self._importing.cancel()
        if self._dialog is not None:
            self._dialog.deleteLater()
            self._dialog = None
        self._files = ()

    def _reading(self, count: int) -> None:
        if self._dialog is not None:
            self._dialog.show_reading(count)

    def _show_reports(self, files: Sequence[FileFound], reports: Sequence[FileReport]) -> None:
        if self._dialog is not None:
            self._files = files
            self._dialog.show_preview(reports)

    def _imported(self, done: Imported, reports: Sequence[FileReport]) -> None:
        self._last = done
        self._files = ()
        self.made.emit(done.folders)
        self._chats.changed.emit()
        if self._dialog is not None:
            self._dialog.show_done(reports)
        else:
            words = self.tr("Chats imported: {count}").format(
                count=figure(len(done.new) + len(done.restored))
            )
            self._notifier.offer_undo(words, self._undo)

    def _failed(self, error: Exception) -> None:
        if self._dialog is not None:
            self._dialog.reject()
        self._notifier.error(error)

    def _undo(self) -> None:
        """Move the imported chats to the trash, and remove the folders created for them."""
        chats, done = self._chats, self._last
        self._last = Imported()
        ids = (*done.new, *done.restored)
        chats.delete(*ids)
        for folder_id in done.folders:
            chats.remove_folder(folder_id)
        self.undone.emit(ids)
        self._notifier.say(self.tr("The imported chats are in the trash."))

    def _show(self) -> None:
        """Open the first of the imported chats."""
        if ids := (*self._last.new, *self._last.restored):
            self._navigation.open_chat(ids[0])
