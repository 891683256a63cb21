"""A list of chats and folders with buttons on the current row, which accepts dropped chats."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QFocusEvent,
    QFont,
    QMouseEvent,
    QPainter,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QHBoxLayout,
    QListView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.chats.history.values.chat import ChatMark
from app.chats.sidebar.pages.chat_model import CHATS_MIME, ROW, ChatModel, ids_of
from app.chats.sidebar.pages.rows import ChatRow, FolderRow, Row, Scope
from app.kit.look.direction import isolated
from app.kit.look.icons import pixmap
from app.kit.look.scale import scaled
from app.kit.look.theme import BASE, GRID, SMALL, Theme, theme_of
from app.kit.timer import timer
from app.kit.widgets.composing import ComposedLine
from app.kit.widgets.icon_button import IconButton

_LONGEST_NAME = 200
"""The most characters of a new name: more is pasted by accident."""


class RowActions(QWidget):
    """The buttons on a row.

    Signals:
        wanted(action): The user pressed the first button, whose action depends on the row.
        more(): The user wants the menu with all actions.
    """

    wanted = Signal(str)
    more = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("rowActions")
        self._action = ""
        self._first = IconButton("pin", self.tr("Pin"), "rowAction", size=16)
        self._first.clicked.connect(lambda: self.wanted.emit(self._action))
        self._more = IconButton("more", self.tr("More"), "rowMore", size=16)
        self._more.clicked.connect(self.more)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 4, 0)
        row.setSpacing(0)
        row.addWidget(self._first)
        row.addWidget(self._more)
        self.hide()

    def show_for(self, row: ChatRow | FolderRow, scope: Scope) -> None:
        """Show the buttons that apply to a row."""
        if isinstance(row, FolderRow):
            self._first.hide()
            self._more.rename(self.tr("More for {title}").format(title=row.folder.name))
            return
        if scope == "trash":
            drawing, self._action, words = "restore", "restore", self.tr("Restore {title}")
        elif scope == "archive":
            drawing, self._action, words = "unarchive", "unarchive", self.tr("Unarchive {title}")
        elif row.chat.pinned:
            drawing, self._action, words = "unpin", "unpin", self.tr("Unpin {title}")
        else:
            drawing, self._action, words = "pin", "pin", self.tr("Pin {title}")
        self._first.redraw(drawing)
        self._first.rename(words.format(title=row.chat.title))
        self._first.show()
        self._more.rename(self.tr("More for {title}").format(title=row.chat.title))


Index = QModelIndex | QPersistentModelIndex
INSET = 10
"""Pixels from the edge of a row to its text."""
_ICON = 16
"""The width of an icon in a row, in pixels."""
_GAP = 4
_DOT = 8
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_LINE = Qt.TextFlag.TextSingleLine


class RowDelegate(QStyledItemDelegate):
    """Draws the rows; its list says which chat is shown and which row needs room for buttons."""

    def __init__(self, view: RowList) -> None:
        super().__init__(view)
        self._view = view

    def sizeHint(self, option: QStyleOptionViewItem, _index: Index) -> QSize:
        """Return the height of a row, which is the same for all."""
        return QSize(0, max(scaled(4 * GRID), option.fontMetrics.height() + scaled(2 * GRID)))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint a heading, a folder or a chat."""
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
            is_shown = row.chat.id == self._view.shown
            painter.setFont(_font(option.font, bold=is_shown))
            _mark(painter, room, row.chat.mark, theme)
            _write(painter, room, row.chat.title, theme.text)
        else:
            painter.setFont(_font(option.font, bold=True, small=True))
            room.setBottom(room.bottom() - scaled(_GAP))
            align = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom
            _write(painter, room, str(index.data()), theme.muted, align)
        painter.restore()

    def createEditor(self, parent: QWidget, _option: QStyleOptionViewItem, index: Index) -> QWidget:
        """Create the field for a new name."""
        editor = ComposedLine(parent)
        editor.setObjectName("renameRow")
        editor.setMaxLength(max(_LONGEST_NAME, len(str(index.data()))))
        editor.setAccessibleName(self.tr("New name for {name}").format(name=index.data()))
        return editor

    def updateEditorGeometry(
        self, editor: QWidget, option: QStyleOptionViewItem, _index: Index
    ) -> None:
        """Give the field the whole row."""
        editor.setGeometry(option.rect)

    def setModelData(self, editor: QWidget, model: QAbstractItemModel, index: Index) -> None:
        """Hand the entered name to the model."""
        if isinstance(editor, ComposedLine):
            editor.commit()  # Qt asks for the name before the field hears that it lost the focus
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
        _mark(painter, room, next(iter(row.marks), ""), theme)
        room.setLeft(room.left() - scaled(_GAP))
        for icon_name in ("right" if row.folded else "down", "folder"):
            _draw_icon(painter, room, icon_name, theme.muted)
        painter.setFont(_font(self._view.font(), small=True))
        width = painter.fontMetrics().horizontalAdvance(count)
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        _write(painter, QRect(room), count, theme.muted, right)
        painter.setFont(self._view.font())
        _write(painter, room.adjusted(0, 0, -width - GRID, 0), row.folder.name, theme.text)

    def _room(self, rect: QRect, index: Index) -> QRect:
        """Return the room for the text."""
        row = index.data(ROW)
        indent = isinstance(row, ChatRow) and row.place.kind == "folder"
        left = scaled(INSET) + (scaled(_ICON + _GAP) if indent else 0)
        room = rect.adjusted(left, 0, -scaled(INSET), 0)
        room.setRight(room.right() - self._view.room_for_actions(index.row()))
        return room

    def _end(self, option: QStyleOptionViewItem) -> int:
        return option.rect.right() - scaled(INSET)


