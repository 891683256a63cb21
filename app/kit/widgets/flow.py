"""A row of widgets that continues in a new line if there is too little room."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRect, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.kit.look.scale import scaled
from app.kit.look.theme import GRID


class FlowRow(QWidget):
    """A row that lays widgets out from the left, each at its preferred width, and wraps.

    Widgets whose size policy expands share the rest of their line. A widget that is wider than a
    line gets the whole line.

    This is a widget and not a layout, because Qt deletes the items of a layout without telling
    PySide.
    """

    def __init__(
        self, *widgets: QWidget, trailing: bool = False, parent: QWidget | None = None
    ) -> None:
        """Create the row.

        Args:
            widgets: The first widgets.
            trailing: Whether the free room of a line is before its widgets instead of after them.
            parent: The parent widget.
        """
        super().__init__(parent)
        self._widgets: list[QWidget] = []
        self._trailing = trailing
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        for widget in widgets:
            self.add(widget)

    def add(self, widget: QWidget) -> None:
        """Add a widget after the others."""
        widget.setParent(self)
        self._widgets.append(widget)
        self.updateGeometry()

    def remove(self, widget: QWidget) -> None:
        """Remove a widget and hide it; the caller has to delete it."""
        self._widgets.remove(widget)
        widget.hide()
        self.updateGeometry()

    def heightForWidth(self, width: int) -> int:
        """Return the height of all lines for a width, in pixels."""
        margins = self.contentsMargins()
        lines = self._lines(width - margins.left() - margins.right())
        gaps = scaled(GRID) * max(0, len(lines) - 1)
        return margins.top() + margins.bottom() + gaps + sum(map(_line_height, lines))

    def sizeHint(self) -> QSize:
        """Return the size of all widgets in one line."""
        widgets = self._visible_widgets()
        across = sum(widget.sizeHint().width() for widget in widgets)
        across += scaled(GRID) * max(0, len(widgets) - 1)
        return QSize(across, _line_height(widgets)).grownBy(self.contentsMargins())

    def minimumSizeHint(self) -> QSize:
        """Return the width of the widest widget, as each can have its own line; height 0."""
        width = max((_minimum_width(widget) for widget in self._visible_widgets()), default=0)
        return QSize(width, 0).grownBy(self.contentsMargins())

    def event(self, event: QEvent) -> bool:
        """Place the widgets again after one has changed its size."""
        if event.type() is QEvent.Type.LayoutRequest:
            self.updateGeometry()
            self._place()
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Place the widgets in the new width."""
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        inner = self.contentsRect()
        top, gap = inner.top(), scaled(GRID)
        for line in self._lines(inner.width()):
            height, left = _line_height(line), inner.left()
            widths = _widths(line, inner.width())
            if self._trailing:
                left += inner.width() - sum(widths) - gap * (len(line) - 1)
            for widget, width in zip(line, widths, strict=True):
                widget_height = min(height, _preferred_height(widget))
                widget.setGeometry(
                    QRect(left, top + (height - widget_height) // 2, width, widget_height)
                )
                left += width + gap
            top += height + gap

    def _visible_widgets(self) -> list[QWidget]:
        return [widget for widget in self._widgets if not widget.isHidden()]

    def _lines(self, room: int) -> list[list[QWidget]]:
        lines: list[list[QWidget]] = []
        remaining = 0
        for widget in self._visible_widgets():
            width = _preferred_width(widget)
            if not lines or width > remaining:
                lines.append([])
                remaining = room
            lines[-1].append(widget)
            remaining -= width + scaled(GRID)
        return lines


def _widths(line: list[QWidget], room: int) -> list[int]:
    """Return the width of each widget of a line, in pixels."""
    widths = [min(_preferred_width(widget), room) for widget in line]
    free = room - sum(widths) - scaled(GRID) * (len(line) - 1)
    horizontal = Qt.Orientation.Horizontal
    growing = [
        index
        for index, widget in enumerate(line)
        if widget.sizePolicy().expandingDirections() & horizontal
    ]
    for index in growing:
        widths[index] += max(0, free) // len(growing)
    return widths


def _line_height(line: list[QWidget]) -> int:
    return max(map(_preferred_height, line), default=0)


def _preferred_height(widget: QWidget) -> int:
    hint = max(widget.sizeHint().height(), widget.minimumSizeHint().height())
    return min(widget.maximumHeight(), max(widget.minimumHeight(), hint))


def _preferred_width(widget: QWidget) -> int:
    policy = widget.sizePolicy().horizontalPolicy()
    hint = 0 if policy == QSizePolicy.Policy.Ignored else widget.sizeHint().width()
    return min(widget.maximumWidth(), max(_minimum_width(widget), hint))


def _minimum_width(widget: QWidget) -> int:
    return max(widget.minimumWidth(), min(widget.minimumSizeHint().width(), widget.maximumWidth()))
