"""A table of items: each is a row, and its texts are made only when it is seen."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from app.kit.look.scale import scaled

T = TypeVar("T")
LINE = 34
"""The height of a row in pixels, before it is scaled."""
_Index = QModelIndex | QPersistentModelIndex
_NO_PARENT = QModelIndex()


class ItemTable(QTableView, Generic[T]):
    """A table of items.

    Args:
        name: The object name; those of its lines and columns end in “Lines” and “Columns”.
        title: The accessible name.
        heads: The titles of the columns.
        cells: Returns the texts of an item.
        key: Returns a value of an item that it keeps when it changes.
        tooltip: Returns the tooltip of an item's row; None shows the text of the cell.
        numbers: The columns whose texts are on the right.
    """

    def __init__(
        self,
        name: str,
        title: str,
        heads: Sequence[str],
        cells: Callable[[T], Sequence[str]],
        *,
        key: Callable[[T], object],
        tooltip: Callable[[T], str] | None = None,
        numbers: Collection[int] = (),
    ) -> None:
        super().__init__()
        self._key = key
        self._rows = _Rows(heads, cells, tooltip, numbers, self)
        self.setModel(self._rows)
        self.setObjectName(name)
        self.setAccessibleName(title)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        lines, columns = self.verticalHeader(), self.horizontalHeader()
        lines.hide()
        lines.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        lines.setObjectName(f"{name}Lines")
        lines.setAccessibleName(self.tr("Lines"))
        columns.setHighlightSections(False)
        columns.setObjectName(f"{name}Columns")
        columns.setAccessibleName(self.tr("Columns"))

    @property
    def items(self) -> Sequence[T]:
        """The items, in the order of the rows."""
        return self._rows.items

    @property
    def current(self) -> T | None:
        """The item of the current row; None if there is none."""
        at = self.currentIndex()
        return self.items[at.row()] if at.isValid() else None

    def show_items(self, items: Sequence[T]) -> None:
        """Show items; the current one stays current, wherever its row is now."""
        keys, before = [*map(self._key, items)], [*map(self._key, self.items)]
        at = self.currentIndex()
        row, column = at.row(), at.column()
        self._rows.show_items(items, are_new=keys != before)
        if row >= 0 and keys != before and before[row] in keys:
            self.setCurrentIndex(self._rows.index(keys.index(before[row]), column))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the height of the rows to the size of the text."""
        super().resizeEvent(event)
        self.verticalHeader().setDefaultSectionSize(scaled(LINE))


class _Rows(QAbstractTableModel):
    def __init__(
        self,
        heads: Sequence[str],
        cells: Callable[[Any], Sequence[str]],
        tooltip: Callable[[Any], str] | None,
        numbers: Collection[int],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self.items: Sequence[Any] = ()
        self._heads = heads
        self._cells = cells
        self._tooltip = tooltip
        self._numbers = numbers

    def show_items(self, items: Sequence[Any], *, are_new: bool) -> None:
        """Show items; are_new: whether they are others, or in another order, than before."""
        if are_new:
            self.beginResetModel()
        self.items = items
        if are_new:
            self.endResetModel()
        elif items:
            last = self.index(len(items) - 1, len(self._heads) - 1)
            self.dataChanged.emit(self.index(0, 0), last)

    def rowCount(self, parent: _Index = _NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self.items)

    def columnCount(self, parent: _Index = _NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._heads)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        item, column = self.items[index.row()], index.column()
        if role == Qt.ItemDataRole.ToolTipRole and self._tooltip is not None:
            return self._tooltip(item)
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return self._cells(item)[column]
        return self._alignment(column) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def headerData(
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> object:
        if orientation is Qt.Orientation.Vertical:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._heads[section]
        return self._alignment(section) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def _alignment(self, column: int) -> Qt.AlignmentFlag:
        is_number = column in self._numbers
        side = Qt.AlignmentFlag.AlignRight if is_number else Qt.AlignmentFlag.AlignLeft
        return side | Qt.AlignmentFlag.AlignVCenter
