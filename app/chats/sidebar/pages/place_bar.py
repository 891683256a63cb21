"""The bar above the list: its name, a menu of the other lists, and a button for a new folder."""

from __future__ import annotations

from functools import cached_property

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QVBoxLayout, QWidget

from app.chats.sidebar.pages.rows import Scope
from app.kit.widgets.icon_button import IconButton
from app.kit.widgets.label import Label
from app.kit.widgets.menu import Menu
from app.kit.widgets.menu_button import MenuButton


class PlaceBar(QWidget):
    """The bar above the list of chats.

    Signals:
        go(scope): The user wants another list.
        asked(): The menu is about to open; `show_counts` has to fill it.
        new_folder(): The user wants a new folder.
        import_chats(): The user wants to import chats.
        empty_trash(): The user wants to empty the trash.
    """

    go = Signal(str)
    asked = Signal()
    new_folder = Signal()
    import_chats = Signal()
    empty_trash = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("placeBar")
        self._back = IconButton(
            "back", self.tr("Back to the chats"), "backToChats", size=16, parent=self
        )
        self._back.clicked.connect(lambda: self.go.emit("chats"))
        self._button = MenuButton("place", "place", self)
        self._button.clicked.connect(self._show_menu)
        self._folder = IconButton(
            "folder-plus", self.tr("New folder"), "newFolder", size=18, parent=self
        )
        self._folder.clicked.connect(self.new_folder)
        self._empty = QPushButton(self.tr("Empty"), self)
        self._empty.setObjectName("emptyTrash")
        self._empty.setAccessibleName(self.tr("Empty the trash"))
        self._empty.setProperty("look", "link")
        self._empty.clicked.connect(self.empty_trash)
        self._note = Label("", "small", name="placeNote", wrap=True, parent=self)
        self._note.setContentsMargins(10, 0, 10, 4)
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self._back)
        row.addWidget(self._button)
        row.addStretch(1)
        row.addWidget(self._empty)
        row.addWidget(self._folder)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(row)
        column.addWidget(self._note)

    def show_place(self, scope: Scope, count: int) -> None:
        """Show the name of the list.

        Args:
            scope: The list.
            count: The number of chats in it.
        """
        names = self._names()
        self._button.setText(names[scope])
        self._button.setAccessibleName(self.tr("Shown: {name}").format(name=names[scope]))
        self._back.setVisible(scope != "chats")
        self._folder.setVisible(scope == "chats")
        self._empty.setVisible(scope == "trash" and count > 0)
        notes: dict[Scope, str] = {
            "chats": "",
            "archive": "",
            "trash": self.tr("Chats are deleted for good after 30 days."),
        }
        self._note.setText(notes[scope])
        self._note.setVisible(bool(notes[scope]) and count > 0)

    def show_counts(self, archive: int, trash: int) -> None:
        """Fill the menu, with the numbers of chats in the archive and in the trash."""
        from app.kit.look.format import figure

        counts: dict[Scope, int] = {"chats": 0, "archive": archive, "trash": trash}
        self._menu.clear()
        for scope, name in self._names().items():
            words = f"{name}  ({figure(counts[scope])})" if counts[scope] else name
            action = self._menu.addAction(words)
            action.setObjectName(f"place-{scope}")
            action.triggered.connect(lambda _=False, to=scope: self.go.emit(to))
        self._menu.addSeparator()
        action = self._menu.addAction(self.tr("Import chats…"))
        action.setObjectName("importChats")
        action.triggered.connect(self.import_chats)

    @cached_property
    def _menu(self) -> QMenu:
        menu = Menu(self)
        menu.setObjectName("placeMenu")
        menu.aboutToShow.connect(self.asked)
        return menu

    def _show_menu(self) -> None:
        self._menu.popup(self._button.mapToGlobal(self._button.rect().bottomLeft()))

    def _names(self) -> dict[Scope, str]:
        return {
            "chats": self.tr("Chats"),
            "archive": self.tr("Archive"),
            "trash": self.tr("Trash"),
        }
