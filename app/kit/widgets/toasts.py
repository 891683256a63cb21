"""The toasts of a window, stacked over its lower edge and above its composer."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint
from PySide6.QtWidgets import QWidget

from app.kit.announcing import announce
from app.kit.look.scale import scaled
from app.kit.look.theme import GRID
from app.kit.widgets.toast import Toast

_MOST = 3
_WIDEST = 520
_MOVES = (QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.Show, QEvent.Type.Hide)
_COMPOSER = "composer"
"""The object name of the composer, which the toasts do not cover while it is visible."""


class Toasts(QObject):
    """The stack of toasts of a window."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._toasts: list[Toast] = []
        self._composer: QWidget | None = None
        window.installEventFilter(self)

    def show(self, toast: Toast) -> None:
        """Show a toast; the oldest closes if there are too many.

        A toast without an action replaces earlier ones with the same text or the same subject.
        """
        for earlier in [] if toast.has_action else list(self._toasts):
            same = earlier.accessibleName() == toast.accessibleName()
            if same or (toast.about and earlier.about == toast.about):
                earlier.dismiss()
        toast.setParent(self._window)
        toast.closed.connect(lambda: self._remove(toast))
        self._toasts.append(toast)
        if self._composer is None:
            self._composer = self._window.findChild(QWidget, _COMPOSER)
            if self._composer is not None:
                self._composer.installEventFilter(self)
        while len(self._toasts) > _MOST:
            self._toasts[0].dismiss()
        toast.show()
        toast.raise_()
        self._place()
        announce(toast, toast.accessibleName(), urgent=toast.problem)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Place the toasts again when the window or the composer moves."""
        if self._toasts and event.type() in _MOVES:
            self._place()
        return super().eventFilter(watched, event)

    def _remove(self, toast: Toast) -> None:
        if toast in self._toasts:
            self._toasts.remove(toast)
            self._place()

    def _place(self) -> None:
        bottom = self._window.height() - scaled(3 * GRID)
        if self._composer is not None and self._composer.isVisible():
            top = self._composer.mapTo(self._window, QPoint()).y()
            bottom = min(bottom, top - scaled(GRID))
        for toast in reversed(self._toasts):
            width = min(toast.natural_width(), scaled(_WIDEST), self._window.width() - 4 * GRID)
            height = toast.heightForWidth(width)
            bottom -= height
            toast.setGeometry((self._window.width() - width) // 2, bottom, width, height)
            bottom -= GRID
