"""The chip at the composer with the chat's collections, and the menu to choose them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMenu, QWidget

from app.documents.collections.values import DocumentCollection
from app.kit.widgets.menu import Menu
from app.kit.widgets.menu_button import MenuButton, pop_up

_ON_CHIP, _IN_MENU = 24, 40
"""The maximum number of characters of a name; the tooltip has the whole name."""


class CollectionsChip(MenuButton):
    """The chip with the chat's collections, hidden while there are none.

    While it is hidden, the composer's menu offers the choice.

    Signals:
        chosen(ids): The user chose other collections; a tuple of their ids.
        manage(): The user wants the page of the collections.
    """

    chosen = Signal(object)
    manage = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("collectionsChip", "chip", parent)
        self.setAutoDefault(False)
        self.setAccessibleName(self.tr("Documents of this chat"))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._all: Sequence[DocumentCollection] = ()
        self._chosen: tuple[str, ...] = ()
        self.clicked.connect(lambda: self.open_menu(self))
        self.hide()

    def show_choice(
        self, collections: Sequence[DocumentCollection], chosen: Collection[str], state: str
    ) -> None:
        """Show which collections are chosen.

        Args:
            collections: All collections.
            chosen: The ids of the chosen ones.
            state: A sentence about chosen collections that are still being read; "" for none.
        """
        self._all = collections
        self._chosen = tuple(chosen)
        names = [collection.name for collection in collections if collection.id in chosen]
        self.setVisible(bool(names))
        if not names:
            return
        several = self.tr("{count} collections").format(count=len(names))
        single = self.tr("Documents: {names}").format(names=shortened(names[0], _ON_CHIP))
        self.setText(single if len(names) == 1 else several)
        name_list = ", ".join(names)
        self.setAccessibleName(self.tr("Documents of this chat: {words}").format(words=name_list))
        self.setAccessibleDescription(state)
        self.setToolTip("\n".join(filter(None, [name_list, state])))

    def fill(self, menu: QMenu) -> None:
        """Add a submenu with the choices to a menu, for when the chip has no room."""
        submenu = menu.addMenu(self.tr("Documents"))
        submenu.menuAction().setObjectName("documentsOfChat")
        self._fill_choices(submenu)

    def open_menu(self, anchor: QWidget) -> None:
        """Open the menu with the choices above a widget."""
        menu = Menu(anchor)
        menu.aboutToHide.connect(menu.deleteLater)
        self._fill_choices(menu)
        pop_up(menu, anchor)
        menu.setActiveAction(menu.actions()[0])

    def _fill_choices(self, menu: QMenu) -> None:
        menu.setObjectName("collectionChoices")
        for collection in self._all:
            action = menu.addAction(shortened(collection.name, _IN_MENU).replace("&", "&&"))
            action.setToolTip(collection.name)
            action.setObjectName(f"ask-{collection.id}")
            action.setCheckable(True)
            action.setChecked(collection.id in self._chosen)
            action.triggered.connect(
                lambda on, collection_id=collection.id: self._toggle(collection_id, chosen=on)
            )
        if self._all:
            menu.addSeparator()
        words = self.tr("All documents…") if self._all else self.tr("Add documents…")
        action = menu.addAction(words)
        action.setObjectName("manageDocuments")
        action.triggered.connect(self.manage)

    def _toggle(self, collection_id: str, *, chosen: bool) -> None:
        other_ids = tuple(other for other in self._chosen if other != collection_id)
        self.chosen.emit((*other_ids, collection_id) if chosen else other_ids)


def shortened(name: str, longest: int) -> str:
    """Shorten a name to at most this many characters, with “…” at its end."""
    return name if len(name) <= longest else f"{name[: longest - 1].rstrip()}…"
