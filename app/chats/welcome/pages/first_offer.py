"""The card of the model that is offered on the first screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.base.language import translated
from app.kit.look.format import size
from app.kit.look.theme import GRID
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.panel import Panel
from app.models.downloads.pages.download_line import DownloadLine
from app.models.downloads.values.requests import download_of
from app.models.library.values.entry import entry_from

if TYPE_CHECKING:
    from app.models.discover.values.offers import Offer
    from app.models.downloads.values.downloads import Download
    from app.models.library.values.entry import ModelEntry


class FirstOffer(Panel):
    """The offered model: its name, the reason, its size, and the one bright button.

    Attributes:
        button: The button that downloads it or, once it is here, begins a chat.

    Signals:
        get(offer): The user wants to download it.
        use(id): The user wants to chat with it; it is on this computer.
    """

    get = Signal(object)
    use = Signal(str)

    def __init__(self, offer: Offer, parent: QWidget | None = None) -> None:
        super().__init__("card", "firstOffer", margins=(3, 2.5, 3, 2.5), spacing=1, parent=parent)
        self.offer = offer
        self._entry: ModelEntry | None = None
        heading = self.tr("This computer can run")
        self.setAccessibleName(f"{heading}: {offer.name}. {translated(offer.why)}")
        self.box.addWidget(Label(heading, "group"))
        self.box.addWidget(Label(offer.name, "title", name="offerName", wrap=True))
        self.box.addWidget(Label(translated(offer.why), name="offerWhy", wrap=True))
        if offer.licence_note:
            self.box.addWidget(Label(translated(offer.licence_note), "small", wrap=True))
        self.button = LabelledButton("download", "", "getFirst", look="primary")
        self.button.clicked.connect(self._press)
        if offer.about:
            words = self.tr("about {disk_bytes} to download")
        else:
            words = self.tr("{disk_bytes} to download")
        self._size = Label(
            words.format(disk_bytes=size(offer.disk_bytes)), "muted", name="offerSize"
        )
        row = QHBoxLayout()
        row.setContentsMargins(0, GRID, 0, 0)
        row.setSpacing(2 * GRID)
        row.addWidget(self.button)
        row.addWidget(self._size, 1)
        self.box.addLayout(row)
        self._line = DownloadLine(offer.name)
        self.box.addWidget(self._line)
        self.show_state((), ())

    def show_state(self, downloads: Sequence[Download], entries: Sequence[ModelEntry]) -> None:
        """Show its download, or that it is on this computer.

        Args:
            downloads: All downloads.
            entries: The models on this computer.
        """
        offer = self.offer
        self._entry = entry_from(entries, offer.repo)
        if self._entry is not None:
            self._line.say("")
            self._show_button(True, "chat", self.tr("Chat with it"))
        else:
            download = download_of(downloads, offer.repo, offer.label)
            under_way = self._line.show_download(download)
            self._show_button(not under_way, "download", self.tr("Get it"))
        self.button.setAccessibleName(f"{self.button.text()}: {offer.name}")

    def show_waiting(self) -> None:
        """Show that the download was requested and is not in the queue yet."""
        self._show_button(False, "download", self.tr("Get it"))
        self._line.say(self.tr("Asking the Hub for its files…"))

    def _show_button(self, shown: bool, drawing: str, text: str) -> None:
        self.button.redraw(drawing, text)
        self.button.setVisible(shown)
        self._size.setVisible(shown and self._entry is None)

    def _press(self) -> None:
        if self._entry is not None:
            self.use.emit(self._entry.id)
        else:
            self.get.emit(self.offer)
