"""Scrolling to the control that gets the focus.

Qt's scroll areas do this only while the focus stays inside of them; lists only for a new current
row.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QAbstractItemView, QApplication, QScrollArea, QWidget


class FocusInSight(QObject):
    """Scrolls to each control of the application that gets the focus out of sight."""

    def __init__(self, app: QApplication, parent: QObject) -> None:
        super().__init__(parent)
        app.focusChanged.connect(self._show)

    def _show(self, before: QWidget | None, now: QWidget | None) -> None:
        # A window that becomes active again stays as it was, and a click is on what can be seen.
        if before is None or now is None or before.window() is not now.window():
            return
        if QApplication.mouseButtons() != Qt.MouseButton.NoButton:
            return
        if now.visibleRegion().isEmpty():
            area = now.parentWidget()
            while area is not None:
                if isinstance(area, QScrollArea) and area.isAncestorOf(now):
                    area.ensureWidgetVisible(now)
                area = area.parentWidget()
        if isinstance(now, QAbstractItemView):
            row = now.currentIndex()
            if row.isValid() and not now.viewport().rect().intersects(now.visualRect(row)):
                now.scrollTo(row)
