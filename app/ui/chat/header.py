"""Above the transcript: the chat's title, the model in use, and whether Hearth is offline."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QSizePolicy, QWidget

from app.core.models import ModelEntry
from app.ui.theme import GRID
from app.ui.widgets.elided_label import ElidedLabel
from app.ui.widgets.icon_button import IconButton
from app.ui.widgets.label import Label


class Header(QWidget):
    """model(id): another model was chosen. add_model(), show_models(): from the same menu."""

    model = Signal(str)
    add_model = Signal()
    show_models = Signal()
    show_sidebar = Signal()

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
        self._offline = Label(self.tr("Offline"), "badge", name="offlineBadge")
        self._offline.setToolTip(self.tr("No connection leaves this computer."))
        self._offline.hide()
        self._button = QPushButton()
        self._button.setObjectName("modelMenu")
        self._button.setProperty("look", "quiet")
        self._menu = QMenu(self._button)
        self._menu.setObjectName("modelChoices")
        self._button.setMenu(self._menu)
        for widget in (self._sidebar, self._title, self._offline, self._button):
            row.addWidget(widget)

    def set_title(self, title: str) -> None:
        self._title.setText(title)

    def set_offline(self, offline: bool) -> None:
        self._offline.setVisible(offline)

    def set_sidebar_hidden(self, hidden: bool) -> None:
        self._sidebar.setVisible(hidden)

    def set_models(self, entries: Sequence[ModelEntry], current: str) -> None:
        """Fill the menu; `current` is the id or name of the model in use."""
        self._menu.clear()
        group = QActionGroup(self._menu)
        name = current
        for entry in entries:
            action = QAction(entry.name, self._menu)
            action.setCheckable(True)
            action.setActionGroup(group)
            if current in (entry.id, entry.name):
                action.setChecked(True)
                name = entry.name
            action.triggered.connect(lambda _=False, chosen=entry.id: self.model.emit(chosen))
            self._menu.addAction(action)
        self._menu.addSeparator()
        add = self._menu.addAction(self.tr("Add a model file…"))
        add.triggered.connect(self.add_model)
        manage = self._menu.addAction(self.tr("All models"))
        manage.triggered.connect(self.show_models)
        self._button.setText(f"{name}  ▾")
        self._button.setAccessibleName(self.tr("Model: {0}").format(name))
