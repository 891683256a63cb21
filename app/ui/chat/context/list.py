"""The messages of a chat as its context has them: in, left out, summed up or pinned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.core.chats.budget import ContextUse, Part
from app.ui.look.format import figure, tokens
from app.ui.look.icons import pixmap
from app.ui.look.theme import SMALL, Theme, theme_of

_ROW = 44
_INSET = 10
_PIN = 16
_PART = Qt.ItemDataRole.UserRole

Index = QModelIndex | QPersistentModelIndex


class ContextList(QListView):
    """jump(id): a message was chosen, with Enter or the mouse. pin(id): its pin was, or P pressed.

    Holds thousands of rows at the cost of those that are seen.
    """

    jump = Signal(str)
    pin = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("contextList")
        self.setAccessibleName(self.tr("Messages in the context"))
        self.setProperty("look", "contextList")
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._rows = _Rows(self)
        self.setModel(self._rows)
        self.setItemDelegate(_Painter(self))

    def show_use(self, use: ContextUse) -> None:
        """Keeps the place where the list was scrolled to, and the row."""
        row, top = self.currentIndex().row(), self.verticalScrollBar().value()
        system = [part for part in use.parts if part.place == "system"]
        summary = [part for part in use.parts if part.place == "summary"]
        messages = [part for part in use.parts if part.place == "message"]
        summed = {part.id for part in use.summed}
        self._rows.show([*system, *use.summed, *summary, *messages], summed)
        self.setCurrentIndex(self._rows.index(max(0, row)))
        self.verticalScrollBar().setValue(top)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        place = event.position().toPoint()
        index = self.indexAt(place)
        if index.isValid() and event.button() is Qt.MouseButton.LeftButton:
            if pin_place(self.visualRect(index)).adjusted(-6, -12, 6, 12).contains(place):
                self._toggle(index)
            else:
                self._choose(index)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space}:
            self._choose(self.currentIndex())
        elif event.key() == Qt.Key.Key_P:
            self._toggle(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def _choose(self, index: Index) -> None:
        part = index.data(_PART)
        if part is not None and part.id:
            self.jump.emit(part.id)

    def _toggle(self, index: Index) -> None:
        part = index.data(_PART)
        if part is not None and part.id:
            self.pin.emit(part.id)


class _Rows(QAbstractListModel):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._parts: list[Part] = []
        self._summed: set[str] = set()

    def show(self, parts: Sequence[Part], summed: set[str]) -> None:
        self.beginResetModel()
        self._parts, self._summed = list(parts), summed
        self.endResetModel()

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._parts)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not 0 <= index.row() < len(self._parts):
            return None
        part = self._parts[index.row()]
        if role == _PART:
            return part
        if role == Qt.ItemDataRole.DisplayRole:
            return part.words
        if role == Qt.ItemDataRole.ToolTipRole and part.id:
            return self.tr("Go to this message; its pin keeps it in the context.")
        if role == Qt.ItemDataRole.AccessibleTextRole:
            said = (self.who(part), part.words, self.state(part), tokens(part.tokens))
            return ", ".join(it for it in said if it)
        return None

    def who(self, part: Part) -> str:
        names = {
            "system": self.tr("System prompt"),
            "summary": self.tr("Summary"),
            "draft": self.tr("New message"),
        }
        said = self.tr("You") if part.role == "user" else self.tr("Assistant")
        return names.get(part.place, said)

    def state(self, part: Part) -> str:
        if part.left:
            return self.tr("left out")
        if part.id in self._summed:
            return self.tr("summed up")
        return self.tr("pinned") if part.pinned else ""


class _Painter(QStyledItemDelegate):
    """Who and how much above, how it begins below; what is not in the context is dimmed."""

    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:
        return QSize(200, _ROW)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        part, rows = index.data(_PART), cast(_Rows, index.model())
        theme = theme_of(option.palette)
        place: QRect = option.rect
        state: QStyle.StateFlag = option.state
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        chosen = bool(state & QStyle.StateFlag.State_Selected)
        if chosen or state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(QColor(theme.accent) if chosen else Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.hover))
            painter.drawRoundedRect(place.adjusted(1, 1, -1, -1), 8, 8)
        font = painter.font()
        font.setPixelSize(SMALL)
        painter.setFont(font)
        said = rows.state(part)
        inside = place.adjusted(_INSET, 5, -_INSET, -5)
        if part.id:
            self._draw_pin(painter, pin_place(place), part, theme)
        upper = QRect(inside.topLeft(), QSize(inside.width() - 2 * _PIN, inside.height() // 2))
        head = f"{rows.who(part)} · {said}" if said else rows.who(part)
        painter.setPen(QColor(theme.warn if part.left else theme.muted))
        painter.drawText(upper, Qt.AlignmentFlag.AlignVCenter, head)
        painter.setPen(QColor(theme.muted))
        right = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        painter.drawText(upper, right, figure(part.tokens))
        lower = upper.translated(QPoint(0, inside.height() // 2))
        painter.setPen(QColor(theme.text if said == "" or part.pinned else theme.muted))
        metrics = painter.fontMetrics()
        words = metrics.elidedText(part.words, Qt.TextElideMode.ElideRight, lower.width())
        painter.drawText(lower, Qt.AlignmentFlag.AlignVCenter, words)
        painter.restore()

    def _draw_pin(self, painter: QPainter, place: QRect, part: Part, theme: Theme) -> None:
        name, colour = ("pinned", theme.accent_text) if part.pinned else ("pin", theme.muted)
        ratio = painter.device().devicePixelRatio()
        painter.drawPixmap(place.topLeft(), pixmap(name, colour, _PIN, ratio))


def pin_place(row: QRect) -> QRect:
    """Where the pin stands in a row."""
    return QRect(row.right() - _INSET - _PIN + 1, row.center().y() - _PIN // 2, _PIN, _PIN)
