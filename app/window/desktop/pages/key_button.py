"""A button that shows a shortcut and, after a click, records a new one."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QPushButton, QWidget

_ALONE = (
    Qt.Key.Key_Control,
    Qt.Key.Key_Shift,
    Qt.Key.Key_Alt,
    Qt.Key.Key_AltGr,
    Qt.Key.Key_Meta,
    Qt.Key.Key_unknown,
)
_TAKES_AWAY = (Qt.Key.Key_Backspace, Qt.Key.Key_Delete)


class KeyButton(QPushButton):
    """A button that records a shortcut.

    While it is recording, Esc cancels, Tab moves the focus on, and no shortcut of the window runs.

    Signals:
        pressed_keys(keys): The user pressed these keys, in Qt's portable spelling; "" if Backspace
            or Delete removed the shortcut.
    """

    pressed_keys = Signal(str)

    def __init__(self, name: str, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self._title = title
        self._keys = ""
        self._listens = False
        self.setProperty("look", "key")
        self.setAutoDefault(False)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.clicked.connect(lambda: self._listen(True))

    def show_keys(self, keys: str) -> None:
        """Show a shortcut in this system's spelling, and stop recording."""
        self._keys = keys
        self._listen(False)

    def event(self, event: QEvent) -> bool:
        if self._listens and event.type() is QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self._listens:
            super().keyPressEvent(event)
            return
        key, bare = event.key(), event.modifiers() == Qt.KeyboardModifier.NoModifier
        if key in _ALONE:
            return
        if bare and key == Qt.Key.Key_Escape:
            self._listen(False)
        elif bare and key in _TAKES_AWAY:
            self._listen(False)
            self.pressed_keys.emit("")
        else:
            self._listen(False)
            pressed = QKeySequence(event.keyCombination())
            self.pressed_keys.emit(pressed.toString(QKeySequence.SequenceFormat.PortableText))

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._listen(False)

    def _listen(self, listens: bool) -> None:
        self._listens = listens
        self.setProperty("listens", listens)
        self.style().unpolish(self)
        self.style().polish(self)
        none = self.tr("None")
        self.setText(self.tr("Press the keys…") if listens else self._keys or none)
        self.setAccessibleName(f"{self._title}: {self._keys or none}")
        self.setAccessibleDescription(
            self.tr("Press the keys; Esc cancels, Backspace removes them.") if listens else ""
        )
