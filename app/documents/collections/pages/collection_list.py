"""The list of all collections, with a card about how they are searched."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.base.language import translated
from app.documents.collections.pages.collection_actions import CollectionActions
from app.documents.collections.pages.words import is_at_work, share, standing
from app.documents.collections.values import CollectionState, EmbedderStatus, IndexProgress
from app.kit.look.format import size
from app.kit.widgets.action import UserAction
from app.kit.widgets.card import ItemCard, drop_hint, empty_card
from app.kit.widgets.column_page import PartPage
from app.kit.widgets.elided_label import ElidedLabel
from app.kit.widgets.flow import FlowRow
from app.kit.widgets.keyed_column import KeyedColumn
from app.kit.widgets.label import Label
from app.kit.widgets.layouts import column, fill
from app.kit.widgets.live_line import LiveLine
from app.kit.widgets.picture import Picture
from app.kit.widgets.progress_bar import ProgressBar
from app.models.discover.values.offers import Offer
from app.models.downloads.pages.download_words import UNDER_WAY, in_words
from app.models.downloads.values.downloads import Download
from app.models.library.pages.names import name_of

ListedCollection = tuple[CollectionState, IndexProgress | None]
"""A collection and the work on it, as a card shows them."""


class CollectionCard(ItemCard):
    """The card of one collection: its name, its reading progress, and its actions."""

    def __init__(
        self, listed: ListedCollection, actions: CollectionActions, opens: Callable[[str], object]
    ) -> None:
        collection = listed[0].collection.id
        super().__init__(
            f"collection-{collection}",
            opens=partial(opens, collection),
            margins=(2, 1.5, 1.25, 1.5),
        )
        self._state = listed[0]
        self._name = ElidedLabel("", "strong", "collectionName")
        self._line = LiveLine(self.tr("State"), "muted", "collectionStanding")
        self._bar = ProgressBar("collectionBar")
        turn = UserAction(f"pause-{collection}", "pause", "", lambda: actions.turn(self._state))
        chat = partial(actions.chat, collection)
        self._halt = turn.icon_button(18)
        self._chat = UserAction(f"chatAbout-{collection}", "chat", self.tr("Chat"), chat).button()
        opened = partial(opens, collection)
        self._open = UserAction(f"open-{collection}", "forward", "", opened).icon_button()
        texts = column(self._name, self._line, self._bar, spacing=5)
        picture = Picture("documents", "accent_text", 24)
        fill(self.box, picture, (texts, 1), self._halt, self._chat, self._open)

    def show_state(self, listed: ListedCollection) -> None:
        """Show the collection's current state."""
        self._state, at_work = listed[0], is_at_work(*listed)
        name, paused = listed[0].collection.name, listed[0].collection.paused
        self._name.setText(name)
        self.setAccessibleName(name)
        self._line.say(standing(*listed), at_once=not at_work)
        self._bar.setValue(share(*listed))
        self._bar.setAccessibleName(self.tr("Reading {name}").format(name=name))
        self._bar.setVisible(at_work)
        words = self.tr("Continue reading {name}") if paused else self.tr("Pause reading {name}")
        self._halt.redraw("play" if paused else "pause")
        self._halt.rename(words.format(name=name))
        self._halt.setVisible(at_work or paused)
        self._chat.setAccessibleName(self.tr("New chat about {name}").format(name=name))
        self._open.rename(self.tr("Open {name}").format(name=name))

    def focus(self) -> None:
        """Move the keyboard focus to the card."""
        self._open.setFocus(Qt.FocusReason.OtherFocusReason)


