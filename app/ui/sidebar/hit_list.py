"""What a search found: title, time and the text around the words."""

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
    Qt,
    QTime,
    Signal,
)
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QListView, QWidget

from app.core.search.hits import Hit
from app.ui.sidebar.hit_delegate import HIT, WHEN, HitDelegate

_Index = QModelIndex | QPersistentModelIndex


class HitModel(QAbstractListModel):
    """As many hits as the search gave; there are not many."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.hits: Sequence[Hit] = ()

    def set_hits(self, hits: Sequence[Hit]) -> None:
        self.beginResetModel()
        self.hits = hits
        self.endResetModel()

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008 - as Qt declares it
        return 0 if parent.isValid() else len(self.hits)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        hit = self.hits[index.row()]
        if role == HIT:
            return hit
        if role == WHEN:
            return when(hit.chat.updated, datetime.now().astimezone())
        if role in (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole):
            return f"{hit.chat.title}: {hit.snippet}" if hit.message_id else hit.chat.title
        return hit.chat.title if role == Qt.ItemDataRole.DisplayRole else None


class HitList(QListView):
    """chosen(hit): by a click or Enter. left(): upwards, back to what is searched for."""

    chosen = Signal(object)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("hitList")
        self.setAccessibleName(self.tr("What was found"))
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
        return self._hits.hits

    def show_hits(self, hits: Sequence[Hit]) -> None:
        self._hits.set_hits(hits)
        self.scrollToTop()

    def enter(self) -> None:
        """Go to the first hit."""
        if self.hits:
            self.setFocus()
            self.setCurrentIndex(self._hits.index(0))

    def choose_first(self) -> None:
        if self.hits:
            self.setCurrentIndex(self._hits.index(0))
            self.chosen.emit(self.hits[0])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        row = self.currentIndex().row()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and row >= 0:
            self._choose(self.currentIndex())
        elif event.key() == Qt.Key.Key_Up and row <= 0:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def _choose(self, index: QModelIndex) -> None:
        self.chosen.emit(self.hits[index.row()])


def when(updated: float, now: datetime) -> str:
    """The time of today, the day of this year, or the date; as the user's country writes it."""
    then = datetime.fromtimestamp(updated).astimezone(now.tzinfo)
    locale, short = QLocale(), QLocale.FormatType.ShortFormat
    if then.date() == now.date():
        return locale.toString(QTime(then.hour, then.minute), short)
    date = QDate(then.year, then.month, then.day)
    if then.year == now.year:
        words = QCoreApplication.translate("sidebar", "d MMM", "day and month, as Qt writes dates")
        return locale.toString(date, words)
    return locale.toString(date, short)
