"""The card that says how collections are searched: by words and meaning, or by words only."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.base.language import translated
from app.documents.collections.values import EmbedderStatus
from app.kit.look.format import size
from app.kit.widgets.flow import FlowRow
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.panel import Panel
from app.kit.widgets.picture import Picture
from app.models.discover.values.offers import Offer
from app.models.downloads.pages.download_words import UNDER_WAY, in_words
from app.models.downloads.values.downloads import Download
from app.models.library.pages.names import name_of


class SearchCard(Panel):
    """The card about searching; hidden until `show_embedder`.

    Signals:
        get(Offer): The user wants to download the embedding model.
        downloads(): The user wants to see the downloads.
    """

    get = Signal(object)
    downloads = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(
            "card", "searchKind", across=True, margins=(2, 1.5, 2, 1.5), spacing=1.5, parent=parent
        )
        self._offer: Offer | None = None
        self._coming = False
        self.box.addWidget(Picture("search", "accent_text", 24))
        texts = QVBoxLayout()
        texts.setSpacing(4)
        self._title = Label("", "strong", name="searchKindTitle", wrap=True)
        self._words = Label("", "muted", name="searchKindWords", wrap=True)
        self._note = Label("", "small", name="searchKindNote", wrap=True)
        self._get = LabelledButton("download", "", "getEmbedder")
        self._get.clicked.connect(self._press)
        self._buttons = FlowRow(self._get)
        self._buttons.setContentsMargins(0, 4, 0, 0)
        for part in (self._title, self._words, self._note, self._buttons):
            texts.addWidget(part)
        self.box.addLayout(texts, 1)
        self.hide()

    def show_embedder(self, status: EmbedderStatus, offer: Offer | None) -> None:
        """Show how collections are searched.

        Args:
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
        self._note.setVisible(offer is not None and bool(offer.licence_note))
        if offer is not None and not self._coming:
            self._get.redraw(
                "download",
                self.tr("Get {name} ({disk_bytes})").format(
                    name=offer.name, disk_bytes=size(offer.disk_bytes)
                ),
            )
            self._note.setText(translated(offer.licence_note))

    def _press(self) -> None:
        if self._coming:
            self.downloads.emit()
        elif self._offer is not None:
            self.get.emit(self._offer)
