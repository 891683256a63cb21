"""Draws a row of the command palette: an icon, the title, and the detail at the right."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.kit.look.direction import isolated
from app.kit.look.icons import pixmap
from app.kit.look.scale import scaled
from app.kit.look.theme import GRID, SMALL, theme_of

DETAIL = Qt.ItemDataRole.UserRole + 1
DRAWING = Qt.ItemDataRole.UserRole + 2

_HEIGHT = 36
_ICON = 18


class PaletteRow(QStyledItemDelegate):
    """The delegate that draws the rows of the palette's list."""

    def sizeHint(
        self, _option: QStyleOptionViewItem, _index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        return QSize(0, scaled(_HEIGHT))

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        theme = theme_of(option.palette)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if option.state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
            chosen = option.state & QStyle.StateFlag.State_Selected
            painter.setPen(QColor(theme.edge) if chosen else Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.pressed if chosen else theme.hover))
            painter.drawRoundedRect(option.rect.adjusted(1, 1, -1, -1), GRID, GRID)
        room = option.rect.adjusted(scaled(10), 0, -scaled(10), 0)
        size = scaled(_ICON)
        ratio = painter.device().devicePixelRatioF()
        drawing = pixmap(index.data(DRAWING), theme.muted, size, ratio)
        painter.drawPixmap(room.left(), room.center().y() - size // 2 + 1, drawing)
        room.setLeft(room.left() + size + scaled(10))
        room.setRight(room.right() - self._draw_detail(painter, option, room, index.data(DETAIL)))
        painter.setFont(option.font)
        painter.setPen(QColor(theme.text))
        title = QFontMetrics(option.font).elidedText(
            isolated(index.data()), Qt.TextElideMode.ElideRight, room.width()
        )
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, title)
        painter.restore()

    def _draw_detail(
        self, painter: QPainter, option: QStyleOptionViewItem, room: QRect, detail: str
    ) -> int:
        """Draw the detail at the right; return the width that it takes, in pixels."""
        font = QFont(option.font)
        font.setPixelSize(scaled(SMALL))
        painter.setFont(font)
        painter.setPen(QColor(theme_of(option.palette).text))
        right = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        painter.drawText(room, right, detail)
        return QFontMetrics(font).horizontalAdvance(detail) + scaled(12)
