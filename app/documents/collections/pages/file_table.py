"""The table of a collection's files, with the reasons why some could not be read."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from app.base.language import translated
from app.documents.collections.pages.words import file_state
from app.documents.collections.values import IndexedFile
from app.kit.look.format import small_size
from app.kit.look.scale import FITS_ITSELF, scaled

_LINE = 34
_MOST_LINES = 9
_NAME, _STATE, _SIZE = range(3)
_Index = QModelIndex | QPersistentModelIndex
_NO_PARENT = QModelIndex()
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class FileModel(QAbstractTableModel):
    """The table model of the files; all in memory, because a row is only a path and a few words."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.files: Sequence[IndexedFile] = ()
        self._heads = (self.tr("File"), self.tr("State"), self.tr("Size"))

    def show_files(self, files: Sequence[IndexedFile]) -> None:
        """Show files; if they are the same as before, the current cell stays."""
        before, self.files = self.files, files
        # Compare names and states: comparing paths takes ten times as long, and there can be many.
        if [file.name for file in before] != [file.name for file in files]:
            self.beginResetModel()
            self.endResetModel()
        elif files and [_cells(file) for file in before] != [_cells(file) for file in files]:
            last = self.index(len(files) - 1, len(self._heads) - 1)
            self.dataChanged.emit(self.index(0, 0), last)

    def rowCount(self, parent: _Index = _NO_PARENT) -> int:
        """Return the number of files; 0 below a file."""
        return 0 if parent.isValid() else len(self.files)

    def columnCount(self, parent: _Index = _NO_PARENT) -> int:
        """Return the number of columns; 0 below a file."""
        return 0 if parent.isValid() else len(self._heads)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the text, alignment or tooltip of a cell."""
        file = self.files[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return self._cell(file, index.column())
        if role == Qt.ItemDataRole.ToolTipRole:
            return "\n".join(filter(None, [str(file.path), translated(file.why)]))
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() == _SIZE:
            return _RIGHT
        return None

    def headerData(
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> object:
        """Return the heading of a column and its alignment."""
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole and section == _SIZE:
            return _RIGHT
        return self._heads[section] if role == Qt.ItemDataRole.DisplayRole else None

    def _cell(self, file: IndexedFile, column: int) -> str:
        if column == _NAME:
            return file.name
        if column == _STATE:
            return translated(file.why) if file.why else file_state(file)
        return small_size(file.size)


def _cells(file: IndexedFile) -> tuple[str, str, int]:
    return file.state, file.why, file.size


class FileTable(QTableView):
    """The table of files.

    Signals:
        picked(IndexedFile or None): The current row changed.
    """

    picked = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("documentFiles")
        self.setAccessibleName(self.tr("Files of the collection"))
        self.setProperty(FITS_ITSELF, True)
        self._files = FileModel(self)
        self.setModel(self._files)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setWordWrap(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        lines = self.verticalHeader()
        lines.hide()
        lines.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        lines.setObjectName("documentLines")
        lines.setAccessibleName(self.tr("Lines"))
        head = self.horizontalHeader()
        head.setObjectName("documentColumns")
        head.setAccessibleName(self.tr("Columns"))
        head.setHighlightSections(False)
        head.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        head.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.selectionModel().currentRowChanged.connect(lambda *_: self._report_choice())
        self._files.modelReset.connect(self._report_choice)

    @property
    def files(self) -> Sequence[IndexedFile]:
        """The shown files, in the table's order."""
        return self._files.files

    def show_files(self, files: Sequence[IndexedFile]) -> None:
        """Show files; the current file stays current, wherever its row is now."""
        at = self.currentIndex()
        current = self._files.files[at.row()].name if at.isValid() else None
        self._files.show_files(files)
        if current is not None and not self.currentIndex().isValid():
            row = next((at for at, file in enumerate(files) if file.name == current), None)
            if row is not None:
                self.setCurrentIndex(self._files.index(row, 0))
        self._report_choice()
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the height of the rows and the widths of the columns."""
        super().resizeEvent(event)
        self.verticalHeader().setDefaultSectionSize(scaled(_LINE))
        self._fit()
        width = self.viewport().width()
        size = min(width // 4, scaled(96))
        state = (width - size) * 2 // 5
        for column, wide in ((_NAME, width - size - state), (_STATE, state), (_SIZE, size)):
            self.setColumnWidth(column, wide)

    def _fit(self) -> None:
        """Set the height to fit the rows, up to a maximum beyond which they scroll."""
        lines = min(len(self.files), _MOST_LINES) * scaled(_LINE)
        height = self.horizontalHeader().sizeHint().height() + lines + 2 * self.frameWidth() + 2
        if height != self.height():
            self.setFixedHeight(height)

    def _report_choice(self) -> None:
        at = self.currentIndex()
        self.picked.emit(self.files[at.row()] if at.isValid() else None)
