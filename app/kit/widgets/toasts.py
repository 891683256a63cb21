"""The toasts of a window, in room that its pages make for them."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import QEvent, QObject, QPoint
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from app.kit.announcing import announce
from app.kit.look.scale import scaled
from app.kit.look.theme import GRID
from app.kit.widgets.toast import Toast
from app.kit.widgets.toast_room import ToastRoom

_MOST = 3
_WIDEST = 520
_MOVES = (QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.Show, QEvent.Type.Hide)


class Toasts(QObject):
    """The stack of toasts of a window.

    It is in the first visible `ToastRoom` that suits it, the innermost first, and stays there until
    the toasts are gone or the room is hidden with its page.
    """

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._toasts: list[Toast] = []
        self._room: ToastRoom | None = None
        self._rooms: list[ToastRoom] = []
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
        self._find_rooms()
        while len(self._toasts) > _MOST:
            self._toasts[0].dismiss()
        toast.show()
        toast.raise_()
        self._make_next_stop(toast)
        self._place()
        while len(self._toasts) > 1 and self._room and self._height() > self._room.largest_height:
            self._toasts[0].dismiss()
        announce(toast, toast.accessibleName(), urgent=toast.problem)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Place the toasts again when the window or their room moves, or its page is hidden."""
        if self._toasts and event.type() in _MOVES:
            self._place()
        return super().eventFilter(watched, event)

    def _find_rooms(self) -> None:
        """Look for the rooms anew, as pages are created on their first visit."""
        rooms = self._window.findChildren(ToastRoom)
        self._rooms = sorted(rooms, key=lambda room: (-_depth(room), room.edge))
        for room in rooms:
            room.installEventFilter(self)

    def _make_next_stop(self, toast: Toast) -> None:
        """Let the next Tab go to the toast: it closes before a user comes round to its buttons."""
        focus = QApplication.focusWidget()
        if focus is not None and focus.window() is self._window:
            for before, after in pairwise((focus, *toast.findChildren(QAbstractButton))):
                QWidget.setTabOrder(before, after)

    def _remove(self, toast: Toast) -> None:
        if toast in self._toasts:
            self._toasts.remove(toast)
            self._place()

    def _place(self) -> None:
        height = self._height()
        room = self._suitable_room(height)
        if room is not self._room and self._room is not None:
            self._room.make(0)
        self._room = room if self._toasts else None
        if room is None:
            return
        room.make(height)
        corner = room.mapTo(self._window, QPoint())
        gap = scaled(GRID)
        y = corner.y() + gap
        if room.edge == "bottom":
            y = corner.y() + room.height() - height + gap
        for toast in self._toasts:
            width = self._width(toast, room)
            toast_height = toast.heightForWidth(width)
            x = corner.x() + (room.width() - width) // 2
            toast.setGeometry(x, y, width, toast_height)
            y += toast_height + gap

    def _suitable_room(self, height: int) -> ToastRoom | None:
        """Return the room for toasts of this height: the present one while its page is shown."""
        visible = [room for room in self._rooms if room.isVisible()]
        if self._room in visible:
            return self._room
        return next((room for room in visible if room.suits(height)), None)

    def _height(self) -> int:
        """Return the height that the toasts take with the gaps around them, in pixels."""
        if not self._toasts:
            return 0
        room = self._room or next(filter(QWidget.isVisible, self._rooms), None)
        gap = scaled(GRID)
        each = (toast.heightForWidth(self._width(toast, room)) for toast in self._toasts)
        return gap + sum(height + gap for height in each)

    def _width(self, toast: Toast, room: ToastRoom | None) -> int:
        around = self._window.width() if room is None else room.width()
        return min(toast.natural_width(), scaled(_WIDEST), around - 4 * GRID)


def _depth(widget: QWidget) -> int:
    """Return how many widgets a widget lies in."""
    around = widget.parentWidget()
    return 0 if around is None else 1 + _depth(around)
