"""The bar below the list while several chats are selected, with actions for all of them."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QMenu, QToolButton, QWidget

from app.chats.sidebar.pages.rows import Scope
from app.kit.look.format import figure
from app.kit.widgets.icon_button import IconButton
from app.kit.widgets.label import Label
from app.kit.widgets.menu import Menu
from app.kit.widgets.panel import Panel


class BulkBar(Panel):
    """The actions for several selected chats.

    Signals:
        wanted(action): The user wants this action for all selected chats.
        clear_selection(): The user wants to clear the selection.
        fill(menu): The menu of folders is about to open and has to be filled.
    """

    wanted = Signal(str)
    clear_selection = Signal()
    fill = Signal(QMenu)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("card", "bulkBar", margins=(1.5, 0.5, 0.5, 0.75), spacing=0, parent=parent)
        self._words = Label("", "strong", name="bulkCount")
        close = IconButton("close", self.tr("Select none"), "bulkNone", size=16)
        close.clicked.connect(self.clear_selection)
        top = QHBoxLayout()
        top.addWidget(self._words, 1)
        top.addWidget(close)
        self._move = IconButton("folder", self.tr("Move to a folder"), "bulkMove", size=18)
        self._move.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = Menu(self._move)
        menu.aboutToShow.connect(lambda: self.fill.emit(menu))
        self._move.setMenu(menu)
        below = QHBoxLayout()
        below.setContentsMargins(0, 0, 4, 0)
        below.setSpacing(0)
        below.addWidget(self._move)
        self._buttons: dict[str, IconButton] = {}
        for action, drawing, name in (
            ("pin", "pin", self.tr("Pin")),
            ("unpin", "unpin", self.tr("Unpin")),
            ("archive", "archive", self.tr("Archive")),
            ("unarchive", "unarchive", self.tr("Unarchive")),
            ("restore", "restore", self.tr("Restore")),
            ("export", "export", self.tr("Export")),
            ("delete", "trash", self.tr("Delete")),
            ("purge", "trash", self.tr("Delete for good")),
        ):
            button = IconButton(drawing, name, f"bulk-{action}", size=18)
            button.clicked.connect(lambda _=False, action=action: self.wanted.emit(action))
            if action == "delete":
                below.addStretch(1)
            below.addWidget(button)
            self._buttons[action] = button
        self.box.addLayout(top)
        self.box.addLayout(below)
        self.hide()

    def show_for(self, count: int, scope: Scope, *, pinned: bool) -> None:
        """Show the actions, if at least two chats are selected.

        Args:
            count: The number of selected chats.
            scope: The list that is shown.
            pinned: Whether all selected chats are pinned.
        """
        offered: dict[Scope, set[str]] = {
            "chats": {"unpin" if pinned else "pin", "archive", "export", "delete"},
            "archive": {"unarchive", "export", "delete"},
            "trash": {"restore", "purge"},
        }
        self._words.setText(self.tr("{count} selected").format(count=figure(count)))
        self._move.setVisible(scope == "chats")
        for action, button in self._buttons.items():
            button.setVisible(action in offered[scope])
        self.setVisible(count > 1)