def _font(font: QFont, *, bold: bool = False, small: bool = False) -> QFont:
    changed = QFont(font)
    if bold:
        changed.setWeight(QFont.Weight.DemiBold)
    if small:
        changed.setPixelSize(
            round(font.pixelSize() * SMALL / BASE) if font.pixelSize() > 0 else SMALL
        )
    return changed


def _draw_icon(painter: QPainter, room: QRect, name: str, colour: str) -> None:
    """Draw an icon at the left of `room`, and shrink `room` by it."""
    size = scaled(_ICON)
    top = room.top() + (room.height() - size) // 2
    ratio = painter.device().devicePixelRatioF()
    painter.drawPixmap(room.left(), top, pixmap(name, colour, size, ratio))
    room.setLeft(room.left() + size + scaled(_GAP))


def _mark(painter: QPainter, room: QRect, mark: ChatMark, theme: Theme) -> None:
    """Draw the mark of a chat's state at the right of `room`, and shrink `room` by it."""
    if not mark:
        return
    size = scaled(_ICON)
    place = QRect(room.right() + 1 - size, room.top(), size, room.height())
    if mark == "unread":
        radius = scaled(_DOT) / 2
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.accent))
        painter.drawEllipse(place.toRectF().center(), radius, radius)
    else:
        icons = {
            "writing": ("pencil", theme.accent_text),
            "failed": ("warning", theme.danger),
            "interrupted": ("pause", theme.danger),
            "waiting": ("clock", theme.muted),
        }
        _draw_icon(painter, place, *icons[mark])
    room.setRight(room.right() - size - scaled(_GAP))


def _write(
    painter: QPainter,
    room: QRect,
    text: str,
    colour: str,
    align: Qt.AlignmentFlag = _LEFT,
) -> None:
    painter.setPen(QColor(colour))
    line = isolated(" ".join(text.split()))
    visible_text = painter.fontMetrics().elidedText(line, Qt.TextElideMode.ElideRight, room.width())
    painter.drawText(room, align | _LINE, visible_text)


BATCH = 500
"""The number of rows that are laid out in one turn of the event loop, if the rest can wait."""


