"""Loads the modules that the user will need next, at the first sign of activity in the window."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QCursor, QEnterEvent

if TYPE_CHECKING:
    from app.window.pages.main_window import MainWindow


class Preloader(QObject):
    """A watcher that calls `then` once, when the pointer moves in the window or the user writes."""

    def __init__(self, window: MainWindow, then: Callable[[], object]) -> None:
        super().__init__(window)
        self._then = then
        self._edit = window.composer.edit
        # Qt sends an enter event for a pointer that rests where the window appears.
        self._initial_position = QCursor.pos()
        self._watched = (window, window.sidebar)
        if window.composer.text:
            then()
            return
        for widget in self._watched:
            widget.installEventFilter(self)
        self._edit.textChanged.connect(self._trigger)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Call `then` when the pointer moves into the window."""
        if (
            isinstance(event, QEnterEvent)
            and event.globalPosition().toPoint() != self._initial_position
        ):
            self._trigger()
        return super().eventFilter(watched, event)

    def _trigger(self) -> None:
        for widget in self._watched:
            widget.removeEventFilter(self)
        self._edit.textChanged.disconnect(self._trigger)
        self._then()
