"""Scrolling to the control that gets the focus by Tab."""

from __future__ import annotations

from PySide6.QtWidgets import QAbstractItemView, QScrollArea, QWidget


def scroll_to_focus(window: QWidget) -> None:
    """Scroll to the control that has the focus of a window, and a list to its current row.

    Qt's scroll areas do this only while the focus stays inside of them, and lists only for a new
    current row. What can be seen already does not move.
    """
    focus: QWidget | None = window.focusWidget()
    if focus is None:
        return
    if focus.visibleRegion().isEmpty():
        area = focus.parentWidget()
        while area is not None:
            if isinstance(area, QScrollArea):
                area.ensureWidgetVisible(focus)
            area = area.parentWidget()
    if isinstance(focus, QAbstractItemView):
        row = focus.currentIndex()
        if row.isValid() and not focus.viewport().rect().intersects(focus.visualRect(row)):
            focus.scrollTo(row)
