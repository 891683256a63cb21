"""The search for models on the Hub: words, filters and sort order."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.kit.look.theme import GRID
from app.kit.widgets.chip import Chip
from app.kit.widgets.fields import ComboBox, LineField
from app.kit.widgets.flow import FlowRow
from app.kit.widgets.labelled_button import LabelledButton
from app.models.hub.values.hub import Query, Sort
from app.models.library.pages.names import mtp_explanation

_LICENCES = ("apache-2.0", "mit", "gemma", "llama3.1", "lfm1.0")


class SearchBar(QWidget):
    """The search field with its filters; it sends no request while the user types.

    Signals:
        search: The Query, and whether to list only models that fit this computer.
    """

    search = Signal(object, bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("hubSearch")
        self._has_searched = False
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        row = QHBoxLayout()
        row.setSpacing(GRID)
        self.words = LineField(
            "hubWords",
            self.tr("Search for models on the Hub"),
            hint=self.tr("Search huggingface.co, such as “gemma” or “coder”"),
            clears=True,
        )
        self.words.returnPressed.connect(self.search_now)
        button = LabelledButton("search", self.tr("Search"), "hubSearchButton")
        button.clicked.connect(self.search_now)
        row.addWidget(self.words, 1)
        row.addWidget(button)
        column.addLayout(row)
        column.addWidget(self._filters())

    @property
    def query(self) -> Query:
        """The search as it is entered at the moment."""
        return Query(
            words=self.words.text().strip(),
            sort=cast(Sort, self._sort.currentData()),
            mtp=self._mtp.isChecked(),
            licence=self._licence.currentData(),
        )

    @property
    def fits(self) -> bool:
        """True to list only models that fit this computer."""
        return self._fits.isChecked()

    def drop_filters(self) -> None:
        """Reset all filters and search again."""
        for chip in (self._fits, self._mtp):
            chip.setChecked(False)
        self._licence.setCurrentIndex(0)
        self.search_now()

    def search_now(self) -> None:
        """Emit `search` with the current words and filters."""
        self._has_searched = True
        self.search.emit(self.query, self.fits)

    def _search_again(self) -> None:
        """Search again after a filter changed, if there was a search before."""
        if self._has_searched:
            self.search_now()

    def _filters(self) -> FlowRow:
        self._fits = Chip(self.tr("Fits this computer"), "filterFits", checked=True)
        self._mtp = Chip(self.tr("Faster answers"), "filterMtp")
        self._mtp.setToolTip(mtp_explanation())
        for chip in (self._fits, self._mtp):
            chip.clicked.connect(self._search_again)
        self._licence = ComboBox()
        self._licence.setObjectName("filterLicence")
        self._licence.setAccessibleName(self.tr("Licence"))
        self._licence.addItem(self.tr("Any licence"), None)
        for name in _LICENCES:
            self._licence.addItem(name, name)
        self._sort = ComboBox()
        self._sort.setObjectName("sortResults")
        self._sort.setAccessibleName(self.tr("Order of the results"))
        orders: tuple[tuple[Sort, str], ...] = (
            ("downloads", self.tr("Most downloaded")),
            ("likes", self.tr("Most liked")),
            ("updated", self.tr("Newest")),
            ("name", self.tr("By name")),
        )
        for order, text in orders:
            self._sort.addItem(text, order)
        for box in (self._licence, self._sort):
            box.activated.connect(self._search_again)
        return FlowRow(self._fits, self._mtp, self._licence, self._sort)
