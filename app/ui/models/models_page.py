"""The page of models: what is on this computer, what there is to get, and what is on its way."""

from __future__ import annotations

from typing import Literal, cast

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from app.presenters.window import WindowServices
from app.ui.models.discover.discover_page import DiscoverPage
from app.ui.models.downloads.downloads_page import DownloadsPage
from app.ui.models.here_page import HerePage
from app.ui.notify import Notifier
from app.ui.widgets.labelled_button import LabelledButton
from app.ui.widgets.page_head import HeadAbove, PageHead
from app.ui.widgets.segments import Segments

Part = Literal["here", "discover", "downloads"]


class ModelsPage(QWidget):
    """Three parts under one head.

    add(): the user wants to add a file. back(): to the chat. turned(part): another part is shown.
    """

    add = Signal()
    back = Signal()
    turned = Signal(str)

    def __init__(
        self, services: WindowServices, notifier: Notifier, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("modelsPage")
        self.here = HerePage(services, notifier)
        self.discover = DiscoverPage(services, notifier)
        self.downloads = DownloadsPage(services.downloads, services.settings, notifier)
        self.downloads.discover.connect(lambda: self.show_part("discover"))
        self._parts: dict[str, QWidget] = {
            "here": self.here,
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
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._head())
        column.addWidget(self._stack, 1)

    @property
    def part(self) -> Part:
        return cast(Part, self._segments.choice)

    def show_part(self, part: Part) -> None:
        if part != self.part:
            self._segments.show_choice(part)
            self._turn(part)

    def _turn(self, part: str) -> None:
        self._stack.setCurrentWidget(self._parts[part])
        self.turned.emit(part)

    def _head(self) -> HeadAbove:
        add = LabelledButton("plus", self.tr("Add a model file…"), "addModel")
        add.clicked.connect(self.add)
        head = PageHead(self.tr("Models"), "backToChat", add)
        head.back.connect(self.back)
        parts = QHBoxLayout()
        parts.addWidget(self._segments)
        return HeadAbove(head, parts)
