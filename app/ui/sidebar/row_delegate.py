"""Draws a row of the list of chats: a heading, a folder, or a chat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen
from PySide6.QtWidgets import QLineEdit, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.ui.look.icons import pixmap
from app.ui.look.scale import scaled
from app.ui.look.theme import BASE, GRID, SMALL, Theme, theme_of
from app.ui.sidebar.chat_model import ROW
from app.ui.sidebar.rows import ChatRow, FolderRow

if TYPE_CHECKING:
    from app.ui.sidebar.row_list import RowList

Index = QModelIndex | QPersistentModelIndex
INSET = 10
"""Pixels from the edge of a row to its text."""
_SIGN = 16
"""The width of an icon in a row."""
_GAP = 4
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_LINE = Qt.TextFlag.TextSingleLine


class RowDelegate(QStyledItemDelegate):
    """Asks its list which chat is shown, and which row keeps room for its buttons."""

    def __init__(self, view: RowList) -> None:
        super().__init__(view)
        self._view = view

    def sizeHint(self, option: QStyleOptionViewItem, _index: Index) -> QSize:
        return QSize(0, max(scaled(4 * GRID), option.fontMetrics.height() + scaled(2 * GRID)))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row, theme = index.data(ROW), theme_of(self._view.palette())
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if isinstance(row, FolderRow | ChatRow):
            self._paint_behind(painter, option, index, row, theme)
        room = self._room(option.rect, index)
        if isinstance(row, FolderRow):
            self._paint_folder(
                painter, room, row, theme, has_actions=room.right() < self._end(option)
            )
        elif isinstance(row, ChatRow):
            shown = row.chat.id == self._view.shown
            painter.setFont(_font(option.font, bold=shown))
            _write(painter, room, row.chat.title, theme.text)
        else:
            painter.setFont(_font(option.font, bold=True, small=True))
            room.setBottom(room.bottom() - scaled(_GAP))
            align = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom
            _write(painter, room, str(index.data()), theme.muted, align)
        painter.restore()

    def createEditor(self, parent: QWidget, _option: QStyleOptionViewItem, index: Index) -> QWidget:
        editor = QLineEdit(parent)
        editor.setObjectName("renameRow")
        editor.setAccessibleName(self.tr("New name for {0}").format(index.data()))
        return editor

    def updateEditorGeometry(
        self, editor: QWidget, option: QStyleOptionViewItem, _index: Index
    ) -> None:
        editor.setGeometry(option.rect)

    def setModelData(self, editor: QWidget, model: QAbstractItemModel, index: Index) -> None:
        if isinstance(editor, QLineEdit):
            model.setData(index, editor.text())

    def _paint_behind(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: Index,
        row: FolderRow | ChatRow,
        theme: Theme,
    ) -> None:
        selected = self._view.is_bulk and self._view.selectionModel().isSelected(index)
        colour = ""
        if self._view.drop_row == index.row() or (selected and isinstance(row, ChatRow)):
            colour = theme.accent_soft
        elif isinstance(row, ChatRow) and row.chat.id == self._view.shown:
            colour = theme.pressed
        elif self._view.hovered == index.row():
            colour = theme.hover
        area = option.rect.adjusted(0, 1, 0, -1)
        painter.setPen(Qt.PenStyle.NoPen)
        if colour:
            painter.setBrush(QColor(colour))
            painter.drawRoundedRect(area, GRID, GRID)
        has_focus = self._view.hasFocus() and index.row() == self._view.currentIndex().row()
        if has_focus or self._view.drop_row == index.row():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(theme.accent), 1))
            painter.drawRoundedRect(area.adjusted(0, 0, -1, -1), GRID, GRID)

    def _paint_folder(
        self, painter: QPainter, room: QRect, row: FolderRow, theme: Theme, *, has_actions: bool
    ) -> None:
        count = str(row.count) if row.count and not has_actions else ""
        room.setLeft(room.left() - scaled(_GAP))
        for sign in ("right" if row.folded else "down", "folder"):
            _sign(painter, room, sign, theme.muted)
        painter.setFont(_font(self._view.font(), small=True))
        width = painter.fontMetrics().horizontalAdvance(count)
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        _write(painter, QRect(room), count, theme.muted, right)
        painter.setFont(self._view.font())
        _write(painter, room.adjusted(0, 0, -width - GRID, 0), row.folder.name, theme.text)

    def _room(self, rect: QRect, index: Index) -> QRect:
        """Where the text goes."""
        row = index.data(ROW)
        indent = isinstance(row, ChatRow) and row.place.kind == "folder"
        left = scaled(INSET) + (scaled(_SIGN + _GAP) if indent else 0)
        room = rect.adjusted(left, 0, -scaled(INSET), 0)
        room.setRight(room.right() - self._view.room_for_actions(index.row()))
        return room

    def _end(self, option: QStyleOptionViewItem) -> int:
        return option.rect.right() - scaled(INSET)


def _font(font: QFont, *, bold: bool = False, small: bool = False) -> QFont:
    made = QFont(font)
    if bold:
        made.setWeight(QFont.Weight.DemiBold)
    if small:
        made.setPixelSize(round(font.pixelSize() * SMALL / BASE) if font.pixelSize() > 0 else SMALL)
    return made


def _sign(painter: QPainter, room: QRect, name: str, colour: str) -> None:
    """Draw an icon at the left of the room, and take its place off the room."""
    size = scaled(_SIGN)
    top = room.top() + (room.height() - size) // 2
    ratio = painter.device().devicePixelRatioF()
    painter.drawPixmap(room.left(), top, pixmap(name, colour, size, ratio))
    room.setLeft(room.left() + size + scaled(_GAP))


def _write(
    painter: QPainter,
    room: QRect,
    text: str,
    colour: str,
    align: Qt.AlignmentFlag = _LEFT,
) -> None:
    painter.setPen(QColor(colour))
    line = " ".join(text.split())
    shown = painter.fontMetrics().elidedText(line, Qt.TextElideMode.ElideRight, room.width())
    painter.drawText(room, align | _LINE, shown)
