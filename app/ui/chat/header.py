"""Above the transcript: the chat's title, the model in use, and whether Hearth is offline."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QSizePolicy, QWidget

from app.core.models import ModelEntry
from app.ui.chat.offline_switch import OfflineSwitch
from app.ui.models.names import name_of
from app.ui.theme import GRID
from app.ui.widgets.elided_label import ElidedLabel
from app.ui.widgets.icon_button import IconButton


class Header(QWidget):
    """model(id): another model was chosen. add_model(), show_models(): from the same menu.

    toggle_offline(): the user wants Hearth offline, or online again. chat_settings(): they are to
    be seen, or not any more.
    """

    model = Signal(str)
    add_model = Signal()
    show_models = Signal()
    show_sidebar = Signal()
    toggle_offline = Signal()
    chat_settings = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("header")
        row = QHBoxLayout(self)
        row.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        row.setSpacing(GRID)
        self._sidebar = IconButton("panel", self.tr("Show the sidebar"), "showSidebar")
        self._sidebar.clicked.connect(self.show_sidebar)
        self._sidebar.hide()
        self._title = ElidedLabel("", "strong", "chatTitle")
        self._title.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._offline = OfflineSwitch()
        self._offline.clicked.connect(self.toggle_offline)
        self._button = QPushButton()
        self._button.setObjectName("modelMenu")
        self._button.setProperty("look", "quiet")
        self._menu = QMenu(self._button)
        self._menu.setObjectName("modelChoices")
        self._menu.aboutToShow.connect(self._fill)
        self._button.setMenu(self._menu)
        self._entries: Sequence[ModelEntry] = ()
        self._current = ""
        tune = IconButton("sliders", self.tr("Chat settings"), "toggleChatSettings")
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
        """For the menu; `current` is the id or name of the model in use."""
        self._entries, self._current = entries, current
        names = (name_of(entry) for entry in entries if current in (entry.id, entry.name))
        name = next(names, current)
        self._button.setText(f"{name}  ▾")
        self._button.setAccessibleName(self.tr("Model: {0}").format(name))

    def _fill(self) -> None:
        """There may be thousands of models, so the menu is made only when it is opened."""
        self._menu.clear()
        group = QActionGroup(self._menu)
        for entry in self._entries:
            action = QAction(name_of(entry), self._menu)
            action.setCheckable(True)
            action.setActionGroup(group)
            action.setChecked(self._current in (entry.id, entry.name))
            action.triggered.connect(lambda _=False, chosen=entry.id: self.model.emit(chosen))
            self._menu.addAction(action)
        self._menu.addSeparator()
        add = self._menu.addAction(self.tr("Add a model file…"))
        add.triggered.connect(self.add_model)
        manage = self._menu.addAction(self.tr("All models"))
        manage.triggered.connect(self.show_models)