class RowList(QListView):
    """A list of chats and folders.

    Attributes:
        shown: The id of the chat that the window shows.
        is_bulk: Whether several chats are selected.
        hovered: The row under the pointer, or -1.
        drop_row: The row under dragged chats, or -1.

    Signals:
        wanted(action, ids): The user wants an action on chats; see `ChatActions`.
        menu(row, place): The user wants the menu of a row, at this place on the screen.
        dropped(row, ids): The user dropped chats on a row.
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
        self._soon = timer(self, 0, self._place_actions)
        self.verticalScrollBar().valueChanged.connect(self._refresh_soon)
        self.selectionModel().currentChanged.connect(self._refresh_soon)
        model.modelReset.connect(self._refresh_soon)
        model.dataChanged.connect(self._refresh_soon)

    @property
    def scope(self) -> Scope:
        """The list that is shown: chats, archive or trash."""
        return self.chats.scope

    def room_for_actions(self, row: int) -> int:
        """Return the width of the buttons at the end of a row, in pixels; 0 without buttons."""
        return self._actions.width() - 4 if row == self._with_actions else 0

    @cached_property
    def _actions(self) -> RowActions:
        """The buttons on a row, created on first use."""
        actions = RowActions(self.viewport())
        actions.wanted.connect(self._want)
        actions.more.connect(lambda: self._ask_menu(self._with_actions))
        for previous, following in pairwise((self, *actions.findChildren(IconButton))):
            self.setTabOrder(previous, following)
        return actions

    @property
    def row_buttons(self) -> list[IconButton]:
        """The buttons on a row; empty before they are created."""
        return self._actions.findChildren(IconButton) if "_actions" in vars(self) else []

    def keyboardSearch(self, _search: str) -> None:
        """Do nothing, because Qt would read every chat; the search field above searches."""

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Show the buttons on the row under the pointer."""
        super().mouseMoveEvent(event)
        self._hover(self.indexAt(event.position().toPoint()).row())

    def viewportEvent(self, event: QEvent) -> bool:
        """Hide the buttons when the pointer leaves the list."""
        if event.type() is QEvent.Type.Leave:
            self._hover(-1)
        return super().viewportEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Place the buttons for the new width."""
        super().resizeEvent(event)
        self._refresh_soon()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the buttons on the current row."""
        super().focusInEvent(event)
        self._refresh_soon()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Hide the buttons on the current row."""
        super().focusOutEvent(event)
        self._refresh_soon()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Emit `menu` for the clicked row, or for the current row if a key opened it."""
        by_key = event.reason() is QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if by_key else self.indexAt(event.pos())
        row = self.chats.row(index)
        if row is not None:
            place = self.visualRect(index).center() if by_key else event.pos()
            self.menu.emit(row, self.viewport().mapToGlobal(place))

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept dragged chats, except in the archive and the trash."""
        if event.mimeData().hasFormat(CHATS_MIME) and self.scope == "chats":
            event.acceptProposedAction()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        """Highlight the row under the dragged chats."""
        super().dragMoveEvent(event)  # scrolls at the edges
        index = self.indexAt(event.position().toPoint())
        accepts = event.mimeData().hasFormat(CHATS_MIME) and self.scope == "chats"
        self._show_drop(index.row() if accepts else -1)
        event.setAccepted(accepts and index.isValid())

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """Remove the highlight."""
        super().dragLeaveEvent(event)
        self._show_drop(-1)

    def dropEvent(self, event: QDropEvent) -> None:
        """Emit `dropped` for the row under the pointer."""
        row = self.chats.row(self.indexAt(event.position().toPoint()))
        self._show_drop(-1)
        # The view must not remove the dragged rows: the list is read again.
        event.setDropAction(Qt.DropAction.IgnoreAction)
        event.accept()
        if row is not None:
            self.dropped.emit(row, ids_of(event.mimeData()))

    def _refresh_soon(self) -> None:
        """Place the row's buttons again, once for all changes in this turn of the event loop."""
        self._soon.start()

    def _want(self, action: str) -> None:
        row = self._row(self._with_actions)
        if isinstance(row, ChatRow):
            self.wanted.emit(action, [row.chat.id])

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
        """Place the buttons on the row under the pointer, or else on the row with the focus."""
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
