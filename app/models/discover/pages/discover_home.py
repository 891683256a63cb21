"""The first page of Discover: suggestions, the catalogue, and the search on the Hub."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.kit.look.theme import GRID
from app.kit.timer import timer
from app.kit.widgets.column_page import PartPage
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.panel import Panel
from app.kit.widgets.picture import Picture
from app.models.discover.pages.catalogue_area import CatalogueArea
from app.models.discover.pages.offers_area import OffersArea
from app.models.discover.pages.results import Results
from app.models.discover.pages.search_bar import SearchBar


class DiscoverHome(PartPage):
    """The first page of Discover.

    Signals:
        go_online: The user allows Hearth to reach the Hub.
    """

    go_online = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("discoverHome", parent=parent)
        self.offers = OffersArea()
        self.catalogue = CatalogueArea()
        self.bar = SearchBar()
        self.results = Results()
        self._offline = self._make_offline()
        self._offline.hide()
        self._searching = QWidget()
        column = QVBoxLayout(self._searching)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        column.addWidget(Label(self.tr("Search the Hub"), "strong"))
        column.addWidget(self.bar)
        column.addWidget(self.results)
        for part in (self._offline, self.offers, self.catalogue, self._searching):
            self.column.addWidget(part)
        self.column.addStretch(1)
        self._scrolling = timer(self, 0, self._scroll_to_search)
        # The parts above the search can grow later; follow it until the user scrolls.
        self._follows_search = False
        self.verticalScrollBar().rangeChanged.connect(self._scroll_to_search)
        self.verticalScrollBar().actionTriggered.connect(self._follow_no_more)

    def set_offline(self, offline: bool, *, for_good: bool) -> None:
        """Hide the search while offline.

        Args:
            for_good: Whether Hearth stays offline, so that “Go online” is not offered.
        """
        self._go_online.setHidden(for_good)
        self._offline.setVisible(offline)
        self._searching.setHidden(offline)

    def show_search(self) -> None:
        """Scroll to the search field and its results, once they are laid out."""
        self._follows_search = True
        self._scrolling.start()

    def _scroll_to_search(self) -> None:
        if self._follows_search:
            top = self._searching.mapTo(self, QPoint()).y()
            bar = self.verticalScrollBar()
            bar.setValue(bar.value() + top - GRID)

    def _follow_no_more(self) -> None:
        self._follows_search = False

    def _make_offline(self) -> Panel:
        panel = Panel("banner", "offlineNote", across=True, margins=(2, 1.5, 2, 1.5), spacing=1.5)
        panel.box.addWidget(Picture("offline", "accent_text"))
        panel.box.addWidget(
            Label(
                self.tr(
                    "Hearth is offline: it can recommend a model from its own list, but neither "
                    "search nor download."
                ),
                name="offlineText",
                wrap=True,
            ),
            1,
        )
        row = QHBoxLayout()
        self._go_online = LabelledButton("browse", self.tr("Go online"), "goOnline", look="link")
        self._go_online.clicked.connect(self.go_online)
        row.addWidget(self._go_online)
        panel.box.addLayout(row)
        return panel
