"""The card of a model of the catalogue: its strengths, its fit, and one button."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.base.language import translated
from app.kit.look.theme import GRID
from app.kit.widgets.card import ItemCard
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.layouts import at_start, column, fill, row
from app.models.discover.pages.fit_badge import FitBadge
from app.models.discover.pages.words import fits_sentence, offer_facts
from app.models.discover.values.offers import CatalogueModel
from app.models.downloads.pages.download_line import DownloadLine
from app.models.downloads.values.downloads import Download
from app.models.library.values.entry import ModelEntry

_TITLE_INSET = 7
"""Border and padding of the title, which is a button, in pixels."""
_MARGINS = (2 - _TITLE_INSET / GRID, 1.5, 2, 1.5)
"""Less at the left, so that the words of the title begin where they do in other cards."""


class CatalogueCard(ItemCard):
    """The card of a model of the catalogue.

    Attributes:
        buttons: The name, which opens the repository, and the button below it, in Tab's order.

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
        self._entry: ModelEntry | None = None
        self._title = LabelledButton("", offer.name, f"listedDetails-{model.id}", look="place")
        self._title.setAccessibleName(self.tr("Details: {name}").format(name=offer.name))
        self._title.clicked.connect(lambda: self.details.emit(offer))
        new = Label(self.tr("New"), "badge", name="newBadge")
        self._get = LabelledButton("download", self.tr("Get it"), f"listedGet-{model.id}")
        self._get.clicked.connect(self._press)
        self.buttons: tuple[QWidget, QWidget] = (self._title, self._get)
        self._line = DownloadLine(offer.name)
        self._here = Label(self.tr("On this computer"), "small", name="listedHere")
        below = column(
            Label(about, name="listedAbout", wrap=True),
            Label(facts, "small", name="listedFacts", wrap=True),
            self._here,
            1,
            at_start(self._get),
            self._line,
        )
        below.setContentsMargins(_TITLE_INSET, 0, 0, 0)
        fill(self.box, row(self._title, new, 1, FitBadge(offer.fits)), (below, 1))
        new.setHidden(not model.is_new)
        self.show_entry(None)

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
        self._get.setHidden(entry is None and self.offer.fits == "no")

    def show_download(self, download: Download | None) -> None:
        """Show the state of its download; None if there is none."""
        if self._entry is None:
            self._get.setEnabled(not self._line.show_download(download))

    def show_waiting(self) -> None:
        """Show that the download was requested and is not in the queue yet."""
        self._get.setEnabled(False)
        self._line.say(self.tr("Asking the Hub for its files…"))

    def _press(self) -> None:
        if self._entry is not None:
            self.use.emit(self._entry.id)
        else:
            self.get.emit(self.offer)
