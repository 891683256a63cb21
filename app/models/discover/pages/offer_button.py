"""The button that gets an offered model, or uses it once it is on this computer."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.models.discover.values.offers import Offer
from app.models.downloads.pages.download_line import DownloadLine
from app.models.downloads.values.downloads import Download
from app.models.downloads.values.requests import download_of
from app.models.library.values.entry import ModelEntry, entry_from


class OfferButton(LabelledButton):
    """The button that gets or uses a model; it is hidden for a model that is too big.

    Its owner puts it and its lines into a layout, then calls `show_entries`.

    Attributes:
        entry: The model on this computer; None if it is not there.
        here: A line that says that the model is on this computer.
        line: A line with the state of the download.

    Signals:
        get: The user wants to download the model.
        use: The id of the model, which is on this computer.
    """

    get = Signal()
    use = Signal(str)

    def __init__(
        self, offer: Offer, name: str, *, look: str = "", option: QWidget | None = None
    ) -> None:
        """Create the button.

        Args:
            name: The object name.
            look: The look in the style sheet.
            option: The choice about the download, shown and enabled with it; None for none.
        """
        super().__init__("download", "", name, look=look)
        self._offer = offer
        self._option = option
        self.entry: ModelEntry | None = None
        self.here = Label(self.tr("On this computer"), "small", name="offerHere")
        self.line = DownloadLine(offer.name)
        self.clicked.connect(self._press)

    def show_entries(self, entries: Sequence[ModelEntry]) -> None:
        """Offer to use the model if it is among these, which are on this computer."""
        self.entry = entry_from(entries, self._offer.repo)
        if self.entry is not None:
            self.redraw("check", self.tr("Use"))
            spoken = self.tr("Use {name}")
            self.setEnabled(True)
            self.line.say("")
        else:
            self.redraw("download", self.tr("Get it"))
            spoken = self.tr("Get {name}")
        self.setAccessibleName(spoken.format(name=self._offer.name))
        self.here.setHidden(self.entry is None)
        self.setHidden(self.entry is None and self._offer.fits == "no")
        if self._option is not None:
            self._option.setHidden(self.entry is not None)

    def show_downloads(self, downloads: Sequence[Download]) -> None:
        """Show the state of the model's download, if it is among these."""
        if self.entry is None:
            download = download_of(downloads, self._offer.repo, self._offer.label)
            self._enable(not self.line.show_download(download))

    def show_waiting(self) -> None:
        """Show that the download was requested and is not in the queue yet."""
        self._enable(False)
        self.line.say(self.tr("Asking the Hub for its files…"))

    def _enable(self, enabled: bool) -> None:
        self.setEnabled(enabled)
        if self._option is not None:
            self._option.setEnabled(enabled)

    def _press(self) -> None:
        if self.entry is not None:
            self.use.emit(self.entry.id)
        else:
            self.get.emit()
