"""A column of rows, each of which stays while its item does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.kit.look.theme import GRID

T = TypeVar("T")
W = TypeVar("W", bound=QWidget)


class KeyedColumn(Generic[T, W]):
    """A column of rows, one for each item: a row that stays keeps its focus and its state.

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
        before, self.rows = self.rows, {}
        shown, self._items = self._items, {self._key(it): it for it in items}
        for key, item in self._items.items():
            if key in before and (self._update is not None or shown[key] == item):
                self.rows[key] = before.pop(key)
            else:
                self.rows[key] = self._make(item)
            if self._update is not None:
                self._update(self.rows[key], item)
        for gone in before.values():
            self.layout.removeWidget(gone)
            gone.hide()
            gone.deleteLater()
        for place, row in enumerate(self.rows.values()):
            if self.layout.indexOf(row) != place:
                self.layout.insertWidget(place, row)
