"""The page of documents: the list of collections, and the page of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent, QShowEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.documents.collections.pages.collection_dialog import CollectionDialog, RenameDialog
from app.documents.collections.pages.collection_list import CollectionList
from app.documents.collections.pages.collection_page import CollectionPage
from app.documents.collections.pages.picking import dropped, pick_files, pick_folder
from app.kit.navigation import Navigation
from app.kit.notify import Notifier
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.page_head import HeadAbove, PageHead
from app.models.downloads.pages.download_words import queued_words

if TYPE_CHECKING:
    from app.documents.collections.values import (
        DocumentCollection,
        EmbedderStatus,
        FoundPassage,
        IndexedFile,
    )
    from app.documents.viewer.pages.file_viewer import FileViewer
    from app.models.discover.values.offers import Offer
    from app.models.downloads.values.downloads import Download
    from app.window.presenters.window import WindowPresenters


_FILES_MS = 5_000
"""Minimum milliseconds between two refreshes of the file list while files are being read."""


class DocumentsPage(QWidget):
    """Two parts under one header: the list of collections, and the open collection.

    Dropped files and folders make a new collection, or join the open one.
    """

    def __init__(
        self,
        presenters: WindowPresenters,
        notifier: Notifier,
        navigation: Navigation,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("documentsPage")
        self.setAcceptDrops(True)
        self._collections = presenters.collections
        self._presenters = presenters
        self._notifier = notifier
        self._navigation = navigation
        self._dialog: CollectionDialog | RenameDialog | None = None
        self.list = CollectionList()
        self.one = CollectionPage()
        self._files_soon = QTimer(self)
        self._files_soon.setSingleShot(True)
        self._files_soon.setInterval(_FILES_MS)
        self._files_soon.timeout.connect(self._read_files)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.list)
        self._stack.addWidget(self.one)
        self._head().lay_over(self._stack, self)
        self._connect()
        self._show()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._collections.look()
        self._collections.look_for_embedder()
        self._collections.work()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if dropped(event.mimeData()):
            event.acceptProposedAction()
            self._show_drop_hint(True)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self._show_drop_hint(False)
        super().dragLeaveEvent(event)

    def dropEvent(self, event: QDropEvent) -> None:
        self._show_drop_hint(False)
        paths = dropped(event.mimeData())
        if paths:
            event.acceptProposedAction()
            self._take(paths)

    def make(self, paths: Sequence[Path] = ()) -> None:
        """Show the dialog for a new collection.

        Args:
            paths: The first files and folders.
        """
        dialog = CollectionDialog(paths, self.window())
        dialog.made.connect(self._make)
        self._open_dialog(dialog)

    def open(self, collection: str) -> None:
        """Show the collection with this id."""
        state = self._collections.state(collection)
        if state is not None:
            self.one.open(state, self._collections.progress.get(collection))
            self._stack.setCurrentWidget(self.one)
            self.one.focus()
            self._read_files()

    def _head(self) -> HeadAbove:
        new = LabelledButton("plus", self.tr("New collection…"), "newCollection")
        new.clicked.connect(lambda: self.make())  # noqa: PLW0108 - a click has an argument
        head = PageHead(self.tr("Documents"), "documentsBack", new)
        head.back.connect(self._navigation.go_to_chat)
        return HeadAbove(head)

    def _connect(self) -> None:
        collections, presenters = self._collections, self._presenters
        collections.changed.connect(self._show)
        collections.found_embedder.connect(self._show_embedder)
        presenters.downloads.changed.connect(self._show_downloads)
        self.list.asked.connect(self._act)
        self.list.folder.connect(lambda: pick_folder(self, self.make))
        self.list.files.connect(lambda: pick_files(self, self.make))
        self.list.search.get.connect(self._get)
        self.list.search.downloads.connect(lambda: self._navigation.go_to("models", "downloads"))
        one = self.one
        one.back.connect(self._back)
        one.asked.connect(lambda action: self._act(action, one.collection))
        one.searched.connect(self._search)
        one.opened.connect(self._open_passage)
        one.reveal.connect(self._notifier.reveal)
        one.take_out.connect(self._take_out)

    def _show(self) -> None:
        """Show the current state of the collections."""
        states, progress = self._collections.states, self._collections.progress
        self.list.show_collections(states, progress)
        if self._stack.currentWidget() is self.one:
            state = self._collections.state(self.one.collection)
            if state is None:
                self._stack.setCurrentWidget(self.list)
            else:
                self.one.show_state(state, progress.get(state.collection.id))
                self._look_at_files()

    def _look_at_files(self) -> None:
        """Refresh the file list soon, or at once if nothing is being read any more."""
        if not self._collections.progress:
            self._read_files()
        elif not self._files_soon.isActive():
            self._files_soon.start()

    def _read_files(self) -> None:
        self._files_soon.stop()
        collection = self.one.collection

        def have(files: Sequence[IndexedFile]) -> None:
            if collection == self.one.collection:
                self.one.show_files(files)

        self._collections.files(collection, have, self._notifier.error)

    def _act(self, action: str, collection: str) -> None:
        state = self._collections.state(collection)
        if state is None:
            return
        acts: dict[str, Callable[[], object]] = {
            "open": partial(self.open, collection),
            "chat": partial(self._chat, collection),
            "folder": lambda: pick_folder(self, partial(self._add, collection)),
            "files": lambda: pick_files(self, partial(self._add, collection)),
            "pause": partial(self._collections.pause, collection),
            "resume": partial(self._collections.resume, collection),
            "again": partial(self._collections.read_again, collection),
            "rename": partial(self._ask_for_name, state.collection),
            "remove": partial(self._ask_to_remove, state.collection),
        }
        acts[action]()

    def _chat(self, collection: str) -> None:
        """Start a chat about a collection."""
        self._navigation.open_chat(None)
        self._presenters.chat_settings.set_collections(None, (collection,))

    def _take(self, paths: Sequence[Path]) -> None:
        if self._stack.currentWidget() is self.one:
            self._add(self.one.collection, paths)
        else:
            self.make(paths)

    def _add(self, collection: str, paths: Sequence[Path]) -> None:
        self._collections.add(collection, tuple(paths))

    def _take_out(self, path: Path) -> None:
        collection = self.one.collection
        self._collections.take_out(collection, path)
        text = self.tr("“{name}” is no longer in the collection. It was not changed.")
        self._notifier.offer_undo(
            text.format(name=path.name), lambda: self._collections.add(collection, (path,))
        )

    def _make(self, name: str, paths: Sequence[Path]) -> None:
        def made(collection: DocumentCollection) -> None:
            self._close_dialog()
            self.open(collection.id)

        self._collections.create(name, tuple(paths), made, self._refusal())

    def _ask_for_name(self, collection: DocumentCollection) -> None:
        dialog = RenameDialog(collection.name, self.window())
        dialog.named.connect(
            lambda name: self._collections.rename(
                collection.id, name, self._close_dialog, self._refusal()
            )
        )
        self._open_dialog(dialog)

    def _ask_to_remove(self, collection: DocumentCollection) -> None:
        lines = [
            self.tr("Remove “{name}”?").format(name=collection.name),
            self.tr(
                "Hearth forgets what it has read, and chats can no longer be asked about it. "
                "Your files are not deleted; they stay where they are."
            ),
        ]
        answers = [
            ("keepCollection", self.tr("Keep it")),
            ("confirmRemoveCollection", self.tr("Remove")),
        ]

        def answered(answer: str) -> None:
            if answer == "confirmRemoveCollection":
                self._collections.remove(collection.id)
                self._back()

        self._notifier.ask(lines, answers, answered)

    def _search(self, words: str) -> None:
        collection = self.one.collection

        def have(found: Sequence[FoundPassage]) -> None:
            if collection == self.one.collection:
                self.one.show_found(found, words)

        self._collections.search(collection, words, have, self._notifier.error)

    def _open_passage(self, found: FoundPassage) -> None:
        self._viewer.show_file(found.document, found.file, (found.span,))

    @cached_property
    def _viewer(self) -> FileViewer:
        """The window that shows the files of collections."""
        from app.documents.viewer.pages.file_viewer import FileViewer

        return FileViewer(self._presenters.viewing, self._notifier, self)

    def _get(self, offer: Offer) -> None:
        def queued(download: Download) -> None:
            self._notifier.say(queued_words(download))

        self._presenters.discover.get_offer(offer, queued, self._notifier.error)

    def _show_embedder(self, status: EmbedderStatus, offer: Offer | None) -> None:
        self.list.search.show_embedder(status, offer)
        self._show_downloads(self._presenters.downloads.last_downloads or ())

    def _show_downloads(self, downloads: Sequence[Download]) -> None:
        offer = self._collections.offer
        found = (it for it in downloads if offer is not None and it.wanted.repo == offer.repo)
        self.list.search.show_download(next(found, None))

    def _back(self) -> None:
        self._stack.setCurrentWidget(self.list)
        self.list.focus_card(self.one.collection)

    def _show_drop_hint(self, shown: bool) -> None:
        for part in (self.list, self.one):
            part.show_drop_hint(shown)

    def _open_dialog(self, dialog: CollectionDialog | RenameDialog) -> None:
        self._dialog = dialog
        dialog.finished.connect(self._forget_dialog)
        dialog.open()

    def _close_dialog(self) -> None:
        if self._dialog is not None:
            self._dialog.accept()

    def _forget_dialog(self) -> None:
        self._dialog = None

    def _refusal(self) -> Callable[[Exception], None]:
        """Return a handler that shows an error in the open dialog, or as a notification."""
        dialog = self._dialog
        return self._notifier.telling(dialog.show_problem if dialog else self._notifier.error)
