"""The page of downloads, in the order of the queue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter

from PySide6.QtCore import QCoreApplication, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from app.base.language import translated
from app.kit.look.format import size
from app.kit.look.theme import GRID
from app.kit.notify import Notifier
from app.kit.widgets.action import UserAction
from app.kit.widgets.card import ItemCard, Notice
from app.kit.widgets.column_page import PartPage
from app.kit.widgets.elided_label import ElidedLabel
from app.kit.widgets.icon_button import IconButton
from app.kit.widgets.keyed_column import KeyedColumn
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.layouts import column, fill, row
from app.kit.widgets.panel import Panel
from app.kit.widgets.progress_bar import ProgressBar
from app.models.downloads.pages.download_words import UNDER_WAY, in_words, share
from app.models.downloads.presenters import DownloadList
from app.models.downloads.values.downloads import Download
from app.settings.pages.setting_row import SettingRow
from app.settings.presenters import SettingsService
from app.settings.values.fields import Settings, fields
from engines.errors import UserError

_NAMES = ("download_limit", "download_parallel")


class SpeedCard(Panel):
    """The card for the download limits.

    A change takes effect within a second, also for downloads under way.
    """

    def __init__(self, settings: SettingsService, parent: QWidget | None = None) -> None:
        super().__init__("card", "paceCard", margins=(2.5, 2, 2.5, 2), spacing=1.5, parent=parent)
        self._settings = settings
        self._rows: dict[str, SettingRow] = {}
        self.box.addWidget(Label(self.tr("Speed"), "group"))
        for name in _NAMES:
            self._rows[name] = self._row(name, settings.current)
            self.box.addWidget(self._rows[name])
        self._last_settings = settings.current

    def showEvent(self, event: QShowEvent) -> None:
        """Update the limits, which may have changed in the settings."""
        super().showEvent(event)
        now = self._settings.current
        for name in _NAMES:
            if getattr(now, name) != getattr(self._last_settings, name):
                before, self._rows[name] = self._rows[name], self._row(name, now)
                self.box.replaceWidget(before, self._rows[name])
                before.hide()
                before.deleteLater()
        self._last_settings = now

    def _row(self, name: str, settings: Settings) -> SettingRow:
        row = SettingRow(name, fields()[name], getattr(settings, name))
        row.changed.connect(self._change)
        return row

    def _change(self, name: str, value: object) -> None:
        try:
            self._settings.set(name, value)
        except UserError as error:
            self._rows[name].show_problem(f"{translated(error.why)} {translated(error.do)}")
        else:
            self._last_settings = self._settings.current
            self._rows[name].show_problem("")


def amount(download: Download) -> str:
    """Return the bytes and files of a download: 1.2 GB of 4.1 GB, 3 files."""
    request = download.wanted
    total = size(request.bytes_total)
    text = _tr("{done} of {total}").format(done=size(download.bytes_done), total=total)
    if download.state == "done":
        text = total
    count = len(request.files)
    return text if count == 1 else _tr("{text}, {count} files").format(text=text, count=count)


def _tr(text: str) -> str:
    return QCoreApplication.translate("downloads", text)


_KEYS = {
    (Qt.Key.Key_Space, False): "turn",
    (Qt.Key.Key_Delete, False): "cancel",
    (Qt.Key.Key_Up, True): "up",
    (Qt.Key.Key_Down, True): "down",
}
"""The action for each key; the flag says whether Ctrl is held."""


class DownloadRow(Panel):
    """The row of one download.

    Args:
        download: The download.
        act: Called with its id and "pause", "resume", "cancel", "up", "down" or "use".
    """

    def __init__(self, download: Download, act: Callable[[str, str], object]) -> None:
        super().__init__("card", f"download-{download.id}", margins=(2, 1.5, 1.5, 1.5))
        self._download = download
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setToolTip(
            self.tr("Space pauses and resumes, Del cancels, Ctrl+Up and Ctrl+Down move it.")
        )
        label, name = download.wanted.label, download.id
        self._act = act
        use, again = partial(act, download.id, "use"), partial(act, download.id, "resume")
        self._use = UserAction(f"use-{name}", "chat", self.tr("Chat with it"), use).button(
            spoken=self.tr("Chat with {label}").format(label=label)
        )
        self._again = UserAction(f"again-{name}", "again", self.tr("Try again"), again).button(
            spoken=self.tr("Try again: {label}").format(label=label)
        )
        self._pause_or_resume = self._icon("turn", "pause", "")
        self._up = self._icon("up", "up", self.tr("Earlier: {label}").format(label=label))
        self._down = self._icon("down", "lower", self.tr("Later: {label}").format(label=label))
        self._cancel = self._icon("cancel", "close", self.tr("Cancel {label}").format(label=label))
        self._bar = ProgressBar(f"bar-{name}", self.tr("Downloading {title}").format(title=label))
        self._state = Label("", "small", name=f"state-{name}")
        self._amount = Label("", "small", name=f"amount-{name}")
        self._what = Label("", "problem", name=f"what-{name}", wrap=True, selectable=True)
        self._why = Label("", "small", name=f"why-{name}", wrap=True, selectable=True)
        self._what_to_do = Label("", "small", name=f"do-{name}", wrap=True, selectable=True)
        texts = column(
            ElidedLabel(label, "strong", "downloadName"),
            ElidedLabel(download.wanted.repo, "small", "downloadRepo"),
            spacing=2,
        )
        buttons = self._use, self._again, self._pause_or_resume, self._up, self._down, self._cancel
        fill(
            self.box,
            row((texts, 1), *buttons, spacing=GRID // 2),
            self._bar,
            row(self._state, 1, self._amount),
            self._what,
            self._why,
            self._what_to_do,
        )

    @property
    def download(self) -> Download:
        """The download as the row shows it."""
        return self._download

    def show_download(self, download: Download, *, first: bool, last: bool) -> None:
        """Show a download.

        Args:
            first: Whether it is the first of those under way, so that it cannot move up.
            last: Whether it is the last of those under way, so that it cannot move down.
        """
        self._download = download
        under_way, state = download.state in UNDER_WAY, download.state
        words = in_words(download)
        self._state.setText(words)
        self._amount.setText(amount(download))
        self._bar.setVisible(under_way)
        self._bar.setValue(round(share(download) * 100))
        label = download.wanted.label
        paused = state == "paused"
        self._pause_or_resume.setVisible(under_way)
        self._pause_or_resume.redraw("play" if paused else "pause")
        text = self.tr("Resume {label}") if paused else self.tr("Pause {label}")
        self._pause_or_resume.rename(text.format(label=label))
        self._up.setVisible(under_way)
        self._up.setEnabled(not first)
        self._down.setVisible(under_way)
        self._down.setEnabled(not last)
        self._cancel.setVisible(state != "done")
        self._cancel.rename(
            (self.tr("Remove {name}") if state == "failed" else self.tr("Cancel {name}")).format(
                name=label
            )
        )
        self._use.setVisible(state == "done" and download.serves is None)
        self._again.setVisible(state == "failed")
        self._what.show_text(translated(download.what))
        self._why.show_text(translated(download.why))
        self._what_to_do.show_text(translated(download.do))
        self.setAccessibleName(label)
        parts = (words, translated(download.what))
        self.setAccessibleDescription(" ".join(part for part in parts if part))

    def _icon(self, action: str, icon: str, text: str) -> IconButton:
        do = partial(self._do, action)
        return UserAction(f"{action}-{self._download.id}", icon, text, do).icon_button()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Pause, resume, cancel or move the download by its keys."""
        ctrl = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        action = _KEYS.get((Qt.Key(event.key()), ctrl))
        if action is None:
            super().keyPressEvent(event)
        else:
            self._do(action)

    def _do(self, action: str) -> None:
        state = self._download.state
        if action == "turn" and state in UNDER_WAY:
            self._act(self._download.id, "resume" if state == "paused" else "pause")
        elif (action == "cancel" and state != "done") or (action != "turn" and state in UNDER_WAY):
            self._act(self._download.id, action)