class SearchCard(ItemCard):
    """The card that says how collections are searched; hidden until `show_embedder`.

    Args:
        get: Downloads an embedding model.
        downloads: Shows the downloads.
    """

    def __init__(self, get: Callable[[Offer], object], downloads: Callable[[], object]) -> None:
        super().__init__("searchKind")
        self._offer: Offer | None = None
        self._coming = False
        self._title = Label("", "strong", name="searchKindTitle", wrap=True)
        self._words = Label("", "muted", name="searchKindWords", wrap=True)
        self._note = Label("", "small", name="searchKindNote", wrap=True)

        def press() -> None:
            if self._coming:
                downloads()
            elif self._offer is not None:
                get(self._offer)

        self._get = UserAction("getEmbedder", "download", "", press).button()
        self._buttons = FlowRow(self._get)
        self._buttons.setContentsMargins(0, 4, 0, 0)
        texts = column(self._title, self._words, self._note, self._buttons, spacing=4)
        fill(self.box, Picture("search", "accent_text", 24), (texts, 1))
        self.hide()

    def show_embedder(self, status: EmbedderStatus, offer: Offer | None) -> None:
        """Show how collections are searched.

        Args:
            status: The embedding model in use, and the others.
            offer: An embedding model to download; None if there is none.
        """
        self._offer = None if status.choices else offer
        if status.model is not None:
            self._title.setText(self.tr("Search by words and by meaning"))
            words = self.tr(
                "{model} also finds what is said in other words, or in another language."
            )
            self._words.setText(words.format(model=name_of(status.model)))
        else:
            self._title.setText(self.tr("Search by words alone"))
            words = self.tr(
                "With an embedding model, Hearth also finds what is said in other words, or in "
                "another language."
            )
            # If there is a model that is not used, its reason is shown instead.
            self._words.setText(translated(status.why) if status.choices else words)
        self._show_offer()
        self.show()

    def show_download(self, download: Download | None) -> None:
        """Show the progress of the embedding model's download; None if there is none."""
        self._coming = download is not None and download.state in UNDER_WAY
        self._show_offer()
        if download is not None and self._coming:
            self._get.redraw("download", in_words(download))

    def _show_offer(self) -> None:
        offer = self._offer
        self._buttons.setVisible(offer is not None)
        if offer is not None and not self._coming:
            words = self.tr("Get {name} ({disk_bytes})").format(
                name=offer.name, disk_bytes=size(offer.disk_bytes)
            )
            self._get.redraw("download", words)
        self._note.show_text(translated(offer.licence_note) if offer is not None else "")


class CollectionList(PartPage):
    """The list of all collections.

    Args:
        actions: What can be done with a collection.
        opens: Opens the collection with this id.
        first: The buttons with which the first collection is made.
        search: The card about searching.
    """

    def __init__(
        self,
        actions: CollectionActions,
        opens: Callable[[str], object],
        first: Sequence[QWidget],
        search: SearchCard,
    ) -> None:
        super().__init__("collectionList")
        words = self.tr("Drop to make a collection of them.")
        self.drop_hint = drop_hint("documentsDropHint", "documents", words)
        words = self.tr(
            "Add a folder or some files: PDF, Word, Excel, PowerPoint, e-books, e-mail, web pages "
            "or text. Hearth reads them on this computer and finds the passages for each question. "
            "Your files stay where they are, as they are."
        )
        title = self.tr("Ask about your own documents")
        drop_label = Label(self.tr("Or drop them here."), "muted", wrap=True)
        self._none = empty_card(
            "noCollections", "documents", title, words, FlowRow(*first), drop_label
        )
        self._none.hide()
        self._cards = KeyedColumn(
            lambda entry: entry[0].collection.id,
            lambda entry: CollectionCard(entry, actions, opens),
            CollectionCard.show_state,
        )
        fill(self.column, self.drop_hint, self._none, self._cards.layout, search, 1)

    def show_collections(
        self, states: Sequence[CollectionState], progress: Mapping[str, IndexProgress]
    ) -> None:
        """Show a card for each collection, with the progress of its indexing."""
        self._cards.show((state, progress.get(state.collection.id)) for state in states)
        self._none.setVisible(not states)

    def focus_card(self, collection: str) -> None:
        """Focus the card that a collection was opened from."""
        if collection in self._cards.rows:
            self._cards.rows[collection].focus()
