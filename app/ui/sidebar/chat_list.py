"""The chats, newest first, under headings by day."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QFont, QKeyEvent, QPalette
from PySide6.QtWidgets import QAbstractItemView, QListWidget, QListWidgetItem, QMenu, QWidget

from app.core.conversation import Chat
from app.ui.sidebar.groups import Group, grouped
from app.ui.theme import SMALL

_ID = Qt.ItemDataRole.UserRole
_TITLE = Qt.ItemDataRole.UserRole + 1


class ChatList(QListWidget):
    """opened(id), chosen(id): shown while moving through the list; meant, by a click or Enter.

    renamed(id, title), deleted(id): done to the list by the user; the owner does it for real.
    exported(id): the user wants the chat as a file.
    """

    opened = Signal(str)
    chosen = Signal(str)
    renamed = Signal(str, str)
    deleted = Signal(str)
    exported = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("chatList")
        self.setAccessibleName(self.tr("Chats"))
        self.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._show_menu)
        self.currentItemChanged.connect(self._current_changed)
        self.itemClicked.connect(self._chosen)
        self.itemActivated.connect(self._chosen)
        self.itemChanged.connect(self._renamed)

    def show_chats(self, chats: Sequence[Chat], current: str | None) -> None:
        """Fill the list anew, with `current` selected; nothing is emitted."""
        names: dict[Group, str] = {
            "today": self.tr("Today"),
            "yesterday": self.tr("Yesterday"),
            "week": self.tr("Last 7 days"),
            "earlier": self.tr("Earlier"),
        }
        place = self.verticalScrollBar().value()
        self.blockSignals(True)
        self.clear()
        for group, members in grouped(chats, datetime.now().astimezone()):
            self._add_heading(names[group])
            for chat in members:
                self._add_chat(chat)
        self.blockSignals(False)
        self.select(current)
        self.verticalScrollBar().setValue(place)

    def select(self, chat_id: str | None) -> None:
        self.blockSignals(True)
        item = self._item(chat_id)
        if item is None:
            self.setCurrentRow(-1)
            self.clearSelection()
        else:
            self.setCurrentItem(item)
        self.blockSignals(False)

    def rename_current(self) -> None:
        """Let the user edit the title in its place."""
        for item in self.selectedItems():
            self.setFocus()
            self.editItem(item)

    def neighbour(self, step: int) -> str | None:
        """The chat above (-1) or below (1) the current one."""
        ids = [self.item(row).data(_ID) for row in range(self.count())]
        ids = [chat_id for chat_id in ids if chat_id]
        if not ids:
            return None
        current = self.currentItem()
        if not self.selectedItems():
            return str(ids[0])
        place = ids.index(current.data(_ID)) + step
        return str(ids[place]) if 0 <= place < len(ids) else None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Delete:
            for item in self.selectedItems():
                self.deleted.emit(item.data(_ID))
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        # Qt makes the first item current when none is: that is no wish to open it.
        self.blockSignals(True)
        super().focusInEvent(event)
        self.blockSignals(False)

    def _add_heading(self, text: str) -> None:
        item = QListWidgetItem(text, self)
        item.setFlags(Qt.ItemFlag.NoItemFlags)
        font = QFont(self.font())
        font.setPixelSize(SMALL)
        font.setWeight(QFont.Weight.DemiBold)
        item.setFont(font)
        item.setSizeHint(QSize(0, 36))
        item.setForeground(QColor(self.palette().color(QPalette.ColorRole.PlaceholderText)))

    def _add_chat(self, chat: Chat) -> None:
        item = QListWidgetItem(chat.title, self)
        item.setData(_ID, chat.id)
        item.setData(_TITLE, chat.title)
        item.setToolTip(chat.title)
        item.setFlags(item.flags() | Qt.ItemFlag.ItemIsEditable)

    def _item(self, chat_id: str | None) -> QListWidgetItem | None:
        rows = (self.item(row) for row in range(self.count()))
        return next((item for item in rows if chat_id and item.data(_ID) == chat_id), None)

    def _current_changed(self, item: QListWidgetItem | None) -> None:
        if item is not None and item.data(_ID):
            self.opened.emit(item.data(_ID))

    def _chosen(self, item: QListWidgetItem) -> None:
        if item.data(_ID):
            self.chosen.emit(item.data(_ID))

    def _renamed(self, item: QListWidgetItem) -> None:
        title = item.text().strip()
        if title and title != item.data(_TITLE):
            self.renamed.emit(item.data(_ID), title)
        elif title != item.data(_TITLE):
            item.setText(item.data(_TITLE))

    def _show_menu(self, place: QPoint) -> None:
        item = self.itemAt(place)
        if item is None or not item.data(_ID):
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        rename = menu.addAction(self.tr("Rename"))
        rename.triggered.connect(lambda: self.editItem(item))
        export = menu.addAction(self.tr("Export…"))
        export.triggered.connect(lambda: self.exported.emit(item.data(_ID)))
        delete = menu.addAction(self.tr("Delete"))
        delete.triggered.connect(lambda: self.deleted.emit(item.data(_ID)))
        menu.popup(self.viewport().mapToGlobal(place))
