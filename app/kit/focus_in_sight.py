"""Scrolling to the control that gets the focus.

Qt's scroll areas do this only while the focus stays inside of them; lists only for a new current
row.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QAbstractItemView, QApplication, QScrollArea, QWidget

from app.kit.timer import timer


class FocusInSight(QObject):
    """Scrolls to each control of the application that gets the focus out of sight."""

    def __init__(self, app: QApplication, parent: QObject) -> None:
        super().__init__(parent)
        self._soon = timer(self, 0, _show)  # a control that was just made is laid out by then
        app.focusChanged.connect(self._moved)

    def _moved(self, before: QWidget | None, now: QWidget | None) -> None:
        # A window that becomes active again stays as it was, and a click is on what can be seen.
        if before is None or now is None or before.window() is not now.window():
            return
        if QApplication.mouseButtons() == Qt.MouseButton.NoButton:
            self._soon.start()


def _show() -> None:
    focus = QApplication.focusWidget()
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
