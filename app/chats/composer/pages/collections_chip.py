"""At the composer: the collections that the chat is asked about, and the menu to choose them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMenu, QWidget

from app.documents.collections.values import DocumentCollection
from app.kit.widgets.menu_button import MenuButton, pop_up

_ON_CHIP, _IN_MENU = 24, 40
"""Characters of a name; all of it is in the tip."""


class CollectionsChip(MenuButton):
    """chosen(tuple of ids): the user has chosen others. manage(): the page of them is wanted.

    Hidden while none is chosen; the menu is reached otherwise then.
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
        """Show what is chosen of all collections. state: said of those that are not all read."""
        self._all = collections
        self._shown = tuple(chosen)
        names = [it.name for it in collections if it.id in chosen]
        self.setVisible(bool(names))
        if not names:
            return
        several = self.tr("{0} collections").format(len(names))
        one = self.tr("Documents: {0}").format(shortened(names[0], _ON_CHIP))
        self.setText(one if len(names) == 1 else several)
        told = ", ".join(names)
        self.setAccessibleName(self.tr("Documents of this chat: {0}").format(told))
        self.setAccessibleDescription(state)
        self.setToolTip("\n".join(filter(None, [told, state])))

    def fill(self, menu: QMenu) -> None:
        """Put the choices into a menu of their own, where the chip has no room."""
        inside = menu.addMenu(self.tr("Documents"))
        inside.menuAction().setObjectName("documentsOfChat")
        self._fill_choices(inside)

    def open_menu(self, anchor: QWidget) -> None:
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
    return name if len(name) <= most else f"{name[: most - 1].rstrip()}…"
