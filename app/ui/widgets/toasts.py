"""Keeps the toasts of a window stacked over its lower edge."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QWidget

from app.ui.announcing import announce
from app.ui.look.scale import scaled
from app.ui.look.theme import GRID
from app.ui.widgets.toast import Toast

_MOST = 3
_WIDEST = 520
_ABOVE_COMPOSER = 15 * GRID


class Toasts(QObject):
    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._shown: list[Toast] = []
        window.installEventFilter(self)

    def show(self, toast: Toast) -> None:
        """Show one more; the oldest leaves when there are too many.

        What is told again takes its own place, unless it is something to take back; so does what
        is told of the same.
        """
        for shown in [] if toast.acts else list(self._shown):
            same = shown.accessibleName() == toast.accessibleName()
            if same or (toast.about and shown.about == toast.about):
                shown.dismiss()
        toast.setParent(self._window)
        toast.closed.connect(lambda: self._forget(toast))
        self._shown.append(toast)
        while len(self._shown) > _MOST:
            self._shown[0].dismiss()
        toast.show()
        toast.raise_()
        self._place()
        announce(toast, toast.accessibleName(), urgent=toast.problem)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Resize:
            self._place()
        return super().eventFilter(watched, event)

    def _forget(self, toast: Toast) -> None:
        if toast in self._shown:
            self._shown.remove(toast)
            self._place()

    def _place(self) -> None:
        bottom = self._window.height() - _ABOVE_COMPOSER
        for toast in reversed(self._shown):
            width = min(toast.natural_width(), scaled(_WIDEST), self._window.width() - 4 * GRID)
            height = toast.heightForWidth(width)
            bottom -= height
            toast.setGeometry((self._window.width() - width) // 2, bottom, width, height)
            bottom -= GRID
