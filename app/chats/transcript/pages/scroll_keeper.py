"""Keeps the visible text in place while messages around it appear and grow."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, Signal
from PySide6.QtWidgets import QScrollArea, QWidget

from app.kit.look.theme import GRID
from app.kit.timer import timer

_END = 3 * GRID
"""The distance from the end in pixels that still counts as the end."""
_SETTLE_MS = 60
"""How long the layout needs until added widgets have their heights, in milliseconds."""


class ScrollKeeper(QObject):
    """The scroll position of an area: it follows the end, or else the first visible widget.

    It follows the end while the user has scrolled there.

    Args:
        area: The scroll area.
        widgets: Returns the widgets in the area, from top to bottom.
        shows_end: Returns whether the last of these is the last message of the chat; only then
            can the position follow the end.

    Signals:
        scrolled(): The user or the program has scrolled.
    """

    scrolled = Signal()

    def __init__(
        self,
        area: QScrollArea,
        widgets: Callable[[], Sequence[QWidget]],
        shows_end: Callable[[], bool],
    ) -> None:
        super().__init__(area)
        self._area = area
        self._bar = area.verticalScrollBar()
        self._widgets = widgets
        self._shows_end = shows_end
        self._at_end = True
        self._anchor: QWidget | None = None
        self._top = 0
        self._moving = False
        self._settle = timer(self, _SETTLE_MS, self._apply)
        self._bar.rangeChanged.connect(self._range_changed)
        self._bar.valueChanged.connect(self._value_changed)

    @property
    def near_end(self) -> bool:
        """True if the area is scrolled to its end, or almost."""
        return self._bar.value() >= self._bar.maximum() - _END

    def go_to_end(self) -> None:
        """Scroll to the end and follow it."""
        self._at_end = True
        self._watch(None)
        self._apply()

    def hold(self, widget: QWidget, top: int) -> None:
        """Keep the upper edge of a widget `top` pixels below the upper edge of the area."""
        self._at_end, self._top = False, top
        self._watch(widget)
        self._apply()
        self._settle.start()

    def make_room_above(self, pixels: int) -> None:
        """Keep the content where it is on the screen while the area's upper edge moves down.

        Args:
            pixels: How far it moves; negative if it moves up.
        """
        if not self._at_end:
            self._top -= pixels
            self._settle.start()

    def release(self, widget: QWidget) -> None:
        """Stop following a widget that is removed from the area."""
        if widget is self._anchor:
            self._watch(None)

    def reveal(self, widget: QWidget, top: int, height: int) -> None:
        """Scroll until a part of a widget is visible.

        Args:
            widget: The widget.
            top: The upper edge of the part, in pixels from the upper edge of the widget.
            height: The height of the part in pixels.
        """
        y, room = self.y_of(widget) + top, self._area.viewport().height()
        if y < 3 * GRID or y + height > room - 6 * GRID:
            self.hold(widget, room // 3 - top)

    def first_visible(self) -> QWidget | None:
        """Return the uppermost widget that is at least partly visible."""
        visible = (widget for widget in self._widgets() if self.y_of(widget) + widget.height() > 0)
        return next(visible, None)

    def settle(self) -> None:
        """Update the layout at once after widgets were added or removed, and again a little later.

        Otherwise each level of the layout waits for another turn of the event loop, and the
        widgets are squeezed until the area has grown.
        """
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)
        self._settle.start()

    def y_of(self, widget: QWidget) -> int:
        """Return the distance from the area's upper edge down to a widget's, in pixels."""
        return self._in_content(widget) - self._bar.value()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the anchor when the layout moves it, before anything is painted."""
        if watched is self._anchor and event.type() is QEvent.Type.Move:
            self._apply()
        return super().eventFilter(watched, event)

    def _watch(self, widget: QWidget | None) -> None:
        if self._anchor is not None:
            self._anchor.removeEventFilter(self)
        self._anchor = widget
        if widget is not None:
            widget.installEventFilter(self)

    def _in_content(self, widget: QWidget) -> int:
        return widget.mapTo(self._area, QPoint(0, 0)).y() + self._bar.value()

    def _range_changed(self, _lowest: int, highest: int) -> None:
        self._bar.setEnabled(highest > 0)  # a disabled bar shows no handle
        self._apply()

    def _apply(self) -> None:
        self._moving = True
        if self._at_end:
            self._bar.setValue(self._bar.maximum())
        elif self._anchor is not None:
            self._bar.setValue(self._in_content(self._anchor) - self._top)
        self._moving = False

    def _value_changed(self) -> None:
        if not self._moving:
            self._at_end = self._shows_end() and self.near_end
            self._watch(None if self._at_end else self.first_visible())
            self._top = self.y_of(self._anchor) if self._anchor else 0
        self.scrolled.emit()
