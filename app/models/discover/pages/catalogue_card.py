"""The card of a model of the catalogue: its strengths, its fit, and one button."""

from __future__ import annotations

from PySide6.QtCore import Signal

from app.base.language import translated
from app.kit.look.theme import GRID
from app.kit.widgets.card import ItemCard
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.layouts import at_start, column, fill, row
from app.models.discover.pages.fit_badge import FitBadge
from app.models.discover.pages.offer_button import OfferButton
from app.models.discover.pages.words import fits_sentence, offer_facts
from app.models.discover.values.offers import CatalogueModel

_TITLE_INSET = 7
"""Border and padding of the title, which is a button, in pixels."""
_MARGINS = (2 - _TITLE_INSET / GRID, 1.5, 2, 1.5)
"""Less at the left, so that the words of the title begin where they do in other cards."""


class CatalogueCard(ItemCard):
    """The card of a model of the catalogue.

    Attributes:
        title: The name, which opens the repository.
        button: The button that gets or uses the model.

    Signals:
        get: The Offer to download.
        use: The id of the model, which is on this computer.
        details: The Offer whose repository to open.
    """

    get = Signal(object)
    use = Signal(str)
    details = Signal(object)

    def __init__(self, model: CatalogueModel) -> None:
        offer = model.offer
        about, facts = translated(offer.why), offer_facts(offer, licence=False)
        spoken = f"{offer.name}. {about} {fits_sentence(offer.fits)} {facts}"
        super().__init__(
            f"listed-{model.id}", spoken=spoken, across=False, margins=_MARGINS, spacing=1
        )
        self.offer = offer
        self.title = LabelledButton("", offer.name, f"listedDetails-{model.id}", look="place")
        self.title.setAccessibleName(self.tr("Details: {name}").format(name=offer.name))
        self.title.clicked.connect(lambda: self.details.emit(offer))
        new = Label(self.tr("New"), "badge", name="newBadge")
        self.button = OfferButton(offer, f"listedGet-{model.id}")
        self.button.get.connect(lambda: self.get.emit(offer))
        self.button.use.connect(self.use)
        below = column(
            Label(about, name="listedAbout", wrap=True),
            Label(facts, "small", name="listedFacts", wrap=True),
            self.button.here,
            1,
            at_start(self.button),
            self.button.line,
        )
        below.setContentsMargins(_TITLE_INSET, 0, 0, 0)
        fill(self.box, row(self.title, new, 1, FitBadge(offer.fits)), (below, 1))
        new.setHidden(not model.is_new)
        self.button.show_entries(())
