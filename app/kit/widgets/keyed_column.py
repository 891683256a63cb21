"""A column of rows, each of which stays while its item does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Generic, TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.kit.look.theme import GRID

T = TypeVar("T")
W = TypeVar("W", bound=QWidget)


class KeyedColumn(Generic[T, W]):
    """A column of rows, one for each item: a row that stays keeps its focus and its state.

    Tab follows the order of the rows.

    Attributes:
        layout: The column, to be added to another layout.
        rows: The rows by key, in the order of the items.

    Args:
        key: Returns the key of an item, which it keeps when it changes.
        make: Makes the row of an item.
        update: Shows an item in its row, called each time; without it, a changed item gets a
            new row.
        spacing: The gap between the rows in pixels.
    """

    def __init__(
        self,
        key: Callable[[T], str],
        make: Callable[[T], W],
        update: Callable[[W, T], object] | None = None,
        *,
        spacing: int = GRID,
    ) -> None:
        self.layout = QVBoxLayout()
        self.layout.setSpacing(spacing)
        self.rows: dict[str, W] = {}
        self._items: dict[str, T] = {}
        self._key = key
        self._make = make
        self._update = update

    def show(self, items: Iterable[T]) -> None:
        """Show items in their order."""
        old_rows, self.rows = self.rows, {}
        old_items, self._items = self._items, {self._key(item): item for item in items}
        above = _stop_before([*old_rows.values()])
        for key, item in self._items.items():
            if key in old_rows and (self._update is not None or old_items[key] == item):
                self.rows[key] = old_rows.pop(key)
            else:
                self.rows[key] = self._make(item)
            if self._update is not None:
                self._update(self.rows[key], item)
        for old_row in old_rows.values():
            self.layout.removeWidget(old_row)
            old_row.hide()
            old_row.deleteLater()
        moved = False
        for place, row in enumerate(self.rows.values()):
            if self.layout.indexOf(row) != place:
                self.layout.insertWidget(place, row)
                moved = True
        if moved:
            stops = [stop for row in self.rows.values() for stop in _stops(row)]
            for previous, following in pairwise([above, *stops] if above is not None else stops):
                QWidget.setTabOrder(previous, following)


def _stops(row: QWidget) -> list[QWidget]:
    """Return the widgets of a row that Tab reaches."""
    return [widget for widget in (row, *row.findChildren(QWidget)) if _is_stop(widget)]


def _stop_before(rows: list[QWidget]) -> QWidget | None:
    """Return the widget from which Tab leads into the first of these rows; None if none does."""
    first = next((stop for row in rows for stop in _stops(row)), None)
    stop = first.previousInFocusChain() if first is not None else None
    while stop is not None and stop is not first:
        if _is_stop(stop) and not any(row is stop or row.isAncestorOf(stop) for row in rows):
            return stop
        stop = stop.previousInFocusChain()
    return None


def _is_stop(widget: QWidget) -> bool:
    return bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)
