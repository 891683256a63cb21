"""The downloads, in the order in which they come: what is on its way, and what has come."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.core.models.downloads import Download
from app.presenters.download_list import DownloadList
from app.presenters.settings import SettingsService
from app.ui.look.format import size
from app.ui.look.theme import GRID
from app.ui.models.download_words import UNDER_WAY
from app.ui.models.downloads.download_row import DownloadRow
from app.ui.models.downloads.pace_card import PaceCard
from app.ui.models.part_page import PartPage
from app.ui.notify import Notifier
from app.ui.widgets.label import Label
from app.ui.widgets.labelled_button import LabelledButton
from app.ui.widgets.panel import Panel
from app.ui.widgets.picture import Picture

_TICK_MS = 1000
"""How often it is looked for what other processes do, and waiting times are counted down."""


class DownloadsPage(PartPage):
    """discover(): the user wants to find a model. go_online(): Hearth may connect again."""

    discover = Signal()
    go_online = Signal()

    def __init__(
        self,
        service: DownloadList,
        settings: SettingsService,
        notifier: Notifier,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__("downloads", parent=parent)
        self._service = service
        self._notifier = notifier
        self._rows: dict[str, DownloadRow] = {}
        self._going: list[str] = []
        online = LabelledButton("online", self.tr("Go online"), "downloadsGoOnline")
        online.clicked.connect(self.go_online)
        text = self.tr("Hearth is offline: nothing is downloaded. What has come is kept.")
        self._offline = self._banner("downloadsOffline", "offline", text, online)
        text = self.tr(
            "Your system says that this connection is metered: what comes may cost money."
        )
        self._metered = self._banner("downloadsMetered", "warning", text)
        self._wait = Label(self.tr("Looking at the queue…"), "muted", name="lookingAtDownloads")
        self.column.addWidget(self._wait)
        self._empty = self._make_empty()
        self.column.addWidget(self._empty)
        self._list = QVBoxLayout()
        self._list.setSpacing(GRID)
        self.column.addLayout(self._list)
        self._clear = LabelledButton("check", self.tr("Clear what has come"), "clearDownloads")
        self._clear.clicked.connect(service.clear_done)
        self._clear.hide()
        self.column.addWidget(self._clear, 0, Qt.AlignmentFlag.AlignLeft)
        self.column.addWidget(PaceCard(settings))
        self.column.addStretch(1)
        self._tick = QTimer(self)
        self._tick.setInterval(_TICK_MS)
        self._tick.timeout.connect(service.look)
        service.changed.connect(self.show_downloads)
        service.metered.connect(self._metered.setVisible)

    def set_offline(self, offline: bool) -> None:
        self._offline.setVisible(offline)

    def show_downloads(self, downloads: Sequence[Download]) -> None:
        """In their order; what was cancelled is not worth a line."""
        shown = [it for it in downloads if it.state != "cancelled"]
        self._wait.hide()
        self._empty.setVisible(not shown)
        self._clear.setVisible(any(it.state == "done" for it in shown))
        self._going = [it.id for it in downloads if it.state in UNDER_WAY]
        self._keep_rows_of(shown)
        for place, it in enumerate(shown):
            row = self._rows[it.id]
            ends = self._going[:1] == [it.id], self._going[-1:] == [it.id]
            row.show_download(it, first=ends[0], last=ends[1])
            if self._list.indexOf(row) != place:
                self._list.insertWidget(place, row)
        self._places = [it.id for it in downloads]

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._service.look()
        self._service.look_if_metered()
        self._tick.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._tick.stop()

    def _keep_rows_of(self, shown: Sequence[Download]) -> None:
        """A row stays for as long as its download does, and with it the focus."""
        ids = {it.id for it in shown}
        for gone in self._rows.keys() - ids:
            row = self._rows.pop(gone)
            self._list.removeWidget(row)
            row.hide()
            row.deleteLater()
        for it in shown:
            if it.id not in self._rows:
                row = DownloadRow(it)
                row.asked.connect(lambda action, name=it.id: self._act(name, action))
                self._rows[it.id] = row
                self._list.addWidget(row)

    def _act(self, name: str, action: str) -> None:
        service, download = self._service, self._rows[name].download
        match action:
            case "pause":
                service.pause(name)
            case "resume":
                service.resume(name)
            case "cancel":
                self._cancel(download)
            case "up" | "down":
                self._move(name, -1 if action == "up" else 1)
            case "use":
                service.use(download)

    def _move(self, name: str, step: int) -> None:
        """To the place of its neighbour among those that are under way."""
        place = self._going.index(name) + step
        if 0 <= place < len(self._going):
            self._service.move(name, self._places.index(self._going[place]))

    def _cancel(self, download: Download) -> None:
        """Asked only where something would be lost by it."""
        if not download.bytes_done:
            self._service.cancel(download.id)
            return
        lines = [
            self.tr("Cancel {0}?").format(download.wanted.label),
            self.tr("What has come of it, {0}, is removed; a pause would keep it.").format(
                size(download.bytes_done)
            ),
        ]
        answers = [
            ("keepDownload", self.tr("Keep it")),
            ("confirmCancel", self.tr("Cancel the download")),
        ]
        self._notifier.ask(
            lines,
            answers,
            lambda answer: self._service.cancel(download.id) if answer == "confirmCancel" else None,
        )

    def _banner(self, name: str, drawing: str, text: str, button: QWidget | None = None) -> Panel:
        banner = Panel("banner", name, across=True, margins=(2, 1.25, 1.25, 1.25), spacing=1.5)
        banner.box.addWidget(Picture(drawing, "accent_text"))
        banner.box.addWidget(Label(text, name=f"{name}Text", wrap=True), 1)
        if button is not None:
            banner.box.addWidget(button)
        banner.hide()
        self.column.addWidget(banner)
        return banner

    def _make_empty(self) -> Panel:
        card = Panel("card", "noDownloads", across=True, margins=(2.5, 2, 2, 2), spacing=1.5)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(Label(self.tr("Nothing is on its way."), "strong"))
        said = self.tr("Models that you choose under Discover come here, and can be paused.")
        texts.addWidget(Label(said, "muted", wrap=True))
        card.box.addLayout(texts, 1)
        button = LabelledButton("search", self.tr("Discover models"), "discoverModels")
        button.clicked.connect(self.discover)
        card.box.addWidget(button)
        card.hide()
        return card
