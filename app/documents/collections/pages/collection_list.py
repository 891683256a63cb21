"""The list of all collections, with a card about how they are searched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.documents.collections.pages.collection_card import CollectionCard
from app.documents.collections.pages.search_card import SearchCard
from app.documents.collections.values import CollectionState, IndexProgress
from app.kit.look.theme import GRID
from app.kit.widgets.flow import FlowRow
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.panel import Panel
from app.kit.widgets.picture import Picture
from app.models.library.pages.part_page import PartPage


class CollectionList(PartPage):
    """The list of all collections.

    Signals:
        asked(action, id): See `CollectionCard`.
        files(): The user wants to make the first collection from files.
        folder(): The user wants to make the first collection from a folder.
    """

    asked = Signal(str, str)
    files = Signal()
    folder = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("collectionList", parent=parent)
        self._cards: dict[str, CollectionCard] = {}
        self._drop = self._make_drop_hint()
        self._none = self._make_empty()
        self._list = QVBoxLayout()
        self._list.setSpacing(GRID)
        self.search = SearchCard()
        self.column.addWidget(self._drop)
        self.column.addWidget(self._none)
        self.column.addLayout(self._list)
        self.column.addWidget(self.search)
        self.column.addStretch(1)
        self._none.hide()

    def show_collections(
        self, states: Sequence[CollectionState], progress: Mapping[str, IndexProgress]
    ) -> None:
        """Show the collections; a card that stays keeps its focus."""
        for gone in self._cards.keys() - {it.collection.id for it in states}:
            card = self._cards.pop(gone)
            self._list.removeWidget(card)
            card.hide()
            card.deleteLater()
        for place, state in enumerate(states):
            collection = state.collection.id
            if collection in self._cards:
                self._cards[collection].show_state(state, progress.get(collection))
            else:
                self._cards[collection] = CollectionCard(state, progress.get(collection))
                self._cards[collection].asked.connect(self.asked)
            if self._list.indexOf(self._cards[collection]) != place:
                self._list.insertWidget(place, self._cards[collection])
        self._none.setVisible(not states)

    def show_drop_hint(self, shown: bool) -> None:
        self._drop.setVisible(shown)

    def focus_card(self, collection: str) -> None:
        """Focus the card that a collection was opened from."""
        if collection in self._cards:
            self._cards[collection].focus()

    def _make_empty(self) -> Panel:
        part = Panel("card", "noCollections", margins=(3, 3, 3, 3), spacing=1.5)
        part.box.addWidget(Picture("documents", "accent_text", 32))
        part.box.addWidget(Label(self.tr("Ask about your own documents"), "title", wrap=True))
        words = self.tr(
            "Add a folder or some files: PDF, Word, Excel, PowerPoint, e-books, e-mail, web pages "
            "or text. Hearth reads them on this computer and finds the passages for each question. "
            "Your files stay where they are, as they are."
        )
        part.box.addWidget(Label(words, name="noCollectionsWords", wrap=True))
        folder = LabelledButton(
            "folder", self.tr("Add a folder…"), "addFirstFolder", look="primary", tone="on_accent"
        )
        folder.clicked.connect(self.folder)
        files = LabelledButton("file", self.tr("Add files…"), "addFirstFiles")
        files.clicked.connect(self.files)
        part.box.addWidget(FlowRow(folder, files))
        part.box.addWidget(Label(self.tr("Or drop them here."), "muted", wrap=True))
        return part

    def _make_drop_hint(self) -> Panel:
        hint = Panel("banner", "documentsDropHint", across=True, margins=(2, 2, 2, 2), spacing=1.5)
        hint.box.addWidget(Picture("documents", "accent_text"))
        hint.box.addWidget(Label(self.tr("Drop to make a collection of them."), "strong"), 1)
        hint.hide()
        return hint
