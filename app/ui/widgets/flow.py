"""A layout of lines: what has no room beside its neighbours begins a new line."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QSizePolicy, QWidget

from app.ui.look.theme import GRID


class FlowLayout(QLayout):
    """Lays widgets out from the left, each as wide as it likes.

    Those whose size policy expands share what is left of their line. What is wider than a line
    by itself gets the whole of it.
    """

    def __init__(
        self, *widgets: QWidget, trailing: bool = False, parent: QWidget | None = None
    ) -> None:
        """Begin. trailing: what a line leaves free is before its widgets, not behind them."""
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._trailing = trailing
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(GRID)
        for widget in widgets:
            self.addWidget(widget)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)
        self.invalidate()

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation.Horizontal

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        inner = QRect(QPoint(), QSize(width, 0)).marginsRemoved(self.contentsMargins())
        lines = self._lines(inner.width())
        around = self.contentsMargins().top() + self.contentsMargins().bottom()
        gaps = self.spacing() * max(0, len(lines) - 1)
        return around + gaps + sum(map(_height, lines))

    def minimumSize(self) -> QSize:
        least = QSize()
        for item in self._shown():
            least = least.expandedTo(item.minimumSize())
        return least.grownBy(self.contentsMargins())

    def sizeHint(self) -> QSize:
        """Return the size of all in one line."""
        shown = self._shown()
        across = sum(it.sizeHint().width() for it in shown) + self.spacing() * max(
            0, len(shown) - 1
        )
        return QSize(across, _height(shown)).grownBy(self.contentsMargins())

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        inner = rect.marginsRemoved(self.contentsMargins())
        top = inner.top()
        for line in self._lines(inner.width()):
            height, left = _height(line), inner.left()
            widths = self._widths(line, inner.width())
            if self._trailing:
                left += inner.width() - sum(widths) - self.spacing() * (len(line) - 1)
            for item, width in zip(line, widths, strict=True):
                high = min(height, item.sizeHint().height())
                item.setGeometry(QRect(left, top + (height - high) // 2, width, high))
                left += width + self.spacing()
            top += height + self.spacing()

    def _shown(self) -> list[QLayoutItem]:
        return [it for it in self._items if not it.isEmpty()]

    def _lines(self, room: int) -> list[list[QLayoutItem]]:
        lines: list[list[QLayoutItem]] = []
        left = 0
        for item in self._shown():
            wide = item.sizeHint().width()
            if not lines or wide > left:
                lines.append([])
                left = room
            lines[-1].append(item)
            left -= wide + self.spacing()
        return lines

    def _widths(self, line: list[QLayoutItem], room: int) -> list[int]:
        """Return how wide each item of a line becomes."""
        wide = [min(it.sizeHint().width(), room) for it in line]
        free = room - sum(wide) - self.spacing() * (len(line) - 1)
        growing = [
            at for at, it in enumerate(line) if it.expandingDirections() & Qt.Orientation.Horizontal
        ]
        for at in growing:
            wide[at] += max(0, free) // len(growing)
        return wide


def _height(line: list[QLayoutItem]) -> int:
    return max((it.sizeHint().height() for it in line), default=0)


class FlowRow(QWidget):
    """Widgets in lines, where a layout by itself would not do: it can be hidden and named."""

    def __init__(self, *widgets: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        FlowLayout(*widgets, parent=self)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
