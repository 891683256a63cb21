"""Above the transcript: the chat's title, the model in use, and whether Hearth is offline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QSizePolicy, QWidget

from app.ui.chat.offline_switch import OfflineSwitch
from app.ui.look.scale import scaled
from app.ui.look.theme import GRID
from app.ui.models.names import name_of
from app.ui.widgets.elided_label import ElidedLabel
from app.ui.widgets.icon_button import IconButton
from app.ui.widgets.menu_button import MenuButton

if TYPE_CHECKING:
    from app.core.models.counterparts import Counterpart
    from app.core.models.entry import ModelEntry
    from app.presenters.server_list import Destination
    from app.ui.chat.engine_badge import HeaderBadge

_NARROW = 640
"""Pixels; with less, the badge says no more than where the text goes."""


class Header(QWidget):
    """model(id): another model was chosen. add_model(), show_models(), servers(): from the same
    menu. choosing(): it is about to open, so that its counterparts may be looked for.
    other_engine(Counterpart): the same model is wanted on another engine.

    toggle_offline(): the user wants Hearth offline, or online again. chat_settings(): they are to
    be seen, or not any more.
    """

    model = Signal(str)
    add_model = Signal()
    show_models = Signal()
    servers = Signal()
    choosing = Signal()
    other_engine = Signal(object)
    show_sidebar = Signal()
    toggle_offline = Signal()
    chat_settings = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("header")
        row = self._row = QHBoxLayout(self)
        row.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        row.setSpacing(GRID)
        self._sidebar = IconButton("panel", self.tr("Show the sidebar"), "showSidebar", parent=self)
        self._sidebar.clicked.connect(self.show_sidebar)
        self._sidebar.hide()
        self._title = ElidedLabel("", "strong", "chatTitle", self)
        self._title.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._offline = OfflineSwitch(self)
        self._offline.clicked.connect(self.toggle_offline)
        self._button = MenuButton("modelMenu", "quiet", self)
        self._menu = QMenu(self)
        self._menu.setObjectName("modelChoices")
        self._menu.aboutToShow.connect(self._open)
        self._button.setMenu(self._menu)
        self._entries: Sequence[ModelEntry] = ()
        self._elsewhere: Sequence[Counterpart] = ()
        self._badge: HeaderBadge | None = None
        self._current = ""
        tune = IconButton("sliders", self.tr("Chat settings"), "toggleChatSettings", parent=self)
        tune.clicked.connect(self.chat_settings)
        for widget in (self._sidebar, self._title, self._offline, self._button, tune):
            row.addWidget(widget)

    def set_title(self, title: str) -> None:
        self._title.setText(title)

    def set_offline(self, offline: bool) -> None:
        self._offline.show_state(offline=offline)

    def set_sidebar_hidden(self, hidden: bool) -> None:
        self._sidebar.setVisible(hidden)

    def set_models(self, entries: Sequence[ModelEntry], current: str) -> None:
        """Set the models for the menu; `current` is the id or name of the model in use."""
        self._entries, self._current = entries, current
        names = (name_of(entry) for entry in entries if current in (entry.id, entry.name))
        name = next(names, current)
        self._button.setText(name)
        self._button.setAccessibleName(self.tr("Model: {0}").format(name))

    def show_place(self, place: Destination | None) -> None:
        """Show where the chat's text goes; None where Hearth itself answers."""
        if self._badge is None and place is not None:
            from app.ui.chat.engine_badge import HeaderBadge

            self._badge = HeaderBadge(self)
            self._row.insertWidget(self._row.indexOf(self._offline), self._badge)
            self._fit(self.width())
        if self._badge is not None:
            self._badge.show_place(place)

    def show_elsewhere(self, found: Sequence[Counterpart]) -> None:
        """Offer the same model on other engines, in an open menu and the next."""
        self._elsewhere = found
        if self._menu.isVisible():
            self._fill()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit(event.size().width())

    def _fit(self, width: int) -> None:
        if self._badge is not None:
            self._badge.set_short(width < scaled(_NARROW))

    def _open(self) -> None:
        self._fill()
        self.choosing.emit()

    def _fill(self) -> None:
        """Fill the menu when it is opened, as there may be thousands of models."""
        from app.ui.chat.model_choices import add_counterpart, fill_choices

        self._menu.clear()
        fill_choices(self._menu, self._entries, self._current, self.model.emit)
        if self._elsewhere:
            self._menu.addSeparator()
        for other in self._elsewhere:
            add_counterpart(self._menu, other, self.other_engine.emit)
        self._menu.addSeparator()
        add = self._menu.addAction(self.tr("Add a model file…"))
        add.triggered.connect(self.add_model)
        manage = self._menu.addAction(self.tr("All models"))
        manage.triggered.connect(self.show_models)
        servers = self._menu.addAction(self.tr("Servers…"))
        servers.triggered.connect(self.servers)
