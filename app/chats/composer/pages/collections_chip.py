"""The chip at the composer with the chat's collections, and the menu to choose them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMenu, QWidget

from app.documents.collections.values import DocumentCollection
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
        self._shown: tuple[str, ...] = ()
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
        self._shown = tuple(chosen)
        names = [it.name for it in collections if it.id in chosen]
        self.setVisible(bool(names))
        if not names:
            return
        several = self.tr("{count} collections").format(count=len(names))
        one = self.tr("Documents: {names}").format(names=shortened(names[0], _ON_CHIP))
        self.setText(one if len(names) == 1 else several)
        told = ", ".join(names)
        self.setAccessibleName(self.tr("Documents of this chat: {words}").format(words=told))
        self.setAccessibleDescription(state)
        self.setToolTip("\n".join(filter(None, [told, state])))

    def fill(self, menu: QMenu) -> None:
        """Add a submenu with the choices to a menu, for when the chip has no room."""
        inside = menu.addMenu(self.tr("Documents"))
        inside.menuAction().setObjectName("documentsOfChat")
        self._fill_choices(inside)

    def open_menu(self, anchor: QWidget) -> None:
        """Open the menu with the choices above a widget."""
        menu = QMenu(anchor)
        menu.aboutToHide.connect(menu.deleteLater)
        self._fill_choices(menu)
        pop_up(menu, anchor)
        menu.setActiveAction(menu.actions()[0])

    def _fill_choices(self, menu: QMenu) -> None:
        menu.setObjectName("collectionChoices")
        for it in self._all:
            action = menu.addAction(shortened(it.name, _IN_MENU).replace("&", "&&"))
            action.setToolTip(it.name)
            action.setObjectName(f"ask-{it.id}")
            action.setCheckable(True)
            action.setChecked(it.id in self._shown)
            action.triggered.connect(lambda on, which=it.id: self._turn(which, on=on))
        if self._all:
            menu.addSeparator()
        words = self.tr("All documents…") if self._all else self.tr("Add documents…")
        action = menu.addAction(words)
        action.setObjectName("manageDocuments")
        action.triggered.connect(self.manage)

    def _turn(self, collection: str, *, on: bool) -> None:
        others = tuple(it for it in self._shown if it != collection)
        self.chosen.emit((*others, collection) if on else others)


def shortened(name: str, most: int) -> str:
    """Shorten a name to at most this many characters, with “…” at its end."""
    return name if len(name) <= most else f"{name[: most - 1].rstrip()}…"
