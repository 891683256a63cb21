"""How collections are searched: by words and meaning, or by words alone and what that lacks."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.core.knowledge import EmbedderStatus
from app.core.models.downloads import Download
from app.core.models.offers import Offer
from app.ui.look.format import size
from app.ui.look.language import translated
from app.ui.models.download_words import UNDER_WAY, in_words
from app.ui.models.names import name_of
from app.ui.widgets.flow import FlowRow
from app.ui.widgets.label import Label
from app.ui.widgets.labelled_button import LabelledButton
from app.ui.widgets.panel import Panel
from app.ui.widgets.picture import Picture


class SearchCard(Panel):
    """get(Offer): the embedding model is wanted. downloads(): they are. Hidden at first."""

    get = Signal(object)
    downloads = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(
            "card", "searchKind", across=True, margins=(2, 1.5, 2, 1.5), spacing=1.5, parent=parent
        )
        self._offer: Offer | None = None
        self._coming = False
        self._has_model = False
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
        """Show how is searched. offer: a model to be had that finds by meaning, if there is one."""
        self._offer, self._has_model = offer, status.model is not None
        if status.model is not None:
            self._title.setText(self.tr("Search by words and by meaning"))
            words = self.tr("{0} also finds what is said in other words, or in another language.")
            self._words.setText(words.format(name_of(status.model)))
        else:
            self._title.setText(self.tr("Search by words alone"))
            words = self.tr(
                "With an embedding model, Hearth also finds what is said in other words, or in "
                "another language."
            )
            self._words.setText(words)
        self._show_offer()
        self.show()

    def show_download(self, download: Download | None) -> None:
        """Show how far the model is that was asked for; None: it was not."""
        self._coming = download is not None and download.state in UNDER_WAY
        self._show_offer()
        if download is not None and self._coming:
            self._get.redraw("download", in_words(download))

    def _show_offer(self) -> None:
        offer = self._offer
        shown = offer is not None and not self._has_model
        self._buttons.setVisible(shown)
        self._note.setVisible(shown and bool(offer and offer.licence_note))
        if offer is not None and not self._coming:
            self._get.redraw(
                "download", self.tr("Get {0} ({1})").format(offer.name, size(offer.disk_bytes))
            )
            self._note.setText(translated(offer.licence_note))

    def _press(self) -> None:
        if self._coming:
            self.downloads.emit()
        elif self._offer is not None:
            self.get.emit(self._offer)
