"""Reduced motion: animations are off if the user or the system asks for that."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QProgressBar

_EFFECTS = (
    Qt.UIEffect.UI_AnimateMenu,
    Qt.UIEffect.UI_FadeMenu,
    Qt.UIEffect.UI_AnimateCombo,
    Qt.UIEffect.UI_AnimateTooltip,
    Qt.UIEffect.UI_FadeTooltip,
    Qt.UIEffect.UI_AnimateToolBox,
)
_NAME = "hearthReducedMotion"


class Motion:
    """The switch for Qt's effects and the blinking cursor; Hearth has no animations of its own."""

    def __init__(self) -> None:
        self._usual = {effect: QApplication.isEffectEnabled(effect) for effect in _EFFECTS}
        self._blink_ms = QApplication.cursorFlashTime()

    def apply(self, setting: Literal["system", "full", "reduced"], system_reduces: bool) -> None:
        """Apply the setting for motion.

        Args:
            setting: The value of the setting.
            system_reduces: Whether the system asks for reduced motion.
        """
        reduced = setting == "reduced" or (setting == "system" and system_reduces)
        app = QApplication.instance()
        if app is not None:
            app.setProperty(_NAME, reduced)
        QApplication.setCursorFlashTime(0 if reduced else self._blink_ms)
        for effect, default in self._usual.items():
            QApplication.setEffectEnabled(effect, default and not reduced)


def show_busy(bar: QProgressBar) -> None:
    """Show in a bar that work of unknown length is running; half full if motion is reduced."""
    app = QApplication.instance()
    if app is not None and app.property(_NAME):
        bar.setRange(0, 2)
        bar.setValue(1)
    else:
        bar.setRange(0, 0)
