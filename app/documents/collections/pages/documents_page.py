"""The page of documents: the list of collections, and the page of one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import Signal
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent, QShowEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.documents.collections.pages.collection_actions import CollectionActions
from app.documents.collections.pages.collection_dialog import CollectionDialog
from app.documents.collections.pages.collection_list import CollectionList, SearchCard
from app.documents.collections.pages.collection_page import CollectionPage
from app.documents.collections.pages.picking import dropped, picking_buttons
from app.kit.navigation import Navigation
from app.kit.notify import Notifier
from app.kit.widgets.action import UserAction
from app.kit.widgets.page_head import FixedHead, PageHead
from app.models.downloads.pages.download_words import queued_words

if TYPE_CHECKING:
    from app.documents.collections.presenters import Collections
    from app.documents.collections.values import DocumentCollection, EmbedderStatus, FoundPassage
    from app.documents.viewer.pages.file_viewer import FileViewer
    from app.documents.viewer.presenters import Viewing
    from app.models.discover.presenters.discover import Discover
    from app.models.discover.values.offers import Offer
    from app.models.downloads.presenters import DownloadList
    from app.models.downloads.values.downloads import Download


class DocumentPresenters(Protocol):
    """The presenters of collections, of their files and of downloads, created on first use."""

    @property
    def collections(self) -> Collections:
        """The collections and their indexing."""

    @property
    def viewing(self) -> Viewing:
        """The viewer of files."""

    @property
    def downloads(self) -> DownloadList:
        """The downloads, for an embedding model."""

    @property
    def discover(self) -> Discover:
        """The page that offers models."""


class DocumentsPage(QWidget):
    """Two parts under one header: the list of collections, and the open collection.

    Dropped files and folders make a new collection, or join the open one.

    Signals:
        chat(collection): The user wants to start a chat about the collection with this id.
    """

    chat = Signal(str)

    def __init__(
        self, presenters: DocumentPresenters, notifier: Notifier, navigation: Navigation
    ) -> None:
        super().__init__()
        self.setObjectName("documentsPage")
        self.setAcceptDrops(True)
        self._presenters = presenters
        self._collections = presenters.collections
        self._notifier = notifier
        self._actions = CollectionActions(presenters.collections, notifier, self.chat.emit, self)
        downloads = partial(navigation.go_to, "models", "downloads")
        self._search = SearchCard(self._get, downloads)
        first = picking_buttons(self, ("addFirstFolder", "addFirstFiles"), self.make, "primary")
        self._list = CollectionList(self._actions, self.open, first, self._search)
        self._one = CollectionPage(
            presenters.collections, self._actions, notifier, self._show_list, self._open_passage
        )
        self._stack = QStackedWidget()
        self._stack.addWidget(self._list)
        self._stack.addWidget(self._one)
        new = UserAction("newCollection", "plus", self.tr("New collection…"), self.make).button()
        head = PageHead(self.tr("Documents"), "documentsBack", navigation.go_to_chat, new)
        FixedHead(head).lay_over(self._stack, self)
        self._collections.changed.connect(self._show)
        self._collections.found_embedder.connect(self._show_embedder)
        presenters.downloads.changed.connect(self._show_downloads)
        self._show()

    def showEvent(self, event: QShowEvent) -> None:
        """Refresh the collections and look for an embedding model."""
        super().showEvent(event)
        self._collections.refresh()
        self._collections.refresh_embedder()
        self._collections.work()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Show where files and folders can be dropped."""
        if dropped(event.mimeData()):
            event.acceptProposedAction()
            self._show_drop_hint(True)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """Hide the drop hint."""
        self._show_drop_hint(False)
        super().dragLeaveEvent(event)

    def dropEvent(self, event: QDropEvent) -> None:
        """Add the dropped files to the open collection, or make a collection of them."""
        self._show_drop_hint(False)
        paths = dropped(event.mimeData())
        if paths:
            event.acceptProposedAction()
            self._add_dropped(paths)

    def make(self, paths: Sequence[Path] = ()) -> None:
        """Show the dialog for a new collection.

        Args:
            paths: The first files and folders.
        """
        CollectionDialog(paths, self._create, self.window()).open()

    def open(self, collection: str) -> None:
        """Show the collection with this id."""
        state = self._collections.state(collection)
        if state is not None:
            self._stack.setCurrentWidget(self._one)
            self._one.open(state)

    def _show(self) -> None:
        """Show the current state of the collections."""
        self._list.show_collections(self._collections.states, self._collections.progress)
        if self._stack.currentWidget() is self._one:
            state = self._collections.state(self._one.collection)
            if state is None:
                self._stack.setCurrentWidget(self._list)
            else:
                self._one.show_state(state)

    def _add_dropped(self, paths: Sequence[Path]) -> None:
        if self._stack.currentWidget() is self._one:
            self._actions.add(self._one.collection, paths)
        else:
            self.make(paths)

    def _create(self, dialog: CollectionDialog) -> None:
        def created(collection: DocumentCollection) -> None:
            dialog.finish()
            self.open(collection.id)

        failed = dialog.failure_handler(self._notifier.error)
        self._collections.create(dialog.name.line, tuple(dialog.paths), created, failed)

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
        self._search.show_embedder(status, offer)
        self._show_downloads(self._presenters.downloads.last_downloads or ())

    def _show_downloads(self, downloads: Sequence[Download]) -> None:
        offer = self._collections.offer
        found = (
            download
            for download in downloads
            if offer is not None and download.wanted.repo == offer.repo
        )
        self._search.show_download(next(found, None))

    def _show_list(self) -> None:
        self._stack.setCurrentWidget(self._list)
        self._list.focus_card(self._one.collection)

    def _show_drop_hint(self, shown: bool) -> None:
        for part in (self._list, self._one):
            part.drop_hint.setVisible(shown)
