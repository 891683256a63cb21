"""The command palette: type a few letters, and Enter runs the item that fits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtCore import (
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    QTimer,
)
from PySide6.QtGui import QColor, QFont, QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QDialog,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.kit.look.direction import isolated
from app.kit.look.icons import pixmap
from app.kit.look.scale import scaled
from app.kit.look.theme import GRID, RADIUS, SMALL, theme_of
from app.kit.widgets.fields import LineField
from app.kit.widgets.label import Label
from app.kit.widgets.layouts import column
from app.kit.widgets.panel import Panel
from app.kit.widgets.rounded import round_corners
from app.window.desktop.pages.palette_items import Item, best

_MOST = 50
_WIDTH, _HEIGHT = 600, 420
_FROM_TOP = 72
_DRAWINGS = {"command": "forward", "chat": "chat", "model": "box", "setting": "gear"}
_MOVES = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)
_DETAIL = Qt.ItemDataRole.UserRole + 1
_DRAWING = Qt.ItemDataRole.UserRole + 2
_ROW_HEIGHT = 36
_ICON = 18


class Palette(QDialog):
    """The command palette. The keyboard focus stays in its text field.

    The arrow keys pressed in the field move the selection in the list.

    Args:
        items: Items that are available at once.
        more: Further items, read one page at a time while the palette is open.
    """

    def __init__(
        self, items: Sequence[Item], more: Iterator[Sequence[Item]], parent: QWidget
    ) -> None:
        super().__init__(parent, Qt.WindowType.Dialog | Qt.WindowType.FramelessWindowHint)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("palette")
        self.setProperty("look", "around")
        round_corners(self, RADIUS + 2)
        self.setWindowTitle(self.tr("Command palette"))
        self._items = list(items)
        self._more = more
        self._chosen: Item | None = None
        self._window = parent
        self._field = LineField(
            "paletteField",
            self.tr("Command, chat, model or setting"),
            hint=self.tr("Command, chat, model or setting"),
        )
        self._field.installEventFilter(self)
        self._field.textChanged.connect(self._show)
        self._list = QListWidget()
        self._list.setObjectName("paletteList")
        self._list.setAccessibleName(self.tr("Results"))
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list.setItemDelegate(PaletteRow(self._list))
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.itemClicked.connect(self._choose)
        self._list.currentItemChanged.connect(self._describe_selection)
        self._none = Label(self.tr("No results."), "muted", name="paletteNone")
        self._none.setContentsMargins(GRID, GRID, GRID, GRID)
        card = Panel(
            "float", "paletteCard", self._field, self._none, (self._list, 1),
            margins=(1.5, 1.5, 1.5, 1.5),
        )  # fmt: skip
        self.setLayout(column(card))
        self._reading = QTimer(self)
        self._reading.timeout.connect(self._read)
        self._reading.start(0)
        self._show()
        self._place(parent)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move the selection or choose an item with the keys of the field."""
        if isinstance(event, QKeyEvent) and event.type() is QEvent.Type.KeyPress:
            if event.key() in _MOVES:
                self._move(event)
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._field.commit()
                self._choose(self._list.currentItem())
                return True
        return super().eventFilter(watched, event)

    def done(self, result: int) -> None:
        """Close the palette, then run the chosen item, so that the window has the focus again."""
        self._reading.stop()
        super().done(result)
        if self._chosen is not None:
            QTimer.singleShot(0, self._window, self._chosen.run)

    def _place(self, window: QWidget) -> None:
        """Place the palette over the upper part of the window, never larger than the window."""
        width = min(scaled(_WIDTH), window.width() - 4 * GRID)
        height = min(scaled(_HEIGHT), window.height() - scaled(_FROM_TOP) - 2 * GRID)
        corner = window.mapToGlobal(window.rect().topLeft())
        left = corner.x() + (window.width() - width) // 2
        self.setFixedSize(width, height)
        self.move(left, corner.y() + scaled(_FROM_TOP))

    def _read(self) -> None:
        items = next(self._more, None)
        if items is None:
            self._reading.stop()
            return
        self._items += items
        self._show()

    def _show(self) -> None:
        """Show the matching items.

        Select the first one after typing; keep the selection if only more items were read.
        """
        matches = best(self._field.text(), self._items, _MOST)
        selected = self._list.selectedItems()
        selected_item = selected[0].data(Qt.ItemDataRole.UserRole) if selected else None
        typed = self.sender() is self._field
        self._list.clear()
        for item in matches:
            row = QListWidgetItem(item.title)
            row.setData(_DETAIL, item.detail)
            row.setData(_DRAWING, item.drawing or _DRAWINGS[item.kind])
            row.setData(Qt.ItemDataRole.UserRole, item)
            row.setData(Qt.ItemDataRole.AccessibleTextRole, f"{item.title}, {item.detail}")
            self._list.addItem(row)
        self._list.setCurrentRow(
            matches.index(selected_item) if not typed and selected_item in matches else 0
        )
        self._list.setVisible(bool(matches))
        self._none.setVisible(not matches)

    def _move(self, event: QKeyEvent) -> None:
        """Move the selection as the list itself would, but wrap around at both ends."""
        rows, at = self._list.count(), self._list.currentRow()
        if rows and event.key() == Qt.Key.Key_Up:
            self._list.setCurrentRow((at - 1) % rows)
        elif rows and event.key() == Qt.Key.Key_Down:
            self._list.setCurrentRow((at + 1) % rows)
        else:
            self._list.event(event)

    def _describe_selection(self, row: QListWidgetItem | None) -> None:
        """Describe the selected item to screen readers through the field, as that has the focus."""
        description = row.data(Qt.ItemDataRole.AccessibleTextRole) if row is not None else ""
        self._field.setAccessibleDescription(description)

    def _choose(self, row: QListWidgetItem | None) -> None:
        if row is not None:
            self._chosen = row.data(Qt.ItemDataRole.UserRole)
            self.accept()


class PaletteRow(QStyledItemDelegate):
    """The delegate that draws the rows of the palette's list."""

    def sizeHint(
        self, _option: QStyleOptionViewItem, _index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        """Return the height of a row."""
        return QSize(0, scaled(_ROW_HEIGHT))

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Paint the icon, the title and the detail of an item."""
        theme = theme_of(option.palette)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if option.state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
            chosen = option.state & QStyle.StateFlag.State_Selected
            painter.setPen(QColor(theme.outline) if chosen else Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.pressed if chosen else theme.hover))
            painter.drawRoundedRect(option.rect.adjusted(1, 1, -1, -1), GRID, GRID)
        room = option.rect.adjusted(scaled(10), 0, -scaled(10), 0)
        size = scaled(_ICON)
        ratio = painter.device().devicePixelRatioF()
        drawing = pixmap(index.data(_DRAWING), theme.muted, size, ratio)
        painter.drawPixmap(room.left(), room.center().y() - size // 2 + 1, drawing)
        room.setLeft(room.left() + size + scaled(10))
        room.setRight(room.right() - self._draw_detail(painter, option, room, index.data(_DETAIL)))
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
