"""The models page: models on this computer, models to discover, and downloads."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.connections.pages.going_online import GoingOnline
from app.kit.navigation import Navigation
from app.kit.notify import Notifier
from app.kit.widgets.flow import FlowRow
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.page_head import FixedHead, PageHead
from app.kit.widgets.segments import Segments
from app.models.discover.pages.discover_page import DiscoverPage
from app.models.downloads.pages.downloads_page import DownloadsPage
from app.models.library.pages.chooser import ModelChooser
from app.models.library.pages.local_models_page import LocalModelsPage
from app.models.presenters import ModelsPresenters


class ModelsPage(QWidget):
    """Three parts below one header.

    Signals:
        turned: The name of the part that is now shown.
    """

    turned = Signal(str)

    def __init__(
        self,
        presenters: ModelsPresenters,
        notifier: Notifier,
        navigation: Navigation,
        chooser: ModelChooser,
        online: GoingOnline,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("modelsPage")
        self._presenters = presenters
        self._navigation = navigation
        self._chooser = chooser
        self._online = online
        self.local_models = LocalModelsPage(presenters, notifier)
        self.discover = DiscoverPage(
            presenters.discover, presenters.suggestions, presenters.hub_token, notifier
        )
        self.downloads = DownloadsPage(presenters.downloads, presenters.settings, notifier)
        self.downloads.discover.connect(lambda: self.show_part("discover"))
        self._parts: dict[str, QWidget] = {
            "here": self.local_models,
            "discover": self.discover,
            "downloads": self.downloads,
        }
        self._segments = Segments(
            "modelsPart",
            self.tr("Part of the page"),
            (
                ("here", self.tr("On this computer"), self.tr("Models on this computer")),
                ("discover", self.tr("Discover"), self.tr("Discover models")),
                ("downloads", self.tr("Downloads"), self.tr("Downloads")),
            ),
        )
        self._segments.chosen.connect(self._turn)
        self._stack = QStackedWidget()
        for part in self._parts.values():
            self._stack.addWidget(part)
        self._head().lay_over(self._stack, self)
        self._connect()
        self._show_current_state()

    @property
    def part(self) -> str:
        """The name of the part that is shown."""
        return self._segments.choice

    def show_part(self, part: str) -> None:
        """Show a part: "here", "discover" or "downloads"."""
        if part != self.part:
            self._segments.show_choice(part)
            self._turn(part)

    def showEvent(self, event: QShowEvent) -> None:
        """Check the hardware, if it was not checked before."""
        super().showEvent(event)
        self._presenters.system.check()

    def _connect(self) -> None:
        online = self._online
        presenters, chooser, local_models = self._presenters, self._chooser, self.local_models
        go_to_chat = self._navigation.go_to_chat
        local_models.use.connect(chooser.use_from_now_on)
        local_models.details.use.connect(go_to_chat)
        local_models.anyway.connect(chooser.use)
        local_models.anyway.connect(go_to_chat)
        local_models.details.find_smaller.connect(lambda: self.show_part("discover"))
        local_models.list.discover.connect(lambda: self.show_part("discover"))
        local_models.remove.connect(chooser.remove)
        local_models.changed.connect(presenters.models.look)
        chooser.announced.connect(local_models.show_models)
        chooser.announced.connect(lambda entries, _: self.discover.show_entries(entries))
        self.discover.use.connect(chooser.use_from_now_on)
        self.discover.use.connect(go_to_chat)
        presenters.models.mtp_read.connect(local_models.list.mtp.show_model)
        presenters.system.checked.connect(local_models.list.show_check)
        presenters.system.failed.connect(local_models.list.show_check_failed)
        presenters.downloads.changed.connect(self.discover.show_downloads)
        for part in (self.downloads, self.discover):
            part.go_online.connect(online.go_online)
        online.changed.connect(self._set_offline)

    def _show_current_state(self) -> None:
        """Show the state that was reported before this page existed."""
        presenters, chooser = self._presenters, self._chooser
        self._set_offline(self._online.is_offline)
        self.local_models.show_models(chooser.entries(), chooser.current())
        self.discover.show_entries(chooser.entries())
        if presenters.models.last_mtp is not None:
            self.local_models.list.mtp.show_model(*presenters.models.last_mtp)
        if presenters.downloads.last_downloads is not None:
            self.downloads.show_downloads(presenters.downloads.last_downloads)
            self.discover.show_downloads(presenters.downloads.last_downloads)

    def _set_offline(self, offline: bool) -> None:
        self.downloads.set_offline(offline)
        self.discover.set_offline(offline, for_good=self._online.stays_offline)

    def _turn(self, part: str) -> None:
        self._stack.setCurrentWidget(self._parts[part])
        self.turned.emit(part)

    def _head(self) -> FixedHead:
        add = LabelledButton("plus", self.tr("Add a model file…"), "addModel")
        add.clicked.connect(self._chooser.add)
        head = PageHead(self.tr("Models"), "backToChat", self._navigation.go_to_chat, add)
        return FixedHead(head, FlowRow(self._segments))
