"""One quantisation of a repository, to be chosen among the others."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.core.models.offers import Choice, Fits
from app.ui.look.format import size
from app.ui.look.language import translated
from app.ui.look.theme import GRID
from app.ui.models.discover.fit_badge import FitBadge
from app.ui.models.discover.words import fits_sentence
from app.ui.widgets.elided_label import ElidedLabel
from app.ui.widgets.label import Label
from app.ui.widgets.row_button import RowButton


class VariantRow(RowButton):
    """Chosen with a click, or among its neighbours with the arrow keys."""

    def __init__(self, choice: Choice, parent: QWidget | None = None) -> None:
        self.choice = choice
        label, amount = choice.variant.label, size(choice.variant.size_bytes)
        super().__init__(f"variant-{label}", "", parent)
        self.setCheckable(True)
        self.setAutoExclusive(True)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        first = QHBoxLayout()
        first.setSpacing(GRID)
        first.addWidget(Label(translated(choice.quality) or label, "strong"))
        if choice.recommended:
            first.addWidget(Label(self.tr("Recommended"), "chosen", name="recommendedBadge"))
        first.addStretch(1)
        texts.addLayout(first)
        texts.addWidget(ElidedLabel(f"{label} · {amount}", "small"))
        self.box.addLayout(texts, 1)
        self._badge = FitBadge(choice.fits)
        self.box.addWidget(self._badge)
        self._settle(choice.fits)

    def show_fits(self, fits: Fits) -> None:
        """The verdict is known better now."""
        old, self._badge = self._badge, FitBadge(fits)
        self.box.replaceWidget(old, self._badge)
        old.hide()
        old.deleteLater()
        self._settle(fits)

    def _settle(self, fits: Fits) -> None:
        choice = self.choice
        words = [
            choice.variant.label,
            translated(choice.quality),
            size(choice.variant.size_bytes),
            fits_sentence(fits),
            self.tr("Recommended.") if choice.recommended else "",
        ]
        self.setAccessibleName(", ".join(word for word in words if word))
        self.let_clicks_through()
