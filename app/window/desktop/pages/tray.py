"""The icon in the tray: asks, opens, quits, and keeps Hearth there when its window is closed."""

from __future__ import annotations

import sys

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtWidgets import QApplication, QMenu, QSystemTrayIcon, QWidget

from app.kit.look.icons import app_icon
from app.settings.values.fields import Settings


class Tray(QObject):
    """open(), ask(), new_chat(): chosen from the menu. clicked(): a notification was pressed.

    The icon is shown only where there is a tray and the settings want it.
    """

    open = Signal()
    ask = Signal()
    new_chat = Signal()
    clicked = Signal()

    def __init__(self, window: QWidget, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._window = window
        self._quits = False
        self._stays = False
        self._menu = QMenu(window)
        self._menu.setObjectName("trayMenu")
        self._icon = QSystemTrayIcon(app_icon(), self)
        self._icon.setToolTip("Hearth")
        self._icon.setContextMenu(self._menu)
        self._icon.activated.connect(self._activated)
        self._icon.messageClicked.connect(self.clicked)
        for name, text, chosen in (
            ("trayOpen", self.tr("Open Hearth"), self.open.emit),
            ("trayAsk", self.tr("Quick ask"), self.ask.emit),
            ("trayNewChat", self.tr("New chat"), self.new_chat.emit),
            ("trayQuit", self.tr("Quit"), self.quit),
        ):
            action = self._menu.addAction(text)
            action.setObjectName(name)
            action.triggered.connect(lambda _=False, chosen=chosen: chosen())
        window.installEventFilter(self)

    @property
    def problem(self) -> str:
        """Why there can be no icon, as a sentence; "" if there can."""
        if self.is_possible():
            return ""
        return self.tr("This desktop has no tray, so closing the window quits Hearth.")

    def is_possible(self) -> bool:
        return QSystemTrayIcon.isSystemTrayAvailable()

    def apply(self, settings: Settings) -> None:
        self._stays = settings.close_to_tray
        self._icon.setVisible((settings.tray or settings.close_to_tray) and self.is_possible())

    def say(self, title: str, text: str) -> None:
        """Show a notification by the system's own means for a program in the tray."""
        self._icon.showMessage(title, text, app_icon())

    def can_say(self) -> bool:
        return self._icon.isVisible() and QSystemTrayIcon.supportsMessages()

    def quit(self) -> None:
        """End Hearth, also where closing the window would not; a window may still refuse."""
        self._quits = True
        QApplication.quit()
        self._quits = False

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The window is closed: it only goes out of sight while the icon brings it back."""
        closes = watched is self._window and event.type() is QEvent.Type.Close
        if closes and self._stays and self._icon.isVisible() and not self._quits:
            event.ignore()
            self._window.hide()
            return True
        return super().eventFilter(watched, event)

    def _activated(self, why: QSystemTrayIcon.ActivationReason) -> None:
        # On macOS any click opens the menu, and is told of as well: one thing is enough for it.
        if why is QSystemTrayIcon.ActivationReason.Trigger and sys.platform != "darwin":
            self.open.emit()
