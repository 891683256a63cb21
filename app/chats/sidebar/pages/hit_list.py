"""The list of search hits: title, time and the text around the words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from PySide6.QtCore import (
    QAbstractListModel,
    QCoreApplication,
    QDate,
    QLocale,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QSize,
    Qt,
    QTime,
    Signal,
)
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QKeyEvent,
    QPainter,
    QPen,
    QTextCharFormat,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.chats.search.values.hits import Hit
from app.kit.look.icons import pixmap
from app.kit.look.scale import scaled
from app.kit.look.theme import BASE, GRID, SMALL, Theme, theme_of

HIT = Qt.ItemDataRole.UserRole
WHEN = Qt.ItemDataRole.UserRole + 1
_LINES = 2
_INSET = 10
_SLACK = 4
_Index = QModelIndex | QPersistentModelIndex


class HitDelegate(QStyledItemDelegate):
    """Draws a hit: its title and time in one line, and up to two lines of text."""

    def __init__(self, view: QListView) -> None:
        super().__init__(view)
        self._view = view

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        """Return the height of a hit for the width of the list."""
        width = self._view.viewport().width()
        hit: Hit = index.data(HIT)
        height = option.fontMetrics.height() + scaled(2 * GRID)
        if hit.message_id:
            theme = theme_of(self._view.palette())
            layout = snippet_layout(hit, _small(option.font), width - 2 * scaled(_INSET), theme)
            height += round(layout.boundingRect().height()) + 2
        return QSize(0, height)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Paint a hit."""
        theme = theme_of(self._view.palette())
        hit: Hit = index.data(HIT)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_behind(painter, option, theme)
        room = option.rect.adjusted(scaled(_INSET), scaled(GRID), -scaled(_INSET), -scaled(GRID))
        top = QRect(room.left(), room.top(), room.width(), option.fontMetrics.height())
        top = self._paint_when(painter, option.font, top, hit, str(index.data(WHEN)), theme)
        layout = title_layout(hit, _bold(option.font), top.width(), theme)
        layout.draw(painter, QPointF(top.topLeft()))
        if hit.message_id:
            layout = snippet_layout(hit, _small(option.font), room.width(), theme)
            painter.setPen(QColor(theme.muted))
            layout.draw(painter, QPointF(room.left(), top.bottom() + 3))
        painter.restore()

    def _paint_behind(self, painter: QPainter, option: QStyleOptionViewItem, theme: Theme) -> None:
        state, flag = option.state, QStyle.StateFlag
        colour = theme.hover if state & flag.State_MouseOver else ""
        colour = theme.pressed if state & flag.State_Selected else colour
        area = option.rect.adjusted(0, 1, 0, -1)
        if colour:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colour))
            painter.drawRoundedRect(area, GRID, GRID)
        if state & flag.State_HasFocus:
            painter.setPen(QPen(QColor(theme.accent), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(area.adjusted(0, 0, -1, -1), GRID, GRID)

    def _paint_when(
        self, painter: QPainter, font: QFont, room: QRect, hit: Hit, words: str, theme: Theme
    ) -> QRect:
        """Paint the time at the right end of the line, and return the rest of the line."""
        painter.setFont(_small(font))
        painter.setPen(QColor(theme.muted))
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(room, right, words)
        width = painter.fontMetrics().horizontalAdvance(words)
        if hit.chat.archived is not None:
            place = room.right() - width - 18
            ratio = painter.device().devicePixelRatioF()
            sign = pixmap("archive", theme.muted, 14, ratio)
            painter.drawPixmap(place, room.center().y() - 7, sign)
            width += 18
        painter.setPen(QColor(theme.text))
        return room.adjusted(0, 0, -width - GRID, 0)


def title_layout(hit: Hit, font: QFont, width: int, theme: Theme) -> QTextLayout:
    """Lay out the title on one line, with the words marked if they were found in the title."""
    marks = () if hit.message_id else hit.marks
    return _layout(hit.chat.title, marks, font, width, theme, 1)


def snippet_layout(hit: Hit, font: QFont, width: int, theme: Theme) -> QTextLayout:
    """Lay out the text around the words, in a width in pixels."""
    return _layout(hit.snippet, hit.marks, font, width, theme, _LINES)


def _layout(
    text: str,
    marks: tuple[tuple[int, int], ...],
    font: QFont,
    width: int,
    theme: Theme,
    most_lines: int,
) -> QTextLayout:
    layout = QTextLayout(_fitting(text, font, width, most_lines), font)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    layout.setFormats([_mark(text, start, end, theme) for start, end in marks])
    _lay_out(layout, width, most_lines)
    return layout


def _fitting(text: str, font: QFont, width: int, most_lines: int) -> str:
    """Return the part of a text that fits, with “…” for the rest.

    Args:
        text: The text.
        font: The font.
        width: The width of a line in pixels.
        most_lines: The maximum number of lines.
    """
    layout = QTextLayout(text, font)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    if most_lines > 1:
        _lay_out(layout, width, most_lines - 1)
        last = layout.lineAt(layout.lineCount() - 1)
        start = last.textStart() + last.textLength()
    else:
        start = 0
    raw = text.encode("utf-16-le")
    head, rest = raw[: 2 * start].decode("utf-16-le"), raw[2 * start :].decode("utf-16-le")
    room = width - _SLACK
    return head + QFontMetrics(font).elidedText(rest, Qt.TextElideMode.ElideRight, room)


def _lay_out(layout: QTextLayout, width: int, most_lines: int) -> None:
    layout.beginLayout()
    height = 0.0
    for _ in range(most_lines):
        line = layout.createLine()
        if not line.isValid():
            break
        line.setLineWidth(max(1, width))
        line.setPosition(QPointF(0, height))
        height += line.height()
    layout.endLayout()


def _mark(text: str, start: int, end: int, theme: Theme) -> QTextLayout.FormatRange:
    """Return the format of a found word.

    Qt counts two for a character beyond the first plane, so Python's positions are converted.
    """
    range_format = QTextLayout.FormatRange()
    range_format.start = len(text[:start].encode("utf-16-le")) // 2
    range_format.length = len(text[start:end].encode("utf-16-le")) // 2
    char_format = QTextCharFormat()
    char_format.setForeground(QColor(theme.accent_text))
    char_format.setFontWeight(QFont.Weight.DemiBold)
    range_format.format = char_format
    return range_format


def _small(font: QFont) -> QFont:
    small_font = QFont(font)
    small_font.setPixelSize(
        max(1, round(font.pixelSize() * SMALL / BASE)) if font.pixelSize() > 0 else SMALL
    )
    return small_font


def _bold(font: QFont) -> QFont:
    bold_font = QFont(font)
    bold_font.setWeight(QFont.Weight.Medium)
    return bold_font


class HitModel(QAbstractListModel):
    """The Qt model of the hits, all in memory, as there are few."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.hits: Sequence[Hit] = ()

    def set_hits(self, hits: Sequence[Hit]) -> None:
        """Replace all hits."""
        self.beginResetModel()
        self.hits = hits
        self.endResetModel()

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008 - as Qt declares it
        """Return the number of hits."""
        return 0 if parent.isValid() else len(self.hits)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return a hit (`HIT`), its time (`WHEN`), or its text."""
        hit = self.hits[index.row()]
        if role == HIT:
            return hit
        if role == WHEN:
            return time_text(hit.chat.updated, datetime.now().astimezone())
        if role in (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole):
            return f"{hit.chat.title}: {hit.snippet}" if hit.message_id else hit.chat.title
        return hit.chat.title if role == Qt.ItemDataRole.DisplayRole else None


class HitList(QListView):
    """The list of search hits.

    Signals:
        chosen(hit): The user chose a hit with a click or Enter.
        left(): The user moved up from the first hit, back to the search field.
    """

    chosen = Signal(object)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("hitList")
        self.setAccessibleName(self.tr("Search results"))
        self.setProperty("look", "list")
        self._hits = HitModel(self)
        self.setModel(self._hits)
        self.setItemDelegate(HitDelegate(self))
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.clicked.connect(self._choose)

    @property
    def hits(self) -> Sequence[Hit]:
        """The hits that are listed."""
        return self._hits.hits

    def show_hits(self, hits: Sequence[Hit]) -> None:
        """List other hits, from the first one on."""
        self._hits.set_hits(hits)
        self.scrollToTop()

    def enter(self) -> None:
        """Move the focus to the first hit."""
        if self.hits:
            self.setFocus()
            self.setCurrentIndex(self._hits.index(0))

    def choose_first(self) -> None:
        """Choose the first hit, if there is one."""
        if self.hits:
            self.setCurrentIndex(self._hits.index(0))
            self.chosen.emit(self.hits[0])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Choose a hit on Enter; leave the list with Up on the first hit."""
        row = self.currentIndex().row()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and row >= 0:
            self._choose(self.currentIndex())
        elif event.key() == Qt.Key.Key_Up and row <= 0:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def _choose(self, index: QModelIndex) -> None:
        self.chosen.emit(self.hits[index.row()])


def time_text(updated: float, now: datetime) -> str:
    """Format the time of a chat: a time for today, day and month for this year, or a date.

    Times and dates are written as in the user's country.

    Args:
        updated: The time of the chat in seconds since 1970.
        now: The current local time.
    """
    then = datetime.fromtimestamp(updated).astimezone(now.tzinfo)
    locale, short = QLocale(), QLocale.FormatType.ShortFormat
    if then.date() == now.date():
        return locale.toString(QTime(then.hour, then.minute), short)
    date = QDate(then.year, then.month, then.day)
    if then.year == now.year:
        words = QCoreApplication.translate("sidebar", "d MMM", "day and month, as Qt writes dates")
        return locale.toString(date, words)
    return locale.toString(date, short)
