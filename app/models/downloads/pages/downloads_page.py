"""The page of downloads, in the order of the queue."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from app.base.language import translated
from app.kit.look.format import size
from app.kit.look.theme import GRID
from app.kit.notify import Notifier
from app.kit.widgets.elided_label import ElidedLabel
from app.kit.widgets.icon_button import IconButton
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.panel import Panel
from app.kit.widgets.picture import Picture
from app.models.downloads.pages.download_words import UNDER_WAY, in_words, share
from app.models.downloads.presenters import DownloadList
from app.models.downloads.values.downloads import Download
from app.models.library.pages.part_page import PartPage
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

    Signals:
        action_requested: The user wants "pause", "resume", "cancel", "up", "down" or "use".
    """

    action_requested = Signal(str)

    def __init__(self, download: Download, parent: QWidget | None = None) -> None:
        super().__init__(
            "card", f"download-{download.id}", margins=(2, 1.5, 1.5, 1.5), parent=parent
        )
        self._download = download
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setToolTip(
            self.tr("Space pauses and resumes, Del cancels, Ctrl+Up and Ctrl+Down move it.")
        )
        head = QHBoxLayout()
        head.setSpacing(GRID // 2)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(ElidedLabel(download.wanted.label, "strong", "downloadName"))
        texts.addWidget(ElidedLabel(download.wanted.repo, "small", "downloadRepo"))
        head.addLayout(texts, 1)
        label, name = download.wanted.label, download.id
        self._use = LabelledButton("chat", self.tr("Chat with it"), f"use-{name}")
        self._use.setAccessibleName(self.tr("Chat with {label}").format(label=label))
        self._again = LabelledButton("again", self.tr("Try again"), f"again-{name}")
        self._again.setAccessibleName(self.tr("Try again: {label}").format(label=label))
        self._pause_or_resume = IconButton("pause", "", f"turn-{name}")
        self._up = IconButton("up", self.tr("Earlier: {label}").format(label=label), f"up-{name}")
        self._down = IconButton(
            "lower", self.tr("Later: {label}").format(label=label), f"down-{name}"
        )
        self._cancel = IconButton(
            "close", self.tr("Cancel {label}").format(label=label), f"cancel-{name}"
        )
        self._use.clicked.connect(lambda: self.action_requested.emit("use"))
        self._again.clicked.connect(lambda: self.action_requested.emit("resume"))
        self._pause_or_resume.clicked.connect(lambda: self._do("turn"))
        self._up.clicked.connect(lambda: self._do("up"))
        self._down.clicked.connect(lambda: self._do("down"))
        self._cancel.clicked.connect(lambda: self._do("cancel"))
        for button in (
            self._use,
            self._again,
            self._pause_or_resume,
            self._up,
            self._down,
            self._cancel,
        ):
            head.addWidget(button)
        self.box.addLayout(head)
        self._bar = QProgressBar()
        self._bar.setObjectName(f"bar-{name}")
        self._bar.setAccessibleName(self.tr("Downloading {title}").format(title=label))
        self._bar.setTextVisible(False)
        self.box.addWidget(self._bar)
        foot = QHBoxLayout()
        self._state = Label("", "small", name=f"state-{name}")
        self._amount = Label("", "small", name=f"amount-{name}")
        foot.addWidget(self._state)
        foot.addStretch(1)
        foot.addWidget(self._amount)
        self.box.addLayout(foot)
        self._what = Label("", "problem", name=f"what-{name}", wrap=True, selectable=True)
        self._why = Label("", "small", name=f"why-{name}", wrap=True, selectable=True)
        self._what_to_do = Label("", "small", name=f"do-{name}", wrap=True, selectable=True)
        for line in (self._what, self._why, self._what_to_do):
            self.box.addWidget(line)
        self.show_download(download, first=False, last=False)

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
        for line, text in (
            (self._what, translated(download.what)),
            (self._why, translated(download.why)),
            (self._what_to_do, translated(download.do)),
        ):
            line.setText(text)
            line.setVisible(bool(text))
        self.setAccessibleName(label)
        parts = (words, translated(download.what))
        self.setAccessibleDescription(" ".join(part for part in parts if part))

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
            self.action_requested.emit("resume" if state == "paused" else "pause")
        elif (action == "cancel" and state != "done") or (action != "turn" and state in UNDER_WAY):
            self.action_requested.emit(action)


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
        self._rows: dict[str, DownloadRow] = {}
        self._under_way: list[str] = []
        online = LabelledButton("online", self.tr("Go online"), "downloadsGoOnline")
        online.clicked.connect(self.go_online)
        text = self.tr("Hearth is offline, so nothing is downloaded. What was downloaded is kept.")
        self._offline = self._banner("downloadsOffline", "offline", text, online)
        text = self.tr(
            "Your system says that this connection is metered: downloads may cost money."
        )
        self._metered = self._banner("downloadsMetered", "warning", text)
        self._wait = Label(self.tr("Loading the downloads…"), "muted", name="lookingAtDownloads")
        self.column.addWidget(self._wait)
        self._empty = self._make_empty()
        self.column.addWidget(self._empty)
        self._list = QVBoxLayout()
        self._list.setSpacing(GRID)
        self.column.addLayout(self._list)
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
        self._keep_rows_of(listed)
        for place, download in enumerate(listed):
            row = self._rows[download.id]
            ends = self._under_way[:1] == [download.id], self._under_way[-1:] == [download.id]
            row.show_download(download, first=ends[0], last=ends[1])
            if self._list.indexOf(row) != place:
                self._list.insertWidget(place, row)
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

    def _keep_rows_of(self, listed: Sequence[Download]) -> None:
        """Create and remove rows; a row lives as long as its download, to keep the focus."""
        ids = {download.id for download in listed}
        for removed in self._rows.keys() - ids:
            row = self._rows.pop(removed)
            self._list.removeWidget(row)
            row.hide()
            row.deleteLater()
        for download in listed:
            if download.id not in self._rows:
                row = DownloadRow(download)
                row.action_requested.connect(
                    lambda action, name=download.id: self._act(name, action)
                )
                self._rows[download.id] = row
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
        """Move a download to the place of its neighbour among those under way."""
        place = self._under_way.index(name) + step
        if 0 <= place < len(self._under_way):
            self._service.move(name, self._places.index(self._under_way[place]))

    def _cancel(self, download: Download) -> None:
        """Cancel a download; ask first only if bytes would be lost."""
        if not download.bytes_done:
            self._service.cancel(download.id)
            return
        lines = [
            self.tr("Cancel {label}?").format(label=download.wanted.label),
            self.tr(
                "The {bytes_done} downloaded so far are deleted; pausing would keep them."
            ).format(bytes_done=size(download.bytes_done)),
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
        texts.addWidget(Label(self.tr("No downloads."), "strong"))
        text = self.tr("Models that you download under Discover appear here.")
        texts.addWidget(Label(text, "muted", wrap=True))
        card.box.addLayout(texts, 1)
        button = LabelledButton("search", self.tr("Discover models"), "discoverModels")
        button.clicked.connect(self.discover)
        card.box.addWidget(button)
        card.hide()
        return card
