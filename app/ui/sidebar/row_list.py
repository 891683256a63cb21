"""A list of rows that shows what can be done with one of them, and takes chats that are dropped."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QModelIndex, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QFocusEvent,
    QMouseEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QApplication, QListView, QWidget

from app.ui.sidebar.chat_model import CHATS_MIME, ChatModel, ids_of
from app.ui.sidebar.row_delegate import RowDelegate
from app.ui.sidebar.rows import ChatRow, FolderRow, Row, Scope

if TYPE_CHECKING:
    from app.ui.sidebar.row_actions import RowActions

BATCH = 500
"""How many rows are laid out in one turn of the event loop, where the rest can wait."""


class RowList(QListView):
    """wanted(deed, ids): something is to be done with chats, see `deeds.Deeds`.

    menu(row, place): the menu of a row is wanted, at a place of the screen. dropped(row, ids):
    chats were dropped on a row. shown: the id of the chat that the window shows. hovered,
    drop_row: the rows under the pointer and under what is dragged, or -1.
    """

    wanted = Signal(str, object)
    menu = Signal(object, QPoint)
    dropped = Signal(object, object)

    def __init__(self, model: ChatModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.shown: str | None = None
        self.is_bulk = False
        self.hovered = -1
        self.drop_row = -1
        self.chats = model
        self.setModel(model)
        self.setProperty("look", "list")
        self.setItemDelegate(RowDelegate(self))
        self.setUniformItemSizes(True)
        self.setBatchSize(BATCH)
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragDrop)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)
        self.setDropIndicatorShown(False)
        self._with_actions = -1
        self._pointed_at = (-1, -1)
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(0)
        self._soon.timeout.connect(self._place_actions)
        self.verticalScrollBar().valueChanged.connect(self._refresh_soon)
        self.selectionModel().currentChanged.connect(self._refresh_soon)
        model.modelReset.connect(self._refresh_soon)
        model.dataChanged.connect(self._refresh_soon)

    @property
    def scope(self) -> Scope:
        return self.chats.scope

    def room_for_actions(self, row: int) -> int:
        """Pixels at the end of a row that its buttons take."""
        return self._actions.width() - 4 if row == self._with_actions else 0

    @cached_property
    def _actions(self) -> RowActions:
        """Made for the first row that has them."""
        from app.ui.sidebar.row_actions import RowActions

        actions = RowActions(self.viewport())
        actions.wanted.connect(self._want)
        actions.more.connect(lambda: self._ask_menu(self._with_actions))
        return actions

    def keyboardSearch(self, _search: str) -> None:
        """Not here: it would read every chat. The field above searches."""

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        self._hover(self.indexAt(event.position().toPoint()).row())

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Leave:
            self._hover(-1)
        return super().viewportEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._refresh_soon()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._refresh_soon()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._refresh_soon()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        by_key = event.reason() is QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if by_key else self.indexAt(event.pos())
        row = self.chats.row(index)
        if row is not None:
            place = self.visualRect(index).center() if by_key else event.pos()
            self.menu.emit(row, self.viewport().mapToGlobal(place))

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasFormat(CHATS_MIME) and self.scope == "chats":
            event.acceptProposedAction()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        super().dragMoveEvent(event)  # scrolls at the edges
        index = self.indexAt(event.position().toPoint())
        takes = event.mimeData().hasFormat(CHATS_MIME) and self.scope == "chats"
        self._show_drop(index.row() if takes else -1)
        event.setAccepted(takes and index.isValid())

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        super().dragLeaveEvent(event)
        self._show_drop(-1)

    def dropEvent(self, event: QDropEvent) -> None:
        row = self.chats.row(self.indexAt(event.position().toPoint()))
        self._show_drop(-1)
        # The view is not to take away what was dragged: the list is read again.
        event.setDropAction(Qt.DropAction.IgnoreAction)
        event.accept()
        if row is not None:
            self.dropped.emit(row, ids_of(event.mimeData()))

    def _refresh_soon(self) -> None:
        """Once, however many reasons there are: the buttons of a row are placed anew."""
        self._soon.start()

    def _want(self, deed: str) -> None:
        row = self._row(self._with_actions)
        if isinstance(row, ChatRow):
            self.wanted.emit(deed, [row.chat.id])

    def _ask_menu(self, number: int) -> None:
        row = self._row(number)
        if row is not None:
            below = self._actions.geometry().bottomLeft()
            self.menu.emit(row, self.viewport().mapToGlobal(below))

    def _row(self, number: int) -> Row | None:
        return self.chats.row(self.chats.index(number)) if number >= 0 else None

    def _hover(self, row: int) -> None:
        if row != self.hovered:
            self.hovered = row
            self._refresh_soon()

    def _show_drop(self, row: int) -> None:
        self.drop_row = row
        self.viewport().update()

    def _place_actions(self) -> None:
        """On the row under the pointer; without one, on the current row of the keyboard."""
        focus = QApplication.focusWidget()
        has_focus = self.hasFocus() or (
            focus is not None and self._with_actions >= 0 and self._actions.isAncestorOf(focus)
        )
        number = self.hovered if self.hovered >= 0 else self.currentIndex().row()
        row = self._row(number) if self.hovered >= 0 or has_focus else None
        shows = isinstance(row, ChatRow | FolderRow) and not self.is_bulk
        if shows and isinstance(row, ChatRow | FolderRow):
            self._actions.show_for(row, self.scope)
            area = self.visualRect(self.chats.index(number, 0, QModelIndex()))
            size = self._actions.sizeHint()
            left = area.right() + 1 - size.width()
            self._actions.setGeometry(left, area.top(), size.width(), area.height())
        pointed_at = self.hovered, number if shows else -1
        if not shows and pointed_at == self._pointed_at:
            return
        self._pointed_at = pointed_at
        self._with_actions = number if shows else -1
        self._actions.setVisible(shows)
        self.viewport().update()