_TICK_MS = 1000
"""How often the page checks for changes by other processes and updates waiting times."""


class DownloadsPage(PartPage):
    """The page of downloads.

    Signals:
        discover: The user wants to find a model.
        go_online: The user allows Hearth to connect again.
    """

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
        self._under_way: list[str] = []
        self._rows = KeyedColumn(
            attrgetter("id"), lambda download: DownloadRow(download, self._act), self._show_in_row
        )
        go_online = self.go_online.emit
        online = UserAction("downloadsGoOnline", "online", self.tr("Go online"), go_online).button()
        text = self.tr("Hearth is offline, so nothing is downloaded. What was downloaded is kept.")
        self._offline = Notice("downloadsOffline", "offline", text, online)
        text = self.tr(
            "Your system says that this connection is metered: downloads may cost money."
        )
        self._metered = Notice("downloadsMetered", "warning", text)
        for notice in (self._offline, self._metered):
            notice.hide()
            self.column.addWidget(notice)
        self._wait = Label(self.tr("Loading the downloads…"), "muted", name="lookingAtDownloads")
        self.column.addWidget(self._wait)
        self._empty = self._make_empty()
        self.column.addWidget(self._empty)
        self.column.addLayout(self._rows.layout)
        self._clear = LabelledButton("check", self.tr("Clear finished"), "clearDownloads")
        self._clear.clicked.connect(service.clear_done)
        self._clear.hide()
        self.column.addWidget(self._clear, 0, Qt.AlignmentFlag.AlignLeft)
        self.column.addWidget(SpeedCard(settings))
        self.column.addStretch(1)
        self._tick = QTimer(self)
        self._tick.setInterval(_TICK_MS)
        self._tick.timeout.connect(service.look)
        service.changed.connect(self.show_downloads)
        service.metered.connect(self._metered.setVisible)

    def set_offline(self, offline: bool) -> None:
        """Show or hide the note that nothing is downloaded while offline."""
        self._offline.setVisible(offline)

    def show_downloads(self, downloads: Sequence[Download]) -> None:
        """Show downloads in their order; cancelled ones get no row."""
        listed = [download for download in downloads if download.state != "cancelled"]
        self._wait.hide()
        self._empty.setVisible(not listed)
        self._clear.setVisible(any(download.state == "done" for download in listed))
        self._under_way = [download.id for download in downloads if download.state in UNDER_WAY]
        self._rows.show(listed)
        self._places = [download.id for download in downloads]

    def showEvent(self, event: QShowEvent) -> None:
        """Read the downloads, and read them again every second."""
        super().showEvent(event)
        self._service.look()
        self._service.check_metered()
        self._tick.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop reading the downloads."""
        super().hideEvent(event)
        self._tick.stop()

    def _show_in_row(self, row: DownloadRow, download: Download) -> None:
        name, under_way = download.id, self._under_way
        row.show_download(download, first=under_way[:1] == [name], last=under_way[-1:] == [name])

    def _act(self, name: str, action: str) -> None:
        service, download = self._service, self._rows.rows[name].download
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
        """Move a download to the place of its neighbour among those under way."""
        place = self._under_way.index(name) + step
        if 0 <= place < len(self._under_way):
            self._service.move(name, self._places.index(self._under_way[place]))

    def _cancel(self, download: Download) -> None:
        """Cancel a download; ask first only if bytes would be lost."""
        if not download.bytes_done:
            self._service.cancel(download.id)
            return
        self._notifier.confirm(
            self.tr("Cancel {label}?").format(label=download.wanted.label),
            self.tr(
                "The {bytes_done} downloaded so far are deleted; pausing would keep them."
            ).format(bytes_done=size(download.bytes_done)),
            ("confirmCancel", self.tr("Cancel the download")),
            ("keepDownload", self.tr("Keep it")),
            lambda: self._service.cancel(download.id),
        )

    def _make_empty(self) -> ItemCard:
        text = self.tr("Models that you download under Discover appear here.")
        title, words = Label(self.tr("No downloads."), "strong"), Label(text, "muted", wrap=True)
        discover = self.discover.emit
        find = UserAction("discoverModels", "search", self.tr("Discover models"), discover).button()
        texts = column(title, words, spacing=2)
        card = ItemCard("noDownloads", (texts, 1), find, margins=(2.5, 2, 2, 2))
        card.hide()
        return card
