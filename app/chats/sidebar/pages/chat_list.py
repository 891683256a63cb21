"""The list of the chats and folders, for mouse and keyboard."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QModelIndex, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import (
    QAbstractItemDelegate,
    QAbstractItemView,
    QApplication,
    QListView,
    QWidget,
)

from app.chats.sidebar.pages.chat_model import ChatModel
from app.chats.sidebar.pages.row_list import BATCH, RowList
from app.chats.sidebar.pages.rows import ChatRow, FolderRow, Scope

_Flag = QItemSelectionModel.SelectionFlag


class ChatList(RowList):
    """The list of the chats and folders.

    Signals:
        opened(id): The user moved to a chat in the list.
        chosen(id): The user chose a chat with a click or Enter.
        selected(count): The number of selected chats; two or more are handled together.
    """

    opened = Signal(str)
    chosen = Signal(str)
    selected = Signal(int)

    def __init__(self, model: ChatModel, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self.setObjectName("chatList")
        self.setAccessibleName(self.tr("Chats"))
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self._ids: list[str] = []
        self._quiet = False
        self._late = False
        self.selectionModel().currentChanged.connect(self._current_changed)
        self.selectionModel().selectionChanged.connect(self._selection_changed)
        self.clicked.connect(self._clicked)

    def reload(self, scope: Scope | None = None) -> None:
        """Read the list again; the selection and the scroll position stay.

        Args:
            scope: The list to show; None for the same.
        """
        if self.state() is QAbstractItemView.State.EditingState:
            self._late = True
            return
        ids = self._ids if scope in (None, self.scope) else []
        current = self.chats.chat_at(self.currentIndex().row())
        row, place = self.currentIndex().row(), self.verticalScrollBar().value()
        self._quiet = True
        self._lay_out(self.indexAt(self.rect().center()).row())
        self.chats.reload(scope)
        self._select(ids)
        index = self.chats.index_of(current.id) if current else QModelIndex()
        if not index.isValid() and row >= 0:
            index = self.chats.index(min(row, self.chats.rowCount() - 1))
        self.selectionModel().setCurrentIndex(index, _Flag.NoUpdate)
        self._quiet = False
        self.verticalScrollBar().setValue(place)
        self._selection_changed()  # the same rows can hold other or newly pinned chats

    def show_chat(self, chat_id: str | None) -> None:
        """Mark the chat that the window shows, without emitting a signal."""
        if chat_id != self.shown and not self.is_bulk:
            self._quiet = True
            self._select([chat_id] if chat_id else [])
            index = self.chats.index_of(chat_id) if chat_id else QModelIndex()
            self.selectionModel().setCurrentIndex(index, _Flag.NoUpdate)
            if index.isValid():
                self._lay_out(index.row())
                self.scrollTo(index)
            self._quiet = False
        if chat_id != self.shown:
            self.shown = chat_id
            self.viewport().update()

    def clear_selection(self) -> None:
        """Clear a selection of several chats."""
        self._select([self.shown] if self.shown else [])

    def selected_ids(self) -> list[str]:
        """Return the ids of the selected chats, from top to bottom."""
        return list(self._ids)

    @property
    def are_pinned(self) -> bool:
        """True if all selected chats are pinned."""
        return all(self.chats.are_pinned(first, last) for first, last in self._ranges())

    def go_to_shown(self) -> None:
        """Make the chat that is shown the current row, and unfold its folder."""
        self.chats.unfold_for(self.shown or "")
        self.reload()
        index = self.chats.index_of(self.shown or "")
        self.selectionModel().setCurrentIndex(index, _Flag.NoUpdate)

    def rename_current(self) -> None:
        """Let the user edit the name of the current row."""
        self.rename(self.currentIndex())

    def rename(self, index: QModelIndex) -> None:
        """Let the user edit the name of a row in place."""
        if index.isValid() and index.flags() & Qt.ItemFlag.ItemIsEditable:
            self.setFocus()
            self.selectionModel().setCurrentIndex(index, _Flag.NoUpdate)
            self.scrollTo(index)
            self.edit(index)

    def neighbour(self, chat_id: str | None, step: int) -> str | None:
        """Return the chat above (-1) or below (1) a chat, or the first if that is not listed."""
        index = self.chats.index_of(chat_id) if chat_id else QModelIndex()
        row, step = (index.row() + step, step) if index.isValid() else (0, 1)
        while 0 <= row < self.chats.rowCount():
            chat = self.chats.chat_at(row)
            if chat:
                return chat.id
            row += step
        return None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Delete, choose or fold the current row, or clear a bulk selection."""
        key, row = event.key(), self.chats.row(self.currentIndex())
        if not self.hasFocus():
            super().keyPressEvent(event)  # a key that the name editor ignored
        elif key == Qt.Key.Key_Delete:
            self._delete()
        elif key == Qt.Key.Key_Escape and self.is_bulk:
            self.clear_selection()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and row is not None:
            self._choose(self.currentIndex())
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right) and isinstance(row, FolderRow):
            self._fold(row, folded=key == Qt.Key.Key_Left)
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Select a row without opening its chat."""
        self._quiet = True  # a press can start a drag; only a click opens a chat
        super().mousePressEvent(event)
        self._quiet = False

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Take the focus without opening a chat."""
        self._quiet = True  # Qt makes the first row current if none is; it must not open
        super().focusInEvent(event)
        self._quiet = False

    def closeEditor(self, editor: QWidget, hint: QAbstractItemDelegate.EndEditHint) -> None:
        """Close the name editor, and reload the list if it changed meanwhile."""
        super().closeEditor(editor, hint)
        if self._late:
            self._late = False
            self.reload()

    def _lay_out(self, row: int) -> None:
        """Lay out the list at once if this row is far down; else in batches, as it can be long."""
        at_once = row >= BATCH
        mode = QListView.LayoutMode.SinglePass if at_once else QListView.LayoutMode.Batched
        if mode is not self.layoutMode():
            self.setLayoutMode(mode)
            if at_once:
                self.doItemsLayout()

    def _delete(self) -> None:
        row = self.chats.row(self.currentIndex())
        if isinstance(row, FolderRow) and not self.is_bulk:
            self.wanted.emit("remove_folder", [row.folder.id])
        elif ids := self.selected_ids():
            self.wanted.emit("purge" if self.scope == "trash" else "delete", ids)

    def _select(self, chat_ids: Sequence[str]) -> None:
        selection = QItemSelection()
        for first, last in _runs(self.chats.rows_of(chat_ids)):
            selection.select(self.chats.index(first), self.chats.index(last))
        self.selectionModel().select(selection, _Flag.ClearAndSelect)

    def _ranges(self) -> list[tuple[int, int]]:
        """Return the first and last row of each run of selected rows."""
        parts = self.selectionModel().selection()
        runs = [parts.at(number) for number in range(parts.count())]
        return sorted((run.top(), run.bottom()) for run in runs)

    def _clicked(self, index: QModelIndex) -> None:
        if QApplication.keyboardModifiers() == Qt.KeyboardModifier.NoModifier:
            self._choose(index)

    def _choose(self, index: QModelIndex) -> None:
        row = self.chats.row(index)
        if isinstance(row, FolderRow):
            self._fold(row, folded=not row.folded)
        elif isinstance(row, ChatRow) and self.scope != "trash":
            self.chosen.emit(row.chat.id)

    def _fold(self, row: FolderRow, *, folded: bool) -> None:
        if folded != row.folded:
            self.chats.set_folded(row.folder.id, folded)
            self.reload()

    def _current_changed(self, index: QModelIndex) -> None:
        chat = self.chats.chat_at(index.row())
        is_only_one = self.selectionModel().isSelected(index) and not self.is_bulk
        if chat and is_only_one and not self._quiet and self.scope != "trash":
            self.opened.emit(chat.id)

    def _selection_changed(self) -> None:
        # Read now: after a chat moves, its old row belongs to another chat until `reload`.
        self._ids = [
            chat_id for first, last in self._ranges() for chat_id in self.chats.ids_in(first, last)
        ]
        self.is_bulk = len(self._ids) > 1
        self.selected.emit(len(self._ids))
        self._refresh_soon()


def _runs(rows: Sequence[int]) -> list[tuple[int, int]]:
    """Return the first and last of each run of consecutive rows; `rows` must be sorted."""
    runs: list[tuple[int, int]] = []
    for row in rows:
        if runs and runs[-1][1] == row - 1:
            runs[-1] = (runs[-1][0], row)
        else:
            runs.append((row, row))
    return runs
