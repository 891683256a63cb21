"""The card of a recommended model: name, reason, fit, and download button."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout

from app.base.language import translated
from app.kit.look.format import size
from app.kit.look.theme import GRID
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.panel import Panel
from app.kit.widgets.tick_box import TickBox
from app.models.discover.pages.fit_badge import FitBadge
from app.models.discover.pages.offer_button import OfferButton
from app.models.discover.pages.words import offer_facts
from app.models.discover.values.offers import Offer
from app.models.pages.memory_bar import MemoryBars


class OfferCard(Panel):
    """The card of a recommended model.

    Attributes:
        button: The button that gets or uses the model.

    Signals:
        get: The Offer to download, and whether to include the projector, for pictures.
        use: The id of the model, which is on this computer.
        more: The Offer whose alternatives or details the user wants to see.
    """

    get = Signal(object, bool)
    use = Signal(str)
    more = Signal(object)

    def __init__(self, offer: Offer) -> None:
        main = offer.kind == "default"
        super().__init__(
            "offer" if main else "card",
            f"offer-{offer.kind}",
            margins=(2.5, 2, 2.5, 2),
            spacing=1,
        )
        self.offer = offer
        heading = self._kind()
        self.setAccessibleName(f"{heading}: {offer.name}. {translated(offer.why)}")
        top = QHBoxLayout()
        top.addWidget(Label(heading, "accent" if main else "group", name="offerKind"))
        top.addStretch(1)
        top.addWidget(FitBadge(offer.fits))
        self.box.addLayout(top)
        self.box.addWidget(
            Label(offer.name, "title" if main else "strong", name="offerName", wrap=True)
        )
        why = Label(translated(offer.why), name="offerWhy", wrap=True)
        why.setContentsMargins(0, 0, 0, 4)
        self.box.addWidget(why)
        self._bars = MemoryBars(self)
        self._bars.show_uses(offer.uses)
        self.box.addWidget(self._bars)
        self.box.addWidget(Label(offer_facts(offer), "muted", name="offerFacts", wrap=True))
        words = self.tr("Pictures too ({projector_bytes} more)").format(
            projector_bytes=size(offer.projector_bytes)
        )
        self._pictures = TickBox(words, f"pictures-{offer.kind}")
        self._pictures.setAccessibleName(f"{words}: {offer.name}")
        self._pictures.setToolTip(
            self.tr("Its projector, with which it sees the pictures that you attach.")
        )
        self._pictures.toggled.connect(self._show_uses)
        if not offer.projector_bytes:
            self._pictures.hide()
        self.button = OfferButton(
            offer,
            f"get-{offer.kind}",
            look="primary" if main else "",
            option=self._pictures if offer.projector_bytes else None,
        )
        self.button.get.connect(lambda: self.get.emit(offer, self.pictures))
        self.button.use.connect(self.use)
        self.box.addWidget(self.button.here)
        self.box.addStretch(1)
        self.box.addWidget(self._pictures)
        self.box.addLayout(self._buttons())
        self.box.addWidget(self.button.line)
        self.button.show_entries(())

    @property
    def pictures(self) -> bool:
        """True if the projector is wanted too."""
        return self._pictures.isChecked()

    def tick_pictures(self, ticked: bool) -> None:
        """Choose whether to download the projector too."""
        self._pictures.setChecked(ticked)

    def _show_uses(self) -> None:
        """Show the memory that it takes; a wanted projector counts where the layers go first."""
        projector = self.offer.projector_bytes if self.pictures else 0
        first, others = self.offer.uses[:1], self.offer.uses[1:]
        self._bars.show_uses((*(replace(use, projector=projector) for use in first), *others))

    def _kind(self) -> str:
        return {
            "default": self.tr("Recommended for this computer"),
            "faster": self.tr("Faster"),
            "smarter": self.tr("Smarter"),
            "listed": "",
        }[self.offer.kind]

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(0, 4, 0, 0)
        row.setSpacing(GRID)
        details = self.tr("Details")
        more = LabelledButton("box", details, f"more-{self.offer.kind}", look="link")
        more.setAccessibleName(f"{details}: {self.offer.name}")
        more.clicked.connect(lambda: self.more.emit(self.offer))
        row.addWidget(self.button)
        row.addWidget(more)
        row.addStretch(1)
        return row
