"""The table of a collection's files, with the reasons why some could not be read."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHeaderView

from app.base.language import translated
from app.documents.collections.pages.words import file_state
from app.documents.collections.values import IndexedFile
from app.kit.look.format import small_size
from app.kit.look.scale import FITS_ITSELF, scaled
from app.kit.widgets.table import LINE, ItemTable

_MOST_LINES = 9
_SIZE = 2


def _cells(file: IndexedFile) -> tuple[str, str, str]:
    return file.name, translated(file.why) or file_state(file), small_size(file.size)


class FileTable(ItemTable[IndexedFile]):
    """The table of files, as high as its rows up to a maximum.

    Signals:
        picked(IndexedFile or None): The current row changed.
    """

    picked = Signal(object)

    def __init__(self) -> None:
        super().__init__(
            "documentFiles",
            self.tr("Files of the collection"),
            (self.tr("File"), self.tr("State"), self.tr("Size")),
            _cells,
            key=attrgetter("name"),  # not the path: comparing many of those takes long
            tooltip=lambda file: "\n".join(filter(None, [str(file.path), translated(file.why)])),
            numbers=(_SIZE,),
        )
        self.setProperty(FITS_ITSELF, True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.selectionModel().currentRowChanged.connect(lambda *_: self.picked.emit(self.current))

    def show_items(self, items: Sequence[IndexedFile]) -> None:
        """Show files; the current file stays current, and is reported as it is now."""
        super().show_items(items)
        self.picked.emit(self.current)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the height of the rows and the widths of the columns."""
        super().resizeEvent(event)
        self._fit()
        width = self.viewport().width()
        size = min(width // 4, scaled(96))
        state = (width - size) * 2 // 5
        for column, wide in enumerate((width - size - state, state, size)):
            self.setColumnWidth(column, wide)

    def _fit(self) -> None:
        """Set the height to fit the rows, up to a maximum beyond which they scroll."""
        lines = min(len(self.items), _MOST_LINES) * scaled(LINE)
        height = self.horizontalHeader().sizeHint().height() + lines + 2 * self.frameWidth() + 2
        if height != self.height():
            self.setFixedHeight(height)
