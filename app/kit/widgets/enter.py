"""Enter presses the button that has the focus, in every window.

Qt's buttons take Space alone outside of dialogs; they pass Enter on to the window around them.
"""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QWidget

ENTER: Final = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


def press_focused(window: QWidget, event: QKeyEvent) -> bool:
    """Press the focused button of a window if the key is Enter; call it where keys arrive last.

    Returns:
        Whether the key was for a button. A key that is held down presses it once.
    """
    button = window.focusWidget()
    if event.key() not in ENTER or not isinstance(button, QAbstractButton):
        return False
    if not event.isAutoRepeat():
        button.click()
    return True
