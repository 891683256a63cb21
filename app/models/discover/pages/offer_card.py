"""The card of a recommended model: name, reason, fit, and download button."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.base.language import translated
from app.kit.look.format import size
from app.kit.look.theme import GRID
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.panel import Panel
from app.kit.widgets.tick_box import TickBox
from app.models.discover.pages.fit_badge import FitBadge
from app.models.discover.pages.words import offer_facts
from app.models.discover.values.offers import Offer
from app.models.downloads.pages.download_line import DownloadLine
from app.models.downloads.values.downloads import Download
from app.models.library.values.entry import ModelEntry
from app.models.pages.memory_bar import MemoryBars


class OfferCard(Panel):
    """The card of a recommended model.

    Args:
        heading: The text above its name; "" names the kind of recommendation.
        more_text: The text of the second button; "" means “Details”.

    Signals:
        get: The Offer to download, and whether to include the projector, for pictures.
        use: The id of the model, which is on this computer.
        more: The Offer whose alternatives or details the user wants to see.
    """

    get = Signal(object, bool)
    use = Signal(str)
    more = Signal(object)

    def __init__(
        self, offer: Offer, heading: str = "", more_text: str = "", parent: QWidget | None = None
    ) -> None:
        main = offer.kind == "default"
        super().__init__(
            "offer" if main else "card",
            f"offer-{offer.kind}",
            margins=(2.5, 2, 2.5, 2),
            spacing=1,
            parent=parent,
        )
        self.offer = offer
        self._entry: ModelEntry | None = None
        heading = heading or self._kind()
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
        self._here = Label(self.tr("On this computer"), "small", name="offerHere")
        self.box.addWidget(self._here)
        self.box.addStretch(1)
        words = self.tr("Pictures too ({projector_bytes} more)").format(
            projector_bytes=size(offer.projector_bytes)
        )
        self._pictures = TickBox(words, f"pictures-{offer.kind}")
        self._pictures.setAccessibleName(f"{words}: {offer.name}")
        self._pictures.setToolTip(
            self.tr("Its projector, with which it sees the pictures that you attach.")
        )
        self._pictures.toggled.connect(self._show_uses)
        self.box.addWidget(self._pictures)
        self.box.addLayout(self._buttons(main, more_text or self.tr("Details")))
        self._line = DownloadLine(offer.name)
        self.box.addWidget(self._line)
        self.show_entry(None)

    @property
    def pictures(self) -> bool:
        """True if the projector is wanted too."""
        return self._pictures.isChecked()

    def tick_pictures(self, ticked: bool) -> None:
        """Choose whether to download the projector too."""
        self._pictures.setChecked(ticked)

    def show_entry(self, entry: ModelEntry | None) -> None:
        """Show that the model is on this computer; None if it is not."""
        self._entry = entry
        name = self.offer.name
        if entry is not None:
            self._get.redraw("check", self.tr("Use"))
            self._get.setAccessibleName(self.tr("Use {name}").format(name=name))
            self._get.setEnabled(True)
            self._line.say("")
        else:
            self._get.redraw("download", self.tr("Get it"))
            self._get.setAccessibleName(self.tr("Get {name}").format(name=name))
        self._here.setHidden(entry is None)
        self._pictures.setHidden(entry is not None or not self.offer.projector_bytes)

    def show_download(self, download: Download | None) -> None:
        """Show the state of its download; None if there is none."""
        if self._entry is not None:
            return
        self._enable_download(not self._line.show_download(download))

    def show_waiting(self) -> None:
        """Show that the download was requested and is not in the queue yet."""
        self._enable_download(False)
        self._line.say(self.tr("Asking the Hub for its files…"))

    def _show_uses(self) -> None:
        """Show the memory that it takes; a wanted projector counts where the layers go first."""
        projector = self.offer.projector_bytes if self.pictures else 0
        first, others = self.offer.uses[:1], self.offer.uses[1:]
        self._bars.show_uses((*(replace(use, projector=projector) for use in first), *others))

    def _press(self) -> None:
        if self._entry is not None:
            self.use.emit(self._entry.id)
        else:
            self.get.emit(self.offer, self.pictures)

    def _enable_download(self, enabled: bool) -> None:
        self._get.setEnabled(enabled)
        self._pictures.setEnabled(enabled)

    def _kind(self) -> str:
        return {
            "default": self.tr("Recommended for this computer"),
            "faster": self.tr("Faster"),
            "smarter": self.tr("Smarter"),
            "listed": "",
        }[self.offer.kind]

    def _buttons(self, main: bool, more_text: str) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(0, 4, 0, 0)
        row.setSpacing(GRID)
        kind = self.offer.kind
        self._get = LabelledButton(
            "download",
            self.tr("Get it"),
            f"get-{kind}",
            look="primary" if main else "",
            tone="on_accent" if main else "muted",
        )
        self._get.clicked.connect(self._press)
        more = LabelledButton("box", more_text, f"more-{kind}", look="link")
        more.setAccessibleName(f"{more_text}: {self.offer.name}")
        more.clicked.connect(lambda: self.more.emit(self.offer))
        row.addWidget(self._get)
        row.addWidget(more)
        row.addStretch(1)
        return row
