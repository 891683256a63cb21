"""The table model of the connections."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.connections.pages.words import cells, heads
from app.net.values.connections import LoggedConnection

_Index = QModelIndex | QPersistentModelIndex
_NUMBERS = (3, 4)
_NOWHERE = QModelIndex()


class ConnectionRows(QAbstractTableModel):
    """The connections as rows of a table; a row's texts are created only when it is shown."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: Sequence[LoggedConnection] = ()
        self._heads = heads()

    @property
    def shown(self) -> Sequence[LoggedConnection]:
        """The connections in the table, in the order of its rows."""
        return self._rows

    def show_rows(self, rows: Sequence[LoggedConnection]) -> None:
        """Replace all rows."""
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def rowCount(self, parent: _Index = _NOWHERE) -> int:
        """Return the number of connections; rows have no children."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: _Index = _NOWHERE) -> int:
        """Return the number of headings; rows have no children."""
        return 0 if parent.isValid() else len(self._heads)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return a cell's text, which is also its tooltip, or its alignment."""
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return cells(self._rows[index.row()])[index.column()]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(index.column())
        return None

    def headerData(
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> object:
        """Return the heading of a column, or its alignment; lines have none."""
        if orientation is Qt.Orientation.Vertical:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._heads[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(section)
        return None


def _alignment(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column in _NUMBERS else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
